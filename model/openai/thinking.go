package openai

import (
	"strings"

	"github.com/agentloom/agentloom/model"
)

// The largest budgets, in tokens, that are nearer to a low and to a medium
// effort than to the next. The efforts stand for 1,024, 8,192 and 24,576
// tokens, as services document it that take both.
const (
	lowBudget    = (1024 + 8192) / 2
	mediumBudget = (8192 + 24576) / 2
)

// think sets the reasoning controls.
func (p *Provider) think(out *request, t *model.Thinking) {
	if t == nil {
		return
	}
	off := t.Enabled != nil && !*t.Enabled || t.Enabled == nil && t.Level == "" && t.BudgetTokens != nil && *t.BudgetTokens <= 0
	if p.quirks.thinkingSwitch && (off || t.On()) {
		kind := "enabled"
		if off {
			kind = "disabled"
		}
		out.Thinking = &thinkingSwitch{Type: kind}
		if off {
			return
		}
	}
	switch {
	case off:
		out.ReasoningEffort = p.leastEffort(out.Model)
	case t.On():
		out.ReasoningEffort = effort(t)
	}
}

// effort is the level, else the one that is nearest to the budget, else
// medium, which is what models that always reason start from.
func effort(t *model.Thinking) string {
	switch {
	case t.Level != "":
		return t.Level
	case t.BudgetTokens == nil || *t.BudgetTokens <= 0:
		return "medium"
	case *t.BudgetTokens <= lowBudget:
		return "low"
	case *t.BudgetTokens <= mediumBudget:
		return "medium"
	}
	return "high"
}

// leastEffort is what comes nearest to no reasoning, "" for a model that has
// nothing to be set: OpenAI's models before gpt-5 but the o series don't
// reason, the o series and gpt-oss have no less than low, gpt-5 itself no less
// than minimal, and gpt-5-pro only high. All others know none.
func (p *Provider) leastEffort(name string) string {
	name = strings.ToLower(name)
	if i := strings.LastIndex(name, "/"); i >= 0 {
		name = name[i+1:] // a router's
	}
	begins := func(prefixes ...string) bool {
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
		return false
	}
	switch {
	case begins("gpt-3", "gpt-4", "chatgpt", "gpt-5-chat", "gpt-5-pro"):
		return ""
	case begins("o1", "o3", "o4", "gpt-oss", "gpt-5-codex"):
		return "low"
	case name == "gpt-5" || begins("gpt-5-"):
		return "minimal"
	}
	return "none"
}
