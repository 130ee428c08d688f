package workdir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agentloom/agentloom/tool"
)

// WebSearchOptions configure WebSearch.
type WebSearchOptions struct {
	Name       string        // what the model calls it; default "web_search"
	MaxResults int           // the most results a call; default 5
	Timeout    time.Duration // of a call; default 10 s
	// SerperKey is a key of serper.dev: with one, Serper answers; without,
	// DuckDuckGo's page for browsers without scripts does.
	SerperKey string
	// Client sends the requests; nil is one of net/http's defaults. Redirects
	// are not followed, whatever it says.
	Client *http.Client
}

const (
	maxHits       = 5
	searchTimeout = 10 * time.Second
	maxPage       = 2 << 20 // bytes of an answer
	maxHitText    = 500     // bytes of a title, an address or a snippet
	maxQuery      = 2000    // bytes
)

// WebSearch returns the tool that searches the web: web_search(query,
// max_results). Each result is numbered, with its title, its address and what
// the page says. It works without a directory.
func WebSearch(opts WebSearchOptions) tool.Tool {
	opts.MaxResults = orDefault(opts.MaxResults, maxHits)
	if opts.Timeout <= 0 {
		opts.Timeout = searchTimeout
	}
	client := http.Client{}
	if opts.Client != nil {
		client = *opts.Client
	}
	// A redirect would take the key along.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	b := backend{client: &client, name: "DuckDuckGo", request: duckDuckGoRequest, parse: duckDuckGoHits}
	if opts.SerperKey != "" {
		b = backend{client: &client, name: "Serper", request: serperRequest(opts.SerperKey), parse: serperHits}
	}
	return newTool(opts.Name, "web_search", "Search the web. Returns titles, addresses and snippets.",
		func(ctx context.Context, in searchArgs) (string, error) {
			n := opts.MaxResults
			if in.MaxResults != nil {
				n = min(n, *in.MaxResults)
			}
			if query := strings.TrimSpace(in.Query); query == "" || len(query) > maxQuery || n < 1 {
				return "", fmt.Errorf("query must hold 1 to %d bytes, and max_results must be 1 or more", maxQuery)
			}
			ctx, cancel := context.WithTimeoutCause(ctx, opts.Timeout, fmt.Errorf("no answer within %v", opts.Timeout))
			defer cancel()
			hits, err := b.search(ctx, in.Query, n)
			if err != nil {
				return "", fmt.Errorf("the web search failed: %s: %w", b.name, err)
			}
			return listHits(hits[:min(len(hits), n)]), nil
		}, tool.WithEffect(tool.Pure))
}

type searchArgs struct {
	Query      string `json:"query" jsonschema:"What to search for."`
	MaxResults *int   `json:"max_results,omitempty" jsonschema:"The most results; 5 when left out."`
}

// hit is a search result.
type hit struct{ title, address, snippet string }

// backend is a service that searches.
type backend struct {
	client  *http.Client
	name    string
	request func(ctx context.Context, query string, n int) (*http.Request, error)
	parse   func(page []byte) ([]hit, error)
}

func (b backend) search(ctx context.Context, query string, n int) ([]hit, error) {
	req, err := b.request(ctx, query, n)
	if err != nil {
		return nil, err
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered with status %d", resp.StatusCode)
	}
	page, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	if len(page) > maxPage {
		return nil, fmt.Errorf("its answer is larger than %d bytes", maxPage)
	}
	return b.parse(page)
}

// unreachable takes the address, with the query, off an error.
func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return fmt.Errorf("it cannot be reached: %s", short(err.Error()))
}

func listHits(hits []hit) string {
	if len(hits) == 0 {
		return "(no results)"
	}
	var out strings.Builder
	for i, h := range hits {
		fmt.Fprintf(&out, "%d. %s\n   %s\n", i+1, plain(h.title), plain(h.address))
		if h.snippet != "" {
			fmt.Fprintf(&out, "   %s\n", plain(h.snippet))
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// plain is a text of the web on one line, cut where it is long.
func plain(t string) string {
	t = strings.Join(strings.Fields(strings.ToValidUTF8(t, "\uFFFD")), " ")
	if len(t) > maxHitText {
		t = strings.ToValidUTF8(t[:maxHitText], "") + "…"
	}
	return t
}
