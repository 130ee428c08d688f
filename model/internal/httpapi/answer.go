package httpapi

import (
	"fmt"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// maxTokens is the most tokens that one call can have used; a count above it
// is nonsense.
const maxTokens = 1_000_000_000

// CleanUsage makes a service's counts fit for sums and prices: a negative or
// absurd count is 0, reasoning tokens are no more than the completion's, cached
// ones no more than the prompt's, and the total is at least the sum of prompt
// and completion.
func CleanUsage(u model.Usage) *model.Usage {
	for _, n := range []*int64{&u.PromptTokens, &u.CompletionTokens, &u.TotalTokens, &u.ReasoningTokens, &u.CachedTokens} {
		if *n < 0 || *n > maxTokens {
			*n = 0
		}
	}
	u.ReasoningTokens = min(u.ReasoningTokens, u.CompletionTokens)
	u.CachedTokens = min(u.CachedTokens, u.PromptTokens)
	u.TotalTokens = max(u.TotalTokens, u.PromptTokens+u.CompletionTokens)
	return &u
}

// UniqueIDs makes up an id, such as "call_2", for each call that has none or
// has that of a call before it.
func UniqueIDs(calls []model.ToolCall) {
	seen := make(map[string]bool, len(calls))
	for _, c := range calls {
		seen[c.ID] = true // a made-up id must not be a later call's own
	}
	used := make(map[string]bool, len(calls))
	next := 1
	for i := range calls {
		c := &calls[i]
		if c.ID == "" || used[c.ID] {
			for next = max(next, i+1); ; next++ {
				if id := fmt.Sprintf("call_%d", next); !seen[id] && !used[id] {
					c.ID = id
					break
				}
			}
		}
		used[c.ID] = true
	}
}

// CheckVectors returns a transient error when a service did not answer one
// vector for each of n inputs, all of one length above 0.
func (s Service) CheckVectors(vectors [][]float64, n int) error {
	if len(vectors) != n {
		return s.odd(fmt.Sprintf("%d vectors for %d inputs", len(vectors), n))
	}
	for i, v := range vectors {
		if len(v) == 0 {
			return s.odd(fmt.Sprintf("an empty vector for input %d", i+1))
		}
		if len(v) != len(vectors[0]) {
			return s.odd(fmt.Sprintf("vectors of %d and of %d numbers in one answer", len(vectors[0]), len(v)))
		}
	}
	return nil
}

// CheckDimensions returns a permanent error when vectors do not have the length
// that was asked for: the model then does not know how to shorten them. nil is
// any length.
func (s Service) CheckDimensions(vectors [][]float64, want *int64) error {
	if want == nil || len(vectors) == 0 || int64(len(vectors[0])) == *want {
		return nil
	}
	text := fmt.Sprintf("%s answered vectors of %d numbers instead of %d: the model may not take dimensions", s.Name, len(vectors[0]), *want)
	return fault.New(fault.Permanent, text, nil)
}
