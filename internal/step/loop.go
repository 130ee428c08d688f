package step

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// FinishMaxIterations is the finish reason of a step whose last turn still
// asked for tools.
const FinishMaxIterations = "max_tool_iterations"

// onMax is what happens when the last turn still asks for tools.
type onMax int

const (
	keepText   onMax = iota // its text is the output (llm_call)
	finishTurn              // one more turn, without tools (agent, finish)
	failStep                // the step fails (agent, fail)
)

// loop is one exchange with a model: turns, the tools it asks for in between,
// and the answer at the end.
type loop struct {
	call     *Call
	models   Models
	sel      Selection
	tools    *toolbox
	schema   *answerSchema // nil: the answer is text
	maxTurns int
	onMax    onMax
	stream   bool
	capture  bool // keep the reasoning

	req    model.Request
	turns  int // made so far
	report event.Report
}

// answer is how an exchange ended.
type answer struct {
	turn   model.Message // as the conversation keeps it
	parsed any           // with a schema: the text's value
}

// run makes turns until the model has answered. What was spent is in report,
// also when it fails.
func (l *loop) run(ctx context.Context) (answer, error) {
	for repairs := 0; ; {
		resp, err := l.untilText(ctx)
		if err != nil {
			return answer{}, err
		}
		if l.schema == nil || l.report.FinishReason == FinishMaxIterations {
			return answer{turn: final(resp)}, l.judge(resp)
		}
		parsed, why := l.schema.parse(resp.Text)
		if why == "" {
			return answer{final(resp), parsed}, nil
		}
		if err := whole(resp); err != nil {
			return answer{}, err
		}
		if repairs == maxRepairs {
			return answer{}, fault.New(fault.Permanent, fmt.Sprintf(
				"the answer does not fit output_schema after %d repairs: %s", maxRepairs, why), nil)
		}
		repairs++
		l.req.Messages = append(l.req.Messages, resp.Message(), model.Message{
			Role: model.User,
			Text: "That does not fit the JSON Schema: " + why + ". Answer again, with the corrected JSON only.",
		})
	}
}

// whole refuses an answer that was cut short: a repair would be cut short too.
func whole(resp *model.Response) error {
	switch resp.FinishReason {
	case model.FinishLength:
		return fault.New(fault.Permanent, "the answer was cut off by max_tokens before its JSON ended; raise it", nil)
	case model.FinishContentFilter:
		return fault.New(fault.Permanent, "a content filter withheld the answer", nil)
	}
	return nil
}

// final is the last turn as a conversation keeps it. Calls that were not run
// are left out, and with them the turn's native form: services refuse a call
// without a result.
func final(resp *model.Response) model.Message {
	msg := resp.Message()
	if len(msg.ToolCalls) > 0 {
		msg.ToolCalls, msg.Native = nil, nil
	}
	return msg
}

// untilText makes turns, and runs the tools they ask for, until one asks for
// none or the turns, those before a repair included, are used up.
func (l *loop) untilText(ctx context.Context) (*model.Response, error) {
	for {
		resp, err := l.turn(ctx)
		if err != nil {
			return nil, err
		}
		if l.noTools() {
			return textOnly(resp), nil
		}
		if len(resp.ToolCalls) == 0 {
			return resp, nil
		}
		if l.turns < l.maxTurns {
			results, err := l.runTools(ctx, resp.ToolCalls)
			if err != nil {
				return nil, err
			}
			l.req.Messages = append(append(l.req.Messages, resp.Message()), results...)
			l.freeChoice()
			continue
		}
		switch l.onMax {
		case failStep:
			return nil, fault.New(fault.Permanent, fmt.Sprintf(
				"the agent still asks for tools after max_tool_iterations (%d); raise it, or set on_max_iterations: finish", l.maxTurns), nil)
		case finishTurn:
			return l.lastTurn(ctx, resp)
		}
		l.report.FinishReason = FinishMaxIterations
		return resp, nil
	}
}

// freeChoice lets the model answer in the turns after the first: a tool that it
// must call would otherwise be called for ever.
func (l *loop) freeChoice() {
	if c := l.req.ToolChoice; c != nil && (c.Mode == model.RequireTools || c.Mode == model.NamedTool) {
		l.req.ToolChoice = &model.ToolChoice{Mode: model.AutoTools}
	}
}

// lastTurn asks for the answer without tools. The calls that were not run get
// a result that says so: services refuse a call without one.
func (l *loop) lastTurn(ctx context.Context, resp *model.Response) (*model.Response, error) {
	l.req.Messages = append(l.req.Messages, resp.Message())
	for _, c := range resp.ToolCalls {
		l.req.Messages = append(l.req.Messages, toolMessage(c, "not run: no turns are left; answer with what you know", true))
	}
	l.req.ToolChoice = &model.ToolChoice{Mode: model.NoTools}
	last, err := l.turn(ctx)
	if err != nil {
		return nil, err
	}
	return textOnly(last), nil
}

