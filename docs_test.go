package agentloom_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/internal/cli"
	"github.com/agentloom/agentloom/internal/expr"
	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/internal/template"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/mock"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

// The tests of this file hold the documentation to what the program does.

// page reads a documentation file.
func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// pages are all Markdown files of the repository.
func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md", "bench/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// fence is a fenced block of a page.
type fence struct {
	info string // what follows the backquotes, such as "yaml" or "json state"
	text string
	line int    // of its first line of text, from 1
	mark string // of the comment `<!-- mark -->` right before the block, or ""
}

func fences(src string) []fence {
	var all []fence
	lines := strings.Split(src, "\n")
	mark := ""
	for i := 0; i < len(lines); i++ {
		info, opens := strings.CutPrefix(lines[i], "```")
		if !opens {
			if m := comment(lines[i]); m != "" || lines[i] != "" {
				mark = m
			}
			continue
		}
		f := fence{info: info, line: i + 2, mark: mark}
		for i++; i < len(lines) && lines[i] != "```"; i++ {
			f.text += lines[i] + "\n"
		}
		all, mark = append(all, f), ""
	}
	return all
}

func comment(line string) string {
	inner, opens := strings.CutPrefix(line, "<!-- ")
	inner, closes := strings.CutSuffix(inner, " -->")
	if !opens || !closes {
		return ""
	}
	return inner
}

// one returns the only block of a page with an info or a mark.
func one(t *testing.T, src, what string) string {
	t.Helper()
	var found []string
	for _, f := range fences(src) {
		if f.info == what || f.mark == what {
			found = append(found, f.text)
		}
	}
	if len(found) != 1 {
		t.Fatalf("there are %d blocks %q, want one", len(found), what)
	}
	return found[0]
}

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

