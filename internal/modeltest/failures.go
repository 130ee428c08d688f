package modeltest

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentloom/agentloom/fault"
)

// statuses checks which refusals are worth another attempt, and that the
// adapter makes none itself.
func statuses(t *testing.T, v Vendor) {
	tests := map[int]fault.Kind{
		400: fault.Permanent, 401: fault.Permanent, 403: fault.Permanent, 404: fault.Permanent, 413: fault.Permanent, 422: fault.Permanent,
		408: fault.Transient, 409: fault.Transient, 429: fault.Transient,
		500: fault.Transient, 502: fault.Transient, 503: fault.Transient, 504: fault.Transient, 529: fault.Transient,
	}
	for status, kind := range tests {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			var calls atomic.Int32
			_, p := v.start(t, func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				reply(status, v.Failure("the moon is full"), "x-should-retry", "true")(w, r)
			})
			_, err := p.Complete(t.Context(), ask(), nil)
			f := fails(t, err, kind)
			if f.Status != status || f.RetryAfter != 0 {
				t.Errorf("status %d and wait %v, want %d and none", f.Status, f.RetryAfter, status)
			}
			for _, part := range []string{v.Name, fmt.Sprint(status), "the moon is full"} {
				if !strings.Contains(f.Message, part) {
					t.Errorf("the message lacks %q: %s", part, f.Message)
				}
			}
			if n := calls.Load(); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

// waits checks how Retry-After is read.
func waits(t *testing.T, v Vendor) {
	tests := map[string]struct {
		header, text string
		least, most  time.Duration
	}{
		"seconds":        {"Retry-After", "7", 7 * time.Second, 7 * time.Second},
		"parts":          {"Retry-After", "1.5", 1500 * time.Millisecond, 1500 * time.Millisecond},
		"date":           {"Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), 50 * time.Minute, time.Hour},
		"past date":      {"Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT", 0, 0},
		"milliseconds":   {"retry-after-ms", "250", 250 * time.Millisecond, 250 * time.Millisecond},
		"negative":       {"Retry-After", "-5", 0, 0},
		"no number":      {"Retry-After", "NaN", 0, 0},
		"nonsense":       {"Retry-After", "soon", 0, 0},
		"a million days": {"Retry-After", "86400000000", 24 * time.Hour, 24 * time.Hour},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, p := v.start(t, reply(429, v.Failure("slow down"), test.header, test.text))
			_, err := p.Complete(t.Context(), ask(), nil)
			if f := fails(t, err, fault.Transient); f.RetryAfter < test.least || f.RetryAfter > test.most {
				t.Errorf("wait %v, want %v to %v", f.RetryAfter, test.least, test.most)
			}
		})
	}
}

// messages checks that a service's words can't do harm in an error.
func messages(t *testing.T, v Vendor) {
	tests := map[string]struct {
		body string
		want string // in the error's text
	}{
		"the key itself":   {v.Failure("Incorrect API key provided: " + Key), "Incorrect API key provided: ["},
		"escape codes":     {v.Failure("a\x1b[31mb\u202ec\nd"), `a\x1b[31mb\u202ec\nd`},
		"very long":        {v.Failure(strings.Repeat("x", 100_000)), "xxx…"},
		"key at the edge":  {v.Failure(strings.Repeat("x", 490) + Key), "x["},
		"plain text":       {"no healthy upstream", "no healthy upstream"},
		"plain with a key": {"bad " + Key, "bad ["},
		"no body":          {"", "401"},
		"a page":           {"<html><body>Bad gateway " + Key + "</body></html>", "401"},
		"half of it":       {`{"error": {"message": "ha`, "401"},
		"another form":     {`[1, {"error": null}]`, "401"},
		"null":             {"null", "401"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, p := v.start(t, reply(401, test.body))
			_, err := p.Complete(t.Context(), ask(), nil)
			f := fails(t, err, fault.Permanent)
			if f.Status != 401 || !strings.Contains(f.Message, test.want) {
				t.Errorf("status %d, want 401 and %q in: %s", f.Status, test.want, f.Message)
			}
			if n := len([]rune(f.Message)); n > 700 {
				t.Errorf("the message has %d characters", n)
			}
			for i := 8; i <= len(Key); i++ {
				if strings.Contains(f.Message, Key[:i]) {
					t.Fatalf("the message has the key's first %d characters: %s", i, f.Message)
				}
			}
		})
	}
}
