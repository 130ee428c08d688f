package workflow

// gap is a key that is read but not acted on yet.
type gap[T any] struct {
	key  string
	used func(*T) bool
}

// This file lists every key whose behaviour does not exist yet: each is an
// error, so that no setting is silently ignored. Who builds one takes its line
// out.

func unsupportedTypes() map[StepType]bool {
	return map[StepType]bool{Subworkflow: true, ApprovalGate: true}
}

func topGaps() []gap[Definition] {
	return []gap[Definition]{
		{"state_schema", func(d *Definition) bool { return d.StateSchema.Len() > 0 }},
	}
}

func configGaps() []gap[Config] {
	return []gap[Config]{
		{"capture_prompts", func(c *Config) bool { return c.CapturePrompts }},
		{"on_uncertain", func(c *Config) bool { return c.OnUncertain == "stop" }},
		{"workdir_tools", func(c *Config) bool { return c.WorkdirTools != nil }},
		{"permissions", func(c *Config) bool { return c.Permissions != nil }},
	}
}

func stepGaps() []gap[Step] {
	return []gap[Step]{
		{"effect", func(s *Step) bool { return s.Effect != "" && s.Type == ToolStep }},
	}
}

func (c *checker) checkUnsupported() {
	checkGaps(c, wholeFile(), c.def, topGaps())
	checkGaps(c, configPart(), &c.def.Config, configGaps())
	types, ofStep := unsupportedTypes(), stepGaps()
	for i := range c.def.Steps {
		s := &c.def.Steps[i]
		p := stepAt(i)
		if types[s.Type] {
			c.errorf(p.key("type"), "not_supported", "", "step type %s is not supported yet", quoted(s.Type))
			continue
		}
		checkGaps(c, p, s, ofStep)
	}
}

func checkGaps[T any](c *checker, p place, of *T, gaps []gap[T]) {
	for _, g := range gaps {
		if g.used(of) {
			c.errorf(p.key(g.key), "not_supported", "", "%s is not supported yet", g.key)
		}
	}
}
