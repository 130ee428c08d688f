package recorder

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/mock"
	"github.com/agentloom/agentloom/value"
)

// entry is one response as the mock provider reads it.
type entry struct {
	Content      *string      `json:"content,omitempty"`
	Reasoning    string       `json:"reasoning,omitempty"`
	ToolCalls    []toolCall   `json:"tool_calls,omitempty"`
	Embeddings   [][]float64  `json:"embeddings,omitempty"`
	Model        string       `json:"model,omitempty"`
	Usage        *model.Usage `json:"usage,omitempty"`
	CostUSD      *float64     `json:"cost_usd"` // null: not known
	FinishReason string       `json:"finish_reason,omitempty"`
	LatencyMS    float64      `json:"latency_ms"`
}

type toolCall struct {
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func (r *Recorder) completion(res *model.Response, took time.Duration) entry {
	text := r.text(res.Text)
	e := entry{
		Content:      &text,
		Reasoning:    r.text(res.Reasoning),
		Model:        r.text(res.Model),
		Usage:        usage(res.Usage),
		CostUSD:      cost(res.CostUSD),
		FinishReason: r.text(res.FinishReason),
		LatencyMS:    milliseconds(took),
	}
	for _, c := range res.ToolCalls {
		e.ToolCalls = append(e.ToolCalls, toolCall{ID: r.text(c.ID), Name: r.text(c.Name), Arguments: r.arguments(c.Arguments)})
	}
	return e
}

func (r *Recorder) embedding(res *model.EmbedResponse, took time.Duration) entry {
	return entry{
		Embeddings: res.Vectors,
		Model:      r.text(res.Model),
		Usage:      usage(res.Usage),
		CostUSD:    cost(res.CostUSD),
		LatencyMS:  milliseconds(took),
	}
}

// usage clamps what no reader would take back.
func usage(u *model.Usage) *model.Usage {
	if u == nil {
		return nil
	}
	return &model.Usage{
		PromptTokens:     max(0, u.PromptTokens),
		CompletionTokens: max(0, u.CompletionTokens),
		TotalTokens:      max(0, u.TotalTokens),
		ReasoningTokens:  max(0, u.ReasoningTokens),
		CachedTokens:     max(0, u.CachedTokens),
	}
}

func cost(usd *float64) *float64 {
	if usd == nil || !(*usd >= 0) { // also not a number
		return nil
	}
	return usd
}

// milliseconds has microseconds for its smallest part.
func milliseconds(d time.Duration) float64 {
	return min(float64(max(0, d).Microseconds())/1000, mock.MaxLatencyMS)
}

// encode is compact JSON without HTML escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// text is a text as it may be written.
func (r *Recorder) text(s string) string {
	return strings.ToValidUTF8(r.redact(s), "\ufffd")
}

// arguments are written as the object they are, in the model's own spelling
// where nothing of them is redacted, and otherwise as the text they are.
func (r *Recorder) arguments(text string) json.RawMessage {
	v, err := value.DecodeJSON([]byte(text))
	if m, ok := v.(*value.Map); ok && err == nil {
		clean, changed := r.value(m)
		if !changed {
			var b bytes.Buffer
			if json.Compact(&b, []byte(text)) == nil {
				return b.Bytes()
			}
		}
		if b, err := value.EncodeJSON(clean); err == nil {
			return b
		}
	}
	b, _ := encode(r.text(text)) // a string always has a form
	return b
}

// value redacts all texts of a value, and says whether any changed.
func (r *Recorder) value(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		clean := r.text(v)
		return clean, clean != v
	case []any:
		changed := false
		out := make([]any, len(v))
		for i, e := range v {
			c := false
			out[i], c = r.value(e)
			changed = changed || c
		}
		return out, changed
	case *value.Map:
		changed := false
		out := value.NewMap(v.Len())
		for k, e := range v.All() {
			key := r.text(k)
			clean, c := r.value(e)
			changed = changed || c || key != k
			out.Put(key, clean)
		}
		return out, changed
	}
	return v, false
}
