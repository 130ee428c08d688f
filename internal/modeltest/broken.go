package modeltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// brokenStreams checks streams that break off, and services that answer a call
// for a stream with something else.
func brokenStreams(t *testing.T, v Vendor) {
	if v.Stream == nil {
		t.Skipf("%s declares no streams", v.Name)
	}
	stop := v.reason(t, model.FinishStop)
	frames := v.Stream.Frames(nil, []string{"Hello ", "世界 ", "<b>", "\n"}, Answer{Model: "m", FinishReason: stop})
	for n := range len(frames) - v.Stream.Closing + 1 {
		t.Run(fmt.Sprintf("ends after %d events", n), func(t *testing.T) {
			v.breaks(t, v.Stream.serve(frames[:n]...), fault.Transient)
		})
		t.Run(fmt.Sprintf("resets after %d events", n), func(t *testing.T) {
			v.breaks(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "100000") // it ends before
				v.Stream.write(w, frames[:n]...)
			}, fault.Transient)
		})
	}
	t.Run("ends in an event", func(t *testing.T) {
		whole := strings.Join(frames[:len(frames)-v.Stream.Closing], "")
		for n := range len(whole) {
			if n%7 == 0 || whole[n] >= 0x80 { // each byte of a letter, and some others
				v.breaks(t, v.Stream.serve(whole[:n]), fault.Transient)
			}
		}
	})
	t.Run("what had come", func(t *testing.T) {
		r, _ := v.breaks(t, v.Stream.serve(frames[:len(frames)-v.Stream.Closing]...), fault.Transient)
		if r == nil || r.Text != "Hello 世界 <b>\n" || r.Provider != v.Name {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("an error event", func(t *testing.T) {
		if v.Stream.Failure == nil {
			t.Skipf("%s declares no error events", v.Name)
		}
		failure := v.Stream.Failure("the moon is full: " + Key)
		for n := range len(frames) - v.Stream.Closing + 1 {
			_, f := v.breaks(t, v.Stream.serve(append(frames[:n:n], failure)...), fault.Transient)
			if !strings.Contains(f.Message, "the moon is full") {
				t.Errorf("the service's words are lost: %s", f.Message)
			}
		}
	})
	t.Run("no whole JSON", func(t *testing.T) {
		broken := strings.ReplaceAll(frames[0], "}", "")
		v.breaks(t, v.Stream.serve(append([]string{broken}, frames[1:]...)...), fault.Transient)
	})
	t.Run("endless", func(t *testing.T) { endless(t, v) })
	for status, kind := range map[int]fault.Kind{400: fault.Permanent, 401: fault.Permanent, 429: fault.Transient, 529: fault.Transient} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			var calls atomic.Int32
			_, f := v.breaks(t, func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				reply(status, v.Failure("the moon is full"), "Retry-After", "7")(w, r)
			}, kind)
			if f.Status != status || f.RetryAfter != 7*time.Second || !strings.Contains(f.Message, "the moon is full") || calls.Load() != 1 {
				t.Errorf("after %d calls: %+v", calls.Load(), f)
			}
		})
	}
	t.Run("a web page", func(t *testing.T) {
		v.breaks(t, reply(200, "<html></html>", "Content-Type", "text/html; charset=utf-8"), fault.Permanent)
	})
	t.Run("no body", func(t *testing.T) { v.breaks(t, v.Stream.serve(), fault.Transient) })
	stopped(t, v, frames)
}

// endless checks that neither a stream nor an event without an end is kept.
func endless(t *testing.T, v Vendor) {
	mark := strings.Repeat("x", 1<<20)
	frames := v.Stream.Frames(nil, []string{mark}, Answer{Model: "m"})
	big := 0
	for i, f := range frames {
		if strings.Contains(f, mark) {
			big = i
		}
	}
	before, after, _ := strings.Cut(frames[big], mark)
	for name, piece := range map[string]string{"stream": frames[big], "event": mark} {
		t.Run(name, func(t *testing.T) {
			v.breaks(t, func(w http.ResponseWriter, _ *http.Request) {
				v.Stream.write(w, frames[:big]...)
				if name == "event" {
					v.Stream.write(w, before)
				}
				for range 80 {
					if _, err := io.WriteString(w, piece); err != nil {
						return // the client has seen enough
					}
				}
				v.Stream.write(w, after)
				v.Stream.write(w, frames[big+1:]...)
			}, fault.Permanent)
		})
	}
}

// stopped checks that a stream ends with its context.
func stopped(t *testing.T, v Vendor, frames []string) {
	hang := func(w http.ResponseWriter, r *http.Request) {
		_ = readAll(t, r)
		v.Stream.write(w, frames[:len(frames)-v.Stream.Closing]...)
		<-r.Context().Done()
	}
	t.Run("cancelled", func(t *testing.T) {
		_, p := v.start(t, hang)
		ctx, cancel := context.WithCancelCause(t.Context())
		var d deltas
		add := d.add(t)
		r, err := p.Complete(ctx, ask(), func(piece model.Delta) {
			add(piece)
			cancel(errors.New("ctrl-c"))
		})
		if f := fails(t, err, fault.Cancelled); !strings.Contains(f.Message, "ctrl-c") {
			t.Errorf("the message lacks the cause: %s", f.Message)
		}
		d.match(t, r)
	})
	t.Run("deadline", func(t *testing.T) {
		_, p := v.start(t, hang)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var d deltas
		r, err := p.Complete(ctx, ask(), d.add(t))
		fails(t, err, fault.Timeout)
		d.match(t, r)
	})
}
