package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
)

// dollar is a model of 1 dollar for a million tokens of input, and 10 of output.
func dollar() gateway.Options {
	return gateway.Options{Prices: map[string]gateway.Price{"m": {Input: ptr(1.0), Output: ptr(10.0)}}}
}

// uses is a provider of model m that takes some time and reports the usage.
func uses(took time.Duration, prompt, completion int64) *fake {
	f := answers("openai")
	f.complete = func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
		time.Sleep(took)
		return &model.Response{Usage: &model.Usage{PromptTokens: prompt, CompletionTokens: completion}}, nil
	}
	return f
}

// sized is a request whose input is at most 100 tokens more than its text.
func sized(text int, maxTokens int64) *model.Request {
	req := &model.Request{Messages: []model.Message{{Role: model.User, Text: strings.Repeat("x", text)}}}
	if maxTokens > 0 {
		req.MaxTokens = &maxTokens
	}
	return req
}

func within(b *gateway.Budget) gateway.Selection {
	return gateway.Selection{WorkflowProvider: "openai", Model: "m", Budget: b}
}

func TestBudgetRefuses(t *testing.T) {
	p := uses(0, 80, 20)
	g := open(t, dollar(), gateway.Entry{Provider: p})
	b := gateway.NewBudget(0.01, nil)
	// 1,000 tokens of output are the whole budget, and the input is on top.
	_, err := g.Complete(t.Context(), within(b), sized(0, 1000), nil)
	want := "the call to openai was not made: $0.00 of the budget of $0.0100 is spent, and the call may cost $0.0101: lower its max_tokens or raise the budget"
	if fault.KindOf(err) != fault.Budget || err.Error() != want || p.calls.Load() != 0 {
		t.Errorf("got  %v (%v)\nwant %s", err, fault.KindOf(err), want)
	}
	if _, err := g.Complete(t.Context(), within(b), sized(0, 900), nil); err != nil {
		t.Errorf("a call that fits: %v", err)
	}
	if b.Spent() != 0.00028 || b.Exceeded() {
		t.Errorf("spent %v, exceeded %v", b.Spent(), b.Exceeded())
	}
}

// TestBudgetExactly: a call may use the budget up to the last digit, and none
// starts after it.
func TestBudgetExactly(t *testing.T) {
	for _, rate := range []float64{0.1, 0.15, 0.3, 1.1, 0.075} {
		p := uses(0, 80, 1000) // the 80 of the frame, and all of max_tokens
		prices := gateway.Options{Prices: map[string]gateway.Price{"m": {Input: ptr(rate), Output: ptr(rate)}}}
		g := open(t, prices, gateway.Entry{Provider: p})
		b := gateway.NewBudget(1080*rate/1e6, nil)
		if _, err := g.Complete(t.Context(), within(b), sized(0, 1000), nil); err != nil {
			t.Errorf("rate %v: %v", rate, err)
		}
		if b.Exceeded() {
			t.Errorf("rate %v: exceeded with %v", rate, b.Spent())
		}
		_, err := g.Complete(t.Context(), within(b), sized(0, 0), nil)
		if fault.KindOf(err) != fault.Budget || !strings.HasSuffix(err.Error(), "is spent") {
			t.Errorf("rate %v: got %v", rate, err)
		}
	}
}

// TestOpenCall: a call without max_tokens reserves nothing and may go over by
// itself; the next is refused.
func TestOpenCall(t *testing.T) {
	p := uses(0, 1000, 5000)
	g := open(t, dollar(), gateway.Entry{Provider: p})
	b := gateway.NewBudget(0.01, nil)
	if _, err := g.Complete(t.Context(), within(b), sized(0, 0), nil); err != nil || !b.Exceeded() {
		t.Errorf("%v, exceeded %v", err, b.Exceeded())
	}
	if _, err := g.Complete(t.Context(), within(b), sized(0, 0), nil); fault.KindOf(err) != fault.Budget {
		t.Errorf("got %v", err)
	}
}

// TestBudgetWaits: a call that does not fit beside those under way waits for
// them, and starts when they cost less than they might have.
func TestBudgetWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := uses(time.Second, 80, 10)
		g := open(t, dollar(), gateway.Entry{Provider: p})
		b := gateway.NewBudget(0.01, nil)
		start := time.Now()
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if _, err := g.Complete(t.Context(), within(b), sized(0, 900), nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("took %v, want one after the other", took)
		}

		// A waiter leaves with its context.
		go func() { _, _ = g.Complete(t.Context(), within(b), sized(0, 800), nil) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		n := p.calls.Load()
		if _, err := g.Complete(ctx, within(b), sized(0, 800), nil); fault.KindOf(err) != fault.Timeout || p.calls.Load() != n {
			t.Errorf("got %v (%v)", err, fault.KindOf(err))
		}
		time.Sleep(time.Second)

		// One that can't fit whatever the others cost does not wait.
		go func() { _, _ = g.Complete(t.Context(), within(b), sized(0, 500), nil) }()
		synctest.Wait()
		before := time.Now()
		if _, err := g.Complete(t.Context(), within(b), sized(0, 1000), nil); fault.KindOf(err) != fault.Budget || time.Since(before) > 0 {
			t.Errorf("got %v after %v", err, time.Since(before))
		}
		time.Sleep(time.Second)
	})
}

