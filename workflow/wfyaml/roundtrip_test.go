package wfyaml

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// TestPrintedDefinitionsLoad draws a definition together with its file, prints
// the file in drawn styles and loads it.
func TestPrintedDefinitionsLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, file := gen{t}.definition()
		src := printer{t}.document(file)
		got, ds := decodeOnly([]byte(src))
		if err := ds.Err(); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		if diff := cmp.Diff(want, got, sameMap); diff != "" {
			t.Fatalf("%s\n%s", diff, src)
		}
	})
}

// TestPrintedValuesDecode does the same for any value.
func TestPrintedValuesDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := gen{t}.value(3)
		src := printer{t}.document(want)
		got, ds := DecodeValue("f", []byte(src))
		if err := ds.Err(); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		w, _ := value.EncodeJSON(want)
		g, _ := value.EncodeJSON(got)
		if string(w) != string(g) {
			t.Fatalf("want %s\ngot  %s\n%s", w, g, src)
		}
	})
}

// gen draws values. A method that takes a map draws whether the key is there,
// and if so sets it in the map and in the definition.
type gen struct{ t *rapid.T }

func (g gen) coin() bool { return rapid.Bool().Draw(g.t, "coin") }

var awkward = []string{
	"", "yes", "null", "~", "1", "1.0", "0x1", "true", "- a", "a: b", "a #b", "# c", "{state.x}", "[x]", "'", `"`, `\`, "é😀",
	"a\nb\n", "\n", "  lead", "trail ", "x\ty", "---", "...", "<<", "&a", "*a", "!t", "%d", "@x", "`x`", "?", ":", "x:", "\x00\x1b", "\u2028\u0085",
}

func (g gen) str() string {
	if g.coin() {
		return rapid.SampledFrom(awkward).Draw(g.t, "awkward")
	}
	return rapid.StringN(0, 20, -1).Draw(g.t, "string")
}

func (g gen) text(m *value.Map, key string, dst *string) {
	if g.coin() {
		*dst = g.str()
		m.Put(key, *dst)
	}
}

func (g gen) bool(m *value.Map, key string, dst *bool) {
	if g.coin() {
		*dst = g.coin()
		m.Put(key, *dst)
	}
}

func (g gen) int(m *value.Map, key string, dst *int) {
	if g.coin() {
		*dst = rapid.Int().Draw(g.t, key)
		m.Put(key, int64(*dst))
	}
}

func (g gen) number(m *value.Map, key string, dst **float64) {
	if g.coin() {
		f := g.float()
		*dst = &f
		if f == float64(int32(f)) && g.coin() {
			m.Put(key, int64(f))
			return
		}
		m.Put(key, f)
	}
}

func (g gen) float() float64 {
	return rapid.SampledFrom([]float64{0, 1, -1.5, 1e21, 1e-9, 0.1, 123456789}).Draw(g.t, "float")
}

func (g gen) texts(m *value.Map, key string, dst *[]string) {
	if !g.coin() {
		return
	}
	*dst = []string{}
	list := []any{}
	for range rapid.IntRange(0, 3).Draw(g.t, key) {
		s := g.str()
		*dst, list = append(*dst, s), append(list, s)
	}
	m.Put(key, list)
}

func (g gen) data(m *value.Map, key string, dst **value.Map) {
	if g.coin() {
		*dst = g.dict(2)
		m.Put(key, *dst)
	}
}

func (g gen) dict(depth int) *value.Map {
	m := value.NewMap(2)
	for range rapid.IntRange(0, 3).Draw(g.t, "size") {
		m.Put(g.str(), g.value(depth-1))
	}
	return m
}

func (g gen) value(depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds).Draw(g.t, "kind") {
	case 0:
		return nil
	case 1:
		return g.coin()
	case 2:
		return rapid.Int64().Draw(g.t, "int")
	case 3:
		return g.float()
	case 4:
		return new(big.Int).Lsh(big.NewInt(rapid.Int64Range(1, 9).Draw(g.t, "big")), 70)
	case 5:
		return g.str()
	case 6:
		return g.dict(depth)
	}
	list := []any{}
	for range rapid.IntRange(0, 3).Draw(g.t, "length") {
		list = append(list, g.value(depth-1))
	}
	return list
}

func (g gen) definition() (*workflow.Definition, *value.Map) {
	def, m := &workflow.Definition{Config: workflow.DefaultConfig()}, value.NewMap(9)
	g.text(m, "name", &def.Name)
	g.text(m, "version", &def.Version)
	g.text(m, "description", &def.Description)
	g.data(m, "state", &def.State)
	var steps []any
	if g.coin() {
		c := value.NewMap(4)
		g.config(c, &def.Config)
		defer m.Put("config", c) // below the steps: its max_retries counts all the same
	}
	for range rapid.IntRange(0, 4).Draw(g.t, "steps") {
		s := value.NewMap(8)
		def.Steps = append(def.Steps, g.step(s, def.Config.MaxRetries))
		steps = append(steps, s)
	}
	if len(steps) > 0 {
		m.Put("steps", steps)
	}
	if g.coin() {
		m.Put("x-"+rapid.StringMatching("[a-z]{0,5}").Draw(g.t, "own"), g.value(2))
	}
	return def, m
}

func (g gen) config(m *value.Map, c *workflow.Config) {
	g.text(m, "provider", &c.Provider)
	g.int(m, "max_retries", &c.MaxRetries)
	g.number(m, "budget_usd", &c.BudgetUSD)
	g.bool(m, "stream", &c.Stream)
	g.text(m, "scheduling", &c.Scheduling)
	if g.coin() {
		s, box := value.NewMap(4), defaultSandbox()
		g.bool(s, "enabled", &box.Enabled)
		g.texts(s, "allowed_commands", &box.AllowedCommands)
		g.texts(s, "allowed_schemes", &box.AllowedSchemes)
		g.bool(s, "allow_network", &box.AllowNetwork)
		m.Put("sandbox", s)
		c.Sandbox = &box
	}
}

func (g gen) step(m *value.Map, maxRetries int) workflow.Step {
	s := workflow.Step{Retry: workflow.DefaultRetry(maxRetries)}
	g.text(m, "id", &s.ID)
	g.texts(m, "depends_on", &s.DependsOn)
	g.text(m, "output", &s.Output)
	g.number(m, "timeout", &s.Timeout)
	if g.coin() {
		r := value.NewMap(2)
		g.int(r, "max_retries", &s.Retry.MaxRetries)
		g.bool(r, "jitter", &s.Retry.Jitter)
		m.Put("retry", r)
	}
	switch rapid.IntRange(0, 3).Draw(g.t, "type") {
	case 0:
		s.Type, s.LLM = workflow.LLMCall, new(workflow.LLMCallFields)
		g.text(m, "prompt", &s.LLM.Prompt)
		g.number(m, "temperature", &s.LLM.Temperature)
		g.data(m, "output_schema", &s.LLM.OutputSchema)
	case 1:
		s.Type, s.Tool = workflow.ToolStep, new(workflow.ToolFields)
		g.text(m, "tool_name", &s.Tool.ToolName)
		g.data(m, "tool_args", &s.Tool.ToolArgs)
		g.text(m, "effect", &s.Effect)
	case 2:
		s.Type, s.Router = workflow.Router, &workflow.RouterFields{Conditions: []workflow.Condition{{}}}
		c := value.NewMap(2)
		g.text(c, "expression", &s.Router.Conditions[0].Expression)
		g.text(c, "target", &s.Router.Conditions[0].Target)
		m.Put("conditions", []any{c})
		g.text(m, "default", &s.Router.Default)
	case 3:
		s.Type, s.Subworkflow = workflow.Subworkflow, new(workflow.SubworkflowFields)
		g.text(m, "workflow_path", &s.Subworkflow.WorkflowPath)
		g.data(m, "workflow_inline", &s.Subworkflow.WorkflowInline)
		g.bool(m, "isolated_state", &s.Subworkflow.IsolatedState)
		g.texts(m, "return_keys", &s.Subworkflow.ReturnKeys)
	}
	m.Put("type", string(s.Type))
	return s
}

// printer writes values as YAML in drawn styles.
type printer struct{ t *rapid.T }

func (p printer) coin() bool { return rapid.Bool().Draw(p.t, "style") }

func (p printer) document(v any) string {
	return strings.TrimPrefix(p.block(v, ""), "\n") + "\n"
}

// block writes a value after a key or a dash, collections on lines of their own.
func (p printer) block(v any, indent string) string {
	var b strings.Builder
	switch v := v.(type) {
	case *value.Map:
		if v.Len() == 0 || p.coin() {
			break
		}
		for k, e := range v.All() {
			fmt.Fprintf(&b, "\n%s%s: %s", indent, p.quoted(k), p.block(e, indent+"  "))
		}
		return b.String()
	case []any:
		if len(v) == 0 || p.coin() {
			break
		}
		for _, e := range v {
			fmt.Fprintf(&b, "\n%s- %s", indent, p.block(e, indent+"  "))
		}
		return b.String()
	case string:
		if indent != "" && isPlainBlock(v) && p.coin() {
			return "|\n" + indent + strings.ReplaceAll(strings.TrimSuffix(v, "\n"), "\n", "\n"+indent)
		}
	}
	return p.flow(v)
}

// isPlainBlock reports whether a literal block without indicators can hold s.
func isPlainBlock(s string) bool {
	for _, r := range s {
		if r != '\n' && (r < ' ' || r > '~') {
			return false
		}
	}
	return strings.HasSuffix(s, "\n") && !strings.HasSuffix(s, "\n\n") && len(s) > 1 && s[0] != ' ' && s[0] != '\n'
}

func (p printer) flow(v any) string {
	var parts []string
	switch v := v.(type) {
	case *value.Map:
		for k, e := range v.All() {
			parts = append(parts, p.quoted(k)+": "+p.flow(e))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, e := range v {
			parts = append(parts, p.flow(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return p.quoted(v)
	}
	b, err := value.EncodeJSON(v)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// quoted writes a string plain where that is safe, in single quotes where they
// can hold it, else in double ones.
func (p printer) quoted(s string) string {
	printable, word := true, s != ""
	for _, r := range s {
		printable = printable && r >= ' ' && r <= '~'
		word = word && (r >= 'a' && r <= 'z' || r == '_')
	}
	if word && p.coin() {
		if v, _ := plainScalar(s); v == s {
			return s
		}
	}
	if printable && p.coin() {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || r > '~' && p.coin() || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r >= 0xFFFE && r <= 0xFFFF:
			b.WriteString(`\U` + strings.Repeat("0", 8-len(strconv.FormatInt(int64(r), 16))) + strconv.FormatInt(int64(r), 16))
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
