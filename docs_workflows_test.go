package agentloom_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/internal/expr"
	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/internal/template"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

// The tables of docs/workflows.md are run row by row.

var row = regexp.MustCompile("^\\| (`.+?`|``.+?``) \\| (?:error: )?(`.*?`|``.+?``) \\|")

// table returns the first two cells, which are code, of each row of the tables
// below `<!-- test: name -->`.
func table(t *testing.T, src, name string) (rows [][2]string) {
	t.Helper()
	for i, part := range strings.Split(src, "<!-- test: "+name+" -->\n\n") {
		if i == 0 {
			continue
		}
		lines := strings.Split(part, "\n")
		for _, line := range lines[2:] {
			if line == "" {
				break
			}
			m := row.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("this row can't be read: %s", line)
				continue
			}
			rows = append(rows, [2]string{strings.Trim(m[1], "`"), strings.Trim(m[2], "`")})
		}
	}
	if len(rows) == 0 {
		t.Fatalf("no table %q", name)
	}
	return rows
}

// docState is the state that the examples of docs/workflows.md use.
func docState(t *testing.T, src string) state.State {
	t.Helper()
	read := func(block string) *value.Map {
		v, ds := wfyaml.DecodeValue(block, []byte(one(t, src, block)))
		if err := ds.Err(); err != nil {
			t.Fatal(err)
		}
		return v.(*value.Map)
	}
	s := state.New(read("json state"))
	for id, output := range read("json steps").All() {
		s = s.WithStep(id, state.StepResult{Output: output, Status: "success"})
	}
	return s
}

func TestDocsExpressions(t *testing.T) {
	src := page(t, "docs/workflows.md")
	s := docState(t, src)
	for _, r := range table(t, src, "expressions") {
		p, err := expr.Compile(r[0])
		var v any
		if err == nil {
			v, err = p.Eval(s)
		}
		switch {
		case err != nil && !strings.HasPrefix(err.Error(), r[1]):
			t.Errorf("%s\n gives %v\nsays %s", r[0], err, r[1])
		case err == nil && python.Repr(v) != r[1]:
			t.Errorf("%s\n gives %s\nsays %s", r[0], python.Repr(v), r[1])
		}
	}
}

func TestDocsTemplates(t *testing.T) {
	src := page(t, "docs/workflows.md")
	s := docState(t, src)
	for _, r := range table(t, src, "templates") {
		var text string
		p, err := template.Parse(r[0])
		if err == nil {
			text, _, err = p.Render(s, nil)
		}
		switch {
		case err != nil && !strings.Contains(err.Error(), r[1]):
			t.Errorf("%s\n gives %v\nsays %s", r[0], err, r[1])
		case err == nil && text != r[1]:
			t.Errorf("%s\n prints %s\nsays   %s", r[0], text, r[1])
		}
	}
}

func TestDocsValues(t *testing.T) {
	src := page(t, "docs/workflows.md")
	s := docState(t, src)
	for _, r := range table(t, src, "values") {
		written, ds := wfyaml.DecodeValue("row", []byte(r[0]))
		if err := ds.Err(); err != nil {
			t.Error(err)
			continue
		}
		v, _, err := template.RenderValue(written, s)
		got := ""
		if err == nil {
			var b []byte
			if b, err = value.EncodeJSON(v); err == nil {
				got = string(b)
			}
		}
		switch {
		case err != nil && !strings.Contains(err.Error(), r[1]):
			t.Errorf("%s\n gives %v\nsays %s", r[0], err, r[1])
		case err == nil && got != r[1]:
			t.Errorf("%s\n gives %s\nsays %s", r[0], got, r[1])
		}
	}
}

// A file that gives every warning there is today. Approval gates, which have
// one more, are not supported yet.
const warned = `
name: warned
config:
  budget_usd: 1
  sandbox: {danger_opt_in: [bash], allowed_commands: [python3], allowed_paths: [/]}
state: {flag: yes}
steps:
  - {id: a, type: tool, tool_name: file_reed, output: x}
  - {id: A, type: tool, output: x}
  - id: r
    type: router
    conditions: [{expression: "state.n * 2 > 3", target: a}]
    default: b
  - {id: b, type: llm_call, depends_on: [r], prompt: "{"}
  - {id: c, type: llm_call, depends_on: [r], prompt: "{state.nope}"}
`

func TestDocsWarnings(t *testing.T) {
	_, ds := wfyaml.Load("warned.yaml", []byte(warned))
	if err := ds.Err(); err != nil {
		t.Fatal(err)
	}
	given := map[string]bool{}
	for _, d := range ds {
		given[d.Code] = true
	}
	told := map[string]bool{}
	part := section(t, page(t, "docs/workflows.md"), "## What `validate` warns of")
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\|").FindAllStringSubmatch(part, -1) {
		told[m[1]] = true
	}
	if d := cmp.Diff(given, told); d != "" {
		t.Errorf("warnings given (-) and told (+):\n%s", d)
	}
}

