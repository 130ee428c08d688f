package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
)

// switchable is a provider whose next error can be set.
type switchable struct {
	fake
	err error
}

func newSwitchable(name string) *switchable {
	s := &switchable{}
	s.name = name
	s.complete = func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
		if s.err != nil {
			return nil, s.err
		}
		return &model.Response{Text: "ok"}, nil
	}
	return s
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *gateway.Gateway
		var changes []string
		p := newSwitchable("openai")
		g = open(t, gateway.Options{OnBreaker: func(name, from, to string) {
			changes = append(changes, fmt.Sprintf("%s: %s to %s, is %s", name, from, to, g.Status()[0].Breaker))
		}}, gateway.Entry{Provider: p})
		call := func() error {
			_, err := g.Complete(t.Context(), to("gpt-4o"), ask(), nil)
			return err
		}
		want := func(s gateway.ProviderStatus) {
			t.Helper()
			s.Name = "openai"
			if diff := cmp.Diff([]gateway.ProviderStatus{s}, g.Status()); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		}
		p.err = unavailable("openai")
		for range 4 {
			_ = call()
		}
		want(gateway.ProviderStatus{Breaker: gateway.BreakerClosed, Failures: 4})
		p.err = nil
		if err := call(); err != nil {
			t.Fatal(err)
		}
		want(gateway.ProviderStatus{Breaker: gateway.BreakerClosed})

		p.err = unavailable("openai")
		for range 5 {
			_ = call()
		}
		opened := time.Now()
		if n := p.calls.Load(); n != 10 {
			t.Errorf("opened after %d calls: failures before a success are no part of the row", n)
		}
		want(gateway.ProviderStatus{Breaker: gateway.BreakerOpen, Failures: 5, RetryAt: opened.Add(time.Minute)})
		time.Sleep(17*time.Second - time.Millisecond)
		n := p.calls.Load()
		err := call()
		f, ok := err.(*fault.Error)
		if !ok || f.Kind != fault.Transient || f.RetryAfter != 43*time.Second+time.Millisecond || p.calls.Load() != n ||
			f.Message != "openai: circuit open after 5 failures in a row, next try in 44s (the last failure: openai answered 503 Service Unavailable)" {
			t.Errorf("got %v: %+v", err, f)
		}

		// A trial that fails opens it for another minute.
		time.Sleep(time.Until(opened) + time.Minute + time.Millisecond)
		if err := call(); fault.KindOf(err) != fault.Transient || p.calls.Load() != n+1 {
			t.Errorf("no trial: %v", err)
		}
		want(gateway.ProviderStatus{Breaker: gateway.BreakerOpen, Failures: 6, RetryAt: time.Now().Add(time.Minute)})

		// Time alone makes it half-open; a trial that works closes it.
		time.Sleep(time.Minute + time.Millisecond)
		want(gateway.ProviderStatus{Breaker: gateway.BreakerHalfOpen, Failures: 6})
		p.err = nil
		if err := call(); err != nil {
			t.Error(err)
		}
		want(gateway.ProviderStatus{Breaker: gateway.BreakerClosed})
		if diff := cmp.Diff([]string{
			"openai: closed to open, is open",
			"openai: open to half-open, is half-open",
			"openai: half-open to open, is open",
			"openai: open to half-open, is half-open",
			"openai: half-open to closed, is closed",
		}, changes); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
}

func TestWhatTheBreakerCounts(t *testing.T) {
	tests := map[string]struct {
		err  error
		want int
	}{
		"trouble at the service": {status(fault.Transient, 500, "x"), 3},
		"unreachable":            {fault.New(fault.Transient, "x", nil), 3},
		"timed out":              {fault.New(fault.Timeout, "x", nil), 3},
		"a limit":                {status(fault.Transient, 429, "x"), 0},
		"a rejected key":         {status(fault.Permanent, 401, "x"), 0},
		"a bad request":          {status(fault.Permanent, 400, "x"), 0},
		"cancelled":              {fault.New(fault.Cancelled, "x", nil), 0},
		"unclassified":           {context.Canceled, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newSwitchable("openai")
			g := open(t, gateway.Options{}, gateway.Entry{Provider: p})
			p.err = status(fault.Transient, 500, "before")
			for i := range 3 {
				if i == 1 {
					// In between, and not instead: it must not end the row either.
					p.err = test.err
				}
				_, _ = g.Complete(t.Context(), to("gpt-4o"), ask(), nil)
			}
			if got, want := g.Status()[0].Failures, max(1, test.want); got != want {
				t.Errorf("%d failures in a row, want %d", got, want)
			}
			for range 10 {
				_, _ = g.Complete(t.Context(), to("gpt-4o"), ask(), nil)
			}
			if opened := g.Status()[0].Breaker == gateway.BreakerOpen; opened != (test.want > 0) {
				t.Errorf("open: %v", opened)
			}
		})
	}
}

