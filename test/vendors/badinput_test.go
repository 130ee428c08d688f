//go:build !offline

package vendors

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// odd answers with a whole answer that was changed, or with the events of one,
// each of which was.
func odd(a answer, change func(text string) string) reaction {
	return func(s *service, w http.ResponseWriter, q question) {
		if !q.Stream {
			s.send(w, "application/json", change(s.whole(q, a)))
			return
		}
		w.Header().Set("Content-Type", s.streamType())
		for _, e := range s.events(q, a) {
			s.drip(w, change(e))
		}
	}
}

func same(text string) string { return text }

// withoutUsage takes all counts of tokens out of a JSON text or an event.
func withoutUsage(text string) string {
	before, data, after := "", text, ""
	if i := strings.Index(text, "{"); i >= 0 {
		j := strings.LastIndex(text, "}") + 1
		before, data, after = text[:i], text[i:j], text[j:]
	}
	var doc any
	if json.Unmarshal([]byte(data), &doc) != nil {
		return text
	}
	var clean func(v any)
	clean = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range []string{"usage", "usageMetadata", "prompt_eval_count", "eval_count"} {
				delete(v, key)
			}
			for _, e := range v {
				clean(e)
			}
		case []any:
			for _, e := range v {
				clean(e)
			}
		}
	}
	clean(doc)
	return before + mustJSON(doc) + after
}

// TestMissingUsage checks that what a service did not count is not known,
// rather than 0.
func TestMissingUsage(t *testing.T) {
	bothWays(t, func(t *testing.T, d dialect, stream bool) {
		s := serve(t, d, func(int, question) reaction { return odd(answer{Text: needle}, withoutUsage) })
		got := runCommand(t, folder(t, map[string]string{"workflow.yaml": greeting, "agentloom.yaml": prices}), environment(s), command(d, stream)...)
		got.succeeded(t)
		step := got.result.Steps["greet"]
		if string(step.Output) != mustJSON(needle) || step.Usage != nil || got.result.Tokens != nil {
			t.Errorf("%s for %+v, in all %v tokens", step.Output, step.Usage, got.result.Tokens)
		}
		if d.name() != "ollama" && step.CostUSD != nil {
			t.Errorf("the cost is %v", *step.CostUSD)
		}
	})
}

// TestAbsurdUsage checks that counts which can't be leave sums and costs sane.
func TestAbsurdUsage(t *testing.T) {
	bothWays(t, func(t *testing.T, d dialect, stream bool) {
		s := serve(t, d, func(int, question) reaction {
			return odd(answer{Text: needle, Usage: usage{Prompt: -5, Completion: 1 << 62}}, same)
		})
		got := runCommand(t, folder(t, map[string]string{"workflow.yaml": greeting, "agentloom.yaml": prices}), environment(s), command(d, stream)...)
		got.succeeded(t)
		if u := got.result.Steps["greet"].Usage; u != nil && (u.Prompt != 0 || u.Completion < 0 || u.Completion > 10 || u.Total < 0 || u.Total > 10) {
			t.Errorf("used %+v", u)
		}
		if c := got.result.CostUSD; c != nil && (*c < 0 || *c > 0.001) {
			t.Errorf("cost %v", *c)
		}
	})
}

// TestNullContent checks an answer whose text is null: the step is tried again,
// and what the service reported is counted.
func TestNullContent(t *testing.T) {
	const mark = "to be null"
	bothWays(t, func(t *testing.T, d dialect, stream bool) {
		null := odd(answer{Text: mark, Usage: usage{Prompt: 100}}, func(text string) string {
			for _, p := range append(split(mark, 5), mark) {
				text = strings.ReplaceAll(text, mustJSON(p), "null")
			}
			return text
		})
		s := serve(t, d, func(n int, _ question) reaction {
			if n == 0 {
				return null
			}
			return says
		})
		got := runCommand(t, folder(t, map[string]string{"workflow.yaml": greeting}), environment(s), command(d, stream)...)
		got.succeeded(t)
		step := got.result.Steps["greet"]
		if step.Attempts != 2 || string(step.Output) != mustJSON(needle) || step.Usage == nil || step.Usage.Prompt != 200 {
			t.Errorf("%d attempts: %s for %+v\n%s", step.Attempts, step.Output, step.Usage, got.stderr)
		}
		if !strings.Contains(got.stderr, "the model answered nothing") {
			t.Errorf("it is not said why:\n%s", got.stderr)
		}
	})
}

const box = `
name: box
config: { model: fake-model }
steps:
  - id: box
    type: llm_call
    prompt: Describe the box.
    output_schema: { type: object, properties: { width: { type: integer } }, required: [width], additionalProperties: false }
    retry: { max_retries: 2, backoff_max: 0.01 }
    output: box
`

