//go:build !offline

package vendors

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// everywhere is the one workflow that runs at every vendor.
const everywhere = `
name: everywhere
config:
  model: fake-model
  max_retries: 0
agents:
  reader:
    system_prompt: "You read files for {state.who}."
    tools: [file_read]
    thinking: { enabled: true, budget_tokens: 2048, capture_reasoning: true }
state:
  who: Ada
steps:
  - id: plain
    type: llm_call
    system_prompt: "Be brief, {state.who} waits."
    prompt: "Greet {state.who}."
    temperature: 0.5
    max_tokens: 100
    output: greeting
  - id: tools
    type: llm_call
    prompt: What is in the notes?
    tools:
      - name: file_read
      - name: word_count
        description: Count the words in a text.
        parameters: { type: object, properties: { text: { type: string } }, required: [text] }
    tool_choice: auto
    output: notes
  - id: agent
    type: agent
    agent: reader
    prompt: Read one.txt aloud.
    output: aloud
  - id: schema
    type: llm_call
    system_prompt: Measure.
    prompt: Describe the box.
    output_schema:
      type: object
      properties: { width: { type: integer }, label: { type: string } }
      required: [width, label]
      additionalProperties: false
    output: box
  - id: first
    type: llm_call
    prompt: My number is 7.
    conversation: chat
    output: chat.first
  - id: second
    type: llm_call
    depends_on: [first]
    prompt: What is my number?
    conversation: chat
    output: chat.second
  - id: think
    type: llm_call
    prompt: Think.
    thinking: { enabled: true, budget_tokens: 2048, capture_reasoning: true }
    output: thought
`

const (
	prices  = "prices: {fake-model: {input: 1, output: 10, cached_input: 0.1}}\n"
	oneNote = "The cat 🐈 sat\n"
)

func everyFile() map[string]string {
	return map[string]string{"workflow.yaml": everywhere, "agentloom.yaml": prices, "one.txt": oneNote}
}

// TestEveryVendor runs one workflow at each vendor, whole and streamed, with
// nothing changed but --provider: each gets the same questions in its own
// language, and each run ends in the same state.
func TestEveryVendor(t *testing.T) {
	var mu sync.Mutex
	states := map[string]string{}
	t.Run("runs", func(t *testing.T) {
		bothWays(t, func(t *testing.T, d dialect, stream bool) {
			var all []*service
			for _, other := range dialects() {
				all = append(all, serve(t, other, scripted))
			}
			got := runCommand(t, folder(t, everyFile()), environment(all...), command(d, stream)...)
			got.succeeded(t)
			mu.Lock()
			states[t.Name()] = string(got.result.State)
			mu.Unlock()
			for _, s := range all {
				if s.name() == d.name() {
					checkQuestions(t, d, stream, s.questions())
				} else if n := len(s.questions()); n > 0 {
					t.Errorf("%s was asked %d times", s.name(), n)
				}
			}
			checkSteps(t, d, stream, got)
		})
	})
	if len(states) != 8 {
		t.Fatalf("%d runs", len(states))
	}
	want := states["TestEveryVendor/runs/openai/whole"]
	for _, part := range []string{needle, `"width": 12345678901234567`, "The cat 🐈 sat", "You said, and I said: I will remember 7.", "Four."} {
		if !strings.Contains(want, part) {
			t.Errorf("the final state has no %q:\n%s", part, want)
		}
	}
	for name, got := range states {
		if got != want {
			t.Errorf("%s ends in another state (-openai +this):\n%s", name, gocmp.Diff(want, got))
		}
	}
}

// checkSteps checks what the run reports of its steps.
func checkSteps(t *testing.T, d dialect, stream bool, got ran) {
	t.Helper()
	const toolCost = 2 * (100*1 + 20*10) / 1e6 // two turns
	want := map[string]struct {
		prompt, completion, reasoning int64
		cost                          float64
	}{
		"plain":  {100, 30, 10, (60*1 + 40*0.1 + 30*10) / 1e6},
		"tools":  {200, 40, 0, toolCost},
		"agent":  {200, 40, 0, toolCost},
		"schema": {100, 20, 0, toolCost / 2},
		"first":  {100, 20, 0, toolCost / 2},
		"second": {100, 20, 0, toolCost / 2},
		"think":  {50, 40, 25, (50*1 + 40*10) / 1e6},
	}
	total, tokens := 0.0, int64(0)
	for id, w := range want {
		if d.name() == "ollama" { // counts no reasoning, and is free
			w.reasoning, w.cost = 0, 0
		}
		total += w.cost
		tokens += w.prompt + w.completion
		s := got.result.Steps[id]
		if s.Usage == nil || s.CostUSD == nil {
			t.Errorf("step %s has usage %v and cost %v", id, s.Usage, s.CostUSD)
			continue
		}
		if u := *s.Usage; u.Prompt != w.prompt || u.Completion != w.completion || u.Total != w.prompt+w.completion || u.Reasoning != w.reasoning {
			t.Errorf("step %s used %+v, want %+v", id, u, w)
		}
		if math.Abs(*s.CostUSD-w.cost) > 1e-12 {
			t.Errorf("step %s cost %v, want %v", id, *s.CostUSD, w.cost)
		}
		if s.Attempts != 1 || text(s.Provider) != d.name() || text(s.Model) != "fake-model" || text(s.Finish) != "stop" {
			t.Errorf("step %s: %d attempts, %s of %s, finish reason %s", id, s.Attempts, text(s.Model), text(s.Provider), text(s.Finish))
		}
		if (s.FirstToken != nil) != stream {
			t.Errorf("step %s: time to first token %v", id, s.FirstToken)
		}
		reasoning := ""
		if id == "think" || id == "agent" {
			reasoning = trace
		}
		if s.Reasoning != reasoning {
			t.Errorf("step %s: reasoning %q, want %q", id, s.Reasoning, reasoning)
		}
	}
	if r := got.result; r.Tokens == nil || *r.Tokens != tokens || r.CostUSD == nil || math.Abs(*r.CostUSD-total) > 1e-12 {
		t.Errorf("in all %v tokens for %v, want %d for %v", r.Tokens, r.CostUSD, tokens, total)
	}
	if streamed := strings.Contains(got.stderr, "plain │ "); streamed != stream {
		t.Errorf("the answer is on stderr: %v\n%s", streamed, got.stderr)
	}
}

