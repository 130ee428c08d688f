package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// bytesPerToken is a typical text's, for estimates that are corrected later.
const bytesPerToken = 4

// limiter is a provider whose calls wait until its limits allow them.
//
// The bucket of requests holds five seconds' worth, and what it holds is taken
// off the rate, so that no minute has more than rpm calls. The bucket of tokens
// has to hold the largest call, a whole minute's worth: a first burst may use
// that much beyond the rate. A call takes an estimate, its input's size and its
// max_tokens, and at most the whole bucket; when its usage is known the
// difference is given back or taken as well, and a failed call that was not
// billed gets all of it back.
type limiter struct {
	model.Provider
	name     string
	requests *rate.Limiter // nil: no limit
	tokens   *rate.Limiter // nil: no limit
}

func newLimiter(p model.Provider, name string, rpm, tpm int) *limiter {
	l := &limiter{Provider: p, name: name}
	if rpm > 0 {
		burst := max(1, rpm/12)
		l.requests = rate.NewLimiter(rate.Limit(float64(rpm-burst+1)/60), burst)
	}
	if tpm > 0 {
		l.tokens = rate.NewLimiter(rate.Limit(float64(tpm)/60), tpm)
	}
	return l
}

func (l *limiter) Complete(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	estimate := inputSize(req) / bytesPerToken
	if req.MaxTokens != nil {
		estimate = plus(estimate, *req.MaxTokens)
	}
	taken, err := l.wait(ctx, estimate)
	if err != nil {
		return nil, err
	}
	resp, err := l.Provider.Complete(ctx, req, stream)
	if resp != nil {
		l.correct(taken, resp.Usage, err)
	} else {
		l.correct(taken, nil, err)
	}
	return resp, err
}

func (l *limiter) Embed(ctx context.Context, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	taken, err := l.wait(ctx, embedSize(req)/bytesPerToken)
	if err != nil {
		return nil, err
	}
	resp, err := l.Provider.Embed(ctx, req)
	if resp != nil {
		l.correct(taken, resp.Usage, err)
	} else {
		l.correct(taken, nil, err)
	}
	return resp, err
}

// wait returns when a call of so many tokens may start, with the tokens that
// were taken for it.
func (l *limiter) wait(ctx context.Context, estimate int64) (taken int, err error) {
	if ctx.Err() != nil {
		return 0, notSent(ctx, l.name)
	}
	now := time.Now()
	var delay time.Duration
	var giveBack []func()
	take := func(from *rate.Limiter, n int) {
		r := from.ReserveN(now, n)
		if d := r.DelayFrom(now); d > 0 {
			delay = max(delay, d)
			giveBack = append(giveBack, r.Cancel)
		} else {
			giveBack = append(giveBack, func() { from.ReserveN(time.Now(), -n) }) // one that was due can't be cancelled
		}
	}
	if l.requests != nil {
		take(l.requests, 1)
	}
	if l.tokens != nil {
		taken = int(min(estimate, int64(l.tokens.Burst())))
		take(l.tokens, taken)
	}
	if end, ok := ctx.Deadline(); ok && now.Add(delay).After(end) {
		undo(giveBack)
		return 0, fault.New(fault.Transient, fmt.Sprintf(
			"%s: its rate limit makes the call wait %s, and its time runs out before", l.name, delay.Round(time.Millisecond)), errNotSent)
	}
	if delay == 0 {
		return taken, nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return taken, nil
	case <-ctx.Done():
		undo(giveBack)
		return 0, notSent(ctx, l.name)
	}
}

func undo(steps []func()) {
	for _, f := range steps {
		f()
	}
}

// correct replaces the tokens that were taken by those that were used.
func (l *limiter) correct(taken int, used *model.Usage, err error) {
	if l.tokens == nil {
		return
	}
	var real int64
	switch {
	case used != nil:
		real = plus(used.PromptTokens, used.CompletionTokens)
	case err == nil:
		return // not reported: the estimate is all there is
	}
	now, burst := time.Now(), l.tokens.Burst()
	if real <= int64(taken) {
		// The bucket takes a negative number as tokens that come back, and
		// never holds more than its size.
		l.tokens.ReserveN(now, int(real)-taken)
		return
	}
	// A debt makes later calls wait. It is bounded, so that a nonsense number
	// can't stop the provider for good.
	for debt := min(real-int64(taken), 10*int64(burst)); debt > 0; debt -= int64(burst) {
		l.tokens.ReserveN(now, int(min(debt, int64(burst))))
	}
}

// notSent is the error of a call that ctx stopped before it was sent.
func notSent(ctx context.Context, name string) error {
	f := httpapi.Ended(ctx, name)
	return &fault.Error{Kind: f.Kind, Message: f.Message, Err: errors.Join(errNotSent, f.Err)}
}
