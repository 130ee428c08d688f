//go:build !offline

package vendors

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// openAI speaks Chat Completions, with the reasoning_content of compatible
// services.
type openAI struct{}

func (openAI) name() string       { return "openai" }
func (openAI) streamType() string { return "text/event-stream" }

func (openAI) tail() int         { return 3 }
func (openAI) early(usage) int64 { return 0 }

func (openAI) environ(url string) []string {
	return []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=" + canary}
}

type openAIMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Reasoning  string          `json:"reasoning_content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type openAIRequest struct {
	Model    string          `json:"model"`
	Messages []openAIMessage `json:"messages"`
	Tools    []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`
	Format     *struct {
		Type   string `json:"type"`
		Schema struct {
			Name   string          `json:"name"`
			Strict bool            `json:"strict"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Stream  bool `json:"stream"`
	Options *struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Effort      string  `json:"reasoning_effort"`
	MaxTokens   int64   `json:"max_tokens"`
	Temperature float64 `json:"temperature"`
}

func (openAI) read(r *http.Request, body []byte) (q question, err error) {
	if err := needs(r, "/v1/chat/completions", "Authorization", "Bearer "+canary); err != nil {
		return q, err
	}
	var in openAIRequest
	if err := decode(body, &in); err != nil {
		return q, err
	}
	q = question{
		Model: in.Model, Stream: in.Stream, MaxTokens: in.MaxTokens, Temperature: in.Temperature,
		Thinking: in.Effort != "" && in.Effort != "none",
	}
	if in.Stream && (in.Options == nil || !in.Options.Usage) {
		return q, fmt.Errorf("a stream without include_usage")
	}
	for i, m := range in.Messages {
		if m.Role == "system" && i == 0 {
			q.System = openAIText(m.Content)
			continue
		}
		t, err := m.turn()
		if err != nil {
			return q, err
		}
		if n := len(q.Turns); m.Role == "tool" && n > 0 && q.Turns[n-1].Role == "tool" {
			q.Turns[n-1].Results = append(q.Turns[n-1].Results, t.Results...)
			continue
		}
		q.Turns = append(q.Turns, t)
	}
	for _, t := range in.Tools {
		if t.Type != "function" {
			return q, fmt.Errorf("a tool of the type %q", t.Type)
		}
		q.Tools = append(q.Tools, toolSpec{t.Function.Name, t.Function.Description, canonical(t.Function.Parameters)})
	}
	q.Choice, err = openAIChoice(in.ToolChoice)
	if f := in.Format; f != nil {
		if f.Type != "json_schema" || f.Schema.Name == "" || !f.Schema.Strict {
			return q, fmt.Errorf("the response format is %+v", f)
		}
		q.Schema = canonical(f.Schema.Schema)
	}
	return q, err
}

func openAIText(raw json.RawMessage) (text string) {
	var parts []struct{ Type, Text string }
	if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &parts) == nil {
		for _, p := range parts {
			text += p.Text
		}
	}
	return text
}

func openAIChoice(raw json.RawMessage) (string, error) {
	var named struct {
		Type     string `json:"type"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	choice := ""
	switch {
	case len(raw) == 0 || json.Unmarshal(raw, &choice) == nil:
		return choice, nil
	case json.Unmarshal(raw, &named) == nil && named.Type == "function":
		return named.Function.Name, nil
	}
	return "", fmt.Errorf("the tool choice is %s", raw)
}

func (m openAIMessage) turn() (t turn, err error) {
	text := openAIText(m.Content)
	switch m.Role {
	case "user":
		return turn{Role: "user", Text: text}, nil
	case "assistant":
		t = turn{Role: "model", Text: text, Trace: m.Reasoning}
		for _, c := range m.ToolCalls {
			if c.Type != "function" {
				return t, fmt.Errorf("a call of the type %q", c.Type)
			}
			t.Calls = append(t.Calls, call{c.ID, c.Function.Name, canonical([]byte(c.Function.Arguments))})
		}
		return t, nil
	case "tool":
		text, failed := failure(text)
		return turn{Role: "tool", Results: []result{{m.ToolCallID, "", text, failed}}}, nil
	}
	return t, fmt.Errorf("a message of the role %q", m.Role)
}

func (openAI) usage(u usage) object {
	return object{
		"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Prompt + u.Completion,
		"prompt_tokens_details":     object{"cached_tokens": u.Cached, "audio_tokens": 0},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}
}

func (openAI) finish(a answer) string {
	if len(a.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func openAICall(i int, c call, args string) object {
	return object{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": args}}
}

func (o openAI) whole(q question, a answer) string {
	m := object{"role": "assistant", "content": a.Text, "refusal": nil}
	if a.Text == "" && len(a.Calls) > 0 {
		m["content"] = nil
	}
	if a.Trace != "" {
		m["reasoning_content"] = a.Trace
	}
	var calls []any
	for i, c := range a.Calls {
		calls = append(calls, openAICall(i, c, c.Args))
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return mustJSON(object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": q.Model,
		"choices": []any{object{"index": 0, "message": m, "logprobs": nil, "finish_reason": o.finish(a)}},
		"usage":   o.usage(a.Usage),
	})
}

func (openAI) chunk(q question, delta object, finish any) string {
	return sse("", object{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": q.Model, "usage": nil,
		"choices": []any{object{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}},
	})
}

func (o openAI) events(q question, a answer) []string {
	out := []string{o.chunk(q, object{"role": "assistant", "content": ""}, nil)}
	for _, p := range split(a.Trace, 5) {
		if p != "" {
			out = append(out, o.chunk(q, object{"reasoning_content": p}, nil))
		}
	}
	for _, p := range split(a.Text, 5) {
		out = append(out, o.chunk(q, object{"content": p}, nil))
	}
	for i, c := range a.Calls {
		out = append(out, o.chunk(q, object{"tool_calls": []any{openAICall(i, c, "")}}, nil))
		for _, p := range split(c.Args, 5) {
			out = append(out, o.chunk(q, object{"tool_calls": []any{object{"index": i, "function": object{"arguments": p}}}}, nil))
		}
	}
	return append(out, o.chunk(q, object{}, o.finish(a)),
		sse("", object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": q.Model, "choices": []any{}, "usage": o.usage(a.Usage)}),
		"data: [DONE]\n\n")
}

func (openAI) unknown() []string {
	return []string{
		": a comment\n\n",
		"event: something.new\ndata: {\"object\":\"something.new\",\"choices\":[]}\n\n",
		"id: 7\nretry: 10\ndata: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"hologram\":[1,2]},\"finish_reason\":null}]}\n\n",
	}
}

func (o openAI) empty(stream bool) string {
	doc := object{"id": "1", "object": "chat.completion", "model": "fake-model", "choices": []any{}, "usage": o.usage(usage{Prompt: 100})}
	if !stream {
		return mustJSON(doc)
	}
	return sse("", doc) + "data: [DONE]\n\n"
}

func (openAI) failure(status int, words string) string {
	kind := "server_error"
	if status < 500 {
		kind = "invalid_request_error"
	}
	return mustJSON(object{"error": object{"message": words, "type": kind, "param": nil, "code": nil}})
}

func (o openAI) broken(words string) string { return sse("", json.RawMessage(o.failure(500, words))) }

func (openAI) embed(r *http.Request, body []byte) (string, error) {
	if !strings.HasSuffix(r.URL.Path, "/embeddings") {
		return "", nil
	}
	var in struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Dimensions int      `json:"dimensions"`
	}
	if err := needs(r, "/v1/embeddings", "Authorization", "Bearer "+canary); err != nil {
		return "", err
	}
	if err := decode(body, &in); err != nil {
		return "", err
	}
	var data []any
	for i, text := range in.Input { // last first: the index counts
		data = append([]any{object{"object": "embedding", "index": i, "embedding": vector(text, in.Dimensions)}}, data...)
	}
	return mustJSON(object{
		"object": "list", "model": in.Model, "data": data, "usage": object{"prompt_tokens": 9, "total_tokens": 9},
	}), nil
}

// vector is a text's vector, the same for all vendors.
func vector(text string, dimensions int) []any {
	if dimensions == 0 {
		dimensions = 5
	}
	out := make([]any, dimensions)
	for i := range out {
		out[i] = float64(len(text)) + float64(i)/8
	}
	return out
}
