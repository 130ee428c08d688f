//go:build !offline

package vendors

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// ollama speaks /api/chat. It gives its calls no ids, as older servers do, has
// no tool choice, and counts neither cached nor reasoning tokens.
type ollama struct{}

func (ollama) name() string       { return "ollama" }
func (ollama) streamType() string { return "application/x-ndjson" }

func (ollama) tail() int         { return 1 }
func (ollama) early(usage) int64 { return 0 }

func (ollama) environ(url string) []string {
	return []string{"OLLAMA_BASE_URL=" + url, "OLLAMA_API_KEY=" + canary}
}

type ollamaRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role     string `json:"role"`
		Content  string `json:"content"`
		Thinking string `json:"thinking"`
		Calls    []struct {
			Function struct {
				Name string          `json:"name"`
				Args json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
		ToolName string `json:"tool_name"`
	} `json:"messages"`
	Tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Format  json.RawMessage `json:"format"`
	Think   any             `json:"think"`
	Stream  *bool           `json:"stream"` // nil is true
	Options struct {
		NumPredict  int64   `json:"num_predict"`
		Temperature float64 `json:"temperature"`
	} `json:"options"`
}

func (ollama) read(r *http.Request, body []byte) (q question, err error) {
	if err := needs(r, "/api/chat", "Authorization", "Bearer "+canary); err != nil {
		return q, err
	}
	var in ollamaRequest
	if err := decode(body, &in); err != nil {
		return q, err
	}
	q = question{
		Model: in.Model, Stream: in.Stream == nil || *in.Stream, Schema: canonical(in.Format),
		Thinking: in.Think != nil && in.Think != false, MaxTokens: in.Options.NumPredict, Temperature: in.Options.Temperature,
	}
	for i, m := range in.Messages {
		t := turn{Role: m.Role, Text: m.Content, Trace: m.Thinking}
		switch {
		case m.Role == "system" && i == 0:
			q.System = m.Content
			continue
		case m.Role == "assistant":
			t.Role = "model"
			for _, c := range m.Calls {
				if len(c.Function.Args) == 0 || c.Function.Args[0] != '{' {
					return q, fmt.Errorf("the arguments are %s", c.Function.Args)
				}
				t.Calls = append(t.Calls, call{"", c.Function.Name, canonical(c.Function.Args)})
			}
		case m.Role == "tool":
			text, failed := failure(m.Content)
			done := result{"", m.ToolName, text, failed}
			if n := len(q.Turns); n > 0 && q.Turns[n-1].Role == "tool" {
				q.Turns[n-1].Results = append(q.Turns[n-1].Results, done)
				continue
			}
			t = turn{Role: "tool", Results: []result{done}}
		case m.Role != "user":
			return q, fmt.Errorf("message %d is of the role %q", i, m.Role)
		}
		q.Turns = append(q.Turns, t)
	}
	for _, t := range in.Tools {
		if t.Type != "function" {
			return q, fmt.Errorf("a tool of the type %q", t.Type)
		}
		q.Tools = append(q.Tools, toolSpec{t.Function.Name, t.Function.Description, canonical(t.Function.Parameters)})
	}
	return q, nil
}

func (ollama) line(q question, message object, last *answer) string {
	doc := object{"model": q.Model, "created_at": "2025-07-07T20:22:18.1Z", "message": message, "done": last != nil}
	if last != nil {
		doc["done_reason"] = "stop" // after calls too
		doc["total_duration"], doc["load_duration"] = 182242375, 41295167
		doc["prompt_eval_count"], doc["eval_count"] = last.Usage.Prompt, last.Usage.Completion
	}
	return mustJSON(doc)
}

func ollamaCalls(a answer) (calls []any) {
	for _, c := range a.Calls {
		calls = append(calls, object{"function": object{"name": c.Name, "arguments": json.RawMessage(c.Args)}})
	}
	return calls
}

func (d ollama) whole(q question, a answer) string {
	m := object{"role": "assistant", "content": a.Text}
	if a.Trace != "" {
		m["thinking"] = a.Trace
	}
	if a.Calls != nil {
		m["tool_calls"] = ollamaCalls(a)
	}
	return d.line(q, m, &a)
}

func (d ollama) events(q question, a answer) (out []string) {
	add := func(m object, last *answer) {
		m["role"] = "assistant"
		out = append(out, d.line(q, m, last)+"\n")
	}
	if a.Trace != "" {
		for _, p := range split(a.Trace, 5) {
			add(object{"content": "", "thinking": p}, nil)
		}
	}
	if a.Text != "" {
		for _, p := range split(a.Text, 5) {
			add(object{"content": p}, nil)
		}
	}
	for _, c := range ollamaCalls(a) {
		add(object{"content": "", "tool_calls": []any{c}}, nil)
	}
	add(object{"content": ""}, &a)
	return out
}

func (ollama) unknown() []string {
	return []string{
		"\n",
		"{\"something_new\": {\"text\": 7}, \"done\": false}\n",
		"{\"model\": \"fake-model\", \"message\": {\"role\": \"assistant\", \"content\": \"\", \"hologram\": [1]}, \"done\": false}\n",
	}
}

func (d ollama) empty(stream bool) string {
	doc := object{"model": "fake-model", "done": true, "done_reason": "stop", "prompt_eval_count": 100}
	if stream {
		return mustJSON(doc) + "\n"
	}
	return mustJSON(doc)
}

func (ollama) failure(_ int, words string) string { return mustJSON(object{"error": words}) }

func (d ollama) broken(words string) string { return d.failure(500, words) + "\n" }

func (ollama) embed(r *http.Request, body []byte) (string, error) {
	if r.URL.Path != "/api/embed" {
		return "", nil
	}
	var in struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Dimensions int      `json:"dimensions"`
	}
	if err := needs(r, "/api/embed", "Authorization", "Bearer "+canary); err != nil {
		return "", err
	}
	if err := decode(body, &in); err != nil {
		return "", err
	}
	var out []any
	for _, text := range in.Input {
		out = append(out, vector(text, in.Dimensions))
	}
	return mustJSON(object{"model": in.Model, "embeddings": out, "prompt_eval_count": 9, "total_duration": 14143917}), nil
}
