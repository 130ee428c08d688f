package agentloom

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/step"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
)

// models makes the model calls of one run through the gateway.
type models struct {
	gateway *gateway.Gateway
	with    gateway.Selection // the workflow's provider, model and budget
	purse   *purse
}

// purse is the run's money, and whether it has run out.
type purse struct {
	budget *gateway.Budget // nil: no budget

	mu      sync.Mutex
	refused string // why the run's budget refused a call
}

// empty says why the run can't go on paying, "" while it can.
func (p *purse) empty() string {
	if p.budget == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refused == "" && p.budget.Exceeded() {
		return fmt.Sprintf("the budget is exceeded: $%.6g is spent", p.budget.Spent())
	}
	return p.refused
}

// judge sorts out a budget's refusal. The run's own ends the run; an agent's
// fails its step, and no other attempt would have more money.
func (p *purse) judge(err error) error {
	if fault.KindOf(err) != fault.Budget {
		return err
	}
	if by, ok := errors.AsType[*gateway.Refusal](err); ok && by.Budget != p.budget {
		return fault.New(fault.Permanent, err.Error(), err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refused == "" {
		p.refused = err.Error()
	}
	return err
}

func (m models) selection(sel step.Selection) gateway.Selection {
	s := m.with
	s.StepProvider, s.Warn = sel.Provider, sel.Warn
	if sel.Model != "" {
		s.Model = sel.Model
	}
	return s
}

// Complete makes one model call.
func (m models) Complete(ctx context.Context, sel step.Selection, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	resp, err := m.gateway.Complete(ctx, m.selection(sel), req, stream)
	return resp, m.purse.judge(err)
}

// Embed makes one embedding call.
func (m models) Embed(ctx context.Context, sel step.Selection, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	resp, err := m.gateway.Embed(ctx, m.selection(sel), req)
	return resp, m.purse.judge(err)
}

// Within returns the models under a budget of their own, inside the run's.
func (m models) Within(budgetUSD float64) step.Models {
	m.with.Budget = gateway.NewBudget(budgetUSD, m.with.Budget)
	return m
}
