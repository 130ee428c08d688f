package gateway

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// The states of a provider's circuit breaker.
const (
	BreakerClosed   = "closed"    // calls pass
	BreakerOpen     = "open"      // calls are refused at once
	BreakerHalfOpen = "half-open" // one call at a time is let through, as a trial
)

const (
	failuresToOpen = 5                // in a row
	openFor        = 60 * time.Second // until a trial is made
)

// ProviderStatus is the health of one provider, as its calls showed it.
type ProviderStatus struct {
	Name     string
	Breaker  string    // BreakerClosed, BreakerOpen or BreakerHalfOpen
	Failures int       // in a row, up to now
	RetryAt  time.Time // while open: when the next call is let through; else zero
}

// Status returns the health of every provider, sorted by name.
func (g *Gateway) Status() []ProviderStatus {
	out := make([]ProviderStatus, len(g.names))
	for i, name := range g.names {
		out[i] = g.members[name].breaker.status()
	}
	return out
}

// breaker is a provider whose calls are refused while its circuit is open. Only
// what says that the service is in trouble counts as a failure: transient
// errors other than 429 (a limit is no trouble) and calls that timed out. A
// success sets the count to 0. Cancelled calls, bad requests and rejected keys
// are no sign either way and count as neither.
type breaker struct {
	model.Provider
	name    string
	circuit *gobreaker.CircuitBreaker[struct{}]
	observe func(name, from, to string) // may be nil

	mu       sync.Mutex // taken inside of the circuit's own lock
	failures int        // in a row, when it opened
	last     string     // the error that opened it
	retryAt  time.Time
	changes  [][2]string // not yet told
	telling  bool
}

func newBreaker(p model.Provider, name string, observe func(name, from, to string)) *breaker {
	b := &breaker{Provider: p, name: name, observe: observe}
	b.circuit = gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name:          name,
		MaxRequests:   1,
		Timeout:       openFor,
		ReadyToTrip:   func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failuresToOpen },
		OnStateChange: b.changed,
		IsSuccessful:  func(err error) bool { return err == nil },
		IsExcluded:    b.excluded,
	})
	return b
}

func (b *breaker) Complete(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	var resp *model.Response
	err := b.do(ctx, func() (err error) {
		resp, err = b.Provider.Complete(ctx, req, stream)
		return err
	})
	return resp, err
}

func (b *breaker) Embed(ctx context.Context, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	var resp *model.EmbedResponse
	err := b.do(ctx, func() (err error) {
		resp, err = b.Provider.Embed(ctx, req)
		return err
	})
	return resp, err
}

func (b *breaker) do(ctx context.Context, call func() error) error {
	defer b.tell(ctx) // also when the call panics
	called := false
	_, err := b.circuit.Execute(func() (struct{}, error) {
		called = true
		return struct{}{}, call()
	})
	if !called {
		return b.refusal()
	}
	return err
}

// excluded reports whether an error says nothing of the service's health, and
// notes one that does.
func (b *breaker) excluded(err error) bool {
	if err == nil {
		return false
	}
	switch fault.KindOf(err) {
	case fault.Timeout:
	case fault.Transient:
		if statusOf(err) == http.StatusTooManyRequests {
			return true
		}
	default:
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = err.Error()
	return false
}

// changed notes a change of the circuit's state. The circuit is locked then, so
// that nobody can be told yet.
func (b *breaker) changed(_ string, from, to gobreaker.State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.retryAt = time.Time{}
	switch {
	case to == gobreaker.StateClosed:
		b.failures, b.last = 0, ""
	case to == gobreaker.StateOpen && from == gobreaker.StateHalfOpen:
		b.failures++
		b.retryAt = time.Now().Add(openFor)
	case to == gobreaker.StateOpen:
		b.failures = failuresToOpen
		b.retryAt = time.Now().Add(openFor)
	}
	b.changes = append(b.changes, [2]string{from.String(), to.String()})
}

// tell hands the changes to the observer and to the call that ctx is of, in
// order and one at a time, with no lock held.
func (b *breaker) tell(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.telling {
		return
	}
	b.telling = true
	for len(b.changes) > 0 {
		c := b.changes[0]
		b.changes = b.changes[1:]
		b.mu.Unlock()
		b.announce(ctx, c[0], c[1])
		b.mu.Lock()
	}
	b.telling = false
}

func (b *breaker) announce(ctx context.Context, from, to string) {
	if b.observe != nil {
		b.observe(b.name, from, to)
	}
	if n := noticesOf(ctx); n.warn != nil {
		n.warn(fmt.Sprintf("the circuit of provider %s is %s (it was %s)", b.name, to, from))
	}
}

// refusal is the error of a call that the circuit does not let through.
func (b *breaker) refusal() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := fault.New(fault.Transient, "", errNotSent)
	if b.retryAt.IsZero() {
		f.Message = b.name + ": circuit half-open, a trial call is under way"
	} else {
		f.RetryAfter = max(time.Until(b.retryAt), time.Nanosecond)
		seconds := (f.RetryAfter + time.Second - 1) / time.Second
		f.Message = fmt.Sprintf("%s: circuit open after %d failures in a row, next try in %ds", b.name, b.failures, seconds)
	}
	if b.last != "" {
		f.Message += " (the last failure: " + b.last + ")"
	}
	return f
}

// closedTo returns the refusal of an open circuit, and nil where a call may
// pass: for one who would reserve or wait for something first.
func (b *breaker) closedTo(ctx context.Context) error {
	state := b.circuit.State()
	b.tell(ctx)
	if state == gobreaker.StateOpen {
		return b.refusal()
	}
	return nil
}

func (b *breaker) status() ProviderStatus {
	state := b.circuit.State()
	counted := int(b.circuit.Counts().ConsecutiveFailures)
	b.tell(context.Background())
	b.mu.Lock()
	defer b.mu.Unlock()
	s := ProviderStatus{Name: b.name, Breaker: state.String(), Failures: b.failures, RetryAt: b.retryAt}
	if state == gobreaker.StateClosed {
		s.Failures = counted
	}
	return s
}