// TestOpenCallWaits: with all the rest reserved, a call that reserves nothing
// waits as well.
func TestOpenCallWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := open(t, dollar(), gateway.Entry{Provider: uses(time.Second, 80, 10)})
		b := gateway.NewBudget(0.00908, nil) // of which the first call reserves everything
		go func() { _, _ = g.Complete(t.Context(), within(b), sized(0, 900), nil) }()
		synctest.Wait()
		start := time.Now()
		if _, err := g.Complete(t.Context(), within(b), sized(0, 0), nil); err != nil || time.Since(start) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestStrict(t *testing.T) {
	var sent []int64
	p := answers("openai")
	p.complete = func(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Response, error) {
		if req.MaxTokens == nil {
			sent = append(sent, 0)
			return &model.Response{Usage: &model.Usage{}}, nil
		}
		sent = append(sent, *req.MaxTokens)
		return &model.Response{Usage: &model.Usage{PromptTokens: 80, CompletionTokens: *req.MaxTokens}}, nil
	}
	g := open(t, dollar(), gateway.Entry{Provider: p}, gateway.Entry{Provider: reports("ollama", model.Response{}), AnyModel: true})
	strict := func(usd float64) gateway.Selection {
		sel := within(gateway.NewBudget(usd, nil))
		sel.Strict = true
		return sel
	}
	sel := strict(0.01)
	if _, err := g.Complete(t.Context(), sel, sized(0, 0), nil); err != nil || sent[0] != 992 || sel.Budget.Exceeded() {
		t.Errorf("sent %v: %v", sent, err)
	}
	// What max_tokens says stays.
	if _, err := g.Complete(t.Context(), strict(0.01), sized(0, 100), nil); err != nil || sent[1] != 100 {
		t.Errorf("sent %v: %v", sent, err)
	}
	// Not even one token.
	if _, err := g.Complete(t.Context(), strict(0.000085), sized(0, 0), nil); fault.KindOf(err) != fault.Budget || len(sent) != 2 {
		t.Errorf("sent %v: %v", sent, err)
	}
	if _, err := g.Complete(t.Context(), strict(0.00009), sized(0, 0), nil); err != nil || sent[2] != 1 {
		t.Errorf("sent %v: %v", sent, err)
	}
	// Never more than the model takes.
	if _, err := g.Complete(t.Context(), strict(1000), sized(0, 0), nil); err != nil || sent[3] != 8192 {
		t.Errorf("sent %v: %v", sent, err)
	}
	big := strict(1000)
	big.Model = "gpt-5"
	if _, err := g.Complete(t.Context(), big, sized(0, 0), nil); err != nil || sent[4] != 128000 {
		t.Errorf("sent %v: %v", sent, err)
	}
	// A thinking budget must fit too.
	thinking := sized(0, 0)
	thinking.Thinking = &model.Thinking{BudgetTokens: ptr(int64(2000))}
	if _, err := g.Complete(t.Context(), strict(0.01), thinking, nil); fault.KindOf(err) != fault.Budget {
		t.Errorf("sent %v: %v", sent, err)
	}
	// Without a price or a budget nothing is added.
	unknown, none := strict(0.01), strict(1)
	unknown.Model, none.Budget = "house-model", nil
	for _, sel := range []gateway.Selection{unknown, none} {
		if _, err := g.Complete(t.Context(), sel, sized(0, 0), nil); err != nil || sent[len(sent)-1] != 0 {
			t.Errorf("sent %v: %v", sent, err)
		}
	}
	free := strict(0.01)
	free.StepProvider = "ollama"
	if _, err := g.Complete(t.Context(), free, sized(0, 0), nil); err != nil {
		t.Error(err)
	}
}

// TestStrictTail: in parallel, the calls that find less than a whole answer left
// wait for the rest instead of asking for a few words.
func TestStrictTail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var sent []int64
		p := answers("openai")
		p.complete = func(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Response, error) {
			mu.Lock()
			sent = append(sent, *req.MaxTokens)
			mu.Unlock()
			time.Sleep(time.Second)
			return &model.Response{Usage: &model.Usage{PromptTokens: 80, CompletionTokens: 100}}, nil
		}
		g := open(t, dollar(), gateway.Entry{Provider: p})
		sel := within(gateway.NewBudget(0.1, nil)) // one whole answer is 0.082
		sel.Strict = true
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if _, err := g.Complete(t.Context(), sel, sized(0, 0), nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, n := range sent {
			if n != 8192 {
				t.Errorf("sent %v", sent)
				break
			}
		}
	})
}

