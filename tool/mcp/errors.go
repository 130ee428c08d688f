package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloom/agentloom/fault"
)

// maxText bounds what an error quotes of a server, in bytes.
const maxText = 4 << 10

// errGone is the cause of errors about a connection that ended.
var errGone = errors.New("the connection ended")

// fault makes an error that names the server.
func (s *server) fault(kind fault.Kind, message string, err error) *fault.Error {
	if err != nil {
		message += ": " + s.clean(err.Error())
	}
	return fault.New(kind, fmt.Sprintf("MCP server %q: %s", s.def.Name, message), err)
}

func (s *server) stopped() *fault.Error {
	return s.fault(fault.Cancelled, "it was stopped with the run", nil)
}

// clean takes the secrets that the server was given off its words, and cuts
// them.
func (s *server) clean(text string) string {
	text = s.secrets.Replace(strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

// because adds to an error what the server said last, or how it ended.
func (s *server) because(err error, line wire) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind == fault.Refused || f.Kind == fault.Cancelled || asRPC(err) != nil {
		return err
	}
	told := *f
	if words := line.lastWords(); words != "" {
		told.Message += "; " + s.clean(words)
	}
	return &told
}

// asRPC returns the error that the server answered, nil when it answered none.
// The SDK's own mark of a request that failed over HTTP has the same type.
func asRPC(err error) *jsonrpc.Error {
	const rejected = -32005
	rpc, _ := errors.AsType[*jsonrpc.Error](err)
	if rpc != nil && rpc.Code == rejected {
		return nil
	}
	return rpc
}

// failure says what the error of a request means.
func (s *server) failure(ctx context.Context, ex *exchange, doing string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if f.Kind == fault.Refused {
			return f
		}
		return s.fault(f.Kind, f.Message, nil)
	}
	status, after, tooLarge := ex.http()
	rpc := asRPC(err)
	var told *fault.Error
	switch {
	case tooLarge:
		return s.fault(fault.Permanent, fmt.Sprintf("%s: its answer is larger than %d bytes", doing, s.all.maxMessage()), nil)
	case rpc != nil:
		told = s.fault(kindOfCode(rpc.Code), fmt.Sprintf("%s: it answered error %d: %s", doing, rpc.Code, s.clean(rpc.Message)), nil)
	case status != 0:
		told = s.fault(fault.Permanent, fmt.Sprintf("%s: it answered HTTP status %d (%s)", doing, status, http.StatusText(status)), nil)
	case errors.Is(err, sdk.ErrConnectionClosed), errors.Is(err, io.EOF):
		return fault.New(fault.Transient, s.fault(0, doing+": the connection ended", nil).Message, errGone)
	default:
		return fault.New(fault.Transient, s.fault(0, doing+": "+s.clean(bare(err)), nil).Message, errGone)
	}
	if transientStatus(status) {
		told.Kind = fault.Transient
	}
	told.Status, told.RetryAfter, told.Err = status, after, err
	return told
}

// kindOfCode says whether a server that answered an error may answer another
// time. An error of the server's own may be anything.
func kindOfCode(code int64) fault.Kind {
	switch code {
	case jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidRequest, jsonrpc.CodeParseError,
		sdk.CodeUnsupportedProtocolVersion:
		return fault.Permanent
	}
	return fault.Transient
}

func transientStatus(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500
}

// bare is an error's text without the address, which may hold a secret.
func bare(err error) string {
	if err == nil {
		return "it answered nothing"
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return "it can't be reached: " + u.Err.Error()
	}
	text := err.Error()
	for _, method := range []string{"tools/call", "tools/list", "initialize"} { // said already, in our words
		text = strings.TrimPrefix(text, fmt.Sprintf("calling %q: ", method))
		text = strings.TrimPrefix(text, fmt.Sprintf("sending %q: ", method))
	}
	return text
}

// secretsOf collects what no error may say: the values that the server's
// environment, headers and address were given.
func secretsOf(env, headers [][2]string, address string) *strings.Replacer {
	var all []string
	add := func(texts ...string) {
		for _, t := range texts {
			if len(t) >= 6 { // shorter ones are words like true, and no secrets
				all = append(all, t, "***")
			}
		}
	}
	for _, pair := range append(env, headers...) {
		add(pair[1])
		add(strings.Fields(pair[1])...)
	}
	if u, err := url.Parse(address); err == nil {
		add(u.RawQuery)
		for _, values := range u.Query() {
			add(values...)
		}
		if p, ok := u.User.Password(); ok {
			add(p)
		}
	}
	return strings.NewReplacer(all...)
}

// quote names a tool in an error.
func quote(name string) string { return fmt.Sprintf("%.80q", name) }
