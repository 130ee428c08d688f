package gateway_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
)

// TestFallbackModels asks who takes over for a provider that is down, and under
// which name.
func TestFallbackModels(t *testing.T) {
	anyName := gateway.Entry{AnyModel: true, Fallback: true}
	listed := func(models ...string) gateway.Entry { return gateway.Entry{Fallback: true, Models: models} }
	tests := map[string]struct {
		fallback gateway.Entry
		name     string
		model    string
		want     string // "" when nobody takes over
	}{
		"any model as written":           {anyName, "ollama", "gpt-4o", "ollama gpt-4o"},
		"with its prefix":                {anyName, "router", "openai/gpt-4o", "router openai/gpt-4o"},
		"a listed one":                   {listed("gpt-4o"), "azure", "gpt-4o", "azure gpt-4o"},
		"listed without the prefix":      {listed("gpt-4o"), "azure", "openai/gpt-4o", "azure gpt-4o"},
		"listed with it":                 {listed("openai/gpt-4o"), "router", "openai/gpt-4o", "router openai/gpt-4o"},
		"not listed":                     {listed("gpt-4o"), "azure", "gpt-4o-mini", ""},
		"no model at all":                {listed(), "azure", "gpt-4o", ""},
		"a list narrows any":             {gateway.Entry{AnyModel: true, Fallback: true, Models: []string{"x"}}, "azure", "gpt-4o", ""},
		"the family":                     {listed(), "anthropic", "claude-sonnet-4", "anthropic claude-sonnet-4"},
		"the family after a prefix":      {listed(), "anthropic", "groq/claude-sonnet-4", ""},
		"its own prefix":                 {listed(), "anthropic", "anthropic/x", "anthropic x"},
		"another's family":               {listed(), "anthropic", "gpt-4o", ""},
		"none that is no fallback":       {gateway.Entry{AnyModel: true}, "azure", "gpt-4o", ""},
		"the family beside another list": {listed("x"), "anthropic", "claude-sonnet-4", "anthropic claude-sonnet-4"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			down := fails("openai", unavailable("openai"))
			test.fallback.Provider = answers(test.name)
			g := open(t, gateway.Options{}, gateway.Entry{Provider: down}, test.fallback)
			sel := gateway.Selection{StepProvider: "openai", Model: test.model}
			req := ask()
			resp, err := g.Complete(t.Context(), sel, req, nil)
			if req.Model != "" {
				t.Errorf("the request was changed: model %q", req.Model)
			}
			switch {
			case test.want == "":
				if err == nil || resp != nil {
					t.Errorf("answered %q", resp.Text)
				}
			case err != nil:
				t.Error(err)
			case resp.Text != test.want:
				t.Errorf("got %q, want %q", resp.Text, test.want)
			}
		})
	}
}

