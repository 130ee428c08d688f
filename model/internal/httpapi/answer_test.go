package httpapi_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

func TestCleanUsage(t *testing.T) {
	tests := map[string]struct{ in, want model.Usage }{
		"sane":          {model.Usage{PromptTokens: 9, CompletionTokens: 5, TotalTokens: 14, ReasoningTokens: 3, CachedTokens: 4}, model.Usage{PromptTokens: 9, CompletionTokens: 5, TotalTokens: 14, ReasoningTokens: 3, CachedTokens: 4}},
		"no total":      {model.Usage{PromptTokens: 9, CompletionTokens: 5}, model.Usage{PromptTokens: 9, CompletionTokens: 5, TotalTokens: 14}},
		"small total":   {model.Usage{PromptTokens: 9, CompletionTokens: 5, TotalTokens: 9}, model.Usage{PromptTokens: 9, CompletionTokens: 5, TotalTokens: 14}},
		"larger total":  {model.Usage{PromptTokens: 9, CompletionTokens: 5, TotalTokens: 20}, model.Usage{PromptTokens: 9, CompletionTokens: 5, TotalTokens: 20}},
		"negative":      {model.Usage{PromptTokens: -9, CompletionTokens: -5, TotalTokens: -14, ReasoningTokens: -3, CachedTokens: -4}, model.Usage{}},
		"absurd":        {model.Usage{PromptTokens: math.MaxInt64, CompletionTokens: 5, TotalTokens: math.MaxInt64}, model.Usage{CompletionTokens: 5, TotalTokens: 5}},
		"parts too big": {model.Usage{PromptTokens: 9, CompletionTokens: 5, ReasoningTokens: 6, CachedTokens: 10}, model.Usage{PromptTokens: 9, CompletionTokens: 5, TotalTokens: 14, ReasoningTokens: 5, CachedTokens: 9}},
	}
	for name, test := range tests {
		if got := *httpapi.CleanUsage(test.in); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

func TestUniqueIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOf(rapid.SampledFrom([]string{"", "a", "b", "call_1", "call_2", "call_3"})).Draw(t, "ids")
		calls := make([]model.ToolCall, len(ids))
		for i, id := range ids {
			calls[i].ID = id
		}
		httpapi.UniqueIDs(calls)
		seen := map[string]bool{}
		for i, c := range calls {
			if c.ID == "" || seen[c.ID] {
				t.Fatalf("%q became %v", ids, calls)
			}
			if ids[i] != "" && !seen[ids[i]] && c.ID != ids[i] {
				t.Fatalf("the service's own id %q was changed", ids[i])
			}
			seen[c.ID] = true
		}
	})
}

func TestUniqueIDsOfMany(t *testing.T) {
	calls := make([]model.ToolCall, 100_000) // that takes too long unless it is linear
	httpapi.UniqueIDs(calls)
	if last := calls[len(calls)-1].ID; last != fmt.Sprintf("call_%d", len(calls)) {
		t.Errorf("the last id is %q", last)
	}
}

func TestCheckVectors(t *testing.T) {
	s := httpapi.Service{Name: "x"}
	if err := s.CheckVectors([][]float64{{1, 2}, {3, 4}}, 2); err != nil {
		t.Error(err)
	}
	for name, vectors := range map[string][][]float64{
		"none": nil, "too few": {{1}}, "too many": {{1}, {2}, {3}}, "lengths": {{1}, {2, 3}}, "empty": {{1}, {}}, "all empty": {{}, {}},
	} {
		if err := s.CheckVectors(vectors, 2); fault.KindOf(err) != fault.Transient {
			t.Errorf("%s: got %v, want a transient error", name, err)
		}
	}
}
