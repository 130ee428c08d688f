package openai_test

import (
	"encoding/json"
	"slices"

	"github.com/agentloom/agentloom/internal/modeltest"
	"github.com/agentloom/agentloom/model"
)

func wireCalls(calls []model.ToolCall) []any {
	var out []any
	for _, c := range calls {
		out = append(out, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
	}
	return out
}

func writeAnswer(a modeltest.Answer) string {
	message := map[string]any{"role": "assistant", "content": a.Text, "refusal": nil}
	if len(a.ToolCalls) > 0 {
		message["tool_calls"] = wireCalls(a.ToolCalls)
	}
	if a.Reasoning != "" {
		message["reasoning_content"] = a.Reasoning
	}
	out := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": a.Model,
		"choices": []any{map[string]any{"index": 0, "logprobs": nil, "finish_reason": a.FinishReason, "message": message}},
	}
	if a.Usage != nil {
		out["usage"] = wireUsage(a.Usage)
	}
	return mustJSON(out)
}

func wireUsage(u *model.Usage) any {
	return map[string]any{
		"prompt_tokens": u.PromptTokens, "completion_tokens": u.CompletionTokens, "total_tokens": u.TotalTokens,
		"prompt_tokens_details":     map[string]any{"cached_tokens": u.CachedTokens},
		"completion_tokens_details": map[string]any{"reasoning_tokens": u.ReasoningTokens},
	}
}

func frame(v any) string { return "data: " + mustJSON(v) + "\n\n" }

func writeStream(reasoning, text []string, a modeltest.Answer) []string {
	var out []string
	add := func(choices []any, usage any) {
		out = append(out, frame(map[string]any{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": a.Model, "choices": choices, "usage": usage,
		}))
	}
	delta := func(d map[string]any, reason any) {
		add([]any{map[string]any{"index": 0, "delta": d, "logprobs": nil, "finish_reason": reason}}, nil)
	}
	delta(map[string]any{"role": "assistant", "content": "", "refusal": nil}, nil)
	for _, piece := range reasoning {
		delta(map[string]any{"reasoning_content": piece}, nil)
	}
	for _, piece := range text {
		delta(map[string]any{"content": piece}, nil)
	}
	for i, c := range a.ToolCalls {
		call := func(v map[string]any) {
			v["index"] = i
			delta(map[string]any{"tool_calls": []any{v}}, nil)
		}
		call(map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}})
		for piece := range slices.Chunk([]rune(c.Arguments), 5) {
			call(map[string]any{"function": map[string]any{"arguments": string(piece)}})
		}
	}
	delta(map[string]any{}, a.FinishReason)
	if a.Usage != nil {
		add([]any{}, wireUsage(a.Usage))
	}
	return append(out, "data: [DONE]\n\n")
}

// writeVectors writes them in the reverse order: the index counts.
func writeVectors(a modeltest.EmbedAnswer) string {
	data := []any{}
	for i, v := range a.Vectors {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	slices.Reverse(data)
	return mustJSON(map[string]any{
		"object": "list", "data": data, "model": a.Model,
		"usage": map[string]any{"prompt_tokens": a.Tokens, "total_tokens": a.Tokens},
	})
}

func writeFailure(message string) string {
	return mustJSON(map[string]any{"error": map[string]any{"message": message, "type": "some_error", "param": nil, "code": nil}})
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
