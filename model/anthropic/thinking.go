package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/agentloom/agentloom/model"
)

const (
	minBudget = 1024 // the service's own
	// answerRoom is what the answer gets beside a thinking budget when the
	// request sets no limit.
	answerRoom = 4096
)

// think adds the reasoning controls.
func (c *call) think(req *model.Request, t traits) {
	th := req.Thinking
	switch {
	case th == nil:
	case !th.On():
		if th.Enabled != nil || th.BudgetTokens != nil {
			c.thinkNot(t)
		}
	case forced(req):
		c.leftOut = append(c.leftOut, "thinking")
	case t.adaptive:
		// Without this, the newest models show nothing of their thinking.
		c.params.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
		c.params.OutputConfig.Effort = effort(th)
	default:
		c.budget(req, t)
	}
}

func (c *call) thinkNot(t traits) {
	switch t.off {
	case offDisabled:
		off := sdk.NewThinkingConfigDisabledParam()
		c.params.Thinking.OfDisabled = &off
	case offBetweenTools:
		c.params.Thinking.OfBetweenTools = &sdk.ThinkingConfigBetweenToolsParam{Type: "between_tools"}
	case offLowEffort:
		c.params.OutputConfig.Effort = sdk.OutputConfigEffortLow
	}
}

// effort is "", the model's own, when the request says no more than that
// thinking is on.
func effort(th *model.Thinking) sdk.OutputConfigEffort {
	switch {
	case th.Level != "":
		return sdk.OutputConfigEffort(th.Level)
	case th.BudgetTokens == nil:
		return ""
	case *th.BudgetTokens <= 2048:
		return sdk.OutputConfigEffortLow
	case *th.BudgetTokens <= 16_384:
		return sdk.OutputConfigEffortMedium
	}
	return sdk.OutputConfigEffortHigh
}

// budget turns thinking on with a budget, which must be below the answer's
// limit. A limit of the request's own is never raised: it is what the caller
// means to pay for.
func (c *call) budget(req *model.Request, t traits) {
	budget := int64(8192) // also for level medium
	switch th := req.Thinking; {
	case th.BudgetTokens != nil && *th.BudgetTokens > 0:
		budget = max(minBudget, *th.BudgetTokens)
	case th.Level == "low":
		budget = minBudget
	case th.Level == "high":
		budget = 24_576
	}
	switch {
	case req.MaxTokens == nil:
		c.params.MaxTokens = max(t.maxTokens, budget+answerRoom)
	case *req.MaxTokens <= minBudget:
		c.leftOut = append(c.leftOut, "thinking")
		return
	case budget >= *req.MaxTokens:
		budget = max(minBudget, *req.MaxTokens/2)
	}
	c.params.Thinking.OfEnabled = &sdk.ThinkingConfigEnabledParam{BudgetTokens: budget}
}
