package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
)

func newTools(p *program) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "tools",
		Short: "List the tools that workflows can use",
		Args:  checkedArgs(cobra.NoArgs),
		RunE:  func(*cobra.Command, []string) error { return runTools(p, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

// listedTool is one tool in the JSON document.
type listedTool struct {
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Parameters  *value.Map  `json:"parameters"`
	Effect      tool.Effect `json:"effect,omitempty"`
	Destructive bool        `json:"destructive"`
}

func runTools(p *program, asJSON bool) error {
	reg, err := p.tools(environment{vars: parseEnviron(p.Environ)}, nil, nil)
	if err != nil {
		return err
	}
	var specs []tool.Spec
	for _, t := range reg.All() {
		specs = append(specs, t.Spec())
	}
	if asJSON {
		list := make([]listedTool, 0, len(specs))
		for _, s := range specs {
			if s.Parameters == nil {
				s.Parameters = value.MapOf("type", "object")
			}
			list = append(list, listedTool{s.Name, s.Description, s.Parameters, s.Effect, s.Destructive})
		}
		return p.printJSON(struct {
			Tools []listedTool `json:"tools"`
		}{list})
	}
	var b strings.Builder
	for i, s := range specs {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n  %s\n", p.out.bold(s.Name), line(s.Description))
		if rows := parameterRows(s.Parameters); len(rows) > 0 {
			writeTable(&b, rows, func(_, _ int, text string) string { return text })
		}
	}
	return p.print(b.String())
}

// parameterRows describes each parameter of a JSON Schema: name, type, default
// and what it is.
func parameterRows(schema *value.Map) [][]string {
	properties, _ := get[*value.Map](schema, "properties")
	required, _ := get[[]any](schema, "required")
	var rows [][]string
	for name, v := range properties.All() {
		about, _ := v.(*value.Map)
		need := "optional"
		if slices.Contains(required, any(name)) {
			need = "required"
		} else if d, ok := about.Get("default"); ok {
			need = "default " + valueText(d)
		}
		text, _ := get[string](about, "description")
		rows = append(rows, []string{"    " + line(name), typeText(about), line(need), line(text)})
	}
	return rows
}

// typeText is a schema's type, or types.
func typeText(schema *value.Map) string {
	v, ok := schema.Get("type")
	switch v := v.(type) {
	case string:
		return line(v)
	case []any:
		parts := make([]string, len(v))
		for i, t := range v {
			parts[i] = line(fmt.Sprint(t))
		}
		return strings.Join(parts, "|")
	}
	if !ok {
		return "any"
	}
	return "?"
}

func get[T any](m *value.Map, key string) (T, bool) {
	v, _ := m.Get(key)
	t, ok := v.(T)
	return t, ok
}
