package agentloom_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/attachment"
	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/model/gateway"
	"github.com/agentloom/agentloom/model/mock"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/tool/builtin"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

var update = flag.Bool("update", false, "rewrite the expected results of the examples")

// little pays for two of press-digest's three summaries. The third starts all
// the same, since the mock provider can't say before what it will cost.
var little = 0.00025

// examplePaths takes each example down its main road and, with another state
// or other answers, down the others.
var examplePaths = []struct {
	name, example string
	state         *value.Map
	answers       map[string]any // laid over the canned ones; a text is a whole response
	budget        *float64       // instead of the file's
}{
	{name: "chart-reading"},
	{name: "chart-reading-rising", example: "chart-reading", answers: map[string]any{"read": `{"bars": [10, 30]}`}},
	{name: "chart-reading-no-image", example: "chart-reading", state: value.MapOf("chart", "examples/data/invoice.txt")},
	{name: "code-research"},
	{name: "code-review"},
	{name: "code-review-bug", example: "code-review", answers: map[string]any{"security": "NONE", "correctness": "12: off by one"}},
	{name: "code-review-clean", example: "code-review", answers: map[string]any{"security": "NONE"}},
	{name: "content-moderation"},
	{name: "content-moderation-clean", example: "content-moderation", answers: map[string]any{"personal_data": "no"}},
	{name: "content-moderation-abuse", example: "content-moderation", answers: map[string]any{"abuse": "Yes."}},
	{name: "contract-review"},
	{name: "contract-review-low", example: "contract-review", answers: map[string]any{"risk": "Low"}},
	{name: "duplicate-tickets"},
	{name: "duplicate-tickets-new", example: "duplicate-tickets", answers: map[string]any{
		"vectorize": value.MapOf("embeddings", []any{[]any{1.0, 0.0}, []any{1.0, 0.0}, []any{1.0, 0.0}, []any{0.0, 1.0}})}},
	{name: "incident-triage"},
	{name: "incident-triage-quiet", example: "incident-triage", answers: map[string]any{"severity": "3"}},
	{name: "invoice-check"},
	{name: "invoice-check-wrong-sum", example: "invoice-check", answers: map[string]any{"total": "1799.90"}},
	{name: "invoice-check-hostile", example: "invoice-check", answers: map[string]any{"lines": "1}' ; touch /tmp/owned ; '"}},
	{name: "invoice-extract"},
	{name: "invoice-extract-small", example: "invoice-extract", state: value.MapOf("limit", int64(5000))},
	{name: "invoice-extract-no-lines", example: "invoice-extract", answers: map[string]any{
		"extract": `{"supplier": "Aldous", "number": "7", "total": 3, "lines": []}`}},
	{name: "invoice-extract-prose", example: "invoice-extract", answers: map[string]any{"extract": "It is an invoice."}},
	{name: "lead-scoring"},
	{name: "lead-scoring-small", example: "lead-scoring", state: value.MapOf("lead", value.MapOf(
		"company", "Solo", "industry", "crafts", "employees", int64(1), "budget", int64(0), "message", "hi")),
		answers: map[string]any{"score": "12"}},
	{name: "localization"},
	{name: "log-analysis"},
	{name: "log-analysis-empty", example: "log-analysis", state: value.MapOf("log_file", "/dev/null")},
	{name: "meeting-notes"},
	{name: "meeting-notes-complete", example: "meeting-notes", answers: map[string]any{"actions": "Jon: fix it, by Thursday"}},
	{name: "offer-revision"},
	{name: "press-digest"},
	{name: "press-digest-poor", example: "press-digest", budget: &little},
	{name: "quote-tools"},
	{name: "report-writer"},
	{name: "support-triage"},
	{name: "support-triage-technical", example: "support-triage", answers: map[string]any{"classify": " Technical\n"}},
}

func TestExamples(t *testing.T) {
	covered := map[string]bool{}
	for _, path := range examplePaths {
		if path.example == "" {
			path.example = path.name
		}
		covered[path.example+".yaml"] = true
		t.Run(path.name, func(t *testing.T) {
			t.Parallel()
			got := summary(runExample(t, path.example, path.answers, agentloom.RunOptions{
				State: path.state, Provider: "mock", BudgetUSD: path.budget,
			}))
			golden(t, filepath.Join("testdata", "examples", path.name+".txt"), got)
		})
	}
	files, err := filepath.Glob("examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !covered[filepath.Base(f)] {
			t.Errorf("%s is not exercised", f)
		}
	}
	if len(files) < 18 {
		t.Errorf("there are %d examples", len(files))
	}
}

// runExample runs one in a copy of the examples folder, since some write files.
func runExample(t *testing.T, name string, answers map[string]any, opts agentloom.RunOptions) *agentloom.Result {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS("examples")); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(filepath.Join("examples", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	def, diagnostics := wfyaml.Load(name+".yaml", src)
	for _, d := range diagnostics {
		t.Errorf("examples give no warnings, but: %s", d)
	}
	if def == nil {
		t.FailNow()
	}
	responses, err := mock.New(mock.Config{Responses: canned(t, name, def, answers)})
	if err != nil {
		t.Fatal(err)
	}
	tools := tool.NewRegistry(tool.RegistryOptions{})
	if err := builtin.Register(tools, builtin.Options{Dir: dir, Environ: append(os.Environ(), "LC_ALL=C")}); err != nil {
		t.Fatal(err)
	}
	e := engine(t, agentloom.Config{
		Providers: []gateway.Entry{{Provider: responses, AnyModel: true}}, Tools: tools,
		Attach: attachment.New(attachment.Config{Dir: dir}).Load,
	})
	res, err := e.Run(t.Context(), def, opts)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// canned returns the example's responses, with some answers replaced. They say
// that they were written by hand, and answer only steps that exist.
func canned(t *testing.T, name string, def *workflow.Definition, answers map[string]any) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("examples", "responses", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := value.DecodeJSON(src)
	if err != nil {
		t.Fatal(err)
	}
	responses := doc.(*value.Map)
	if note, _ := responses.Get("_note"); !strings.Contains(fmt.Sprint(note), "by hand") {
		t.Errorf("the responses of %s do not say that they were written by hand", name)
	}
	models := map[string]bool{}
	for _, s := range def.Steps {
		switch s.Type {
		case workflow.LLMCall, workflow.AgentStep, workflow.Embed:
			models[s.ID] = true
			if _, has := responses.Get(s.ID); !has {
				t.Errorf("step %q has no response", s.ID)
			}
		}
	}
	for k := range responses.All() {
		if !models[k] && !strings.HasPrefix(k, "_") {
			t.Errorf("the response %q belongs to no step", k)
		}
	}
	for k, answer := range answers {
		if text, ok := answer.(string); ok {
			answer = value.MapOf("content", text)
		}
		responses = responses.With(k, answer)
	}
	b, err := value.EncodeJSON(responses)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// summary writes what a run came to: each step's end and the final state.
func summary(res *agentloom.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", res.Status, res.Error)
	for s := range res.Steps() {
		fmt.Fprintf(&b, "  %-18s %s", s.StepID, s.Status)
		if s.Status != event.Success {
			fmt.Fprintf(&b, ": %s", s.Error)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for k, v := range res.FinalState.All() {
		doc, _ := value.EncodeJSON(v)
		fmt.Fprintf(&b, "%s: %s\n", k, doc)
	}
	return b.String()
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run the test with -update and look at what it wrote", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("differs from %s (-want +got):\n%s", file, diff)
	}
}
