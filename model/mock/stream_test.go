package mock_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/mock"
)

func TestStream(t *testing.T) {
	responses := []byte(`{
		"words": {"content": " two  words\n\nand\u00a0more ", "reasoning": "let me see"},
		"empty": {},
		"calls": {"tool_calls": [{"name": "f"}]}
	}`)
	tests := map[string][]model.Delta{
		"words": {{Reasoning: "let "}, {Reasoning: "me "}, {Reasoning: "see"}, {Text: " "}, {Text: "two  "}, {Text: "words\n\n"}, {Text: "and\u00a0"}, {Text: "more "}},
		"empty": nil,
		"calls": nil,
		"none":  {{Text: "Mock "}, {Text: "response"}},
	}
	for step, want := range tests {
		t.Run(step, func(t *testing.T) {
			whole, err := provider(t, mock.Config{Responses: responses}).Complete(t.Context(), ask(step), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []model.Delta
			streamed, err := provider(t, mock.Config{Responses: responses}).Complete(t.Context(), ask(step), func(d model.Delta) { got = append(got, d) })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("pieces (-want +got):\n%s", diff)
			}
			if (streamed.FirstToken > 0) != (len(want) > 0) || whole.FirstToken != 0 {
				t.Errorf("first tokens after %v, and %v without a stream", streamed.FirstToken, whole.FirstToken)
			}
			streamed.FirstToken = 0
			if diff := cmp.Diff(whole, streamed); diff != "" {
				t.Errorf("response (-whole +streamed):\n%s", diff)
			}
		})
	}
}

// TestStreamTakesTheLatency checks that the pieces come spread over the call's
// time.
func TestStreamTakesTheLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := provider(t, mock.Config{LatencyMS: ptr(400.0), Responses: []byte(`{"s": {"content": "a b c", "reasoning": "r"}, "empty": {}}`)})
		start := time.Now()
		var at []time.Duration
		r, err := p.Complete(t.Context(), ask("s"), func(model.Delta) { at = append(at, time.Since(start)) })
		if err != nil {
			t.Fatal(err)
		}
		const ms = time.Millisecond
		if diff := cmp.Diff([]time.Duration{100 * ms, 200 * ms, 300 * ms, 400 * ms}, at); diff != "" {
			t.Errorf("times (-want +got):\n%s", diff)
		}
		if r.FirstToken != 100*ms {
			t.Errorf("first token after %v", r.FirstToken)
		}
		start = time.Now()
		if _, err := p.Complete(t.Context(), ask("empty"), func(model.Delta) { t.Error("a piece of nothing") }); err != nil || time.Since(start) != 400*ms {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

func TestStreamEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := provider(t, mock.Config{LatencyMS: ptr(4000.0), Responses: []byte(`{"s": {"content": "a b c", "reasoning": "r", "usage": {"prompt_tokens": 1}}}`)})
		for after, want := range map[time.Duration]*model.Response{
			500 * time.Millisecond:  nil,
			2500 * time.Millisecond: {Reasoning: "r", Text: "a ", Model: "gpt-4o-mini", Provider: "mock", FirstToken: time.Second},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			var got strings.Builder
			r, err := p.Complete(ctx, ask("s"), func(d model.Delta) { got.WriteString(d.Reasoning + d.Text) })
			cancel()
			if fault.KindOf(err) != fault.Timeout {
				t.Errorf("got %v", err)
			}
			if diff := cmp.Diff(want, r); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
			if r != nil && got.String() != r.Reasoning+r.Text {
				t.Errorf("handed on %q", &got)
			}
		}
	})
}