// checkQuestions checks what the service was asked.
func checkQuestions(t *testing.T, d dialect, stream bool, got []question) {
	t.Helper()
	want := wantQuestions(d)
	for i := range got {
		if got[i].Stream != stream {
			t.Errorf("%q was asked with stream %v", got[i].last(), got[i].Stream)
		}
		got[i] = got[i].plain()
		for j := range got[i].Tools { // the built-in's own words are not ours to repeat
			if tool := &got[i].Tools[j]; tool.Name == "file_read" && strings.Contains(tool.Parameters, `"path"`) && tool.Description != "" {
				tool.Description, tool.Parameters = "", ""
			}
		}
		if _, schema, ok := strings.Cut(got[i].System, "JSON Schema: "); ok && canonical([]byte(schema)) == boxSchema {
			got[i].System, _, _ = strings.Cut(got[i].System, "\n\n")
		}
	}
	order := func(a, b question) int {
		return cmp.Or(strings.Compare(a.last(), b.last()), cmp.Compare(len(a.Turns), len(b.Turns)))
	}
	for i := range want {
		want[i].Model = "fake-model"
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s was asked (-want +got):\n%s", d.name(), diff)
	}
}

const boxSchema = `{"additionalProperties":false,"properties":{"label":{"type":"string"},"width":{"type":"integer"}},"required":["width","label"],"type":"object"}`

func wantQuestions(d dialect) []question {
	user := func(text string) turn { return turn{Role: "user", Text: text} }
	notes := model(question{Turns: []turn{user("What is in the notes?")}})
	aloud := model(question{Turns: []turn{user("Read one.txt aloud.")}})
	notesTools := []toolSpec{{Name: "file_read"}, {"word_count", "Count the words in a text.", `{"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}`}}
	fileTool := []toolSpec{{Name: "file_read"}}
	auto := "auto"
	if d.name() == "ollama" {
		auto = ""
	}
	limit, thinkingLimit := int64(0), int64(0)
	if d.name() == "anthropic" { // demands one
		limit, thinkingLimit = 4096, 2048+4096
	}
	back := func(a answer) turn {
		t := turn{Role: "model", Text: a.Text, Trace: a.Trace}
		for _, c := range a.Calls {
			t.Calls = append(t.Calls, call{"", c.Name, canonical([]byte(c.Args))})
		}
		return t
	}
	return []question{
		{System: "Be brief, Ada waits.", Turns: []turn{user("Greet Ada.")}, MaxTokens: 100, Temperature: 0.5},
		{Turns: []turn{user("What is in the notes?")}, Tools: notesTools, Choice: auto, MaxTokens: limit},
		{Turns: []turn{user("What is in the notes?"), back(notes), {Role: "tool", Results: []result{
			{Text: oneNote},
			{Text: `cannot read "missing.txt": no such file or directory`, Failed: true},
			{Text: `tool "word_count" is declared but not registered`, Failed: true},
		}}}, Tools: notesTools, Choice: auto, MaxTokens: limit},
		{System: "You read files for Ada.", Turns: []turn{user("Read one.txt aloud.")}, Tools: fileTool, Thinking: true, MaxTokens: thinkingLimit},
		{System: "You read files for Ada.", Turns: []turn{user("Read one.txt aloud."), back(aloud), {Role: "tool", Results: []result{{Text: oneNote}}}},
			Tools: fileTool, Thinking: true, MaxTokens: thinkingLimit},
		{System: "Measure.", Turns: []turn{user("Describe the box.")}, Schema: boxSchema, MaxTokens: limit},
		{Turns: []turn{user("My number is 7.")}, MaxTokens: limit},
		{Turns: []turn{user("My number is 7."), {Role: "model", Text: "I will remember 7."}, user("What is my number?")}, MaxTokens: limit},
		{Turns: []turn{user("Think.")}, Thinking: true, MaxTokens: thinkingLimit},
	}
}