// noTools reports whether the model was told to call no tools.
func (l *loop) noTools() bool {
	return l.req.ToolChoice != nil && l.req.ToolChoice.Mode == model.NoTools
}

// textOnly drops the tool calls of a service that can't be told to make none.
func textOnly(resp *model.Response) *model.Response {
	if len(resp.ToolCalls) > 0 {
		resp.ToolCalls, resp.Native = nil, nil
	}
	return resp
}

// turn makes one model call and adds what it cost.
func (l *loop) turn(ctx context.Context) (*model.Response, error) {
	l.turns++
	place := fmt.Sprintf("/turn[%d]", l.turns)
	var stream func(model.Delta)
	if l.stream {
		first := true
		stream = func(d model.Delta) {
			if d.Text == "" {
				return
			}
			l.call.Emit(place, event.TextDelta{Text: d.Text})
			if first {
				first = false
				runtime.Gosched() // who waits for the first word sees it now, not at this goroutine's next wait
			}
		}
	}
	req := l.req // providers may keep it; the next turn must not change it
	req.Messages = slices.Clip(req.Messages)
	resp, err := l.models.Complete(ctx, l.sel, &req, stream)
	if resp != nil {
		l.count(resp)
	}
	if err == nil && resp == nil {
		err = fault.New(fault.Transient, "the provider returned no response", nil)
	}
	if err != nil {
		return nil, err
	}
	l.call.Emit(place, event.ModelTurn{
		Turn: l.turns, Message: resp.Message(), Model: resp.Model, Provider: resp.Provider,
		Usage: resp.Usage, CostUSD: resp.CostUSD, FinishReason: resp.FinishReason,
	})
	return resp, nil
}

// count adds a response to the report.
func (l *loop) count(resp *model.Response) {
	r := &l.report
	if resp.Model != "" {
		r.Model = resp.Model
	}
	r.Provider, r.FinishReason = resp.Provider, resp.FinishReason
	if resp.Usage != nil {
		r.Unpriced = r.Unpriced || resp.CostUSD == nil
		sum := *resp.Usage
		if r.Usage != nil {
			sum = sum.Add(*r.Usage)
		}
		r.Usage = &sum
	}
	if resp.CostUSD != nil {
		sum := *resp.CostUSD
		if r.CostUSD != nil {
			sum += *r.CostUSD
		}
		r.CostUSD = &sum
	}
	if r.FirstToken == 0 {
		r.FirstToken = resp.FirstToken
	}
	if l.capture && resp.Reasoning != "" {
		r.Reasoning = strings.TrimPrefix(r.Reasoning+"\n\n"+resp.Reasoning, "\n\n")
	}
}

// maxParallelTools is how many tool calls of one turn run at the same time; a
// model may ask for a thousand.
const maxParallelTools = 16

// runTools runs all tool calls of a turn, at once as far as the bound allows,
// and returns their results in the calls' order.
func (l *loop) runTools(ctx context.Context, calls []model.ToolCall) ([]model.Message, error) {
	out := make([]model.Message, len(calls))
	slots := make(chan struct{}, maxParallelTools)
	var wg sync.WaitGroup
	for i, c := range calls {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			place := fmt.Sprintf("/turn[%d]/call[%d]", l.turns, i)
			out[i] = l.tools.run(ctx, l.call, place, c)
		})
	}
	wg.Wait()
	// A tool's failure is the model's to handle, but the step's own end is not.
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return out, nil
}

// judge refuses an answer without text. One that was cut off before its first
// character would be cut off again; any other may come with the next attempt.
func (l *loop) judge(resp *model.Response) error {
	if strings.TrimSpace(resp.Text) != "" || l.report.FinishReason == FinishMaxIterations {
		return nil
	}
	switch resp.FinishReason {
	case model.FinishLength:
		return fault.New(fault.Permanent,
			"the model answered nothing: max_tokens was used up before any text; raise it", nil)
	case model.FinishContentFilter:
		return fault.New(fault.Permanent, "the model answered nothing: a content filter withheld the answer", nil)
	}
	return fault.New(fault.Transient, fmt.Sprintf("the model answered nothing (finish reason %q)", resp.FinishReason), nil)
}

// within gives a context a limit of its own, in seconds; nil is none. Running
// out is a timeout fault that names what.
func within(ctx context.Context, seconds *float64, what string) (context.Context, context.CancelFunc) {
	if seconds == nil {
		return ctx, func() {}
	}
	d := time.Duration(*seconds * float64(time.Second))
	return context.WithTimeoutCause(ctx, d,
		fault.New(fault.Timeout, fmt.Sprintf("%s timed out after %s", what, d), nil))
}
