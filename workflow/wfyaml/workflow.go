package wfyaml

import (
	"go.yaml.in/yaml/v4"

	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// document is a workflow file while it is read: the steps wait for the config,
// which may stand below them.
type document struct {
	workflow.Definition
	steps *item
}

func documentFields() []field[document] {
	return []field[document]{
		text("name", func(f *document) *string { return &f.Name }),
		text("version", func(f *document) *string { return &f.Version }),
		text("description", func(f *document) *string { return &f.Description }),
		{"config", func(d *decoder, f *document, it item) { section(d, it, "config", configFields(), &f.Config) }},
		dataMap("state", func(f *document) **value.Map { return &f.State }),
		{"state_schema", func(d *decoder, f *document, it item) { f.StateSchema = d.stateSchema(it) }},
		{"agents", func(d *decoder, f *document, it item) {
			f.Agents = named(d, it, "an agent", agentFields(), func(a *workflow.Agent) *string { return &a.Name })
		}},
		{"mcp_servers", func(d *decoder, f *document, it item) {
			f.MCPServers = named(d, it, "an MCP server", mcpFields(), func(s *workflow.MCPServer) *string { return &s.Name })
		}},
		{"steps", func(_ *decoder, f *document, it item) { f.steps = &it }},
	}
}

// workflow reads the whole file, whose config goes over the defaults. It returns
// nil when the file is no mapping.
func (d *decoder) workflow(root *yaml.Node, defaults workflow.Config) *workflow.Definition {
	it := item{node: root}
	if follow(root).Kind != yaml.MappingNode {
		d.fail("wrong_type", at(root), "a workflow is a mapping with `name` and `steps`, but this is "+describe(root), "")
		return nil
	}
	f := document{Definition: workflow.Definition{Config: defaults}}
	section(d, it, "a workflow", documentFields(), &f)
	if f.steps != nil {
		f.Steps = d.steps(*f.steps, f.Config.MaxRetries)
	}
	return &f.Definition
}

// steps reads the list of steps. An item that is no step leaves an empty one,
// so that the others keep their numbers.
func (d *decoder) steps(it item, maxRetries int) []workflow.Step {
	nodes, ok := d.items(it, "steps")
	if !ok {
		return nil
	}
	if len(nodes) > MaxSteps {
		d.wrong("too_large", it, "move some into subworkflows", "%d steps; a workflow has at most %d", len(nodes), MaxSteps)
		return nil
	}
	r := stepReader{d, sharedFields(), kinds()}
	out := make([]workflow.Step, len(nodes))
	for i, n := range nodes {
		out[i].Retry = workflow.DefaultRetry(maxRetries)
		r.step(it.index(i, n), &out[i])
	}
	return out
}

// named reads a mapping of names to sections, in file order.
func named[T any](d *decoder, it item, what string, fields []field[T], name func(*T) *string) []T {
	es, ok := d.mapping(it, "a mapping of names")
	if !ok {
		return nil
	}
	out := make([]T, 0, len(es))
	for _, e := range es {
		if !d.ownKey(e, it) {
			continue
		}
		var t T
		*name(&t) = e.key
		section(d, it.key(e.key, e.value), what, fields, &t)
		out = append(out, t)
	}
	return out
}

func schemaFields() []field[value.Map] {
	return []field[value.Map]{putBoolean("redact")}
}

// stateSchema reads `state_schema`. Its keys name state, so that none of them
// is free: a key that starts with x- is redacted like any other.
func (d *decoder) stateSchema(it item) *value.Map {
	es, ok := d.mapping(it, "a mapping of state keys")
	if !ok {
		return nil
	}
	fields := schemaFields()
	out := value.NewMap(len(es))
	for _, e := range es {
		m := value.NewMap(1)
		if !isNull(e.value) {
			section(d, it.key(e.key, e.value), "an entry of state_schema", fields, m)
		}
		out.Put(e.key, m)
	}
	return out
}

func mcpFields() []field[workflow.MCPServer] {
	return []field[workflow.MCPServer]{
		text("command", func(s *workflow.MCPServer) *string { return &s.Command }),
		texts("args", func(s *workflow.MCPServer) *[]string { return &s.Args }),
		textMap("env", func(s *workflow.MCPServer) **value.Map { return &s.Env }),
		text("url", func(s *workflow.MCPServer) *string { return &s.URL }),
		textMap("headers", func(s *workflow.MCPServer) **value.Map { return &s.Headers }),
		texts("tools", func(s *workflow.MCPServer) *[]string { return &s.Tools }),
		optionalNumber("timeout", func(s *workflow.MCPServer) **float64 { return &s.Timeout }),
	}
}