// TestOneTrialAtATime: while a trial is under way the others go elsewhere.
func TestOneTrialAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSwitchable("openai")
		g := open(t, gateway.Options{}, gateway.Entry{Provider: p}, gateway.Entry{Provider: answers("ollama"), AnyModel: true, Fallback: true})
		p.err = unavailable("openai")
		for range 5 {
			_, _ = g.Complete(t.Context(), to("gpt-4o"), ask(), nil)
		}
		time.Sleep(time.Minute + time.Second)
		before := p.calls.Load()
		p.complete = func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
			time.Sleep(time.Second)
			return &model.Response{Text: "openai"}, nil
		}
		var mu sync.Mutex
		got := map[string]int{}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				resp, err := g.Complete(t.Context(), to("gpt-4o"), ask(), nil)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				got[resp.Text]++
			})
		}
		wg.Wait()
		if diff := cmp.Diff(map[string]int{"openai": 1, "ollama gpt-4o": 9}, got); diff != "" || p.calls.Load() != before+1 {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
	})
}

// TestAllCircuitsOpen: the wait is the shortest there is.
func TestAllCircuitsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newSwitchable("openai"), newSwitchable("ollama")
		g := open(t, gateway.Options{}, gateway.Entry{Provider: first}, gateway.Entry{Provider: second, AnyModel: true, Fallback: true})
		first.err, second.err = unavailable("openai"), status(fault.Permanent, 404, "ollama: no such model")
		call := func() *fault.Error {
			_, err := g.Complete(t.Context(), to("gpt-4o"), ask(), nil)
			return err.(*fault.Error)
		}
		for range 5 {
			_ = call()
		}
		// The first may work again, though the second never will.
		if f := call(); f.Kind != fault.Transient || f.Status != 0 || f.RetryAfter != time.Minute {
			t.Errorf("got %v, %v, after %v", f, f.Kind, f.RetryAfter)
		}
		second.err = unavailable("ollama")
		if f := call(); f.Kind != fault.Transient || f.RetryAfter != 0 {
			t.Errorf("the second may work at once, but: after %v", f.RetryAfter)
		}
		time.Sleep(20 * time.Second)
		for range 5 {
			_ = call()
		}
		f := call()
		if f.RetryAfter != 40*time.Second || !strings.Contains(f.Message, "ollama: circuit open after 5 failures in a row, next try in 60s") {
			t.Errorf("got %v after %v", f, f.RetryAfter)
		}
	})
}

// TestPanic: one in a provider goes through, and leaves nothing locked or held.
func TestPanic(t *testing.T) {
	p := newSwitchable("openai")
	good := p.complete
	p.complete = func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) { panic("boom") }
	g := open(t, gateway.Options{}, gateway.Entry{Provider: p})
	sel := to("gpt-4o")
	sel.Budget = gateway.NewBudget(0.001, nil)
	req := ask()
	req.MaxTokens = ptr(int64(70)) // most of the budget
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _ = g.Complete(t.Context(), sel, req, nil)
	}()
	p.complete = good
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // it would wait for the call that panicked
	defer cancel()
	if _, err := g.Complete(ctx, sel, req, nil); err != nil {
		t.Error(err)
	}
}

// TestPrimaryDiesUnderLoad: 200 runs of five calls; the primary dies for good in
// the middle. All runs end well, and the breaker shows why.
func TestPrimaryDiesUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs, calls = 200, 5
		start := time.Now()
		dead := func() bool { return time.Since(start) >= 120*time.Millisecond }
		primary, backup := answers("openai"), answers("ollama")
		primary.complete = func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
			time.Sleep(50 * time.Millisecond)
			if dead() {
				return nil, fault.New(fault.Transient, "openai could not be reached: connection refused", nil)
			}
			return &model.Response{Text: "openai"}, nil
		}
		backup.complete = func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
			time.Sleep(50 * time.Millisecond)
			return &model.Response{Text: "ollama"}, nil
		}
		var changes []string // told one at a time
		g := open(t, gateway.Options{OnBreaker: func(name, from, to string) { changes = append(changes, name+" "+from+" "+to) }},
			gateway.Entry{Provider: primary}, gateway.Entry{Provider: backup, AnyModel: true, Fallback: true})
		var wg sync.WaitGroup
		for range runs {
			wg.Go(func() {
				for range calls {
					if _, err := g.Complete(t.Context(), to("gpt-4o"), ask(), nil); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		if diff := cmp.Diff([]string{"openai closed open"}, changes); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		if s := g.Status()[1]; s.Name != "openai" || s.Breaker != gateway.BreakerOpen || s.Failures != 5 {
			t.Errorf("status %+v", s)
		}
		// Two rounds reached it, and the third was under way when it died.
		if p, b := primary.calls.Load(), backup.calls.Load(); p != 3*runs || b != 3*runs {
			t.Errorf("%d calls of the primary and %d of the fallback, want %d each", p, b, 3*runs)
		}
	})
}
