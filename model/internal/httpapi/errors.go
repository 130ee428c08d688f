package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/agentloom/agentloom/fault"
)

// maxErrorBody is how much of an error's body is read.
const maxErrorBody = 1 << 20

// maxRetryAfter bounds what a service may ask to wait, so that a nonsense
// number can't overflow.
const maxRetryAfter = 24 * time.Hour

// Service says whom an error speaks of.
type Service struct {
	Name    string // the provider's name
	Host    string // scheme and host, as in https://api.openai.com
	Key     string // never part of an error
	KeyVar  string // the variable to check when the key is rejected; may be ""
	BaseVar string // the variable that holds the base URL; may be ""
}

// Check turns an answer whose status is not 2xx into a *fault.Error and closes
// its body; otherwise it returns nil and leaves the answer alone.
func (s Service) Check(res *http.Response) error {
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return nil
	}
	// What can't be read of an error's body is done without: the status says
	// the main thing.
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	_ = res.Body.Close()
	f := s.Status(res.StatusCode, Message(body))
	f.RetryAfter = RetryAfter(res.Header, time.Now())
	return f
}

// Status returns the error for a status that the service answered, with the
// service's own words, which may be "".
func (s Service) Status(status int, words string) *fault.Error {
	text := fmt.Sprintf("%s answered %d", s.Name, status)
	if t := http.StatusText(status); t != "" {
		text += " " + t
	}
	words = Clean(words, s.Key)
	if words != "" {
		text += ": " + words
	}
	if advice := s.advice(status, words); advice != "" {
		text += " (" + advice + ")"
	}
	return &fault.Error{Kind: KindOfStatus(status), Message: text, Status: status}
}

// KindOfStatus decides whether the same call may work later: yes after a
// timeout, a conflict, a limit or trouble at the service (408, 409, 425, 429
// and 5xx), no after any other refusal (400, 401, 403, 404, 422, …) and after
// a redirect.
func KindOfStatus(status int) fault.Kind {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return fault.Transient
	}
	if status >= 500 {
		return fault.Transient
	}
	return fault.Permanent
}

func (s Service) advice(status int, words string) string {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		if s.Key == "" {
			return prefixed("no key was sent: set ", s.KeyVar)
		}
		return prefixed("check the key in ", s.KeyVar)
	case status < 400:
		return "a redirect, which is not followed" + prefixed(": check ", s.BaseVar)
	case status == http.StatusNotFound && words == "":
		return "check the model's name" + prefixed(" and ", s.BaseVar)
	}
	return ""
}

func prefixed(before, name string) string {
	if name == "" {
		return ""
	}
	return before + name
}

// Message finds the service's own words in an error's body: {"error":
// {"message": …}}, {"error": "…"}, {"message": …}, {"detail": …}, or plain
// text. A page of HTML has none.
func Message(body []byte) string {
	body = bytes.TrimSpace(body)
	var e struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if err := json.Unmarshal(body, &e); err != nil {
		if bytes.HasPrefix(body, []byte("<")) || bytes.HasPrefix(body, []byte("{")) {
			return ""
		}
		return string(body)
	}
	var inner struct {
		Message string `json:"message"`
	}
	for _, raw := range []json.RawMessage{e.Error, e.Message, e.Detail} {
		if text := ""; json.Unmarshal(raw, &text) == nil && text != "" {
			return text
		}
		if json.Unmarshal(raw, &inner) == nil && inner.Message != "" {
			return inner.Message
		}
	}
	return string(e.Detail)
}

// RetryAfter reads how long the service asks to wait: retry-after-ms, else
// Retry-After in seconds or as a date. 0 when it does not ask, or asks for a
// time that has passed; at most a day.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return wait(ms / 1000)
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return wait(seconds)
	}
	if at, err := http.ParseTime(text); err == nil {
		return wait(at.Sub(now).Seconds())
	}
	return 0
}

func wait(seconds float64) time.Duration {
	if !(seconds > 0) { // also not a number
		return 0
	}
	if seconds >= maxRetryAfter.Seconds() {
		return maxRetryAfter
	}
	return time.Duration(seconds * float64(time.Second))
}

// Failure classifies whatever else ended a call: ctx's end as its cause says,
// an error that has its kind already as it is, half a JSON document and
// network faults (refused, reset, DNS, TLS, timeouts of the transport) as
// transient, and JSON of another form and anything that never left the program
// as permanent.
func (s Service) Failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return Ended(ctx, s.Name)
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		// The inner error only: the URL may hold what should not be printed.
		text := fmt.Sprintf("%s at %s could not be reached: %s", s.Name, s.Host, Clean(ue.Err.Error(), s.Key))
		return fault.New(fault.Transient, text, ue.Err)
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.New(fault.Transient, fmt.Sprintf("%s answered no whole JSON document", s.Name), err)
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fault.New(fault.Permanent, s.Name+" answered JSON of another form than its interface has", err)
	}
	return fault.New(fault.Permanent, fmt.Sprintf("the call to %s failed: %s", s.Name, Clean(err.Error(), s.Key)), err)
}

// Ended is the error of a call to the named provider that ctx stopped: of the
// kind its cause has; without one, Timeout for a deadline and Cancelled for
// anything else.
func Ended(ctx context.Context, name string) *fault.Error {
	cause := context.Cause(ctx)
	kind := fault.KindOf(cause)
	switch {
	case kind != 0:
	case errors.Is(cause, context.DeadlineExceeded):
		kind = fault.Timeout
	default:
		kind = fault.Cancelled
	}
	verb := "was cancelled"
	if kind == fault.Timeout {
		verb = "timed out"
	}
	text := fmt.Sprintf("the call to %s %s", name, verb)
	if !errors.Is(cause, context.DeadlineExceeded) && !errors.Is(cause, context.Canceled) {
		text += ": " + cause.Error()
	}
	return fault.New(kind, text, cause)
}

// NotJSON returns the error for a successful answer that can't be JSON by its
// type, nil for one that may be. A page there most often means that the base
// URL leads to another part of the host.
func (s Service) NotJSON(res *http.Response) error {
	header := res.Header.Get("Content-Type")
	if strings.HasPrefix(header, "application/json") || strings.HasPrefix(header, "text/event-stream") {
		return nil // without reading it all
	}
	kind, _, err := mime.ParseMediaType(header)
	if err != nil || (kind != "text/html" && kind != "application/xhtml+xml") {
		return nil
	}
	_ = res.Body.Close()
	text := fmt.Sprintf("%s at %s answered a web page (%s) instead of JSON", s.Name, s.Host, kind)
	if s.BaseVar != "" {
		text += fmt.Sprintf(" (check %s: most services want it to end in /v1)", s.BaseVar)
	}
	return fault.New(fault.Permanent, text, nil)
}
