package mock

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/value"
)

// Hash returns the SHA-256 of a model call's request, as the package's doc
// defines it. The step's id is no part of it, nor are the ids of tool calls
// and a provider's own form of a turn, which differ from service to service.
func Hash(req *model.Request) string { return hexSum(requestSum(req)) }

// HashEmbed is Hash for a request for vectors.
func HashEmbed(req *model.EmbedRequest) string { return hexSum(embedSum(req)) }

func hexSum(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }

// requestSum hashes what the doc lists. What a request does not have is left
// out.
func requestSum(req *model.Request) [sha256.Size]byte {
	m := value.NewMap(9)
	m.Put("model", req.Model)
	messages := make([]any, len(req.Messages))
	for i := range req.Messages {
		messages[i] = hashedMessage(&req.Messages[i])
	}
	m.Put("messages", messages)
	if req.System != "" {
		m.Put("system", req.System)
	}
	if req.Temperature != nil {
		m.Put("temperature", *req.Temperature)
	}
	if req.MaxTokens != nil {
		m.Put("max_tokens", *req.MaxTokens)
	}
	if len(req.Tools) > 0 {
		tools := make([]any, len(req.Tools))
		for i, t := range req.Tools {
			tools[i] = value.MapOf("name", t.Name, "description", t.Description, "parameters", t.Parameters)
		}
		m.Put("tools", tools)
	}
	if c := req.ToolChoice; c != nil {
		m.Put("tool_choice", value.MapOf("mode", string(c.Mode), "name", c.Name))
	}
	if t := req.Thinking; t != nil {
		m.Put("thinking", hashedThinking(t))
	}
	if req.Schema != nil {
		m.Put("schema", req.Schema)
	}
	return canonicalSum(m)
}

func hashedMessage(msg *model.Message) *value.Map {
	m := value.MapOf("role", string(msg.Role), "text", msg.Text)
	if len(msg.ToolCalls) > 0 {
		calls := make([]any, len(msg.ToolCalls))
		for i, c := range msg.ToolCalls {
			calls[i] = value.MapOf("name", c.Name, "arguments", c.Arguments)
		}
		m.Put("tool_calls", calls)
	}
	if msg.ToolName != "" {
		m.Put("tool_name", msg.ToolName)
	}
	if msg.IsError {
		m.Put("is_error", true)
	}
	if len(msg.Attachments) > 0 {
		files := make([]any, len(msg.Attachments))
		for i, a := range msg.Attachments {
			files[i] = value.MapOf("type", string(a.Type), "media_type", a.MediaType,
				"data", base64.StdEncoding.EncodeToString(a.Data), "url", a.URL)
		}
		m.Put("attachments", files)
	}
	return m
}

func hashedThinking(t *model.Thinking) *value.Map {
	m := value.NewMap(3)
	if t.Enabled != nil {
		m.Put("enabled", *t.Enabled)
	}
	if t.BudgetTokens != nil {
		m.Put("budget_tokens", *t.BudgetTokens)
	}
	if t.Level != "" {
		m.Put("level", t.Level)
	}
	return m
}

func embedSum(req *model.EmbedRequest) [sha256.Size]byte {
	inputs := make([]any, len(req.Inputs))
	for i, text := range req.Inputs {
		inputs[i] = text
	}
	m := value.MapOf("inputs", inputs, "model", req.Model)
	if req.Dimensions != nil {
		m.Put("dimensions", *req.Dimensions)
	}
	return canonicalSum(m)
}

func canonicalSum(m *value.Map) [sha256.Size]byte {
	b, _ := value.EncodeJSON(sorted(m)) // it fails on what is no value only
	return sha256.Sum256(b)
}

// sorted is a value with the keys of all its maps in order.
func sorted(v any) any {
	switch v := v.(type) {
	case *value.Map:
		if v == nil {
			return nil
		}
		all := maps.Collect(v.All())
		out := value.NewMap(len(all))
		for _, k := range slices.Sorted(maps.Keys(all)) {
			out.Put(k, sorted(all[k]))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = sorted(e)
		}
		return out
	}
	return v
}
