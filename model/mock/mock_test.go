package mock_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/mock"
	"github.com/agentloom/agentloom/value"
)

func provider(t testing.TB, cfg mock.Config) *mock.Provider {
	t.Helper()
	p, err := mock.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ask(step string) *model.Request {
	return &model.Request{StepID: step, Model: "gpt-4o-mini", Messages: []model.Message{{Role: model.User, Text: "Hi"}}}
}

// texts makes calls for a step and joins the answers.
func texts(t *testing.T, p *mock.Provider, steps ...string) string {
	t.Helper()
	var out []string
	for _, step := range steps {
		r, err := p.Complete(t.Context(), ask(step), nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r.Text)
	}
	return strings.Join(out, " ")
}

func ptr[T any](v T) *T { return &v }

func TestResponses(t *testing.T) {
	tests := map[string]struct {
		json string
		want model.Response
	}{
		"all": {
			`{"content": "c", "model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 8, "reasoning_tokens": 2, "cached_tokens": 1}, "cost_usd": 0.25, "latency_ms": 5, "finish_reason": "length", "tool_calls": [{"id": "a", "name": "f", "arguments": {"x": [1, 2.50]}}], "reasoning": "hm", "embeddings": [[1]]}`,
			model.Response{Text: "c", Model: "m", FinishReason: "length", CostUSD: ptr(0.25), Reasoning: "hm",
				ToolCalls: []model.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":[1,2.50]}`}},
				Usage:     &model.Usage{PromptTokens: 3, CompletionTokens: 4, TotalTokens: 8, ReasoningTokens: 2, CachedTokens: 1}},
		},
		"content only": {`{"content": "c"}`, model.Response{Text: "c", Model: "gpt-4o-mini", FinishReason: "stop", CostUSD: ptr(0.0)}},
		"nothing":      {`{}`, model.Response{Model: "gpt-4o-mini", FinishReason: "stop", CostUSD: ptr(0.0)}},
		"tool calls": {
			`{"tool_calls": [{"name": "f"}, {"id": "call_1", "name": "g", "arguments": null}, {"id": "call_1", "name": "h", "arguments": "{\"x\": "}, {"name": "", "arguments": ""}]}`,
			model.Response{Model: "gpt-4o-mini", FinishReason: "tool_calls", CostUSD: ptr(0.0), ToolCalls: []model.ToolCall{
				{ID: "call_2", Name: "f", Arguments: "{}"}, {ID: "call_1", Name: "g", Arguments: "{}"},
				{ID: "call_3", Name: "h", Arguments: `{"x": `}, {ID: "call_4", Name: ""}}},
		},
		"empty lists": {`{"tool_calls": [], "embeddings": []}`, model.Response{Model: "gpt-4o-mini", FinishReason: "stop", CostUSD: ptr(0.0)}},
		"nulls": {
			`{"content": null, "model": null, "usage": null, "latency_ms": null, "finish_reason": null, "tool_calls": null, "reasoning": null}`,
			model.Response{Model: "gpt-4o-mini", FinishReason: "stop", CostUSD: ptr(0.0)},
		},
		"cost not known": {`{"cost_usd": null}`, model.Response{Model: "gpt-4o-mini", FinishReason: "stop"}},
		"a total to compute": {
			`{"usage": {"prompt_tokens": 3, "completion_tokens": 4, "reasoning_tokens": null}}`,
			model.Response{Model: "gpt-4o-mini", FinishReason: "stop", CostUSD: ptr(0.0), Usage: &model.Usage{PromptTokens: 3, CompletionTokens: 4, TotalTokens: 7}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := provider(t, mock.Config{Responses: []byte(`{"s": ` + test.json + `}`)})
			got, err := p.Complete(t.Context(), ask("s"), nil)
			if err != nil {
				t.Fatal(err)
			}
			test.want.Provider = "mock"
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoMatch(t *testing.T) {
	for _, responses := range []string{"", `{}`, `{"other": {"content": "x"}}`} {
		p := provider(t, mock.Config{Name: "canned", Responses: []byte(responses)})
		got, err := p.Complete(t.Context(), ask("s"), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := &model.Response{
			Text: "Mock response", Model: "gpt-4o-mini", Provider: "canned", FinishReason: "stop",
			Usage: &model.Usage{}, CostUSD: ptr(0.0), Raw: []byte(`{"request_sha256":"` + mock.Hash(ask("s")) + `"}`),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: response (-want +got):\n%s", responses, diff)
		}
	}
}

// TestOrder checks which key wins: the qualified id, the step's own id, the
// request's hash.
func TestOrder(t *testing.T) {
	hash := mock.Hash(ask(""))
	full := `"a.b.c": {"content": "qualified"}, "c": {"content": "own"}, "` + hash + `": {"content": "hash"}`
	parts := strings.SplitAfter(full, "},")
	p := provider(t, mock.Config{Responses: []byte("{" + full + "}")})
	if got := texts(t, p, "a.b.c", "c", "x.c", "b.c", "other", ""); got != "qualified own own own hash hash" {
		t.Errorf("got %q", got)
	}
	p = provider(t, mock.Config{Responses: []byte("{" + parts[2] + "}")})
	if got := texts(t, p, "a.b.c"); got != "hash" {
		t.Errorf("got %q", got)
	}
}

func TestTurns(t *testing.T) {
	p := provider(t, mock.Config{Responses: []byte(`{
		"_version": 2, "_anything": [{"unknown": true}],
		"s": [{"content": "one"}, {"content": "two"}, {"content": "last"}],
		"once": {"content": "same"}
	}`)})
	if got := texts(t, p, "s", "s", "s", "s", "once", "once"); got != "one two last last same same" {
		t.Errorf("got %q", got)
	}
	if got := texts(t, p, "a.s", "b.s", "a.s", "b.s"); got != "one one two two" {
		t.Errorf("steps of two subworkflows share a count: %q", got)
	}
	if got := texts(t, p, "_anything"); got != mock.DefaultText {
		t.Errorf("metadata answered: %q", got)
	}
	q := provider(t, mock.Config{Responses: []byte(`{"` + mock.Hash(ask("")) + `": [{"content": "one"}, {"content": "two"}]}`)})
	if got := texts(t, q, "x", "y", "x", "x"); got != "one one two two" {
		t.Errorf("turns by hash: %q", got)
	}
}

func TestParallelTurns(t *testing.T) {
	var list []string
	for i := range 100 {
		list = append(list, fmt.Sprintf(`{"content": "%d"}`, i))
	}
	p := provider(t, mock.Config{Responses: []byte(`{"s": [` + strings.Join(list, ",") + `]}`)})
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			r, err := p.Complete(t.Context(), ask("s"), nil)
			if err != nil {
				t.Error(err)
				return
			}
			r.CostUSD = nil
			mu.Lock()
			defer mu.Unlock()
			seen[r.Text] = true
		})
	}
	wg.Wait()
	if len(seen) != 100 {
		t.Errorf("%d different turns, want 100", len(seen))
	}
}

// TestAnswersAreCopies checks that a caller that changes an answer does not
// change the next one.
func TestAnswersAreCopies(t *testing.T) {
	p := provider(t, mock.Config{Responses: []byte(`{"s": {"usage": {"prompt_tokens": 1}, "cost_usd": 2}}`)})
	first, err := p.Complete(t.Context(), ask("s"), nil)
	if err != nil {
		t.Fatal(err)
	}
	first.Usage.PromptTokens, *first.CostUSD = 99, 99
	second, err := p.Complete(t.Context(), ask("s"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if second.Usage.PromptTokens != 1 || *second.CostUSD != 2 {
		t.Errorf("got %+v", second)
	}
}

func TestBadResponses(t *testing.T) {
	tests := map[string]struct{ json, want string }{
		"no JSON":            {"hello", "r.json:1:1: this is no JSON: "},
		"UTF-16":             {"\xff\xfe{\x00}\x00", "r.json:1:1: this is no JSON"},
		"broken":             {"{\n  \"a\": {\"content\": \"x\"},\n  \"ü\": ?\n}", "r.json:3:8: this is no JSON"},
		"a missing comma":    {"{\"a\": {\"content\": \"x\"}\n\"b\": 1}", "r.json:2:1: this is no JSON"},
		"an extra comma":     {`{"a": {"content": "x",}}`, "r.json:1:23: this is no JSON"},
		"ends early":         {"{\"a\": {\"content\": \"x\"", "r.json:1:22: the JSON ends too early"},
		"ends in a string":   {`{"a": {"content": "x`, "the JSON ends too early"},
		"empty":              {" \n", "r.json:2:1: the JSON ends too early"},
		"more":               {"{}\n{}", "r.json:2:1: this is no JSON: invalid character '{' after top-level value"},
		"a list":             {`[{"content": "x"}]`, "r.json:1:1: the responses must be an object, keyed by step id"},
		"null":               {`null`, "must be an object"},
		"a string":           {`{"a": "hello"}`, `r.json:1:7: "a" must be a response, as in {"content": "…"}, or a list`},
		"a number":           {`{"a": 1}`, `"a" must be a response`},
		"null response":      {`{"a": null}`, `"a" must be a response`},
		"a string as turn":   {`{"a": [{"content": "x"}, "y"]}`, `r.json:1:26: turn 2 of "a" must be a response`},
		"a list as turn":     {`{"a": [[]]}`, `turn 1 of "a" must be a response`},
		"no turns":           {`{"a": []}`, `r.json:1:7: "a" is an empty list`},
		"key twice":          {"{\"a\": {},\n\"a\": {}}", `r.json:2:1: the key "a" stands twice`},
		"field twice":        {`{"a": {"content": "x", "content": "y"}}`, `"a" has the key "content" twice`},
		"unknown field":      {"{\"a\": {\n\t\"contnet\": \"x\"}}", `r.json:2:2: "a" has the unknown key "contnet"; did you mean "content"?`},
		"far from all":       {`{"a": {"zzz": 1}}`, `"a" has the unknown key "zzz"; a response may have content, cost_usd,`},
		"unknown in a turn":  {`{"a": [{}, {"zzz": 1}]}`, `turn 2 of "a" has the unknown key "zzz"`},
		"content":            {`{"a": {"content": 5}}`, `r.json:1:19: content of "a" must be a string, not 5`},
		"model":              {`{"a": {"model": ["m"]}}`, `model of "a" must be a string, not ["m"]`},
		"finish_reason":      {`{"a": {"finish_reason": {}}}`, `finish_reason of "a" must be a string`},
		"usage":              {`{"a": {"usage": 5}}`, `usage of "a" must be an object of token counts`},
		"unknown count":      {`{"a": {"usage": {"tokens": 5}}}`, `usage of "a" has the unknown key "tokens"; it may have cached_tokens,`},
		"part of a token":    {`{"a": {"usage": {"prompt_tokens": 1.5}}}`, `usage of "a" must be an object of token counts`},
		"negative count":     {`{"a": {"usage": {"prompt_tokens": -1}}}`, `usage of "a" has a negative prompt_tokens`},
		"cost":               {`{"a": {"cost_usd": "free"}}`, `cost_usd of "a" must be a number of US dollars, 0 or more, not "free"`},
		"negative cost":      {`{"a": {"cost_usd": -1}}`, `cost_usd of "a" must be`},
		"latency":            {`{"a": {"latency_ms": true}}`, `latency_ms of "a" must be a number of milliseconds`},
		"negative latency":   {`{"a": {"latency_ms": -1}}`, `latency_ms of "a" must be`},
		"endless latency":    {`{"a": {"latency_ms": 1e300}}`, `latency_ms of "a" must be`},
		"bad tool calls":     {`{"a": {"tool_calls": [{"nme": "f"}]}}`, `tool_calls of "a" must be a list of calls`},
		"nameless tool call": {`{"a": {"tool_calls": [{"arguments": {}}]}}`, `tool_calls of "a" has no name in call 1`},
		"bad arguments":      {`{"a": {"tool_calls": [{"name": "f", "arguments": [1]}]}}`, `tool_calls of "a" has in call 1 arguments that must be an object, or a string that holds what the model wrote, not [1]`},
		"bad reasoning":      {`{"a": {"reasoning": 5}}`, `reasoning of "a" must be a string`},
		"bad embeddings":     {`{"a": {"embeddings": [1]}}`, `embeddings of "a" must be a list of vectors`},
		"empty vector":       {`{"a": {"embeddings": [[1], []]}}`, `embeddings of "a" has no numbers in vector 2`},
		"odd vector":         {`{"a": {"embeddings": [[1], [1, 2]]}}`, `embeddings of "a" has 2 numbers in vector 2 but 1 in the first`},
		"a long value":       {`{"a": {"content": [` + strings.Repeat("1,", 10_000) + `1]}}`, "1,1…"},
		"deep":               {`{"a": {"content": ` + strings.Repeat("[", 100_000) + `}}`, "this is no JSON"},
		"deep metadata":      {`{"_a": ` + strings.Repeat("[", 100_000), "this is no JSON"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := mock.New(mock.Config{Responses: []byte(test.json), File: "r.json"})
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an invalid error with %q", err, test.want)
			}
			if err != nil && len(err.Error()) > 500 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestByteOrderMark(t *testing.T) {
	p := provider(t, mock.Config{Responses: []byte("\ufeff{\"s\": {\"content\": \"x\"}}")})
	if got := texts(t, p, "s"); got != "x" {
		t.Errorf("got %q", got)
	}
}

// TestHash checks the hash against what the package's doc says, spelled out by
// hand.
func TestHash(t *testing.T) {
	tests := map[string]struct {
		req  *model.Request
		json string
	}{
		"plain":               {ask("any.step"), `{"messages":[{"role":"user","text":"Hi"}],"model":"gpt-4o-mini"}`},
		"the step is no part": {ask(""), `{"messages":[{"role":"user","text":"Hi"}],"model":"gpt-4o-mini"}`},
		"all": {
			&model.Request{Model: "m", System: "Be brief.", Temperature: ptr(0.7), MaxTokens: ptr(int64(5)), Messages: []model.Message{
				{Role: model.User, Text: "<ü> \"x\" \n"}, {Role: model.Assistant, Text: "ok"}}},
			`{"max_tokens":5,"messages":[{"role":"user","text":"<ü> \"x\" \n"},{"role":"assistant","text":"ok"}],"model":"m","system":"Be brief.","temperature":0.7}`,
		},
		"tools": {
			&model.Request{
				Model:      "m",
				Tools:      []model.ToolSpec{{Name: "f", Parameters: value.MapOf("type", "object", "properties", value.MapOf("b", value.MapOf(), "a", value.MapOf()))}},
				ToolChoice: &model.ToolChoice{Mode: model.NamedTool, Name: "f"}, Thinking: &model.Thinking{Enabled: ptr(true), BudgetTokens: ptr(int64(9)), Level: "low"},
				Schema: value.MapOf("z", int64(1), "y", 2.0),
				Messages: []model.Message{
					{Role: model.User, Text: "Hi", Attachments: []model.Attachment{{Type: model.Image, MediaType: "image/png", Data: []byte{1, 2, 255}}}},
					{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "no part", Name: "f", Arguments: `{"x": 1}`}}, Native: &model.Native{Provider: "no part"}},
					{Role: model.ToolRole, CallID: "no part", ToolName: "f", Text: "bad", IsError: true},
				},
			},
			`{"messages":[{"attachments":[{"data":"AQL/","media_type":"image/png","type":"image","url":""}],"role":"user","text":"Hi"},` +
				`{"role":"assistant","text":"","tool_calls":[{"arguments":"{\"x\": 1}","name":"f"}]},{"is_error":true,"role":"tool","text":"bad","tool_name":"f"}],` +
				`"model":"m","schema":{"y":2.0,"z":1},"thinking":{"budget_tokens":9,"enabled":true,"level":"low"},"tool_choice":{"mode":"tool","name":"f"},` +
				`"tools":[{"description":"","name":"f","parameters":{"properties":{"a":{},"b":{}},"type":"object"}}]}`,
		},
		"whole temperature": {
			&model.Request{Model: "m", Temperature: ptr(1.0), Messages: []model.Message{}},
			`{"messages":[],"model":"m","temperature":1.0}`,
		},
	}
	for name, test := range tests {
		sum := sha256.Sum256([]byte(test.json))
		if got, want := mock.Hash(test.req), hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// took is how long a call takes, in the bubble's time.
func took(t *testing.T, cfg mock.Config, req *model.Request) (d time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := provider(t, cfg)
		start := time.Now()
		if _, err := p.Complete(t.Context(), req, nil); err != nil {
			t.Error(err)
		}
		d = time.Since(start)
	})
	return d
}

func TestLatency(t *testing.T) {
	responses := []byte(`{"s": {"latency_ms": 30.5}, "none": {}}`)
	tests := map[string]struct {
		cfg  mock.Config
		step string
		want time.Duration
	}{
		"no model":               {mock.Config{}, "s", 0},
		"a number alone":         {mock.Config{LatencyMS: ptr(250.0)}, "s", 250 * time.Millisecond},
		"constant":               {mock.Config{LatencyModel: "constant", LatencyMS: ptr(1.5)}, "s", 1500 * time.Microsecond},
		"constant, no match":     {mock.Config{LatencyModel: "constant", LatencyMS: ptr(20.0)}, "other", 20 * time.Millisecond},
		"constant 0":             {mock.Config{LatencyModel: "constant", LatencyMS: ptr(0.0)}, "s", 0},
		"replay":                 {mock.Config{LatencyModel: "replay"}, "s", 30500 * time.Microsecond},
		"replay without one":     {mock.Config{LatencyModel: "replay"}, "none", 0},
		"replay with a setting":  {mock.Config{LatencyModel: "replay", LatencyMS: ptr(7.0)}, "none", 7 * time.Millisecond},
		"replay over a setting":  {mock.Config{LatencyModel: "replay", LatencyMS: ptr(7.0)}, "s", 30500 * time.Microsecond},
		"normal around nothing":  {mock.Config{LatencyModel: "normal", LatencyMS: ptr(0.0)}, "s", 0},
		"replay, nothing canned": {mock.Config{LatencyModel: "replay"}, "other", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.cfg.Responses = responses
			if got := took(t, test.cfg, ask(test.step)); got != test.want {
				t.Errorf("took %v, want %v", got, test.want)
			}
		})
	}
}

// TestNormalLatency checks mean, spread and that runs repeat.
func TestNormalLatency(t *testing.T) {
	cfg := mock.Config{LatencyModel: "normal", LatencyMS: ptr(100.0)}
	var sum, squares float64
	const n = 400
	for i := range n {
		req := ask("s")
		req.System = fmt.Sprint(i)
		d := took(t, cfg, req)
		if again := took(t, cfg, req); again != d {
			t.Fatalf("the same request took %v and %v", d, again)
		}
		ms := d.Seconds() * 1000
		sum += ms
		squares += (ms - 100) * (ms - 100)
	}
	if mean := sum / n; mean < 95 || mean > 105 {
		t.Errorf("mean %v ms, want about 100", mean)
	}
	if variance := squares / n; variance < 15*15 || variance > 25*25 {
		t.Errorf("variance %v, want about 400", variance)
	}
}

func TestBadLatency(t *testing.T) {
	for name, cfg := range map[string]mock.Config{
		"unknown model":      {LatencyModel: "gamma"},
		"constant of what":   {LatencyModel: "constant"},
		"normal around what": {LatencyModel: "normal"},
		"negative":           {LatencyMS: ptr(-1.0)},
		"endless":            {LatencyMS: ptr(1e12)},
	} {
		if _, err := mock.New(cfg); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: got %v, want an invalid setting", name, err)
		}
	}
}

func TestWaitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := provider(t, mock.Config{LatencyMS: ptr(60_000.0)})
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Complete(ctx, ask("s"), nil)
		if fault.KindOf(err) != fault.Timeout || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		stopped, stop := context.WithCancelCause(t.Context())
		go func() {
			time.Sleep(time.Second)
			stop(fault.New(fault.Budget, "the money is spent", nil))
		}()
		_, err = p.Complete(stopped, ask("s"), nil)
		if fault.KindOf(err) != fault.Budget || !strings.Contains(err.Error(), "the money is spent") {
			t.Errorf("the cause is lost: %v", err)
		}
		fast := provider(t, mock.Config{})
		if _, err := fast.Complete(stopped, ask("s"), nil); err == nil {
			t.Error("a call of a context that had ended succeeded")
		}
	})
}

func FuzzResponses(f *testing.F) {
	f.Add([]byte(`{"s": [{"content": "x", "usage": {"prompt_tokens": 1}, "cost_usd": 0.5, "latency_ms": 3}, {}], "_v": 1}`))
	f.Add([]byte(`{"s": {"tool_calls": [{"name": "f", "arguments": {}}]}}`))
	f.Add([]byte("{\"s\": {\"content\": \"\\ud800\"}, \xff}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := mock.New(mock.Config{Responses: src, File: "f"})
		if err != nil {
			if fault.KindOf(err) != fault.Invalid || !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("an error without kind or place: %v", err)
			}
			return
		}
		var streamed strings.Builder
		r, err := p.Complete(t.Context(), ask("s"), func(d model.Delta) { streamed.WriteString(d.Reasoning + d.Text) })
		if err != nil {
			t.Fatal(err)
		}
		if streamed.String() != r.Reasoning+r.Text {
			t.Errorf("streamed %q of %+v", &streamed, r)
		}
		if _, err := p.Embed(t.Context(), embed("s", "x")); fault.KindOf(err) != fault.Permanent && err != nil {
			t.Error(err)
		}
	})
}
