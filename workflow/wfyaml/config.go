package wfyaml

import (
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

func configFields() []field[workflow.Config] {
	return []field[workflow.Config]{
		text("provider", func(c *workflow.Config) *string { return &c.Provider }),
		text("model", func(c *workflow.Config) *string { return &c.Model }),
		integer("max_retries", func(c *workflow.Config) *int { return &c.MaxRetries }),
		optionalNumber("budget_usd", func(c *workflow.Config) **float64 { return &c.BudgetUSD }),
		word("budget_mode", func(c *workflow.Config) *string { return &c.BudgetMode }),
		optionalNumber("timeout", func(c *workflow.Config) **float64 { return &c.Timeout }),
		integer("max_concurrent_steps", func(c *workflow.Config) *int { return &c.MaxConcurrentSteps }),
		boolean("stream", func(c *workflow.Config) *bool { return &c.Stream }),
		subsection("sandbox", "sandbox", sandboxFields(), defaultSandbox(),
			func(c *workflow.Config) **workflow.Sandbox { return &c.Sandbox }),
		word("on_step_failure", func(c *workflow.Config) *string { return &c.OnStepFailure }),
		boolean("strict_outputs", func(c *workflow.Config) *bool { return &c.StrictOutputs }),
		boolean("capture_prompts", func(c *workflow.Config) *bool { return &c.CapturePrompts }),
		text("responses_file", func(c *workflow.Config) *string { return &c.ResponsesFile }),
		word("latency_model", func(c *workflow.Config) *string { return &c.LatencyModel }),
		optionalNumber("latency_ms", func(c *workflow.Config) **float64 { return &c.LatencyMS }),
		word("scheduling", func(c *workflow.Config) *string { return &c.Scheduling }),
		word("on_uncertain", func(c *workflow.Config) *string { return &c.OnUncertain }),
		subsection("workdir_tools", "workdir_tools", workdirFields(), workflow.WorkdirTools{},
			func(c *workflow.Config) **workflow.WorkdirTools { return &c.WorkdirTools }),
		subsection("permissions", "permissions", permissionFields(), workflow.Permissions{},
			func(c *workflow.Config) **workflow.Permissions { return &c.Permissions }),
	}
}

// defaultSandbox is the sandbox of a block that says nothing.
func defaultSandbox() workflow.Sandbox {
	return workflow.Sandbox{AllowNetwork: true, AllowedSchemes: []string{"http", "https"}, Kernel: "auto"}
}

func sandboxFields() []field[workflow.Sandbox] {
	return []field[workflow.Sandbox]{
		boolean("enabled", func(s *workflow.Sandbox) *bool { return &s.Enabled }),
		texts("allowed_commands", func(s *workflow.Sandbox) *[]string { return &s.AllowedCommands }),
		texts("allowed_paths", func(s *workflow.Sandbox) *[]string { return &s.AllowedPaths }),
		texts("readable_paths", func(s *workflow.Sandbox) *[]string { return &s.ReadablePaths }),
		texts("writable_paths", func(s *workflow.Sandbox) *[]string { return &s.WritablePaths }),
		boolean("allow_network", func(s *workflow.Sandbox) *bool { return &s.AllowNetwork }),
		texts("allowed_domains", func(s *workflow.Sandbox) *[]string { return &s.AllowedDomains }),
		texts("allowed_schemes", func(s *workflow.Sandbox) *[]string { return &s.AllowedSchemes }),
		optionalInteger("max_write_bytes", func(s *workflow.Sandbox) **int64 { return &s.MaxWriteBytes }),
		optionalInteger("max_read_bytes", func(s *workflow.Sandbox) **int64 { return &s.MaxReadBytes }),
		texts("danger_opt_in", func(s *workflow.Sandbox) *[]string { return &s.DangerOptIn }),
		boolean("allow_internal_webhook_targets", func(s *workflow.Sandbox) *bool { return &s.AllowInternalWebhookTargets }),
		boolean("deny_internal_hosts", func(s *workflow.Sandbox) *bool { return &s.DenyInternalHosts }),
		word("kernel", func(s *workflow.Sandbox) *string { return &s.Kernel }),
	}
}

func permissionFields() []field[workflow.Permissions] {
	return []field[workflow.Permissions]{
		word("mode", func(p *workflow.Permissions) *string { return &p.Mode }),
		texts("allowed_tools", func(p *workflow.Permissions) *[]string { return &p.AllowedTools }),
		texts("denied_tools", func(p *workflow.Permissions) *[]string { return &p.DeniedTools }),
		word("on_ask", func(p *workflow.Permissions) *string { return &p.OnAsk }),
	}
}

func workdirFields() []field[workflow.WorkdirTools] {
	return []field[workflow.WorkdirTools]{
		text("workdir", func(w *workflow.WorkdirTools) *string { return &w.Workdir }),
		texts("tools", func(w *workflow.WorkdirTools) *[]string { return &w.Tools }),
		options("read", func(w *workflow.WorkdirTools) **value.Map { return &w.Read }, putInteger("line_limit")),
		options("write", func(w *workflow.WorkdirTools) **value.Map { return &w.Write }, putBoolean("create_parents")),
		options("grep", func(w *workflow.WorkdirTools) **value.Map { return &w.Grep }, putInteger("max_results")),
		options("find", func(w *workflow.WorkdirTools) **value.Map { return &w.Find }, putInteger("max_results")),
		options("bash", func(w *workflow.WorkdirTools) **value.Map { return &w.Bash },
			putNumber("timeout"), putTexts("extra_env"), putText("allow_pattern")),
		options("web_search", func(w *workflow.WorkdirTools) **value.Map { return &w.WebSearch },
			putText("backend"), putInteger("max_results"), putNumber("timeout")),
	}
}

// options is a field that holds a section which the definition keeps as a map
// of checked values.
func options[T any](key string, to func(*T) **value.Map, fields ...field[value.Map]) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		m := value.NewMap(len(fields))
		if section(d, it, key, fields, m) {
			*to(t) = m
		}
	}}
}

// The put fields check a value's type and put it into such a map.

func putText(key string) field[value.Map] {
	return field[value.Map]{key, func(d *decoder, m *value.Map, it item) {
		if s := ""; d.string(it, &s) {
			d.warnBoolean(it, true)
			m.Put(key, s)
		}
	}}
}

func putBoolean(key string) field[value.Map] {
	return field[value.Map]{key, func(d *decoder, m *value.Map, it item) {
		if b := false; d.bool(it, &b) {
			m.Put(key, b)
		}
	}}
}

func putInteger(key string) field[value.Map] {
	return field[value.Map]{key, func(d *decoder, m *value.Map, it item) {
		if n := int64(0); decodeInt(d, it, &n) {
			m.Put(key, n)
		}
	}}
}

func putNumber(key string) field[value.Map] {
	return field[value.Map]{key, func(d *decoder, m *value.Map, it item) {
		if f := 0.0; d.number(it, &f) {
			m.Put(key, f)
		}
	}}
}

func putTexts(key string) field[value.Map] {
	inner := textMap(key, func(m **value.Map) **value.Map { return m })
	return field[value.Map]{key, func(d *decoder, m *value.Map, it item) {
		var texts *value.Map
		if inner.set(d, &texts, it); texts != nil {
			m.Put(key, texts)
		}
	}}
}