// TestSchemaAnswers checks answers that are not just the JSON that was asked
// for.
func TestSchemaAnswers(t *testing.T) {
	tests := map[string]struct {
		answers []string // the last repeats
		asked   int
		fails   bool
	}{
		"text around":   {[]string{"Of course! 🧵\n```json\n{\"width\": 7}\n```\nAnything else?"}, 1, false},
		"text before":   {[]string{"The box is {\"width\": 7}"}, 1, false},
		"one repair":    {[]string{"I can't say.", `{"width": 7}`}, 2, false},
		"two repairs":   {[]string{`{"width": "7"}`, `{"width": 7, "more": 1}`, `{"width": 7}`}, 3, false},
		"never fitting": {[]string{`{"width": "wide"}`}, 3, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, d dialect, stream bool) {
				s := serve(t, d, func(n int, _ question) reaction {
					return odd(answer{Text: test.answers[min(n, len(test.answers)-1)], Usage: usage{Prompt: 100, Completion: 5}}, same)
				})
				got := runCommand(t, folder(t, map[string]string{"workflow.yaml": box}), environment(s), command(d, stream)...)
				step := got.result.Steps["box"]
				if n := len(s.questions()); n != test.asked || step.Attempts != 1 || step.Usage == nil || step.Usage.Prompt != int64(100*test.asked) {
					t.Errorf("asked %d times in %d attempts for %+v", n, step.Attempts, step.Usage)
				}
				switch {
				case test.fails:
					if got.code != 1 || !strings.Contains(text(step.Error), "does not fit output_schema after 2 repairs") {
						t.Errorf("exit code %d: %s", got.code, text(step.Error))
					}
				case got.code != 0 || canonical(step.Output) != `{"width":7}`:
					t.Errorf("exit code %d, %s: %s", got.code, step.Output, text(step.Error))
				}
				if turns := s.questions()[test.asked-1].Turns; len(turns) != 2*test.asked-1 {
					t.Errorf("the last question has %d turns", len(turns))
				}
			})
		})
	}
}

const files = `
name: files
config: { model: fake-model }
steps:
  - id: look
    type: llm_call
    prompt: Look.
    tools: [{ name: file_read }]
    retry: { max_retries: 0 }
    output: seen
`

// TestBadArguments checks that arguments which are no object go back to the
// model as its mistake, in a form that the service takes.
func TestBadArguments(t *testing.T) {
	for name, args := range map[string]string{"a list": `["one.txt"]`, "a text": `"one.txt"`, "null": "null", "nothing": "{}"} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, d dialect, stream bool) {
				s := serve(t, d, func(n int, q question) reaction {
					if n > 0 {
						return odd(answer{Text: "Oh."}, same)
					}
					return odd(answer{Calls: []call{{"call_1", "file_read", args}}}, same)
				})
				got := runCommand(t, folder(t, map[string]string{"workflow.yaml": files}), environment(s), command(d, stream)...)
				got.succeeded(t)
				asked := s.questions()
				if r := asked[len(asked)-1].results(); len(asked) != 2 || len(r) != 1 || !r[0].Failed || r[0].Text == "" {
					t.Errorf("asked %d times, the model sees %+v", len(asked), r)
				}
			})
		})
	}
}

// TestHalfArguments checks arguments that are no JSON, where the vendor's format
// lets a model write such.
func TestHalfArguments(t *testing.T) {
	half := answer{Calls: []call{{"call_1", "file_read", `{"path": "one.t`}}}
	bothWays(t, func(t *testing.T, d dialect, stream bool) {
		if d.name() == "google" || d.name() == "ollama" || d.name() == "anthropic" && !stream {
			t.Skip("arguments are part of the answer's own JSON")
		}
		s := serve(t, d, func(n int, q question) reaction {
			if n > 0 {
				return odd(answer{Text: "Oh."}, same)
			}
			return odd(half, same)
		})
		got := runCommand(t, folder(t, map[string]string{"workflow.yaml": files}), environment(s), command(d, stream)...)
		got.succeeded(t)
		asked := s.questions()[len(s.questions())-1]
		if r := asked.results(); len(r) != 1 || !r[0].Failed || !strings.Contains(r[0].Text, "no JSON") {
			t.Errorf("the model sees %+v", r)
		}
		if sent := asked.Turns[len(asked.Turns)-2].Calls[0].Args; !strings.Contains(sent, "one.t") || !json.Valid([]byte(sent)) {
			t.Errorf("the call goes back as %s", sent)
		}
	})
}

// TestThousandCalls checks a turn of a thousand tool calls: all run, and their
// results come back in order.
func TestThousandCalls(t *testing.T) {
	bothWays(t, func(t *testing.T, d dialect, stream bool) {
		a := answer{Usage: usage{Prompt: 10, Completion: 10}}
		content := map[string]string{"workflow.yaml": files}
		for i := range 1000 {
			name := fmt.Sprintf("%d.txt", i%10)
			content[name] = "I am " + name
			a.Calls = append(a.Calls, call{fmt.Sprintf("call_%d", i), "file_read", mustJSON(object{"path": name})})
		}
		s := serve(t, d, func(n int, q question) reaction {
			if n > 0 {
				return odd(answer{Text: "Enough."}, same)
			}
			return odd(a, same)
		})
		got := runCommand(t, folder(t, content), environment(s), command(d, stream)...)
		got.succeeded(t)
		asked := s.questions()
		results := asked[len(asked)-1].results()
		if len(results) != 1000 {
			t.Fatalf("%d results", len(results))
		}
		for i, r := range results {
			if want := fmt.Sprintf("I am %d.txt", i%10); r.Text != want || r.Failed {
				t.Fatalf("result %d is %+v, want %q", i, r, want)
			}
		}
	})
}

