package modeltest

import (
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// requests checks that each part of a request is on the wire, and nothing that
// was not asked for.
func requests(t *testing.T, v Vendor) {
	user := []model.Message{{Role: model.User, Text: "Hello"}}
	tests := map[string]struct {
		req  model.Request
		want Sent
	}{
		"bare": {
			model.Request{StepID: "outer.inner", Model: "m-1", Messages: user},
			Sent{Model: "m-1", Messages: user},
		},
		"system prompt": {
			model.Request{Model: "m", System: "Be brief.", Messages: user},
			Sent{Model: "m", System: "Be brief.", Messages: user},
		},
		"temperature": {
			model.Request{Model: "m", Messages: user, Temperature: ptr(0.7)},
			Sent{Model: "m", Messages: user, Temperature: ptr(0.7)},
		},
		"temperature 0": {
			model.Request{Model: "m", Messages: user, Temperature: ptr(0.0)},
			Sent{Model: "m", Messages: user, Temperature: ptr(0.0)},
		},
		"max tokens": {
			model.Request{Model: "m", Messages: user, MaxTokens: ptr(int64(77))},
			Sent{Model: "m", Messages: user, MaxTokens: ptr(int64(77))},
		},
		"conversation": {
			model.Request{Model: "m", Messages: []model.Message{
				{Role: model.User, Text: "Hi"}, {Role: model.Assistant, Text: "Hello!"}, {Role: model.User, Text: "Who?"},
			}},
			Sent{Model: "m", Messages: []model.Message{
				{Role: model.User, Text: "Hi"}, {Role: model.Assistant, Text: "Hello!"}, {Role: model.User, Text: "Who?"},
			}},
		},
		"any text": {
			model.Request{Model: "a/b:c", Messages: []model.Message{{Role: model.User, Text: "<b>&\"'\\ \n\t{x} ünï 🧵 \u2028"}}},
			Sent{Model: "a/b:c", Messages: []model.Message{{Role: model.User, Text: "<b>&\"'\\ \n\t{x} ünï 🧵 \u2028"}}},
		},
		"another provider's turn": {
			model.Request{Model: "m", Messages: []model.Message{
				{Role: model.User, Text: "Hi"},
				{Role: model.Assistant, Text: "Hello!", Native: &model.Native{Provider: "some-other", Data: []byte(`{"role": "x", "content": 5}`)}},
				{Role: model.User, Text: "Who?"},
			}},
			Sent{Model: "m", Messages: []model.Message{
				{Role: model.User, Text: "Hi"}, {Role: model.Assistant, Text: "Hello!"}, {Role: model.User, Text: "Who?"},
			}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.want.Key = Key
			if diff := cmp.Diff(test.want, v.sent(t, &test.req)); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("nothing to ask", func(t *testing.T) {
		v.refuses(t, &model.Request{Model: "m"})
		v.refuses(t, &model.Request{Messages: user})
	})
}

// sent makes a call that is answered at once, and returns what was sent.
func (v Vendor) sent(t *testing.T, req *model.Request) Sent {
	t.Helper()
	got := make(chan Sent, 2)
	_, p := v.start(t, func(w http.ResponseWriter, r *http.Request) {
		got <- v.Read(t, r, readAll(t, r))
		reply(200, v.Answer(Answer{Text: "ok", Model: "m"}))(w, r)
	})
	if p.Name() != v.Name {
		t.Errorf("name %q, want %q", p.Name(), v.Name)
	}
	if _, err := p.Complete(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	return <-got
}

// refuses checks that a call that the vendor can't make fails for good before
// anything is sent.
func (v Vendor) refuses(t *testing.T, req *model.Request) *fault.Error {
	t.Helper()
	_, p := v.start(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	_, err := p.Complete(t.Context(), req, nil)
	f := fails(t, err, fault.Permanent)
	if !strings.Contains(f.Message, v.Name) {
		t.Errorf("the message does not name the provider: %s", f.Message)
	}
	return f
}

func readAll(t *testing.T, r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Errorf("reading the request: %v", err)
	}
	return body
}

// answers checks what is made of a successful answer.
func answers(t *testing.T, v Vendor) {
	usage := v.usage()
	tests := map[string]struct {
		answer Answer
		want   model.Response
	}{
		"all":      {Answer{Text: "Hi!", Model: "m-1-2026", Usage: usage}, model.Response{Text: "Hi!", Model: "m-1-2026", Usage: usage}},
		"no usage": {Answer{Text: "Hi!", Model: "m"}, model.Response{Text: "Hi!", Model: "m"}},
		"no text":  {Answer{Model: "m", Usage: usage}, model.Response{Model: "m", Usage: usage}},
		"any text": {Answer{Text: "a\n\"b\" \\ \u2028 ü 🧵", Model: "m"}, model.Response{Text: "a\n\"b\" \\ \u2028 ü 🧵", Model: "m"}},
		"thoughts": {Answer{Text: "<think>\n2+2\n</think>\n\n4", Model: "m"}, model.Response{Text: "4", Reasoning: "2+2", Model: "m"}},
	}
	for vendors, neutral := range v.FinishReasons {
		tests["finish "+vendors] = struct {
			answer Answer
			want   model.Response
		}{Answer{Text: "x", Model: "m", FinishReason: vendors}, model.Response{Text: "x", Model: "m", FinishReason: neutral}}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, p := v.start(t, reply(200, v.Answer(test.answer)))
			got, err := p.Complete(t.Context(), ask(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got.Raw = nil
			if test.answer.FinishReason == "" {
				got.FinishReason = ""
			}
			test.want.Provider = v.Name
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("empty", func(t *testing.T) {
		_, p := v.start(t, reply(200, v.Empty))
		_, err := p.Complete(t.Context(), ask(), nil)
		if f := fails(t, err, fault.Transient); f.Status != 0 {
			t.Errorf("status %d, want none", f.Status)
		}
	})
	t.Run("null", func(t *testing.T) {
		_, p := v.start(t, reply(200, "null"))
		_, err := p.Complete(t.Context(), ask(), nil)
		fails(t, err, fault.Transient)
	})
	t.Run("odd counts", func(t *testing.T) { oddCounts(t, v) })
}

// oddCounts checks that no count of tokens can spoil a sum or a price.
func oddCounts(t *testing.T, v Vendor) {
	tests := map[string]model.Usage{
		"negative": {PromptTokens: -5, CompletionTokens: -7, TotalTokens: -12, ReasoningTokens: -1, CachedTokens: -1},
		"huge":     {PromptTokens: math.MaxInt32, CompletionTokens: math.MaxInt32, TotalTokens: math.MaxInt32},
		"parts":    {PromptTokens: 5, CompletionTokens: 7, TotalTokens: 12, ReasoningTokens: 70, CachedTokens: 50},
	}
	for name, usage := range tests {
		t.Run(name, func(t *testing.T) {
			_, p := v.start(t, reply(200, v.Answer(Answer{Text: "ok", Model: "m", Usage: &usage})))
			r, err := p.Complete(t.Context(), ask(), nil)
			if err != nil {
				t.Fatal(err)
			}
			u := r.Usage
			if u == nil {
				return // ignored
			}
			for _, n := range []int64{u.PromptTokens, u.CompletionTokens, u.TotalTokens, u.ReasoningTokens, u.CachedTokens} {
				if n < 0 || n > 1_000_000_000 {
					t.Errorf("%+v became %+v", usage, *u)
				}
			}
			if u.ReasoningTokens > u.CompletionTokens || u.CachedTokens > u.PromptTokens {
				t.Errorf("%+v became %+v", usage, *u)
			}
		})
	}
}
