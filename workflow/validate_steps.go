package workflow

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	maxIDLength = 128
	// maxOutputNames bounds how deep an output key nests.
	maxOutputNames = 100
)

// stepTypes are all types, in the order of the docs.
func stepTypes() []string {
	return []string{string(LLMCall), string(AgentStep), string(ToolStep), string(Router),
		string(Subworkflow), string(ApprovalGate), string(Embed)}
}

// checkIDs wants ids that are there, well formed and unique. Ids that differ
// only in case are doubtful, and an error where each names a child run's
// journal: on a file system without case the two would be one file.
func (c *checker) checkIDs() {
	first := make(map[string]int, len(c.ids))
	folded := make(map[string]int, len(c.ids))
	for i, id := range c.ids {
		p := stepAt(i).key("id")
		if why := idFault(id); why != "" {
			c.errorf(p, "invalid_id", "", "%s", why)
			continue
		}
		if j, taken := first[id]; taken {
			c.errorf(p, "duplicate_id", "give each step an id of its own", "step id %s is already that of %s", quoted(id), stepAt(j))
			continue
		}
		first[id] = i
		fold := strings.ToLower(id)
		j, taken := folded[fold]
		if !taken {
			folded[fold] = i
			continue
		}
		say := c.warnf
		if c.def.Steps[i].Type == Subworkflow && c.def.Steps[j].Type == Subworkflow {
			say = c.errorf
		}
		say(p, "id_case", "rename one of them", "step ids %s and %s differ only in case", quoted(c.ids[j]), quoted(id))
	}
}

// idFault says what is wrong with a step id, "" for nothing.
func idFault(id string) string {
	switch {
	case id == "":
		return "id is required"
	case len(id) > maxIDLength:
		return fmt.Sprintf("step id %s is longer than %d characters", quoted(id), maxIDLength)
	case !isLetter(id[0]):
		return fmt.Sprintf("step id %s must begin with a letter or \"_\"", quoted(id))
	case !isWord(id):
		return fmt.Sprintf("step id %s may hold only letters, digits, \"_\" and \"-\"", quoted(id))
	}
	return ""
}

func (c *checker) checkStep(i int, s *Step) {
	p := stepAt(i)
	c.checkDependsOn(p, i, s)
	c.checkOutput(p, s.Output)
	c.checkSeconds(p, "timeout", s.Timeout)
	c.checkRetry(p.key("retry"), &s.Retry)
	c.checkEffect(p, s)
	c.checkFields(p, i, s)
}

func (c *checker) checkDependsOn(p place, i int, s *Step) {
	list := p.key("depends_on")
	for k, dep := range s.DependsOn {
		_, known := c.graph.Index(dep)
		switch {
		case dep == s.ID && dep != "":
			c.errorf(list.item(k), "self_dependency", "take it out", "step %s depends on itself", c.name(i))
		case !known || dep == "":
			c.errorf(list.item(k), "unknown_dependency", c.didYouMean(dep, c.ids), "no step has the id %s", quoted(dep))
		}
	}
	if len(s.DependsOn) > 1 {
		c.checkRepeated(list, s.DependsOn)
	}
}

func (c *checker) checkRepeated(p place, deps []string) {
	seen := make(map[string]int, len(deps))
	for k, dep := range deps {
		if j, twice := seen[dep]; twice {
			c.errorf(p.item(k), "duplicate_dependency", "take it out", "%s is already listed as %s", quoted(dep), p.item(j))
			continue
		}
		seen[dep] = k
	}
}

// checkOutput wants a dotted path of names, such as user.name.
func (c *checker) checkOutput(p place, output string) {
	if output == "" {
		return
	}
	if why := KeyFault(output); why != "" {
		c.errorf(p.key("output"), "invalid_output", "", "output %s %s", quoted(output), why)
		return
	}
	for name := range strings.SplitSeq(output, ".") {
		if name[0] == '_' {
			c.errorf(p.key("output"), "invalid_output", "",
				"output %s has a name that starts with \"_\", which templates and expressions refuse", quoted(output))
			return
		}
	}
}

// KeyFault says what is wrong with a dotted key of the state, such as user.name,
// that something writes to; "" for nothing. The words go on after the key:
// `has an empty name in it`.
func KeyFault(key string) string {
	if strings.Count(key, ".") >= maxOutputNames {
		return fmt.Sprintf("has more than %d names", maxOutputNames)
	}
	for name := range strings.SplitSeq(key, ".") {
		if why := nameFault(name); why != "" {
			return why
		}
	}
	return ""
}