// section is the part of a page below a heading, up to the next of its level
// or above.
func section(t *testing.T, src, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(src, "\n"+heading+"\n")
	if !found {
		t.Fatalf("no heading %q", heading)
	}
	level := strings.Count(strings.SplitN(heading, " ", 2)[0], "#")
	end := regexp.MustCompile(fmt.Sprintf(`(?m)^#{1,%d} `, level)).FindStringIndex(rest)
	if end != nil {
		rest = rest[:end[0]]
	}
	return rest
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

// Blocks marked yaml are whole workflow files, unless a word follows.
func TestDocsWorkflowsLoad(t *testing.T) {
	n := 0
	for _, name := range pages(t) {
		for _, f := range fences(page(t, name)) {
			if f.info != "yaml" {
				continue
			}
			n++
			_, ds := wfyaml.Load(fmt.Sprintf("%s:%d", name, f.line), []byte(f.text))
			for _, d := range ds {
				t.Error(d)
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d workflows found", n)
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestDocsLinks(t *testing.T) {
	for _, name := range pages(t) {
		text := page(t, name)
		for _, f := range fences(text) {
			text = strings.Replace(text, f.text, "", 1)
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := name
			if file != "" {
				target = filepath.Join(filepath.Dir(name), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			} else if anchor != "" && !slices.Contains(anchors(page(t, target)), anchor) {
				t.Errorf("%s links to %s, which is no heading there", name, m[1])
			}
		}
	}
}

// anchors are the names under which a page's headings can be linked to.
func anchors(src string) []string {
	var all []string
	drop := regexp.MustCompile(`[^a-z0-9 _-]`)
	for _, line := range strings.Split(src, "\n") {
		if title := strings.TrimLeft(line, "#"); title != line {
			title = drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			all = append(all, strings.ReplaceAll(title, " ", "-"))
		}
	}
	return all
}

// A file that gives every warning there is today. Approval gates, which have
// one more, are not supported yet.
const warned = `
name: warned
config:
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
	"agent":                  {"steps[0].type", "agents: {x: {}}\nsteps: [{id: a, type: agent, agent: x, prompt: p}]"},
	"subworkflow":            {"steps[0].type", "steps: [{id: a, type: subworkflow, workflow_path: x.yaml}]"},
	"approval_gate":          {"steps[0].type", "steps: [{id: a, type: approval_gate}]"},
	"embed":                  {"steps[0].type", "steps: [{id: a, type: embed, inputs: state.x}]"},
	"agents":                 {"agents", "agents: {x: {}}"},
	"mcp_servers":            {"mcp_servers", "mcp_servers: {x: {url: 'https://example.com'}}"},
	"state_schema":           {"state_schema", "state_schema: {x: {redact: true}}"},
	"budget_usd":             {"config.budget_usd", "config: {budget_usd: 1}"},
	"budget_mode":            {"config.budget_mode", "config: {budget_mode: strict}"},
	"config stream: true":    {"config.stream", "config: {stream: true}"},
	"capture_prompts: true":  {"config.capture_prompts", "config: {capture_prompts: true}"},
	"on_uncertain: stop":     {"config.on_uncertain", "config: {on_uncertain: stop}"},
	"workdir_tools":          {"config.workdir_tools", "config: {workdir_tools: {}}"},
	"permissions":            {"config.permissions", "config: {permissions: {mode: default}}"},
	"sandbox.enabled: true":  {"config.sandbox.enabled", "config: {sandbox: {enabled: true}}"},
	"sandbox.max_read_bytes": {"config.sandbox.max_read_bytes", "config: {sandbox: {max_read_bytes: 1}}"},
	"llm_call stream: true":  {"steps[0].stream", llmCallWith("stream: true")},
	"attachments":            {"steps[0].attachments", llmCallWith("attachments: [{type: image, source: x.png}]")},
	"thinking":               {"steps[0].thinking", llmCallWith("thinking: {enabled: true}")},
	"tools":                  {"steps[0].tools", llmCallWith("tools: [{name: file_read}]")},
	"tool_choice":            {"steps[0].tool_choice", llmCallWith("tool_choice: auto")},
	"max_tool_iterations":    {"steps[0].max_tool_iterations", llmCallWith("max_tool_iterations: 2")},
	"output_schema":          {"steps[0].output_schema", llmCallWith("output_schema: {type: object}")},
	"conversation":           {"steps[0].conversation", llmCallWith("conversation: x")},
	"effect":                 {"steps[0].effect", "steps: [{id: a, type: tool, tool_name: file_read, effect: pure}]"},
}

func llmCallWith(field string) string {
	return "steps: [{id: a, type: llm_call, prompt: hi, " + field + "}]"
}

func TestDocsUnsupported(t *testing.T) {
	told := map[string]bool{}
	part := section(t, page(t, "docs/workflows.md"), "## Not supported yet")
	part, _, _ = strings.Cut(part, "- providers:")
	for _, item := range strings.Split(part, "\n- ")[1:] {
		owner, names, _ := strings.Cut(item, ":")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(names, -1) {
			name := m[1]
			if name == "stream: true" { // both have it
				name = strings.Trim(owner, "`") + " " + name
			}
			told[name] = true
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

// agentloomIn runs the command line in a directory and returns what it wrote.
func agentloomIn(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Main(t.Context(), cli.Process{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: dir,
		Environ: []string{"HOME=" + dir},
	})
	return code, out.String(), errs.String()
}

// commands are the command line's, from its own help.
func commands(t *testing.T) []string {
	t.Helper()
	_, help, _ := agentloomIn(t, t.TempDir(), "--help")
	_, list, found := strings.Cut(help, "Available Commands:\n")
	if !found {
		t.Fatalf("no commands in\n%s", help)
	}
	var all []string
	for _, line := range strings.Split(list, "\n") {
		name, _, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			break
		}
		if name != "help" {
			all = append(all, name)
		}
	}
	return all
}

var (
	helpFlag = regexp.MustCompile(`(?m)^ +(?:-(\w), +|     +)?--([a-z-]+)`)
	docFlag  = regexp.MustCompile("(?m)^\\| `(?:-(\\w)`, `)?--([a-z-]+)")
)

func flagSet(text string, pattern *regexp.Regexp) map[string]string {
	all := map[string]string{}
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		all[m[2]] = m[1]
	}
	delete(all, "help")
	return all
}

// Each command has a section of its name in docs/cli.md, whose tables name its
// flags, all of them and no others.
func TestDocsFlags(t *testing.T) {
	src := page(t, "docs/cli.md")
	var told []string
	for _, m := range regexp.MustCompile("(?m)^## `agentloom ([a-z-]+)").FindAllStringSubmatch(src, -1) {
		told = append(told, m[1])
	}
	slices.Sort(told)
	if d := cmp.Diff(commands(t), told); d != "" {
		t.Fatalf("commands there are (-) and told (+):\n%s", d)
	}
	known := map[string]bool{"help": true}
	for _, name := range told {
		_, help, _ := agentloomIn(t, t.TempDir(), name, "--help")
		_, help, _ = strings.Cut(help, "\nFlags:\n")
		heading := regexp.MustCompile("(?m)^## `agentloom " + name + "\\b.*$").FindString(src)
		have := flagSet(help, helpFlag)
		if d := cmp.Diff(have, flagSet(section(t, src, heading), docFlag)); d != "" {
			t.Errorf("flags of %s there are (-) and told (+):\n%s", name, d)
		}
		for flag := range have {
			known[flag] = true
		}
	}
	later := section(t, src, "## Not supported yet")
	for _, m := range regexp.MustCompile("`(--[a-z-]+)`").FindAllStringSubmatch(later, -1) {
		if _, _, stderr := agentloomIn(t, t.TempDir(), "run", "x.yaml", m[1], "x"); !strings.Contains(stderr, m[1]+" is not supported yet") {
			t.Errorf("%s: %s", m[1], stderr)
		}
	}
	for _, m := range regexp.MustCompile("`([a-z][a-z-]*)`").FindAllStringSubmatch(later, -1) {
		if _, _, stderr := agentloomIn(t, t.TempDir(), m[1]); !strings.Contains(stderr, m[1]+" is not supported yet") {
			t.Errorf("%s: %s", m[1], stderr)
		}
	}
	for _, m := range regexp.MustCompile(`--([a-z][a-z-]*)`).FindAllStringSubmatch(strings.Replace(src, later, "", 1), -1) {
		if !known[m[1]] {
			t.Errorf("docs/cli.md speaks of --%s, which no command has", m[1])
		}
	}
}

var (
	times = regexp.MustCompile(`"((?:total_)?duration_ms)": [0-9.e-]+`)
	took  = regexp.MustCompile(`\b\d+(\.\d+)?m?s\b`)
	clock = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d `)
)

// The samples of docs/cli.md are what the program prints, but for the time it
// took.
func TestDocsSamples(t *testing.T) {
	src := page(t, "docs/cli.md")
	dir := t.TempDir()
	for file, block := range map[string]string{"sort.yaml": "file: sort.yaml", "canned.json": "file: canned.json", "broken.yaml": "file: broken.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(one(t, src, block)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plain := func(s string) string {
		s = times.ReplaceAllString(s, `"$1": 0.0`)
		s = clock.ReplaceAllString(s, "00:00:00 ")
		return strings.Join(strings.Fields(took.ReplaceAllString(s, "0ms")), " ")
	}
	run := []string{"run", "sort.yaml", "--mock-responses", "canned.json", "--run-id", "sample-1"}
	for _, sample := range []struct {
		block string
		args  []string
		code  int
		log   bool
	}{
		{"output: run", run, 0, false},
		{"output: run log", run, 0, true},
		{"output: run --json", append(run, "--json"), 0, false},
		{"output: validate", []string{"validate", "broken.yaml"}, 1, false},
	} {
		code, got, stderr := agentloomIn(t, dir, sample.args...)
		if sample.log {
			got = stderr
		}
		if code != sample.code {
			t.Errorf("%s: exit code %d: %s", sample.block, code, stderr)
		}
		if want := one(t, src, sample.block); plain(got) != plain(want) {
			t.Errorf("%s: the program prints\n%s", sample.block, got)
		}
	}
}

func TestDocsVariables(t *testing.T) {
	src := page(t, "docs/cli.md")
	_, help, _ := agentloomIn(t, t.TempDir(), "run", "--help")
	names := regexp.MustCompile(`AGENTLOOM_[A-Z_]+`).FindAllString(help, -1)
	if len(names) == 0 {
		t.Fatal("no variables in the help of run")
	}
	for _, name := range names {
		if !strings.Contains(section(t, src, "## Settings"), "| `"+name+"` |") {
			t.Errorf("docs/cli.md has no %s in its table of settings", name)
		}
	}
	for _, m := range regexp.MustCompile("`(AGENTLOOM_[A-Z_]+)`").FindAllStringSubmatch(section(t, src, "## Not supported yet"), -1) {
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), cli.Process{
			Args: []string{"run", "x.yaml"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			Dir: t.TempDir(), Environ: []string{m[1] + "=x"},
		})
		if code != 2 || !strings.Contains(errs.String(), m[1]+" is not supported yet") {
			t.Errorf("%s: exit code %d, %s", m[1], code, errs.String())
		}
	}
}

// The built-in tools have the arguments that docs/tools.md lists.
func TestDocsTools(t *testing.T) {
	src := page(t, "docs/tools.md")
	_, text, _ := agentloomIn(t, t.TempDir(), "tools", "--json")
	v, err := value.DecodeJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	list, _ := v.(*value.Map).Get("tools")
	for _, e := range list.([]any) {
		name, _ := e.(*value.Map).Get("name")
		parameters, _ := e.(*value.Map).Get("parameters")
		properties, _ := parameters.(*value.Map).Get("properties")
		var told []string
		for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|").FindAllStringSubmatch(section(t, src, "### `"+name.(string)+"`"), -1) {
			told = append(told, m[1])
		}
		if d := cmp.Diff(properties.(*value.Map).Keys(), told); d != "" {
			t.Errorf("arguments of %s there are (-) and told (+):\n%s", name, d)
		}
	}
}

// snippets are the regions of docs_example_test.go, without the indentation of
// the function they stand in.
func snippets(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	name, text := "", ""
	for _, line := range strings.Split(page(t, "docs_example_test.go"), "\n") {
		trimmed := strings.TrimSpace(line)
		start, opens := strings.CutPrefix(trimmed, "// region: ")
		switch {
		case opens:
			name, text = start, ""
		case trimmed == "// end region":
			all[name], name = dedent(text), ""
		case name != "":
			text += line + "\n"
		}
	}
	return all
}

func dedent(text string) string {
	text = strings.Trim(text, "\n") + "\n"
	if !strings.HasPrefix(text, "\t") {
		return text
	}
	return strings.ReplaceAll(text[1:], "\n\t", "\n")
}

// Go code in the documentation is compiled and run: each block is a region of
// docs_example_test.go.
func TestDocsSnippets(t *testing.T) {
	compiled := snippets(t)
	used := map[string]bool{}
	for _, name := range pages(t) {
		for _, f := range fences(page(t, name)) {
			if f.info != "go" {
				continue
			}
			region, ok := strings.CutPrefix(f.mark, "from docs_example_test.go: ")
			if !ok {
				t.Errorf("%s:%d: Go code that no test compiles", name, f.line)
				continue
			}
			used[region] = true
			if d := cmp.Diff(compiled[region], f.text); d != "" {
				t.Errorf("%s:%d: region %s is (-), the page has (+):\n%s", name, f.line, region, d)
			}
		}
	}
	for region := range compiled {
		if !used[region] {
			t.Errorf("no page shows region %s", region)
		}
	}
}

func TestDocsMock(t *testing.T) {
	src := page(t, "docs/mock.md")
	for _, f := range fences(src) {
		if f.info != "json" {
			continue
		}
		if _, err := mock.New(mock.Config{Responses: []byte(f.text), File: fmt.Sprintf("docs/mock.md:%d", f.line)}); err != nil {
			t.Error(err)
		}
	}
	request := &model.Request{Model: "gpt-4o-mini", Messages: []model.Message{{Role: model.User, Text: "Hi"}}}
	if h := mock.Hash(request); !strings.Contains(src, h) {
		t.Errorf("docs/mock.md does not show the hash %s", h)
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
	src := page(t, "docs/workflows.md")
	later := map[string]bool{}
	for _, u := range unsupported {
		if parts := strings.Split(u.path, "."); len(parts) > 1 { // config.KEY, steps[0].KEY
			later[parts[1]] = true
		}
	}
	cells := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (.*?) \\|")
	for heading, defaults := range map[string]any{
		"### `config`":   workflow.DefaultConfig(),
		"`retry` has":    workflow.DefaultRetry(3),
		"### `llm_call`": workflow.LLMCallFields{},
		"### `tool`":     workflow.ToolFields{},
		"### `router`":   workflow.RouterFields{},
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
			if !ok && !later[key] {
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
