//go:build !offline

// Package vendors holds the tests that set the command line, and the engine,
// against fakes of the four vendors' services: one script of questions and
// answers in no vendor's form, and a dialect for each vendor that speaks it.
package vendors

import (
	"encoding/json"
	"fmt"
	"strings"
)

// question is a request in no vendor's form.
type question struct {
	Model, System string
	Turns         []turn
	Tools         []toolSpec
	Choice        string // auto, required, none or a tool's name; "": not said
	Schema        string // JSON; "": none
	Thinking      bool
	Stream        bool
	MaxTokens     int64 // 0: not said
	Temperature   float64
}

type toolSpec struct {
	Name, Description string
	Parameters        string // JSON
}

// turn is one turn of a conversation. Results that follow each other are one.
type turn struct {
	Role    string // user, model or tool
	Text    string
	Trace   string // the model's reasoning as it came back
	Calls   []call
	Results []result
}

type call struct {
	ID, Name, Args string // Args is JSON
}

type result struct {
	ID, Name, Text string
	Failed         bool
}

// answer is what a model says.
type answer struct {
	Text  string
	Trace string
	Calls []call
	Usage usage
}

// usage counts tokens: the cached ones are part of the prompt's, the reasoning
// ones part of the completion's.
type usage struct{ Prompt, Cached, Completion, Reasoning int64 }

// last is the text of the last message of the user's.
func (q question) last() string {
	for i := len(q.Turns) - 1; i >= 0; i-- {
		if q.Turns[i].Role == "user" {
			return q.Turns[i].Text
		}
	}
	return ""
}

// results are the tools' results when they are the last turn.
func (q question) results() []result {
	if n := len(q.Turns); n > 0 {
		return q.Turns[n-1].Results
	}
	return nil
}

// check says what is wrong with a conversation whatever the vendor: each call
// has its result, in order, right after it.
func (q question) check() error {
	for i, t := range q.Turns {
		if t.Role != "tool" {
			if len(t.Calls) > 0 && (i+1 == len(q.Turns) || q.Turns[i+1].Role != "tool") {
				return fmt.Errorf("turn %d: calls without results", i)
			}
			continue
		}
		var calls []call
		if i > 0 {
			calls = q.Turns[i-1].Calls
		}
		if len(calls) != len(t.Results) {
			return fmt.Errorf("turn %d: %d results of %d calls", i, len(t.Results), len(calls))
		}
		for j, r := range t.Results {
			if r.ID != calls[j].ID || r.Name != "" && r.Name != calls[j].Name {
				return fmt.Errorf("turn %d: result %d is of %s %s, the call is %s %s", i, j, r.Name, r.ID, calls[j].Name, calls[j].ID)
			}
		}
	}
	return nil
}

// plain drops what differs from vendor to vendor by right: the ids of calls,
// and the names in results, which some go without.
func (q question) plain() question {
	q.Stream = false
	q.Turns = append([]turn(nil), q.Turns...)
	for i := range q.Turns {
		t := &q.Turns[i]
		t.Calls = append([]call(nil), t.Calls...)
		for j := range t.Calls {
			t.Calls[j].ID = ""
		}
		t.Results = append([]result(nil), t.Results...)
		for j := range t.Results {
			t.Results[j].ID, t.Results[j].Name = "", ""
		}
	}
	return q
}

// failure takes the mark of a failed tool off a result's text.
func failure(text string) (rest string, marked bool) {
	const mark = "error: "
	if len(text) < len(mark) || !strings.EqualFold(text[:len(mark)], mark) {
		return text, false
	}
	return text[len(mark):], true
}

const (
	needle = "Zażółć 🧵 gęślą jaźń."
	trace  = "Two and two 🧮 are four."
)

// model is the script: what a model answers to a question.
func model(q question) answer {
	a := answer{Usage: usage{Prompt: 100, Completion: 20}}
	switch last := q.last(); {
	case last == "Greet Ada.":
		a.Text = needle
		a.Usage = usage{Prompt: 100, Cached: 40, Completion: 30, Reasoning: 10}
	case len(q.results()) > 0:
		var parts []string
		for _, r := range q.results() {
			parts = append(parts, fmt.Sprintf("%v %s", r.Failed, r.Text))
		}
		a.Text = strings.Join(parts, " | ")
	case last == "What is in the notes?":
		a.Text = "Let me look."
		a.Calls = []call{
			{"call_one", "file_read", `{"path":"one.txt","encoding":"utf-8"}`},
			{"call_two", "file_read", `{"path":"missing.txt"}`},
			{"call_three", "word_count", `{"text":"a 🧵 b"}`},
		}
	case last == "Read one.txt aloud.":
		a.Trace = trace
		a.Calls = []call{{"call_four", "file_read", `{"path":"one.txt"}`}}
	case last == "Describe the box.":
		a.Text = `{"width": 12345678901234567, "label": "größer"}`
	case last == "My number is 7.":
		a.Text = "I will remember 7."
	case last == "What is my number?":
		a.Text = "I don't know."
		for _, t := range q.Turns {
			if t.Role == "model" {
				a.Text = "You said, and I said: " + t.Text
			}
		}
	case last == "Think.":
		a.Text, a.Trace = "Four.", trace
		a.Usage = usage{Prompt: 50, Completion: 40, Reasoning: 25}
	default:
		a.Text = "Nobody told me what to say to: " + last
	}
	return a
}

// canonical is a JSON text with sorted keys; what is none stays.
func canonical(text []byte) string {
	var v any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if len(text) == 0 || d.Decode(&v) != nil {
		return string(text)
	}
	return mustJSON(v)
}

func mustJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