func nameFault(name string) string {
	switch {
	case name == "":
		return "has an empty name in it"
	case strings.ContainsAny(name, "[]{}"):
		return "may not hold brackets or braces: it names a key, and items of a list can't be written"
	case strings.TrimSpace(name) != name:
		return "has a name that starts or ends with a space"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "may not hold control characters"
	}
	return ""
}

func (c *checker) checkRetry(p place, r *Retry) {
	if r.MaxRetries != c.def.Config.MaxRetries { // else inherited, and checked there
		c.checkInt(p, "max_retries", int64(r.MaxRetries), 0, maxCount)
	}
	c.checkAbove(p, "backoff_base", r.BackoffBase)
	c.checkAbove(p, "backoff_max", r.BackoffMax)
	for k, status := range r.RetryableStatusCodes {
		if status < 100 || status > 599 {
			c.errorf(p.key("retryable_status_codes").item(k), "out_of_range", "", "%d is no HTTP status; it must be from 100 to 599", status)
		}
	}
}

func (c *checker) checkEffect(p place, s *Step) {
	if s.Effect == "" {
		return
	}
	if s.Type != ToolStep {
		c.errorf(p.key("effect"), "misplaced_key", "", "effect belongs to tool steps only")
		return
	}
	c.checkWord(p, "effect", s.Effect, "pure", "idempotent", "once")
}

func (c *checker) checkCycles() {
	for _, cycle := range c.graph.Cycles() {
		from, to := cycle[0], c.graph.ID(cycle[1])
		k := slices.Index(c.def.Steps[from].DependsOn, to)
		c.errorf(stepAt(from).key("depends_on").item(k), "cycle", "take one of these dependencies out",
			"these steps wait for each other: %s", c.graph.CycleString(cycle))
	}
}

func (c *checker) checkFields(p place, i int, s *Step) {
	for _, t := range fieldsSet(s) {
		if t != s.Type {
			c.errorf(p, "wrong_fields", "", "step %s of type %s has the fields of type %s", c.name(i), quoted(s.Type), quoted(t))
		}
	}
	switch s.Type {
	case "":
		c.errorf(p.key("type"), "missing_key", "", "type is required")
	case LLMCall:
		c.checkLLMCall(p, orZero(s.LLM))
	case AgentStep:
		c.checkAgentStep(p, orZero(s.Agent))
	case ToolStep:
		c.checkTool(p, i, orZero(s.Tool))
	case Router:
		c.checkRouter(p, i, orZero(s.Router))
	case Subworkflow:
		c.checkSubworkflow(p, orZero(s.Subworkflow))
	case ApprovalGate:
		c.checkApproval(p, orZero(s.Approval))
	case Embed:
		c.checkEmbed(p, orZero(s.Embed))
	default:
		c.checkWord(p, "type", string(s.Type), stepTypes()...)
	}
}

// orZero stands in for fields that were not set at all, so that the rules of
// the type name the keys that are missing.
func orZero[T any](fields *T) *T {
	if fields == nil {
		return new(T)
	}
	return fields
}

// fieldsSet returns the types whose fields a step has.
func fieldsSet(s *Step) []StepType {
	set := make([]StepType, 0, 1)
	add := func(is bool, t StepType) {
		if is {
			set = append(set, t)
		}
	}
	add(s.LLM != nil, LLMCall)
	add(s.Agent != nil, AgentStep)
	add(s.Tool != nil, ToolStep)
	add(s.Router != nil, Router)
	add(s.Subworkflow != nil, Subworkflow)
	add(s.Approval != nil, ApprovalGate)
	add(s.Embed != nil, Embed)
	return set
}

func (c *checker) checkLLMCall(p place, f *LLMCallFields) {
	c.checkRequired(p, "prompt", f.Prompt)
	c.checkSampling(p, f.Temperature, f.MaxTokens, f.MaxToolIterations)
	for k := range f.Attachments {
		a, at := &f.Attachments[k], p.key("attachments").item(k)
		c.checkWord(at, "type", a.Type, "image", "pdf", "audio")
		c.checkRequired(at, "source", a.Source)
		c.checkOptionalWord(at, "fetch", a.Fetch, "local", "provider")
	}
	c.checkThinking(p.key("thinking"), f.Thinking)
	names := make([]string, len(f.Tools))
	for k := range f.Tools {
		names[k] = f.Tools[k].Name
		c.checkValues(p.key("tools").item(k).key("parameters"), f.Tools[k].Parameters)
	}
	c.checkToolNames(p.key("tools"), names)
	c.checkToolChoice(p.key("tool_choice"), f.ToolChoice, names)
	c.checkValues(p.key("output_schema"), f.OutputSchema)
}