func TestBudgetTree(t *testing.T) {
	g := open(t, dollar(), gateway.Entry{Provider: uses(0, 1000, 900)}) // 0.01 each
	call := func(b *gateway.Budget) error {
		_, err := g.Complete(t.Context(), within(b), sized(2000, 900), nil)
		return err
	}
	run := gateway.NewBudget(0.05, nil)
	agent := gateway.NewBudget(0.02, run)
	child := run.Replace(1)
	inherits := gateway.NewBudget(math.Inf(1), run)

	if err := errors.Join(call(agent), call(inherits)); err != nil {
		t.Fatal(err)
	}
	if err := call(agent); fault.KindOf(err) != fault.Budget {
		t.Errorf("the agent's second call, which may cost 0.011, with 0.010 left: %v", err)
	}
	for range 2 {
		if err := call(inherits); err != nil {
			t.Error(err)
		}
	}
	if err := call(inherits); fault.KindOf(err) != fault.Budget {
		t.Errorf("the run's budget holds below it: %v", err)
	}
	// 0.04 of 0.05 is spent; the child has its own.
	for range 3 {
		if err := call(child); err != nil {
			t.Error(err)
		}
	}
	if err := call(gateway.NewBudget(math.Inf(1), child)); err != nil {
		t.Errorf("below the child: %v", err)
	}
	for name, want := range map[*gateway.Budget]string{run: "0.080 true", agent: "0.010 false", child: "0.040 false", inherits: "0.030 false"} {
		if got := fmt.Sprintf("%.3f %v", name.Spent(), name.Exceeded()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	child.Charge(0.5)
	if got := run.Spent(); math.Abs(got-0.58) > 1e-9 {
		t.Errorf("after a charge: %v", got)
	}
	for _, odd := range []float64{-1, math.NaN()} {
		run.Charge(odd)
		if got := run.Spent(); math.Abs(got-0.58) > 1e-9 {
			t.Errorf("after a charge of %v: %v", odd, got)
		}
	}
	run.Charge(math.Inf(1))
	if !run.Exceeded() {
		t.Error("an infinite charge is within the budget")
	}
}

// TestSettle: what a call that went wrong leaves behind.
func TestSettle(t *testing.T) {
	ended := fault.New(fault.Timeout, "the call to openai timed out", nil)
	cut := fault.New(fault.Transient, "openai broke off", nil)
	tests := map[string]struct {
		resp  *model.Response
		err   error
		spent float64
		fits  bool // whether 900 tokens fit into the same budget again
	}{
		"refused by the service":             {nil, status(fault.Transient, 503, "down"), 0, true},
		"unreachable":                        {nil, fault.New(fault.Transient, "refused", nil), 0, true},
		"timed out: maybe billed":            {nil, ended, 0, false},
		"broke off, billed":                  {&model.Response{Usage: &model.Usage{PromptTokens: 80, CompletionTokens: 2}}, cut, 0.0001, true},
		"broke off, usage unknown":           {&model.Response{}, cut, 0, false},
		"answered, usage unknown":            {&model.Response{}, nil, 0, false},
		"answered with a cost of its own":    {&model.Response{CostUSD: ptr(0.0002)}, nil, 0.0002, true},
		"answered with nothing used at all":  {&model.Response{Usage: &model.Usage{}}, nil, 0, true},
		"cancelled before, by somebody else": {nil, fault.New(fault.Cancelled, "stopped", nil), 0, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := answers("openai")
			p.complete = func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
				return test.resp, test.err
			}
			g := open(t, dollar(), gateway.Entry{Provider: p})
			b := gateway.NewBudget(0.0094, nil)
			_, _ = g.Complete(t.Context(), within(b), sized(0, 900), nil)
			if math.Abs(b.Spent()-test.spent) > 1e-12 {
				t.Errorf("spent %v, want %v", b.Spent(), test.spent)
			}
			_, _ = g.Complete(t.Context(), within(b), sized(0, 900), nil)
			if again := p.calls.Load() == 2; again != test.fits {
				t.Errorf("a second call: %v", again)
			}
		})
	}
}

// TestFallbackBudget: a fallback that does not fit ends the search, and the
// first provider's error stays what it was.
func TestFallbackBudget(t *testing.T) {
	opts := gateway.Options{Prices: map[string]gateway.Price{"openai/m": {Output: ptr(1.0)}, "rich/m": {Output: ptr(1000.0)}}}
	g := open(t, opts, gateway.Entry{Provider: fails("openai", unavailable("openai"))},
		gateway.Entry{Provider: answers("rich"), AnyModel: true, Fallback: true},
		gateway.Entry{Provider: answers("cheap"), AnyModel: true, Fallback: true, Priority: 1})
	_, err := g.Complete(t.Context(), within(gateway.NewBudget(0.001, nil)), sized(0, 100), nil)
	if fault.KindOf(err) != fault.Transient || !strings.Contains(err.Error(), "rich: the call to rich was not made: $0.00 of the budget of $0.00100 is spent") || strings.Contains(err.Error(), "cheap") {
		t.Errorf("got %v (%v)", err, fault.KindOf(err))
	}
}
