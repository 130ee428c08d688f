package modeltest

import (
	"io"
	"net/http"
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
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := make(chan Sent, 2)
			_, p := v.start(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Errorf("reading the request: %v", err)
				}
				got <- v.Read(t, r, body)
				reply(200, v.Answer(Answer{Text: "ok", Model: "m"}))(w, r)
			})
			if p.Name() != v.Name {
				t.Errorf("name %q, want %q", p.Name(), v.Name)
			}
			if _, err := p.Complete(t.Context(), &test.req, nil); err != nil {
				t.Fatal(err)
			}
			test.want.Key = Key
			if diff := cmp.Diff(test.want, <-got); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("nothing to ask", func(t *testing.T) {
		_, p := v.start(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
		_, err := p.Complete(t.Context(), &model.Request{Model: "m"}, nil)
		fails(t, err, fault.Permanent)
		_, err = p.Complete(t.Context(), &model.Request{Messages: user}, nil)
		fails(t, err, fault.Permanent)
	})
}

// answers checks what is made of a successful answer.
func answers(t *testing.T, v Vendor) {
	usage := &model.Usage{PromptTokens: 21, CompletionTokens: 34, TotalTokens: 55, ReasoningTokens: 13, CachedTokens: 8}
	tests := map[string]struct {
		answer Answer
		want   model.Response
	}{
		"all":      {Answer{Text: "Hi!", Model: "m-1-2026", Usage: usage}, model.Response{Text: "Hi!", Model: "m-1-2026", Usage: usage}},
		"no usage": {Answer{Text: "Hi!", Model: "m"}, model.Response{Text: "Hi!", Model: "m"}},
		"no text":  {Answer{Model: "m", Usage: usage}, model.Response{Model: "m", Usage: usage}},
		"any text": {Answer{Text: "a\n\"b\" \\ \u2028 ü 🧵", Model: "m"}, model.Response{Text: "a\n\"b\" \\ \u2028 ü 🧵", Model: "m"}},
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
}