func TestFallbackOrder(t *testing.T) {
	var asked []string
	down := func(name string) *fake {
		f := fails(name, unavailable(name))
		f.complete = func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
			asked = append(asked, name)
			return nil, unavailable(name)
		}
		return f
	}
	entry := func(name string, priority int) gateway.Entry {
		return gateway.Entry{Provider: down(name), AnyModel: true, Fallback: true, Priority: priority}
	}
	g := open(t, gateway.Options{}, entry("late", 9), entry("b", 1), entry("a", 1), entry("first", -2), entry("openai", 0))
	_, err := g.Complete(t.Context(), to("gpt-4o"), ask(), nil)
	if diff := cmp.Diff([]string{"openai", "first", "b", "a", "late"}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	want := "openai: answered 503 Service Unavailable; first: answered 503 Service Unavailable; b: answered 503 Service Unavailable; " +
		"a: answered 503 Service Unavailable; late: answered 503 Service Unavailable"
	if err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestNobodyElse: where no other provider may be tried.
func TestNobodyElse(t *testing.T) {
	backup := answers("ollama")
	fallback := gateway.Entry{Provider: backup, AnyModel: true, Fallback: true}

	t.Run("not registered", func(t *testing.T) {
		_, err := open(t, gateway.Options{}, fallback).Complete(t.Context(), to("gpt-4o"), ask(), nil)
		if err == nil || !strings.Contains(err.Error(), "set OPENAI_API_KEY") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("mock", func(t *testing.T) {
		mock := gateway.Entry{Provider: fails("mock", unavailable("mock")), AnyModel: true}
		sel := gateway.Selection{WorkflowProvider: "mock", Model: "gpt-4o"}
		if _, err := open(t, gateway.Options{}, mock, fallback).Complete(t.Context(), sel, ask(), nil); err == nil {
			t.Error("a trial run reached a service")
		}
	})
	t.Run("the context ended", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		first := fails("openai", nil)
		first.complete = func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
			cancel(fault.New(fault.Cancelled, "stopped by the user", nil))
			return nil, fault.New(fault.Cancelled, "the call to openai was cancelled", nil)
		}
		_, err := open(t, gateway.Options{}, gateway.Entry{Provider: first}, fallback).Complete(ctx, to("gpt-4o"), ask(), nil)
		if fault.KindOf(err) != fault.Cancelled {
			t.Errorf("got %v (%v)", err, fault.KindOf(err))
		}
	})
	t.Run("the budget refused", func(t *testing.T) {
		first := answers("openai")
		sel := to("gpt-4o")
		sel.Budget = gateway.NewBudget(0, nil)
		_, err := open(t, gateway.Options{}, gateway.Entry{Provider: first}, fallback).Complete(t.Context(), sel, ask(), nil)
		if fault.KindOf(err) != fault.Budget || first.calls.Load() != 0 {
			t.Errorf("got %v (%v) after %d calls", err, fault.KindOf(err), first.calls.Load())
		}
	})
	if n := backup.calls.Load(); n > 0 {
		t.Errorf("the fallback was called %d times", n)
	}
}

// TestFinalError: what is left when all have failed.
func TestFinalError(t *testing.T) {
	rejected := status(fault.Permanent, 401, "openai answered 401 Unauthorized: bad key")
	limited := &fault.Error{Kind: fault.Transient, Message: "openai answered 429 Too Many Requests", Status: 429, RetryAfter: 7 * time.Second}
	gone := status(fault.Permanent, 404, "ollama answered 404 Not Found: no such model")
	refused := fault.New(fault.Transient, "ollama at http://localhost:11434 could not be reached: refused", nil)
	tests := map[string]struct {
		first, second error
		want          fault.Error
	}{
		"a rejected key stays permanent": {rejected, refused, fault.Error{Kind: fault.Permanent, Status: 401,
			Message: "openai: answered 401 Unauthorized: bad key; ollama: at http://localhost:11434 could not be reached: refused"}},
		"a limit stays transient": {limited, gone, fault.Error{Kind: fault.Transient, Status: 429, RetryAfter: 7 * time.Second,
			Message: "openai: answered 429 Too Many Requests; ollama: answered 404 Not Found: no such model"}},
		"nobody's kind": {errors.New("boom"), gone, fault.Error{Message: "openai: boom; ollama: answered 404 Not Found: no such model"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := open(t, gateway.Options{},
				gateway.Entry{Provider: fails("openai", test.first)},
				gateway.Entry{Provider: fails("ollama", test.second), AnyModel: true, Fallback: true})
			resp, err := g.Complete(t.Context(), to("gpt-4o"), ask(), nil)
			got, ok := err.(*fault.Error)
			if !ok || resp != nil {
				t.Fatalf("got %#v beside %v", err, resp)
			}
			if !errors.Is(err, test.first) || !errors.Is(err, test.second) {
				t.Error("a cause is lost")
			}
			got.Err = nil
			if diff := cmp.Diff(test.want, *got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("of one provider", func(t *testing.T) {
		g := open(t, gateway.Options{}, gateway.Entry{Provider: fails("openai", rejected)})
		if _, err := g.Complete(t.Context(), to("gpt-4o"), ask(), nil); err != error(rejected) {
			t.Errorf("got %v, want it unchanged", err)
		}
	})
}

// TestTimeRunsOutAtTheFallback: the context's end decides the kind.
func TestTimeRunsOutAtTheFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		slow := fails("ollama", nil)
		slow.complete = func(ctx context.Context, _ *model.Request, _ func(model.Delta)) (*model.Response, error) {
			<-ctx.Done()
			return nil, fault.New(fault.Timeout, "the call to ollama timed out", ctx.Err())
		}
		g := open(t, gateway.Options{},
			gateway.Entry{Provider: fails("openai", status(fault.Permanent, 401, "no"))},
			gateway.Entry{Provider: slow, AnyModel: true, Fallback: true})
		_, err := g.Complete(ctx, to("gpt-4o"), ask(), nil)
		if fault.KindOf(err) != fault.Timeout || err.Error() != "openai: no; ollama: the call to ollama timed out" {
			t.Errorf("got %v (%v)", err, fault.KindOf(err))
		}
	})
}

// TestNoResponse: a provider that returns nothing at all has failed.
func TestNoResponse(t *testing.T) {
	g := open(t, gateway.Options{}, gateway.Entry{Provider: fails("openai", nil)})
	if _, err := g.Complete(t.Context(), to("gpt-4o"), ask(), nil); fault.KindOf(err) != fault.Transient {
		t.Errorf("Complete: %v", err)
	}
	req := &model.EmbedRequest{Inputs: []string{"a"}}
	if _, err := g.Embed(t.Context(), to("gpt-4o"), req); fault.KindOf(err) != fault.Transient {
		t.Errorf("Embed: %v", err)
	}
}

// breaks is a provider whose streams break off after the deltas.
func breaks(name string, err error, deltas ...model.Delta) *fake {
	f := fails(name, err)
	f.complete = func(_ context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
		text := ""
		for _, d := range deltas {
			stream(d)
			text += d.Text
		}
		return &model.Response{Text: text, Provider: name, Model: req.Model, Usage: &model.Usage{PromptTokens: 1000}}, err
	}
	return f
}

func TestBrokenStream(t *testing.T) {
	cut := fault.New(fault.Transient, "openai broke off", nil)
	backup := func() gateway.Entry {
		f := answers("ollama")
		f.complete = func(_ context.Context, _ *model.Request, stream func(model.Delta)) (*model.Response, error) {
			stream(model.Delta{Text: "whole"})
			return &model.Response{Text: "whole", Provider: "ollama", Usage: &model.Usage{PromptTokens: 5, TotalTokens: 5}}, nil
		}
		return gateway.Entry{Provider: f, AnyModel: true, Fallback: true}
	}
	t.Run("after text", func(t *testing.T) {
		g := open(t, gateway.Options{}, gateway.Entry{Provider: breaks("openai", cut, model.Delta{Text: "Hel"})}, backup())
		got := ""
		resp, err := g.Complete(t.Context(), to("gpt-4o"), ask(), func(d model.Delta) { got += d.Text })
		if !errors.Is(err, gateway.ErrStreamBroke) || fault.KindOf(err) != fault.Transient || !errors.Is(err, cut) {
			t.Errorf("got %v (%v)", err, fault.KindOf(err))
		}
		if got != "Hel" || resp == nil || resp.Text != "Hel" || resp.CostUSD == nil || *resp.CostUSD != 0.0025 {
			t.Errorf("sent %q, response %+v", got, resp)
		}
	})
	t.Run("after reasoning", func(t *testing.T) {
		g := open(t, gateway.Options{}, gateway.Entry{Provider: breaks("openai", cut, model.Delta{Reasoning: "hm"})}, backup())
		if _, err := g.Complete(t.Context(), to("gpt-4o"), ask(), func(model.Delta) {}); !errors.Is(err, gateway.ErrStreamBroke) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("before anything", func(t *testing.T) {
		g := open(t, gateway.Options{}, gateway.Entry{Provider: breaks("openai", cut)}, backup())
		got := ""
		resp, err := g.Complete(t.Context(), to("gpt-4o"), ask(), func(d model.Delta) { got += d.Text })
		if err != nil || got != "whole" {
			t.Fatalf("sent %q: %v", got, err)
		}
		// The broken call was billed.
		if resp.Usage.PromptTokens != 1005 || *resp.CostUSD != 0.0025 {
			t.Errorf("usage %+v, cost %v", resp.Usage, *resp.CostUSD)
		}
	})
	t.Run("at the fallback", func(t *testing.T) {
		first := fails("openai", status(fault.Permanent, 401, "bad key"))
		last := breaks("ollama", fault.New(fault.Transient, "ollama broke off", nil), model.Delta{Text: "x"})
		g := open(t, gateway.Options{}, gateway.Entry{Provider: first}, gateway.Entry{Provider: last, AnyModel: true, Fallback: true})
		_, err := g.Complete(t.Context(), to("gpt-4o"), ask(), func(model.Delta) {})
		want := "openai: bad key; ollama: broke off (the stream broke off after text was sent)"
		if !errors.Is(err, gateway.ErrStreamBroke) || fault.KindOf(err) != fault.Transient || err.Error() != want {
			t.Errorf("got %v (%v)", err, fault.KindOf(err))
		}
	})
	t.Run("unclassified", func(t *testing.T) {
		g := open(t, gateway.Options{}, gateway.Entry{Provider: breaks("openai", errors.New("boom"), model.Delta{Text: "x"})})
		if _, err := g.Complete(t.Context(), to("gpt-4o"), ask(), func(model.Delta) {}); fault.KindOf(err) != fault.Transient {
			t.Errorf("got %v (%v)", err, fault.KindOf(err))
		}
	})
}

func TestEmbedFallback(t *testing.T) {
	without := fails("anthropic", nil)
	without.embed = model.NoEmbeddings{}.Embed
	req := &model.EmbedRequest{Inputs: []string{"a"}}
	sel := gateway.Selection{StepProvider: "anthropic", Model: "text-embedding-3-small"}

	t.Run("a provider without them is passed over", func(t *testing.T) {
		g := open(t, gateway.Options{}, gateway.Entry{Provider: without}, gateway.Entry{Provider: answers("openai"), Fallback: true})
		resp, err := g.Embed(t.Context(), sel, req)
		if err != nil || resp.Provider != "openai" || resp.Model != "text-embedding-3-small" || req.Model != "" {
			t.Errorf("got %+v, %v", resp, err)
		}
	})
	t.Run("and does not decide", func(t *testing.T) {
		g := open(t, gateway.Options{}, gateway.Entry{Provider: without}, gateway.Entry{Provider: fails("openai", unavailable("openai")), Fallback: true})
		_, err := g.Embed(t.Context(), sel, req)
		if f, ok := err.(*fault.Error); !ok || f.Kind != fault.Transient || f.Status != 503 || !strings.HasPrefix(f.Message, "anthropic: the service has no embedding models; openai: ") {
			t.Errorf("got %v (%v)", err, fault.KindOf(err))
		}
	})
	t.Run("but where nobody has them", func(t *testing.T) {
		g := open(t, gateway.Options{}, gateway.Entry{Provider: without})
		if _, err := g.Embed(t.Context(), sel, req); !errors.Is(err, model.ErrNoEmbeddings) || fault.KindOf(err) != fault.Permanent {
			t.Errorf("got %v", err)
		}
	})
}