// unsupported has a file for each thing that docs/workflows.md says is not
// supported yet, with the path of the error.
var unsupported = map[string]struct{ path, file string }{
	"subworkflow":           {"steps[0].type", "steps: [{id: a, type: subworkflow, workflow_path: x.yaml}]"},
	"approval_gate":         {"steps[0].type", "steps: [{id: a, type: approval_gate}]"},
	"state_schema":          {"state_schema", "state_schema: {x: {redact: true}}"},
	"capture_prompts: true": {"config.capture_prompts", "config: {capture_prompts: true}"},
	"on_uncertain: stop":    {"config.on_uncertain", "config: {on_uncertain: stop}"},
	"workdir_tools":         {"config.workdir_tools", "config: {workdir_tools: {}}"},
	"permissions":           {"config.permissions", "config: {permissions: {mode: default}}"},
	"effect":                {"steps[0].effect", "steps: [{id: a, type: tool, tool_name: file_read, effect: pure}]"},
}

func TestDocsUnsupported(t *testing.T) {
	told := map[string]bool{}
	part := section(t, page(t, "docs/workflows.md"), "## Not supported yet")
	for _, item := range strings.Split(part, "\n- ")[1:] {
		_, names, _ := strings.Cut(item, ":")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(names, -1) {
			told[m[1]] = true
		}
	}
	for name, u := range unsupported {
		file := "name: x\n" + u.file + "\n"
		if !strings.Contains(file, "steps:") {
			file += "steps: [{id: a, type: llm_call, prompt: hi}]\n"
		}
		_, ds := wfyaml.Load("x.yaml", []byte(file))
		if !slices.ContainsFunc(ds, func(d workflow.Diagnostic) bool { return d.Code == "not_supported" && d.Path == u.path }) {
			t.Errorf("%s is supported, or another error: %v", name, ds)
		}
	}
	want := map[string]bool{}
	for name := range unsupported {
		want[name] = true
	}
	if d := cmp.Diff(want, told); d != "" {
		t.Errorf("not supported (-) and told (+):\n%s", d)
	}
}

// keyOf is the file's key of a Go field, such as budget_usd of BudgetUSD.
func keyOf(field string) string {
	word := regexp.MustCompile(`([A-Z]+)([A-Z][a-z])|([a-z])([A-Z])`)
	return strings.ToLower(word.ReplaceAllString(field, "${1}${3}_${2}${4}"))
}

// Each section's table has every key that a file may have, beside those that
// are not supported yet, with the default that the loader fills in.
func TestDocsKeys(t *testing.T) {
	src := page(t, "docs/workflows.md") + page(t, "docs/sandbox.md")
	later := map[string]bool{}
	for _, u := range unsupported {
		if parts := strings.Split(u.path, "."); len(parts) > 1 { // config.KEY, steps[0].KEY
			later[parts[1]] = true
		}
	}
	cells := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (.*?) \\|")
	for heading, defaults := range map[string]any{
		"### `config`":      workflow.DefaultConfig(),
		"`retry` has":       workflow.DefaultRetry(3),
		"### `llm_call`":    workflow.LLMCallFields{},
		"`attachments` has": workflow.Attachment{Fetch: "local"},
		"`thinking` has":    workflow.Thinking{},
		"`tools` has":       workflow.ToolDeclaration{},
		"### `agent`":       workflow.AgentFields{},
		"Each agent has":    workflow.Agent{},
		"Each server has":   workflow.MCPServer{},
		"### `embed`":       workflow.EmbedFields{},
		"### `tool`":        workflow.ToolFields{},
		"### `router`":      workflow.RouterFields{},
		"`config.sandbox` has": workflow.Sandbox{
			AllowNetwork: true, AllowedSchemes: []string{"http", "https"}, Kernel: "auto",
		},
	} {
		_, part, found := strings.Cut(src, "\n"+heading)
		if !found {
			t.Errorf("no %q", heading)
			continue
		}
		_, part, _ = strings.Cut(part, "\n|")
		part, _, _ = strings.Cut(part, "\n\n")
		told := map[string]string{}
		for _, m := range cells.FindAllStringSubmatch(part, -1) {
			told[m[1]] = m[2]
		}
		have := reflect.ValueOf(defaults)
		for i := range have.NumField() {
			key := keyOf(have.Type().Field(i).Name)
			cell, ok := told[key]
			delete(told, key)
			named := strings.HasPrefix(heading, "Each ") && key == "name" // its name is a key itself
			if !ok && !later[key] && !named {
				t.Errorf("%s: the table has no %s", heading, key)
			}
			// A default in words, such as "the workflow's", is for people.
			if ok && (cell == "none" || cell[0] == '`' && !strings.Contains(cell, "config.")) && !sameDefault(cell, have.Field(i)) {
				t.Errorf("%s: the default of %s is %v, not %s", heading, key, have.Field(i), cell)
			}
		}
		for key := range told {
			t.Errorf("%s: there is no key %s", heading, key)
		}
	}
}

// sameDefault compares a table's cell with what the loader fills in.
func sameDefault(cell string, v reflect.Value) bool {
	if cell == "none" {
		return v.IsZero()
	}
	text := strings.NewReplacer("`", "", ",", "", "2.0", "2").Replace(cell)
	return text == fmt.Sprint(v)
}
