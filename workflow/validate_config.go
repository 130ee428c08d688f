package workflow

import (
	"math"
	"regexp"
	"slices"

	"github.com/agentloom/agentloom/value"
)

func (c *checker) checkConfig() {
	f, p := &c.def.Config, configPart()
	c.checkRequired(p, "provider", f.Provider)
	c.checkRequired(p, "model", f.Model)
	c.checkInt(p, "max_retries", int64(f.MaxRetries), 0, maxCount)
	if f.BudgetUSD != nil {
		c.checkFloat(p, "budget_usd", *f.BudgetUSD, 0, math.Inf(1))
	}
	c.checkOptionalWord(p, "budget_mode", f.BudgetMode, "strict")
	c.checkSeconds(p, "timeout", f.Timeout)
	c.checkInt(p, "max_concurrent_steps", int64(f.MaxConcurrentSteps), 1, 1024)
	c.checkWord(p, "on_step_failure", f.OnStepFailure, SkipDownstream, Continue)
	c.checkOptionalWord(p, "latency_model", f.LatencyModel, "constant", "normal", "replay")
	switch {
	case f.LatencyMS != nil:
		c.checkFloat(p, "latency_ms", *f.LatencyMS, 0, maxLatencyMS)
	case f.LatencyModel == "constant" || f.LatencyModel == "normal":
		c.errorf(p.key("latency_ms"), "missing_key", "set it to the milliseconds that a call takes",
			"latency_model %s needs latency_ms", quoted(f.LatencyModel))
	}
	c.checkWord(p, "scheduling", f.Scheduling, Layers, Eager)
	c.checkWord(p, "on_uncertain", f.OnUncertain, "rerun", "stop")
	c.checkSandbox(f.Sandbox)
	c.checkWorkdirTools(f.WorkdirTools)
	c.checkPermissions(f.Permissions)
}

func (c *checker) checkSandbox(s *Sandbox) {
	if s == nil {
		return
	}
	p := configPart().key("sandbox")
	if s.MaxWriteBytes != nil {
		c.checkInt(p, "max_write_bytes", *s.MaxWriteBytes, 0, unbounded)
	}
	if s.MaxReadBytes != nil {
		c.checkInt(p, "max_read_bytes", *s.MaxReadBytes, 1, unbounded)
	}
	c.checkOptionalWord(p, "kernel", s.Kernel, "auto", "require", "strict", "off")
}

// workdirToolNames are the tools of `workdir_tools`.
func workdirToolNames() []string {
	return []string{"read", "write", "edit", "grep", "find", "ls", "bash", "web_search"}
}

func (c *checker) checkWorkdirTools(w *WorkdirTools) {
	if w == nil {
		return
	}
	p := configPart().key("workdir_tools")
	known := workdirToolNames()
	for i, name := range w.Tools {
		if !slices.Contains(known, name) {
			c.errorf(p.key("tools").item(i), "unknown_tool", c.didYouMean(name, known),
				"%s is no workdir tool; there are %s", quoted(name), oneOf(known))
		}
	}
	c.checkOptionNumber(p.key("read"), w.Read, "line_limit")
	c.checkOptionNumber(p.key("grep"), w.Grep, "max_results")
	c.checkOptionNumber(p.key("find"), w.Find, "max_results")
	c.checkOptionNumber(p.key("bash"), w.Bash, "timeout")
	c.checkOptionNumber(p.key("web_search"), w.WebSearch, "max_results")
	c.checkOptionNumber(p.key("web_search"), w.WebSearch, "timeout")
	if backend, ok := w.WebSearch.Get("backend"); ok {
		s, _ := backend.(string)
		c.checkWord(p.key("web_search"), "backend", s, "duckduckgo", "serper")
	}
	if pattern, ok := w.Bash.Get("allow_pattern"); ok {
		s, isText := pattern.(string)
		if _, err := regexp.Compile(s); err != nil || !isText {
			c.errorf(p.key("bash").key("allow_pattern"), "invalid_pattern", "", "allow_pattern is no regular expression (RE2 syntax)")
		}
	}
}

// checkOptionNumber wants an option of a workdir tool, where it is set, to be
// a number above 0.
func (c *checker) checkOptionNumber(p place, m *value.Map, key string) {
	v, ok := m.Get(key)
	if !ok {
		return
	}
	switch v := v.(type) {
	case int64:
		c.checkInt(p, key, v, 1, unbounded)
	case float64:
		c.checkAbove(p, key, v)
	default:
		c.errorf(p.key(key), "wrong_type", "", "%s must be a number", key)
	}
}

func (c *checker) checkPermissions(m *Permissions) {
	if m == nil {
		return
	}
	p := configPart().key("permissions")
	c.checkOptionalWord(p, "mode", m.Mode, "default", "acceptEdits", "bypass")
	c.checkOptionalWord(p, "on_ask", m.OnAsk, "prompt", "deny", "pause")
}
