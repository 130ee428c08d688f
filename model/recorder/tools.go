package recorder

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/value"
)

// recordedTool is one element of `_tools`.
type recordedTool struct {
	StepID    string          `json:"step_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// RecordTool records what a tool returned to the model of a step: a result, or
// an error's text when errText isn't empty. It returns when that is on disk.
// stepID is qualified; args may be nil. Its errors are permanent faults, and
// OnError is not told of them; see also Flush.
func (r *Recorder) RecordTool(stepID, name string, args *value.Map, result any, errText string) error {
	t := recordedTool{StepID: stepID, Name: r.text(name), Error: r.text(errText)}
	var err error
	if t.Arguments, err = r.encodeValue(mapOrEmpty(args)); err != nil {
		return r.lose(err)
	}
	if errText == "" {
		if t.Result, err = r.encodeValue(result); err != nil {
			return r.lose(err)
		}
	}
	raw, err := encode(t)
	if err != nil {
		return r.lose(err)
	}
	return r.commit(len(raw), func() { r.own.addTool(toolResult{stepID, raw}) })
}

func (r *Recorder) encodeValue(x any) (json.RawMessage, error) {
	v, err := value.From(x)
	if err != nil {
		return nil, err
	}
	clean, _ := r.value(v)
	return value.EncodeJSON(clean)
}

func mapOrEmpty(m *value.Map) *value.Map {
	if m == nil {
		return value.NewMap(0)
	}
	return m
}

// Tape is where a run records the tool calls of its models, and where it finds
// recorded ones. Either may be nil.
type Tape struct {
	To   *Recorder
	From *ToolReplay
}

// Record is RecordTool of To.
func (t Tape) Record(stepID, tool string, args *value.Map, result any, failure string) error {
	if t.To == nil {
		return nil
	}
	return t.To.RecordTool(stepID, tool, args, result, failure)
}

// Replay is Lookup of From.
func (t Tape) Replay(stepID, tool string, args *value.Map) (result any, failure string, found bool) {
	if t.From == nil {
		return nil, "", false
	}
	return t.From.Lookup(stepID, tool, args)
}

// ToolReplay gives back what tools returned in a recorded run. It is safe for
// concurrent use, and meant for one run: it counts equal calls.
type ToolReplay struct {
	mu      sync.Mutex
	results map[call][]toolOutcome
	used    map[call]int
}

type call struct{ step, name, args string }

type toolOutcome struct {
	result  any
	errText string
}

// ParseTools reads the tool results of a recording, which may have none. file
// names it in errors, which are *fault.Error of kind Invalid.
func ParseTools(src []byte, file string) (*ToolReplay, error) {
	c, err := parse(src, file)
	if err != nil {
		return nil, err
	}
	out := &ToolReplay{results: map[call][]toolOutcome{}, used: map[call]int{}}
	for i, t := range c.tools {
		key, outcome, err := parseTool(t.raw)
		if err != nil {
			return nil, fault.New(fault.Invalid, fmt.Sprintf("%s is no recording: result %d of _tools %v", file, i+1, err), err)
		}
		out.results[key] = append(out.results[key], outcome)
	}
	return out, nil
}

func parseTool(raw []byte) (call, toolOutcome, error) {
	var t recordedTool
	if err := json.Unmarshal(raw, &t); err != nil {
		return call{}, toolOutcome{}, errors.New("must be {step_id, name, arguments, result} or {step_id, name, arguments, error}")
	}
	args := value.NewMap(0)
	if len(t.Arguments) > 0 {
		v, err := value.DecodeJSON(t.Arguments)
		m, ok := v.(*value.Map)
		if err != nil || !ok {
			return call{}, toolOutcome{}, errors.New("has arguments that are no object")
		}
		args = m
	}
	key, err := callOf(t.StepID, t.Name, args)
	if err != nil {
		return call{}, toolOutcome{}, err
	}
	outcome := toolOutcome{errText: t.Error}
	if len(t.Result) > 0 {
		if outcome.result, err = value.DecodeJSON(t.Result); err != nil {
			return call{}, toolOutcome{}, fmt.Errorf("has a result that can't be read: %w", err)
		}
	}
	return key, outcome, nil
}

// Len is how many different calls the recording has.
func (t *ToolReplay) Len() int { return len(t.results) }

// Lookup returns what a tool returned to the model of the step with this
// qualified id when it was called by this name with equal arguments, whatever
// the order of their keys; args may be nil. Equal calls get the results in
// their recorded order, and the last repeats. ok is false when there was no
// such call.
func (t *ToolReplay) Lookup(stepID, name string, args *value.Map) (result any, errText string, ok bool) {
	key, err := callOf(stepID, name, mapOrEmpty(args))
	if err != nil {
		return nil, "", false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.results[key]
	if len(list) == 0 {
		return nil, "", false
	}
	n := t.used[key]
	t.used[key]++
	one := list[min(n, len(list)-1)]
	return one.result, one.errText, true
}

// callOf is what tells calls apart: the arguments count as JSON with its keys
// in order.
func callOf(step, name string, args *value.Map) (call, error) {
	b, err := value.EncodeJSON(sorted(args))
	return call{step, name, string(b)}, err
}

// sorted is a value with the keys of all its maps in order.
func sorted(v any) any {
	switch v := v.(type) {
	case *value.Map:
		all := maps.Collect(v.All())
		out := value.NewMap(len(all))
		for _, k := range slices.Sorted(maps.Keys(all)) {
			out.Put(k, sorted(all[k]))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = sorted(e)
		}
		return out
	}
	return v
}