// TestWrongVectors checks an embedding list of the wrong length: the step is
// tried again and the tokens are counted, and when it stays wrong the step
// says so.
func TestWrongVectors(t *testing.T) {
	const workflow = `
name: vectors
config: { model: fake-embed }
state: { documents: [one, two] }
steps:
  - id: many
    type: embed
    inputs: state.documents
    retry: { max_retries: 1, backoff_max: 0.01 }
    output: vectors
`
	eachVendor(t, func(t *testing.T, d dialect) {
		if d.name() == "anthropic" {
			t.Skip("it has no embeddings")
		}
		short := shortOfOne{d}
		s := serve(t, short, scripted)
		got := runCommand(t, folder(t, map[string]string{"workflow.yaml": workflow}), environment(s), command(d, false)...)
		step := got.result.Steps["many"]
		if words := text(step.Error); got.code != 1 || step.Attempts != 2 || !strings.Contains(words, "1 vectors for 2 inputs") || !strings.Contains(words, d.name()) {
			t.Errorf("exit code %d after %d attempts: %s", got.code, step.Attempts, words)
		}
		if step.Usage == nil || step.Usage.Prompt != 18 {
			t.Errorf("used %+v", step.Usage)
		}
	})
}

// shortOfOne answers with the vectors of all texts but one.
type shortOfOne struct{ dialect }

func (s shortOfOne) embed(r *http.Request, body []byte) (string, error) {
	return s.dialect.embed(r, []byte(strings.NewReplacer(`["one","two"]`, `["one"]`,
		`,{"content":{"parts":[{"text":"two"}],"role":"user"},"model":"models/fake-embed"}`, "").Replace(string(body))))
}

// TestNoImage checks an attachment that is no image: no service is asked.
func TestNoImage(t *testing.T) {
	const workflow = `
name: picture
config: { model: fake-model }
steps:
  - id: look
    type: llm_call
    prompt: What is this?
    attachments: [{ type: image, source: picture.png }]
`
	eachVendor(t, func(t *testing.T, d dialect) {
		s := serve(t, d, scripted)
		got := runCommand(t, folder(t, map[string]string{"workflow.yaml": workflow, "picture.png": "Once upon a time\n"}), environment(s), command(d, false)...)
		step := got.result.Steps["look"]
		if got.code != 1 || step.Attempts != 1 || len(s.questions()) != 0 || !strings.Contains(text(step.Error), "image") || !strings.Contains(text(step.Error), "attachments[0]") {
			t.Errorf("exit code %d after %d attempts and %d calls: %s", got.code, step.Attempts, len(s.questions()), text(step.Error))
		}
	})
}

// TestAttachments checks what becomes of an attachment that not every vendor
// takes.
func TestAttachments(t *testing.T) {
	const workflow = `
name: picture
config: { model: fake-model, max_retries: 0 }
steps:
  - id: look
    type: llm_call
    prompt: Greet Ada.
    attachments: [{ type: TYPE, source: FILE }]
`
	kinds := map[string]struct{ file, content, refused string }{
		"image": {"a.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89", ""},
		"pdf":   {"a.pdf", "%PDF-1.7\n1 0 obj\n", "ollama"},
		"audio": {"a.wav", "RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00", "anthropic ollama"},
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[kind]
		t.Run(kind, func(t *testing.T) {
			eachVendor(t, func(t *testing.T, d dialect) {
				seen := make(chan string, 1)
				s := serve(t, carrying{d, seen}, scripted)
				source := strings.NewReplacer("TYPE", kind, "FILE", k.file).Replace(workflow)
				got := runCommand(t, folder(t, map[string]string{"workflow.yaml": source, k.file: k.content}), environment(s), command(d, false)...)
				step := got.result.Steps["look"]
				if strings.Contains(k.refused, d.name()) {
					if words := text(step.Error); got.code != 1 || step.Attempts != 1 || len(s.questions()) > 0 || !strings.Contains(words, d.name()) || !strings.Contains(words, kind) {
						t.Errorf("exit code %d after %d calls: %s", got.code, len(s.questions()), words)
					}
					return
				}
				got.succeeded(t)
				if data := mustJSON([]byte(k.content)); !strings.Contains(<-seen, strings.Trim(data, `"`)) {
					t.Errorf("the file's data %s is not in the request", data)
				}
			})
		})
	}
}

// carrying hands on the bodies of requests, and reads the request without
// looking at what the user's message carries.
type carrying struct {
	dialect
	seen chan string
}

func (c carrying) read(_ *http.Request, body []byte) (question, error) {
	c.seen <- string(body)
	return question{Model: "fake-model", Turns: []turn{{Role: "user", Text: "Greet Ada."}}}, nil
}