func (c *checker) checkAgentStep(p place, f *AgentFields) {
	c.checkRequired(p, "agent", f.Agent)
	c.checkRequired(p, "prompt", f.Prompt)
	if f.Agent == "" || c.agents[f.Agent] {
		return
	}
	names := make([]string, len(c.def.Agents))
	for k := range c.def.Agents {
		names[k] = c.def.Agents[k].Name
	}
	c.errorf(p.key("agent"), "unknown_agent", c.didYouMean(f.Agent, names), "agents has no entry %s", quoted(f.Agent))
}

func (c *checker) checkTool(p place, i int, f *ToolFields) {
	if f.ToolName == "" {
		c.warnf(p.key("tool_name"), "no_tool_name", "name the tool to run", "step %s has no tool_name and fails when it runs", c.name(i))
	}
	c.checkValues(p.key("tool_args"), f.ToolArgs)
}

func (c *checker) checkRouter(p place, i int, f *RouterFields) {
	if len(f.Conditions) == 0 && f.Default == "" {
		c.errorf(p, "empty_router", "give it conditions, a default or both", "router %s has neither conditions nor a default", c.name(i))
	}
	for k := range f.Conditions {
		at := p.key("conditions").item(k)
		c.checkRequired(at, "expression", f.Conditions[k].Expression)
		c.checkRequired(at, "target", f.Conditions[k].Target)
		c.checkTarget(at.key("target"), f.Conditions[k].Target)
	}
	c.checkTarget(p.key("default"), f.Default)
}

func (c *checker) checkTarget(p place, target string) {
	if target == "" {
		return
	}
	if _, known := c.graph.Index(target); !known {
		c.errorf(p, "unknown_target", c.didYouMean(target, c.ids), "no step has the id %s", quoted(target))
	}
}

func (c *checker) checkSubworkflow(p place, f *SubworkflowFields) {
	if f.WorkflowPath == "" && f.WorkflowInline == nil {
		c.errorf(p, "missing_key", "", "a subworkflow needs workflow_path or workflow_inline")
	}
	c.checkValues(p.key("workflow_inline"), f.WorkflowInline)
	c.checkValues(p.key("input"), f.Input)
}

func (c *checker) checkApproval(p place, f *ApprovalFields) {
	c.checkSeconds(p, "timeout_seconds", f.TimeoutSeconds)
	c.checkOptionalWord(p, "on_timeout", f.OnTimeout, "approve", "reject")
	if f.OnTimeout != "" && f.TimeoutSeconds == nil {
		c.errorf(p.key("on_timeout"), "missing_key", "set timeout_seconds, or take on_timeout out", "on_timeout needs timeout_seconds")
	}
	if n := f.Notify; n != nil {
		at := p.key("notify")
		c.checkRequired(at, "url", n.URL)
		c.checkSeconds(at, "timeout", &n.Timeout)
		c.checkValues(at.key("headers"), n.Headers)
	}
}

func (c *checker) checkEmbed(p place, f *EmbedFields) {
	c.checkRequired(p, "inputs", f.Inputs)
	if f.Inputs != "" && !isStatePath(f.Inputs) {
		c.errorf(p.key("inputs"), "invalid_inputs", "", "inputs is %s; it must be a state path without indexes, such as state.documents", quoted(f.Inputs))
	}
	if f.Dimensions != nil {
		c.checkInt(p, "dimensions", *f.Dimensions, 1, math.MaxInt32)
	}
}

// isStatePath reports whether s is state.a.b or {state.a.b}.
func isStatePath(s string) bool {
	if inner, ok := strings.CutPrefix(s, "{"); ok {
		if s, ok = strings.CutSuffix(inner, "}"); !ok {
			return false
		}
	}
	path, ok := strings.CutPrefix(s, "state.")
	if !ok {
		return false
	}
	for name := range strings.SplitSeq(path, ".") {
		if nameFault(name) != "" || name[0] == '_' {
			return false
		}
	}
	return true
}
