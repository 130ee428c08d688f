package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/openai"
)

// answered makes one call that is answered with a body, without any network.
func answered(t *testing.T, body string, stream func(model.Delta)) (*model.Response, error) {
	t.Helper()
	kind := "application/json"
	if stream != nil {
		kind = "text/event-stream"
	}
	p := newProvider(t, openai.Config{BaseURL: "http://service.test", HTTPClient: &http.Client{Transport: &canned{kind, []byte(body)}}})
	return p.Complete(t.Context(), ask(), stream)
}

// TestOddForms checks that a field of another type than the documented one is
// as if it were not there, and what is known of services that write another.
func TestOddForms(t *testing.T) {
	with := func(message, more string) string {
		return fmt.Sprintf(`{"model": "m", "choices": [{"message": %s, "finish_reason": "stop"}]%s}`, message, more)
	}
	calls := []model.ToolCall{{ID: "a", Name: "f", Arguments: `{"x": 1}`}, {ID: "call_2", Name: "", Arguments: ""}}
	tests := map[string]struct {
		body string
		want model.Response
	}{
		"numbers for texts":      {with(`{"content": "hi", "refusal": 5, "reasoning": 7}`, `, "system_fingerprint": 9, "service_tier": []`), model.Response{Text: "hi", FinishReason: "stop"}},
		"a number as the text":   {with(`{"content": 42}`, ""), model.Response{Text: "42", FinishReason: "stop"}},
		"text after the answer":  {with(`{"content": "hi"}`, "") + "\ntrailing", model.Response{Text: "hi", FinishReason: "stop"}},
		"an odd second choice":   {`{"model": "m", "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}, 5]}`, model.Response{Text: "hi", FinishReason: "stop"}},
		"an object as arguments": {with(`{"content": null, "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}, null, {"id": "c", "type": "custom"}]}`, ""), model.Response{ToolCalls: calls, FinishReason: "tool_calls"}},
		"calls that are no list": {with(`{"content": "hi", "tool_calls": {"id": "a"}}`, ""), model.Response{Text: "hi", FinishReason: "stop"}},
		"odd parts":              {with(`{"content": [5, {"type": "text", "text": "hi"}, null, {"type": "thinking", "thinking": ["x", {"text": "hm"}]}]}`, ""), model.Response{Text: "hi", Reasoning: "hm", FinishReason: "stop"}},
		"counts in quotes":       {with(`{"content": "hi"}`, `, "usage": {"prompt_tokens": "12", "completion_tokens": 3.0, "total_tokens": 1e400}`), model.Response{Text: "hi", FinishReason: "stop", Usage: &model.Usage{PromptTokens: 12, CompletionTokens: 3, TotalTokens: 15}}},
		"an index in quotes":     {`{"model": "m", "choices": [{"index": "0", "message": {"content": "hi"}, "finish_reason": "stop"}]}`, model.Response{Text: "hi", FinishReason: "stop"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := answered(t, test.body, nil)
			if err != nil {
				t.Fatal(err)
			}
			got.Raw, test.want.Model, test.want.Provider = nil, "m", "openai"
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCallsByTurns streams the pieces of three calls by turns.
func TestCallsByTurns(t *testing.T) {
	var b strings.Builder
	for round := range 3 {
		for i := range 3 {
			begin := ""
			if round == 0 {
				begin = fmt.Sprintf(`"id": "c%d", "function": {"name": "f%d", "arguments": "["}`, i, i)
			} else {
				begin = fmt.Sprintf(`"function": {"arguments": "%d%s"}`, round, strings.Repeat("]", round-1))
			}
			fmt.Fprintf(&b, "data: {\"choices\": [{\"delta\": {\"tool_calls\": [{\"index\": %d, %s}]}}]}\n\n", i, begin)
		}
	}
	b.WriteString("data: [DONE]\n\n")
	r, err := answered(t, b.String(), func(model.Delta) {})
	if err != nil {
		t.Fatal(err)
	}
	want := []model.ToolCall{{ID: "c0", Name: "f0", Arguments: "[12]"}, {ID: "c1", Name: "f1", Arguments: "[12]"}, {ID: "c2", Name: "f2", Arguments: "[12]"}}
	if diff := cmp.Diff(want, r.ToolCalls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestLongLists checks that an answer of many small items does not take many
// times its size in memory, and that the number of tool calls has a bound.
func TestLongLists(t *testing.T) {
	const size = 4 << 20
	items := func(item string) string { return "[" + strings.Repeat(item+",", size/(len(item)+1)) + item + "]" }
	tests := map[string]struct {
		body string
		kind fault.Kind
	}{
		"choices":  {`{"choices": ` + items("{}") + `}`, 0},
		"calls":    {`{"choices": [{"message": {"tool_calls": ` + items("{}") + `}}]}`, fault.Permanent},
		"parts":    {`{"choices": [{"message": {"content": ` + items("{}") + `}}]}`, 0},
		"thinking": {`{"choices": [{"message": {"content": [{"type": "thinking", "thinking": ` + items("{}") + `}]}}]}`, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			allocated(t, 40*size, func() {
				if _, err := answered(t, test.body, nil); fault.KindOf(err) != test.kind {
					t.Errorf("got %v, want kind %v", err, test.kind)
				}
			})
		})
	}
	t.Run("vectors", func(t *testing.T) {
		p := newProvider(t, openai.Config{BaseURL: "http://service.test", HTTPClient: &http.Client{
			Transport: &canned{"application/json", []byte(`{"data": ` + items("{}") + `}`)}}})
		allocated(t, 40*size, func() {
			if _, err := p.Embed(t.Context(), &model.EmbedRequest{Model: "m", Inputs: []string{"a"}}); fault.KindOf(err) != fault.Transient {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("streamed calls", func(t *testing.T) {
		var b strings.Builder
		for i := range 10_001 {
			fmt.Fprintf(&b, "data: {\"choices\": [{\"delta\": {\"tool_calls\": [{\"index\": %d}]}}], \"usage\": {\"total_tokens\": 5}}\n\n", i)
		}
		r, err := answered(t, b.String(), func(model.Delta) {})
		if fault.KindOf(err) != fault.Permanent || r == nil || r.Usage == nil || r.Usage.TotalTokens != 5 {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

// allocated fails the test when f allocates more than a number of bytes.
func allocated(t *testing.T, most uint64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > most {
		t.Errorf("%d MiB were allocated, more than %d", got>>20, most>>20)
	}
}

// meddler adds a header to each request, as no transport should, and reads the
// body twice, as one does that repeats a call on a new connection.
type meddler struct{ seen []string }

func (m *meddler) RoundTrip(r *http.Request) (*http.Response, error) {
	again, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	first, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	second, err := io.ReadAll(again)
	if err != nil {
		return nil, err
	}
	m.seen = append(m.seen, fmt.Sprint(r.Header.Get("X-Meddler"), string(first) == string(second), int64(len(first)) == r.ContentLength))
	r.Header.Set("X-Meddler", "was here")
	return (&canned{"application/json", []byte(`{"choices": [{"message": {"content": "ok"}}]}`)}).RoundTrip(r)
}

// TestRequestsAreApart checks that nothing of one call gets into the next, and
// that a request can be sent again.
func TestRequestsAreApart(t *testing.T) {
	m := &meddler{}
	p := newProvider(t, openai.Config{BaseURL: "http://service.test", HTTPClient: &http.Client{Transport: m}})
	for range 2 {
		if _, err := p.Complete(t.Context(), ask(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"true true", "true true"}, m.seen); diff != "" {
		t.Errorf("header, body and length (-want +got):\n%s", diff)
	}
}
