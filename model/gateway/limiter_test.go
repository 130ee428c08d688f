package gateway_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
)

// starts is a provider that notes when its calls start, and reports usage.
func starts(usage *model.Usage, err error) (*fake, func() []time.Duration) {
	var mu sync.Mutex
	var at []time.Duration
	began := time.Now()
	note := func() {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Since(began))
	}
	f := &fake{name: "openai"}
	f.complete = func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
		note()
		if err != nil {
			return nil, err
		}
		return &model.Response{Usage: usage}, nil
	}
	f.embed = func(context.Context, *model.EmbedRequest) (*model.EmbedResponse, error) {
		note()
		return &model.EmbedResponse{Usage: usage}, err
	}
	return f, func() []time.Duration { return at }
}

// TestRequestsPerMinute: in no minute more than rpm calls start, and as many as
// that over a longer time.
func TestRequestsPerMinute(t *testing.T) {
	for _, rpm := range []int{1, 2, 7, 60, 600} {
		synctest.Test(t, func(t *testing.T) {
			p, at := starts(nil, nil)
			g := open(t, gateway.Options{}, gateway.Entry{Provider: p, RPM: rpm})
			var wg sync.WaitGroup
			for range 3 * rpm {
				wg.Go(func() {
					if _, err := g.Complete(t.Context(), to("gpt-4o"), ask(), nil); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			times := at()
			for i := range times {
				// A nanosecond is the buckets' own rounding.
				if next := i + rpm; next < len(times) && times[next]-times[i] < time.Minute-time.Microsecond {
					t.Fatalf("rpm %d: calls %d and %d start within %v", rpm, i, next, times[next]-times[i])
				}
			}
			if last := times[len(times)-1]; last > 200*time.Second {
				t.Errorf("rpm %d: %d calls took %v", rpm, len(times), last)
			}
		})
	}
}

func TestNoLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, at := starts(nil, nil)
		g := open(t, gateway.Options{}, gateway.Entry{Provider: p})
		for range 1000 {
			_, _ = g.Complete(t.Context(), to("gpt-4o"), ask(), nil)
		}
		if last := at()[999]; last != 0 {
			t.Errorf("waited %v", last)
		}
	})
}

// TestTokensPerMinute: a bucket of 600 tokens fills with ten a second.
func TestTokensPerMinute(t *testing.T) {
	request := func(maxTokens int64) *model.Request {
		return &model.Request{MaxTokens: &maxTokens, Messages: []model.Message{{Role: model.User, Text: strings.Repeat("word ", 80)}}} // 100 tokens
	}
	tests := map[string]struct {
		usage     *model.Usage
		err       error
		maxTokens int64
		want      []time.Duration
	}{
		"the estimate stands where nothing is reported": {nil, nil, 200, []time.Duration{0, 0, 30 * time.Second, 60 * time.Second}},
		"tokens that were not used come back":           {&model.Usage{PromptTokens: 50, CompletionTokens: 50}, nil, 500, []time.Duration{0, 10 * time.Second, 20 * time.Second, 30 * time.Second}},
		"more than the estimate is taken as well":       {&model.Usage{PromptTokens: 100, CompletionTokens: 500}, nil, 200, []time.Duration{0, 30 * time.Second, 90 * time.Second, 150 * time.Second}},
		"a call larger than the bucket takes it whole":  {nil, nil, 9000, []time.Duration{0, 60 * time.Second, 120 * time.Second, 180 * time.Second}},
		"a failed call gets all back":                   {nil, status(fault.Permanent, 400, "no"), 500, []time.Duration{0, 0, 0, 0}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, at := starts(test.usage, test.err)
				g := open(t, gateway.Options{}, gateway.Entry{Provider: p, TPM: 600})
				for range test.want {
					_, _ = g.Complete(t.Context(), to("gpt-4o"), request(test.maxTokens), nil)
				}
				for i, got := range at() {
					if d := got - test.want[i]; d.Abs() > time.Millisecond {
						t.Errorf("call %d started at %v, want %v", i, got, test.want[i])
					}
				}
			})
		})
	}
}

// TestNonsenseUsage: a number beyond reason delays, and does not stop for ever.
func TestNonsenseUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, at := starts(&model.Usage{PromptTokens: 1 << 62, CompletionTokens: 1 << 62}, nil)
		g := open(t, gateway.Options{}, gateway.Entry{Provider: p, TPM: 100})
		for range 2 {
			if _, err := g.Complete(t.Context(), to("gpt-4o"), ask(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if wait := at()[1]; wait < time.Minute || wait > time.Hour {
			t.Errorf("the second call started after %v", wait)
		}
	})
}

func TestLimitedEmbeddings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, at := starts(nil, nil)
		g := open(t, gateway.Options{}, gateway.Entry{Provider: p, TPM: 60, RPM: 60})
		for range 2 {
			_, _ = g.Embed(t.Context(), to("text-embedding-3-small"), &model.EmbedRequest{Inputs: []string{strings.Repeat("x", 120), strings.Repeat("y", 120)}})
		}
		if wait := at()[1]; wait != time.Minute {
			t.Errorf("the second call started after %v", wait)
		}
	})
}

// TestLimitAndContext: a wait ends with the context, and one that can't end in
// time is not begun: another provider may still make it.
func TestLimitAndContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, at := starts(nil, nil)
		g := open(t, gateway.Options{}, gateway.Entry{Provider: p, RPM: 1, TPM: 100}, gateway.Entry{Provider: answers("ollama"), AnyModel: true, Fallback: true})
		call := func(ctx context.Context) (*model.Response, error) {
			return g.Complete(ctx, to("gpt-4o"), ask(), nil)
		}
		_, _ = call(t.Context())

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		if _, err := call(ctx); fault.KindOf(err) != fault.Cancelled {
			t.Errorf("cancelled: %v (%v)", err, fault.KindOf(err))
		}
		if _, err := call(ctx); fault.KindOf(err) != fault.Cancelled {
			t.Errorf("cancelled before: %v (%v)", err, fault.KindOf(err))
		}

		short, end := context.WithTimeout(t.Context(), 10*time.Second)
		defer end()
		resp, err := call(short)
		if err != nil || resp.Text != "ollama gpt-4o" {
			t.Errorf("got %+v, %v", resp, err)
		}
		// What waited in vain took nothing from those after it.
		_, _ = call(t.Context())
		if times := at(); len(times) != 2 || times[1] != time.Minute {
			t.Errorf("calls at %v", times)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p, _ := starts(nil, nil)
		g := open(t, gateway.Options{}, gateway.Entry{Provider: p, RPM: 1})
		_, _ = g.Complete(t.Context(), to("gpt-4o"), ask(), nil)
		short, end := context.WithTimeout(t.Context(), 10*time.Second)
		defer end()
		_, err := g.Complete(short, to("gpt-4o"), ask(), nil)
		if fault.KindOf(err) != fault.Transient || err.Error() != "openai: its rate limit makes the call wait 1m0s, and its time runs out before" {
			t.Errorf("got %v (%v)", err, fault.KindOf(err))
		}
	})
}
