package agentloom

import (
	"slices"
	"time"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// fold makes a Result of a run's events.
type fold struct {
	order   map[string]int // a step's place in the file
	open    map[string]*stepFold
	done    []StepResult
	res     Result
	started time.Time

	called   bool // a model was called
	reported bool // and some service told its tokens
	priced   bool // some call's price is known
	unpriced bool // for tokens whose price is not known
	tokens   int64
	cost     float64 // US dollars
}

// stepFold is a step that has started.
type stepFold struct {
	res     StepResult
	started time.Time

	priced, unpriced bool // some attempt's price is known, is not known
	cost             float64
}

func newFold(def *workflow.Definition, runID string) *fold {
	f := &fold{
		order: make(map[string]int, len(def.Steps)),
		open:  map[string]*stepFold{},
		done:  make([]StepResult, 0, len(def.Steps)),
		res:   Result{WorkflowName: def.Name, RunID: runID},
	}
	for i := range def.Steps {
		f.order[def.Steps[i].ID] = i
	}
	return f
}

// Observe takes the next event.
func (f *fold) Observe(e event.Event) {
	switch d := e.Data.(type) {
	case event.RunStarted:
		f.started = e.Time
	case event.StepStarted:
		f.open[e.Address] = &stepFold{
			res:     StepResult{StepID: e.Address, Type: d.Type},
			started: e.Time,
		}
	case event.AttemptFailed:
		if s := f.open[e.Address]; s != nil {
			f.spend(s, d.Report)
		}
	case event.StepFinished:
		f.finish(e, d)
	case event.StepSkipped:
		f.done = append(f.done, StepResult{StepID: e.Address, Status: event.Skipped, Error: d.Reason})
	case event.RunEnded:
		f.res.Status, f.res.Error = d.Status, d.Error
		f.res.Duration = e.Time.Sub(f.started)
	}
}

func (f *fold) finish(e event.Event, d event.StepFinished) {
	s := f.open[e.Address]
	if s == nil {
		return
	}
	delete(f.open, e.Address)
	r := &s.res
	f.spend(s, d.Report)
	r.Status, r.Error, r.Attempts = d.Status, d.Error, d.Attempts
	r.Duration = e.Time.Sub(s.started)
	r.Model, r.Provider, r.FinishReason = d.Report.Model, d.Report.Provider, d.Report.FinishReason
	r.Attachments, r.Reasoning = d.Report.Attachments, d.Report.Reasoning
	if s.priced && !s.unpriced {
		r.CostUSD = &s.cost
	}
	if d.HasEntry {
		r.Output = d.Output
	}
	f.done = append(f.done, *r)
}

// spend adds one attempt's tokens and cost to its step and to the run. Tokens
// without a known price make a cost unknown: a part would look like the whole.
func (f *fold) spend(s *stepFold, r event.Report) {
	if r.Provider == "" {
		return // no model was called
	}
	f.called = true
	if r.Usage != nil {
		s.res.Usage = addUsage(s.res.Usage, *r.Usage)
		f.reported = true
		f.tokens += r.Usage.TotalTokens
	}
	if r.FirstToken > 0 && s.res.FirstToken == 0 {
		s.res.FirstToken = r.FirstToken
	}
	if r.CostUSD != nil {
		s.cost += *r.CostUSD
		s.priced = true
		f.cost += *r.CostUSD
		f.priced = true
	}
	if r.Unpriced || r.CostUSD == nil && r.Usage != nil {
		s.unpriced, f.unpriced = true, true
	}
}

func (f *fold) result(final *value.Map) *Result {
	slices.SortStableFunc(f.done, func(a, b StepResult) int { return f.order[a.StepID] - f.order[b.StepID] })
	r := &f.res
	r.FinalState, r.steps = final, f.done
	r.index = make(map[string]int, len(f.done))
	for i := range f.done {
		r.index[f.done[i].StepID] = i
	}
	if f.reported || !f.called {
		r.TotalTokens = &f.tokens
	}
	if !f.unpriced && (f.priced || !f.called) {
		r.TotalCostUSD = &f.cost
	}
	return r
}

func addUsage(sum *model.Usage, u model.Usage) *model.Usage {
	if sum != nil {
		u = sum.Add(u)
	}
	return &u
}
