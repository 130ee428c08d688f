package workdir

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

func duckDuckGoRequest(ctx context.Context, query string, _ int) (*http.Request, error) {
	form := url.Values{"q": {query}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://html.duckduckgo.com/html/", strings.NewReader(form))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("User-Agent", "Mozilla/5.0 (compatible; agentloom)") // pages for programs are empty
	return req, nil
}

// duckDuckGoHits reads the page: a link of class result__a has the title and
// the address, the element of class result__snippet after it the snippet.
func duckDuckGoHits(page []byte) ([]hit, error) {
	z := html.NewTokenizer(bytes.NewReader(page))
	z.SetMaxBuf(maxPage)
	var hits []hit
	var into *string // what text belongs to
	var until string // the tag that ends it
	known := false   // it is a page of results, if only an empty one
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			if !known {
				return nil, errors.New("its answer is no page of results; it may ask whether a human searches")
			}
			return slices.DeleteFunc(hits, func(h hit) bool { return h.address == "" }), nil
		case html.TextToken:
			if into != nil {
				*into += string(z.Text())
			}
		case html.StartTagToken:
			t := z.Token()
			classes := strings.Fields(attribute(t, "class"))
			switch {
			case slices.Contains(classes, "result__a"):
				hits = append(hits, hit{address: destination(attribute(t, "href"))})
				into, until = &hits[len(hits)-1].title, t.Data
			case slices.Contains(classes, "result__snippet") && len(hits) > 0:
				into, until = &hits[len(hits)-1].snippet, t.Data
			}
			known = known || slices.Contains(classes, "results") || slices.Contains(classes, "no-results") || into != nil ||
				attribute(t, "id") == "links"
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == until {
				into, until = nil, ""
			}
		}
	}
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// destination is where a result's link leads: behind the service's own
// redirect, "" for an advertisement or what is no web address.
func destination(href string) string {
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if strings.HasSuffix(u.Path, "/y.js") {
		return ""
	}
	if to := u.Query().Get("uddg"); to != "" {
		if u, err = url.Parse(to); err != nil || strings.HasSuffix(u.Hostname(), "duckduckgo.com") && strings.HasSuffix(u.Path, "/y.js") {
			return ""
		}
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}

func serperRequest(key string) func(context.Context, string, int) (*http.Request, error) {
	return func(ctx context.Context, query string, n int) (*http.Request, error) {
		body, err := json.Marshal(map[string]any{"q": query, "num": n})
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://google.serper.dev/search", bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		if strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) {
			return nil, errors.New("its key holds a character that no key has") // net/http's error would show it
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-API-KEY", key)
		return req, nil
	}
}

func serperHits(page []byte) ([]hit, error) {
	var answer struct {
		Organic []struct{ Title, Link, Snippet string } `json:"organic"`
	}
	if err := json.Unmarshal(page, &answer); err != nil {
		return nil, errors.New("its answer is no JSON of results")
	}
	var hits []hit
	for _, o := range answer.Organic {
		hits = append(hits, hit{o.Title, o.Link, o.Snippet})
	}
	return hits, nil
}
