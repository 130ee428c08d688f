package step_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/internal/step"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/workflow"
)

// Each call of a run has an idempotency key of its own, also where a service
// gives several one id, and keeps it when the step is tried again.
func TestTheKeysOfAModelsCalls(t *testing.T) {
	var mu sync.Mutex
	var keys []string
	pay := tool.Func("pay", "Pay.", func(ctx context.Context, _ struct{ Sum int }) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, tool.IdempotencyKey(ctx))
		return "paid", nil
	})
	sameID := func(ids string) *model.Response {
		r := calls("pay", `{"Sum":1}`, "pay", `{"Sum":1}`)
		for i := range r.ToolCalls {
			r.ToolCalls[i].ID = ids
		}
		return r
	}
	attempt := func(ids string, sum string) []string {
		keys = nil
		again := calls("pay", `{"Sum":`+sum+`}`)
		again.ToolCalls[0].ID = ids
		m := &script{turns: []any{sameID(ids), again, says("done")}}
		var r runner
		_, err := r.run(t.Context(), step.LLM{Models: m, Tools: toolsOf(t, pay)},
			llmStep(workflow.LLMCallFields{Tools: []workflow.ToolDeclaration{{Name: "pay"}}}))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(keys)
		return keys
	}
	first := attempt("call_0", "1")
	if len(slices.Compact(slices.Clone(first))) != 3 {
		t.Errorf("three calls have the keys %q", first)
	}
	if diff := cmp.Diff(first, attempt("call_x7", "1")); diff != "" {
		t.Errorf("another attempt has other keys: %s", diff)
	}
	if other := attempt("call_0", "2"); cmp.Equal(first, other) {
		t.Error("another sum has the same key")
	}
}

// A service that calls tools although it was told not to is not followed.
func TestToolChoiceNoneRunsNoTools(t *testing.T) {
	wild := calls("add", `{"A":1,"B":2}`)
	wild.Text = "I would add"
	m := &script{turns: []any{wild}}
	ran := tool.Func("add", "Add.", func(context.Context, struct{}) (any, error) {
		t.Error("the tool was run")
		return nil, nil
	})
	var r runner
	out, err := r.run(t.Context(), step.LLM{Models: m, Tools: toolsOf(t, ran)}, llmStep(workflow.LLMCallFields{
		Tools: []workflow.ToolDeclaration{{Name: "add"}}, ToolChoice: "none", Conversation: "talk",
	}))
	if err != nil || out.Write != "I would add" || len(m.asked) != 1 {
		t.Errorf("%v after %d turns, %v", out.Write, len(m.asked), err)
	}
	said := out.Conversation.Messages
	if last := said[len(said)-1]; len(last.ToolCalls) != 0 {
		t.Errorf("the conversation keeps %+v", last)
	}
}
