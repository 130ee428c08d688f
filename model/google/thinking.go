package google

import (
	"strings"

	"google.golang.org/genai"

	"github.com/agentloom/agentloom/model"
)

// kind is what the name of a model says of how to speak to it. A name that
// says nothing, such as gemini-flash-latest, is taken for a new model.
type kind struct {
	old     bool // before Gemini 3: thinking is set by a budget
	thinks  bool // false: before Gemini 2.5, which don't think at all
	pro     bool // can't stop thinking
	twoStep bool // Gemini 3 Pro: knows a low and a high level only
	signed  bool // wants a signature with each turn that calls tools
}

func kindOf(name string) kind {
	name = strings.TrimPrefix(name, "models/")
	old := strings.HasPrefix(name, "gemini-1") || strings.HasPrefix(name, "gemini-2")
	return kind{
		old:     old,
		thinks:  !old || strings.HasPrefix(name, "gemini-2.5"),
		pro:     strings.Contains(name, "-pro"),
		twoStep: strings.HasPrefix(name, "gemini-3-pro"),
		signed:  !old && strings.HasPrefix(name, "gemini-"),
	}
}

const (
	dynamicBudget = -1  // the model decides
	leastBudget   = 128 // of Gemini 2.5 Pro
)

// levelBudget is the budget in tokens for a level, the same as Google's own
// for services that know levels only.
func levelBudget(level string) (tokens int64, ok bool) {
	switch level {
	case "low":
		return 1024, true
	case "medium":
		return 8192, true
	case "high":
		return 24576, true
	}
	return 0, false
}

// thinking maps the reasoning controls; nil leaves the model's default. A
// model is never asked for a level and a budget at once: it refuses both.
// Where thinking can't be switched off, the least there is is asked for.
func thinking(k kind, t *model.Thinking) *genai.ThinkingConfig {
	switch {
	case t == nil || t.Enabled == nil && t.BudgetTokens == nil && t.Level == "":
		return nil
	case !t.On():
		return noThinking(k)
	}
	c := &genai.ThinkingConfig{IncludeThoughts: true}
	switch {
	case t.BudgetTokens != nil && (k.old || t.Level == ""):
		c.ThinkingBudget = genai.Ptr(clamp32(*t.BudgetTokens))
	case k.old:
		budget := int64(dynamicBudget) // the default of some is not to think
		if tokens, ok := levelBudget(t.Level); ok {
			budget = tokens
		}
		c.ThinkingBudget = genai.Ptr(clamp32(budget))
	case t.Level == "medium" && k.twoStep:
		c.ThinkingLevel = genai.ThinkingLevelHigh
	default:
		c.ThinkingLevel = genai.ThinkingLevel(strings.ToUpper(t.Level))
	}
	return c
}

func noThinking(k kind) *genai.ThinkingConfig {
	switch {
	case !k.thinks:
		return nil
	case !k.old:
		return &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevelLow}
	case k.pro:
		return &genai.ThinkingConfig{ThinkingBudget: genai.Ptr[int32](leastBudget)}
	}
	return &genai.ThinkingConfig{ThinkingBudget: genai.Ptr[int32](0)}
}
