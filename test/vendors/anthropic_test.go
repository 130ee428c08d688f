//go:build !offline

package vendors

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// anthropic speaks Messages.
type anthropic struct{}

func (anthropic) name() string       { return "anthropic" }
func (anthropic) streamType() string { return "text/event-stream; charset=utf-8" }

func (anthropic) tail() int           { return 2 }
func (anthropic) early(u usage) int64 { return u.Prompt }

func (anthropic) environ(url string) []string {
	return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=" + canary}
}

// signature is what a block of thinking is signed with.
const signature = "EtYDCkYICxgCKkAVHEWRYo6R+/=="

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
}

// blocks reads content, which may be a text.
func anthropicBlocks(raw json.RawMessage) (blocks []anthropicBlock, err error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []anthropicBlock{{Type: "text", Text: text}}, nil
	}
	return blocks, json.Unmarshal(raw, &blocks)
}

type anthropicRequest struct {
	Model    string          `json:"model"`
	System   json.RawMessage `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	ToolChoice *struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
	Thinking *struct {
		Type   string `json:"type"`
		Budget int64  `json:"budget_tokens"`
	} `json:"thinking"`
	Output struct {
		Format *struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
	Stream      bool     `json:"stream"`
	MaxTokens   int64    `json:"max_tokens"`
	Temperature *float64 `json:"temperature"`
}

func (anthropic) read(r *http.Request, body []byte) (q question, err error) {
	// The key's header was X-Api-Key for long; the vendor's own SDK now sends a
	// bearer token, and the service takes both.
	header, key := "X-Api-Key", canary
	if r.Header.Get(header) == "" {
		header, key = "Authorization", "Bearer "+canary
	}
	if err := needs(r, "/v1/messages", header, key); err != nil {
		return q, err
	}
	var in anthropicRequest
	if err := decode(body, &in); err != nil {
		return q, err
	}
	q = question{Model: in.Model, Stream: in.Stream, MaxTokens: in.MaxTokens}
	switch {
	case r.Header.Get("Anthropic-Version") == "":
		return q, fmt.Errorf("there is no anthropic-version")
	case in.MaxTokens <= 0:
		return q, fmt.Errorf("max_tokens is %d", in.MaxTokens)
	case in.Thinking != nil && in.Thinking.Type == "enabled" && (in.Thinking.Budget < 1024 || in.Thinking.Budget >= in.MaxTokens):
		return q, fmt.Errorf("a thinking budget of %d of %d tokens", in.Thinking.Budget, in.MaxTokens)
	}
	q.Thinking = in.Thinking != nil && in.Thinking.Type == "enabled"
	if in.Temperature != nil {
		if q.Temperature = *in.Temperature; q.Thinking {
			return q, fmt.Errorf("a temperature beside thinking")
		}
	}
	if len(in.System) > 0 {
		system, err := anthropicBlocks(in.System)
		if err != nil {
			return q, err
		}
		for _, b := range system {
			q.System += b.Text
		}
	}
	for i, m := range in.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			return q, fmt.Errorf("message %d is of the role %q", i, m.Role)
		}
		turns, err := anthropicTurns(m.Role, m.Content, q.Thinking)
		if err != nil {
			return q, err
		}
		q.Turns = append(q.Turns, turns...)
	}
	for _, t := range in.Tools {
		q.Tools = append(q.Tools, toolSpec{t.Name, t.Description, canonical(t.Schema)})
	}
	if c := in.ToolChoice; c != nil {
		q.Choice = c.Type
		switch c.Type {
		case "any":
			q.Choice = "required"
		case "tool":
			q.Choice = c.Name
		}
	}
	if f := in.Output.Format; f != nil {
		if f.Type != "json_schema" {
			return q, fmt.Errorf("the output format is %q", f.Type)
		}
		q.Schema = canonical(f.Schema)
	}
	return q, nil
}

// anthropicTurns reads a message: one of the user's is results, then text.
func anthropicTurns(role string, content json.RawMessage, thinking bool) ([]turn, error) {
	blocks, err := anthropicBlocks(content)
	if err != nil {
		return nil, err
	}
	var said, done turn
	said.Role, done.Role = "user", "tool"
	if role == "assistant" {
		said.Role = "model"
	}
	for i, b := range blocks {
		switch {
		case b.Type == "text" && b.Text != "":
			said.Text += b.Text
		case b.Type == "thinking" && role == "assistant":
			if b.Signature != signature {
				return nil, fmt.Errorf("thinking signed %q", b.Signature)
			}
			if said.Trace = b.Thinking; i != 0 {
				return nil, fmt.Errorf("thinking is block %d", i)
			}
		case b.Type == "tool_use" && role == "assistant":
			if len(b.Input) == 0 || b.Input[0] != '{' {
				return nil, fmt.Errorf("the input is %s", b.Input)
			}
			said.Calls = append(said.Calls, call{b.ID, b.Name, canonical(b.Input)})
		case b.Type == "tool_result" && role == "user" && said.Text == "":
			inner, err := anthropicBlocks(b.Content)
			if err != nil {
				return nil, err
			}
			text := ""
			for _, c := range inner {
				text += c.Text
			}
			text, _ = failure(text)
			done.Results = append(done.Results, result{b.ToolUseID, "", text, b.IsError})
		default:
			return nil, fmt.Errorf("block %d of a message of the %s is %+v", i, role, b)
		}
	}
	if thinking && len(said.Calls) > 0 && said.Trace == "" {
		return nil, fmt.Errorf("a turn with calls comes back without its thinking")
	}
	var out []turn
	if done.Results != nil {
		out = append(out, done)
	}
	if said.Text != "" || said.Calls != nil || done.Results == nil {
		out = append(out, said)
	}
	return out, nil
}

func (anthropic) usage(u usage) object {
	return object{
		"input_tokens": u.Prompt - u.Cached, "cache_creation_input_tokens": 0, "cache_read_input_tokens": u.Cached,
		"output_tokens": u.Completion, "output_tokens_details": object{"thinking_tokens": u.Reasoning}, "service_tier": "standard",
	}
}

func (anthropic) finish(a answer) string {
	if len(a.Calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func (d anthropic) message(q question, content []any, stop any, u usage) object {
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": q.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": d.usage(u),
	}
}

func (d anthropic) whole(q question, a answer) string {
	content := []any{}
	if a.Trace != "" {
		content = append(content, object{"type": "thinking", "thinking": a.Trace, "signature": signature})
	}
	if a.Text != "" {
		content = append(content, object{"type": "text", "text": a.Text})
	}
	for _, c := range a.Calls {
		content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Args)})
	}
	return mustJSON(d.message(q, content, d.finish(a), a.Usage))
}

func (d anthropic) events(q question, a answer) []string {
	first := a.Usage
	first.Completion, first.Reasoning = 1, 0
	out := []string{
		sse("message_start", object{"type": "message_start", "message": d.message(q, []any{}, nil, first)}),
		sse("ping", object{"type": "ping"}),
	}
	index := 0
	block := func(start object, kind, field, text string, more ...object) {
		out = append(out, sse("content_block_start", object{"type": "content_block_start", "index": index, "content_block": start}))
		deltas := []object{}
		for _, p := range split(text, 5) {
			deltas = append(deltas, object{"type": kind, field: p})
		}
		for _, delta := range append(deltas, more...) {
			out = append(out, sse("content_block_delta", object{"type": "content_block_delta", "index": index, "delta": delta}))
		}
		out = append(out, sse("content_block_stop", object{"type": "content_block_stop", "index": index}))
		index++
	}
	if a.Trace != "" {
		block(object{"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking", a.Trace,
			object{"type": "signature_delta", "signature": signature})
	}
	if a.Text != "" {
		block(object{"type": "text", "text": ""}, "text_delta", "text", a.Text)
	}
	for _, c := range a.Calls {
		block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, "input_json_delta", "partial_json", c.Args)
	}
	return append(out,
		sse("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": d.finish(a), "stop_sequence": nil}, "usage": d.usage(a.Usage)}),
		sse("message_stop", object{"type": "message_stop"}))
}

func (anthropic) unknown() []string {
	return []string{
		": a comment\n\n",
		"event: something_new\ndata: {\"type\":\"something_new\",\"delta\":7}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"hologram_delta\",\"hologram\":[1]}}\n\n",
	}
}

func (d anthropic) empty(stream bool) string {
	m := d.message(question{Model: "fake-model"}, []any{}, "end_turn", usage{Prompt: 100})
	if !stream {
		return mustJSON(m)
	}
	return sse("message_start", object{"type": "message_start", "message": m}) + sse("message_stop", object{"type": "message_stop"})
}

func (anthropic) failure(status int, words string) string {
	kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}[status]
	if kind == "" {
		kind = "api_error"
	}
	return mustJSON(object{"type": "error", "error": object{"type": kind, "message": words}, "request_id": "req_1"})
}

func (d anthropic) broken(words string) string {
	return sse("error", json.RawMessage(d.failure(500, words)))
}

func (anthropic) embed(*http.Request, []byte) (string, error) { return "", nil }
