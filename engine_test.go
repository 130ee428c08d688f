package agentloom_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

func TestMain(m *testing.M) {
	// Google's SDK brings a package that starts this one when it is imported.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

// provider answers with a function.
type provider struct {
	model.NoEmbeddings
	name string
	fn   func(*model.Request) (*model.Response, error)
}

func (p provider) Name() string { return p.name }

func (p provider) Complete(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Response, error) {
	return p.fn(req)
}

// echo answers with what it was asked, three tokens for half a cent.
func echo(name string) gateway.Entry {
	cost := 0.005
	return gateway.Entry{AnyModel: true, Provider: provider{name: name, fn: func(req *model.Request) (*model.Response, error) {
		return &model.Response{
			Text: req.Model + ":" + req.Messages[0].Text, Model: req.Model, Provider: name,
			Usage:   &model.Usage{PromptTokens: 2, CompletionTokens: 1, TotalTokens: 3},
			CostUSD: &cost, FinishReason: model.FinishStop,
		}, nil
	}}}
}

func load(t *testing.T, src string) *workflow.Definition {
	t.Helper()
	def, diagnostics := wfyaml.Load("test.yaml", []byte(src))
	if err := diagnostics.Err(); err != nil {
		t.Fatal(err)
	}
	return def
}

func engine(t *testing.T, cfg agentloom.Config) *agentloom.Engine {
	t.Helper()
	e, err := agentloom.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const triage = `
name: triage
config: {provider: fake, model: m}
state: {message: "charged twice", times: 2}
steps:
  - {id: classify, type: llm_call, prompt: "{state.message}", output: category}
  - id: route
    type: router
    depends_on: [classify]
    conditions:
      - {expression: "state.times > 1 and 'charged' in state.category", target: refund}
    default: help
    output: chosen
  - {id: refund, type: tool, depends_on: [route], tool_name: count, tool_args: {text: "{state.category}"}, output: result.refund}
  - {id: help, type: llm_call, depends_on: [route], prompt: hello, output: result.help}
`

func count() tool.Tool {
	return tool.Func("count", "Count letters.", func(_ context.Context, in struct {
		Text string `json:"text"`
	}) (any, error) {
		return map[string]int{"letters": len(in.Text)}, nil
	})
}

func registry(t *testing.T, tools ...tool.Tool) *tool.Registry {
	t.Helper()
	r := tool.NewRegistry(tool.RegistryOptions{})
	for _, x := range tools {
		if err := r.Register(x); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestARunsResult(t *testing.T) {
	e := engine(t, agentloom.Config{Providers: []gateway.Entry{echo("fake")}, Tools: registry(t, count())})
	res, err := e.Run(t.Context(), load(t, triage), agentloom.RunOptions{RunID: "run-1"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := value.DecodeJSON(b)
	if err != nil {
		t.Fatal(err)
	}
	got := value.Native(doc).(map[string]any)
	steps := got["step_results"].(map[string]any)
	for _, s := range append([]any{got}, steps["classify"], steps["route"], steps["refund"]) {
		m := s.(map[string]any)
		for _, k := range []string{"duration_ms", "total_duration_ms"} {
			if d, has := m[k]; has && d.(float64) < 0 {
				t.Errorf("%s is %v", k, d)
			}
			delete(m, k)
		}
	}
	delete(steps["help"].(map[string]any), "duration_ms")
	step := func(id, status string, output, err any, attempts int) map[string]any {
		return map[string]any{
			"step_id": id, "status": status, "output": output, "error": err, "attempts": int64(attempts),
			"token_usage": nil, "cost_usd": nil, "model": nil, "provider": nil, "attachment_count": nil,
			"time_to_first_token_ms": nil, "finish_reason": nil,
		}
	}
	classify := step("classify", "success", "m:charged twice", nil, 1)
	classify["model"], classify["provider"], classify["finish_reason"], classify["cost_usd"] = "m", "fake", "stop", 0.005
	classify["attachment_count"] = int64(0)
	classify["token_usage"] = map[string]any{
		"prompt_tokens": int64(2), "completion_tokens": int64(1), "total_tokens": int64(3), "reasoning_tokens": int64(0),
	}
	want := map[string]any{
		"workflow_name": "triage", "run_id": "run-1", "status": "success", "error": nil, "annotations": nil,
		"total_tokens": int64(3), "total_cost_usd": 0.005,
		"final_state": map[string]any{
			"message": "charged twice", "times": int64(2), "category": "m:charged twice", "chosen": "refund",
			"result": map[string]any{"refund": map[string]any{"letters": int64(15)}},
		},
		"step_results": map[string]any{
			"classify": classify,
			"route":    step("route", "success", "refund", nil, 1),
			"refund":   step("refund", "success", map[string]any{"letters": int64(15)}, nil, 1),
			"help":     step("help", "skipped", nil, `router "route" chose "refund"`, 0),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the result differs (-want +got):\n%s", diff)
	}
}

func TestRunOptionsReplaceStateProviderAndModel(t *testing.T) {
	e := engine(t, agentloom.Config{Providers: []gateway.Entry{echo("fake"), echo("other")}, Tools: registry(t, count())})
	res, err := e.Run(t.Context(), load(t, triage), agentloom.RunOptions{
		State: value.MapOf("message", "hi", "extra", true), Provider: "other", Model: "big",
	})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := res.Step("classify")
	if s.Provider != "other" || s.Output != "big:hi" {
		t.Errorf("classify was answered by %q with %v", s.Provider, s.Output)
	}
	if v, _ := res.FinalState.Get("extra"); v != true {
		t.Errorf("the extra key is %v", v)
	}
}

func TestAFailedRunIsAResult(t *testing.T) {
	bad := gateway.Entry{AnyModel: true, Provider: provider{name: "fake", fn: func(*model.Request) (*model.Response, error) {
		return nil, &fault.Error{Kind: fault.Permanent, Status: 401, Message: "the key was rejected"}
	}}}
	e := engine(t, agentloom.Config{Providers: []gateway.Entry{bad}, Tools: registry(t, count())})
	res, err := e.Run(t.Context(), load(t, triage), agentloom.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != event.Failed || res.Err() == nil || !strings.Contains(res.Error, "the key was rejected") {
		t.Errorf("the run ended %s: %s", res.Status, res.Error)
	}
	s, _ := res.Step("route")
	if s.Status != event.Skipped || s.Error != `step "classify" failed` {
		t.Errorf("route is %s: %s", s.Status, s.Error)
	}
	if s, _ := res.Step("classify"); s.Attempts != 1 {
		t.Errorf("a rejected key was tried %d times", s.Attempts)
	}
}

func TestAnUnknownCostIsNotZero(t *testing.T) {
	unpriced := gateway.Entry{AnyModel: true, Provider: provider{name: "fake", fn: func(*model.Request) (*model.Response, error) {
		return &model.Response{Text: "charged", Usage: &model.Usage{TotalTokens: 9}}, nil
	}}}
	e := engine(t, agentloom.Config{Providers: []gateway.Entry{unpriced}, Tools: registry(t, count())})
	res, _ := e.Run(t.Context(), load(t, triage), agentloom.RunOptions{})
	if res.TotalCostUSD != nil {
		t.Errorf("the cost is %v, want unknown", *res.TotalCostUSD)
	}
	if res.TotalTokens == nil || *res.TotalTokens != 9 {
		t.Errorf("the tokens are %v, want 9", res.TotalTokens)
	}
}

// Each run's events tell of what its calls should warn of, once a model, also
// in a second run of the engine.
func TestTheGatewaysWarningsAreEvents(t *testing.T) {
	unpriced := gateway.Entry{AnyModel: true, Provider: provider{name: "fake", fn: func(req *model.Request) (*model.Response, error) {
		if req.Model == "broken" {
			return nil, fault.New(fault.Transient, "down", nil)
		}
		return &model.Response{Text: "charged", Usage: &model.Usage{TotalTokens: 9}}, nil
	}}}
	e := engine(t, agentloom.Config{Providers: []gateway.Entry{unpriced}})
	for range 2 {
		var got []string
		_, err := e.Run(t.Context(), load(t, `
name: f
config: {provider: fake, model: m}
steps:
  - {id: a, type: llm_call, prompt: hi}
  - {id: b, type: llm_call, prompt: hi, depends_on: [a]}
  - {id: c, type: llm_call, model: n, prompt: hi, depends_on: [b]}
`), agentloom.RunOptions{Observer: event.ObserverFunc(func(ev event.Event) {
			if w, ok := ev.Data.(event.Warning); ok {
				got = append(got, ev.Address+": "+w.Message[:min(30, len(w.Message))])
			}
		})})
		want := []string{`a: the price of model "m" at fake`[:33], `c: the price of model "n" at fake`[:33]}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
	var got []string
	_, _ = e.Run(t.Context(), load(t, `
name: f
config: {provider: fake, model: broken}
steps:
  - {id: a, type: llm_call, prompt: hi, retry: {max_retries: 6, backoff_max: 0.001}}
`), agentloom.RunOptions{Observer: event.ObserverFunc(func(ev event.Event) {
		if w, ok := ev.Data.(event.Warning); ok {
			got = append(got, ev.Address+": "+w.Message)
		}
	})})
	if diff := cmp.Diff([]string{"a: the circuit of provider fake is open (it was closed)"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTokensOfFailedAttemptsCount(t *testing.T) {
	calls, cost := 0, 0.25
	flaky := gateway.Entry{AnyModel: true, Provider: provider{name: "fake", fn: func(*model.Request) (*model.Response, error) {
		calls++
		r := &model.Response{Text: "charged", Usage: &model.Usage{TotalTokens: 5}, CostUSD: &cost}
		if calls == 1 {
			r.Text = ""
		}
		return r, nil
	}}}
	def := load(t, triage)
	def.Steps[0].Retry.BackoffMax = 0.001
	e := engine(t, agentloom.Config{Providers: []gateway.Entry{flaky}, Tools: registry(t, count())})
	res, _ := e.Run(t.Context(), def, agentloom.RunOptions{})
	s, _ := res.Step("classify")
	if s.Attempts != 2 || s.Usage.TotalTokens != 10 || *s.CostUSD != 0.5 || *res.TotalCostUSD != 0.5 {
		t.Errorf("after two paid attempts: %+v, total %v", s, *res.TotalCostUSD)
	}
}

func TestWhatCannotStartIsAnError(t *testing.T) {
	e := engine(t, agentloom.Config{})
	_, err := e.Run(t.Context(), &workflow.Definition{Name: "empty"}, agentloom.RunOptions{})
	if _, ok := errors.AsType[*workflow.InvalidError](err); !ok {
		t.Errorf("an empty definition: %v", err)
	}
	_, err = e.Run(t.Context(), load(t, triage), agentloom.RunOptions{RunID: "../up"})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("a run id that is a path: %v", err)
	}
}

func TestManyRunsAtOnce(t *testing.T) {
	e := engine(t, agentloom.Config{Providers: []gateway.Entry{echo("fake")}, Tools: registry(t, count())})
	def := load(t, triage)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			msg := fmt.Sprintf("charged %d", i)
			res, err := e.Run(t.Context(), def, agentloom.RunOptions{State: value.MapOf("message", msg)})
			if err != nil || res.Status != event.Success {
				t.Errorf("run %d: %v %v", i, res, err)
				return
			}
			if v, _ := res.FinalState.Get("category"); v != "m:"+msg {
				t.Errorf("run %d got another's state: %v", i, v)
			}
		})
	}
	wg.Wait()
}

func TestObserversSeeEveryRunInOrder(t *testing.T) {
	var all, own []string
	record := func(to *[]string) event.Observer {
		return event.ObserverFunc(func(e event.Event) { *to = append(*to, e.Kind()+" "+e.Address) })
	}
	e := engine(t, agentloom.Config{
		Providers: []gateway.Entry{echo("fake")}, Tools: registry(t, count()), Observers: []event.Observer{record(&all)},
	})
	if _, err := e.Run(t.Context(), load(t, triage), agentloom.RunOptions{Observer: record(&own)}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"run_started ", "step_started classify", "model_turn classify/turn[1]", "step_finished classify", "step_started route",
		"step_finished route", "step_skipped help", "step_started refund", "tool_started refund",
		"tool_finished refund", "step_finished refund", "run_ended ",
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(all, own); diff != "" {
		t.Errorf("the run's own observer saw others:\n%s", diff)
	}
}
