package mock

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentloom/agentloom/internal/nearest"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// response is one canned response.
type response struct {
	content      string
	model        string // "" for the one that was asked
	usage        *model.Usage
	costUnknown  bool // cost_usd is null
	costUSD      float64
	latencyMS    *float64
	finishReason string // "" for "stop", or "tool_calls" with some
	reasoning    string
	toolCalls    []model.ToolCall
	embeddings   [][]float64 // nil: made up
}

func defaultResponse() response {
	return response{content: DefaultText, usage: &model.Usage{}}
}

// response makes the model's answer of the canned one.
func (c response) response(provider, asked string) *model.Response {
	r := &model.Response{
		Text:         c.content,
		Model:        cmp.Or(c.model, asked),
		Provider:     provider,
		FinishReason: c.finishReason,
		Reasoning:    c.reasoning,
		ToolCalls:    slices.Clone(c.toolCalls),
	}
	switch {
	case r.FinishReason != "":
	case len(r.ToolCalls) > 0:
		r.FinishReason = model.FinishToolCalls
	default:
		r.FinishReason = model.FinishStop
	}
	if c.usage != nil {
		u := *c.usage
		r.Usage = &u
	}
	if !c.costUnknown {
		cost := c.costUSD
		r.CostUSD = &cost
	}
	return r
}

// fieldNames are the fields that a response may have, sorted.
func fieldNames() []string {
	return []string{"content", "cost_usd", "embeddings", "finish_reason", "latency_ms", "model", "reasoning", "tool_calls", "usage"}
}

// set reads one field of a response. Its error completes a sentence that begins
// with the field's name.
func (c *response) set(name string, raw json.RawMessage) error {
	switch name {
	case "content":
		return readString(raw, &c.content)
	case "model":
		return readString(raw, &c.model)
	case "finish_reason":
		return readString(raw, &c.finishReason)
	case "usage":
		return c.setUsage(raw)
	case "cost_usd":
		return c.setCost(raw)
	case "latency_ms":
		return c.setLatency(raw)
	case "tool_calls":
		return c.setToolCalls(raw)
	case "reasoning":
		return readString(raw, &c.reasoning)
	case "embeddings":
		return c.setEmbeddings(raw)
	}
	return errUnknown
}

var errUnknown = errors.New("is no field of a response")

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// strict decodes JSON and refuses unknown keys.
func strict(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func readString(raw json.RawMessage, into *string) error {
	if json.Unmarshal(raw, into) != nil {
		return fmt.Errorf("must be a string, not %s", excerpt(raw))
	}
	return nil
}

func (c *response) setUsage(raw json.RawMessage) error {
	if isNull(raw) {
		return nil
	}
	var counts map[string]*int64
	if json.Unmarshal(raw, &counts) != nil {
		return fmt.Errorf("must be an object of token counts, as in {\"prompt_tokens\": 12, \"completion_tokens\": 3}, not %s", excerpt(raw))
	}
	var u model.Usage
	into := map[string]*int64{
		"prompt_tokens":     &u.PromptTokens,
		"completion_tokens": &u.CompletionTokens,
		"total_tokens":      &u.TotalTokens,
		"reasoning_tokens":  &u.ReasoningTokens,
		"cached_tokens":     &u.CachedTokens,
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		n := counts[name]
		target, known := into[name]
		switch {
		case !known:
			return fmt.Errorf("has the unknown key %q; it may have %s", name, strings.Join(slices.Sorted(maps.Keys(into)), ", "))
		case n == nil:
		case *n < 0:
			return fmt.Errorf("has a negative %s", name)
		default:
			*target = *n
		}
	}
	if counts["total_tokens"] == nil {
		u.TotalTokens = u.PromptTokens + u.CompletionTokens
	}
	c.usage = &u
	return nil
}

func (c *response) setCost(raw json.RawMessage) error {
	if isNull(raw) {
		c.costUnknown = true
		return nil
	}
	if json.Unmarshal(raw, &c.costUSD) != nil || c.costUSD < 0 {
		return fmt.Errorf("must be a number of US dollars, 0 or more, not %s", excerpt(raw))
	}
	return nil
}

func (c *response) setLatency(raw json.RawMessage) error {
	if isNull(raw) {
		return nil
	}
	var ms float64
	if json.Unmarshal(raw, &ms) != nil || ms < 0 || ms > MaxLatencyMS {
		return fmt.Errorf("must be a number of milliseconds from 0 to %d, not %s", MaxLatencyMS, excerpt(raw))
	}
	c.latencyMS = &ms
	return nil
}

func (c *response) setToolCalls(raw json.RawMessage) error {
	var calls []struct {
		ID        string          `json:"id"`
		Name      *string         `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if strict(raw, &calls) != nil {
		return errors.New(`must be a list of calls, as in [{"id": "call_1", "name": "search", "arguments": {"query": "go"}}]`)
	}
	for i, call := range calls {
		if call.Name == nil {
			return fmt.Errorf("has no name in call %d", i+1)
		}
		text, err := argumentsText(call.Arguments)
		if err != nil {
			return fmt.Errorf("has in call %d arguments that %w", i+1, err)
		}
		c.toolCalls = append(c.toolCalls, model.ToolCall{ID: call.ID, Name: *call.Name, Arguments: text})
	}
	httpapi.UniqueIDs(c.toolCalls)
	return nil
}

// argumentsText is the text of a call's arguments: an object's own, and what a
// string holds.
func argumentsText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || isNull(raw) {
		return "{}", nil
	}
	switch raw[0] {
	case '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err
	case '{':
		var compact bytes.Buffer
		err := json.Compact(&compact, raw)
		return compact.String(), err
	}
	return "", fmt.Errorf("must be an object, or a string that holds what the model wrote, not %s", excerpt(raw))
}

func (c *response) setEmbeddings(raw json.RawMessage) error {
	var vectors [][]float64
	if json.Unmarshal(raw, &vectors) != nil {
		return errors.New("must be a list of vectors, as in [[0.1, 0.2]]")
	}
	for i, v := range vectors {
		switch {
		case len(v) == 0:
			return fmt.Errorf("has no numbers in vector %d", i+1)
		case len(v) != len(vectors[0]):
			return fmt.Errorf("has %d numbers in vector %d but %d in the first", len(v), i+1, len(vectors[0]))
		}
	}
	if len(vectors) > 0 {
		c.embeddings = vectors
	}
	return nil
}

// excerpt shows a value in an error, cut when it is long.
func excerpt(raw json.RawMessage) string {
	const most = 40
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return "this"
	}
	if r := []rune(compact.String()); len(r) > most {
		return string(r[:most]) + "…"
	}
	return compact.String()
}

// suggest proposes the field that an unknown key most likely means.
func suggest(name string) string {
	if meant := nearest.Of(name, fieldNames()); meant != "" {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	return "; a response may have " + strings.Join(fieldNames(), ", ")
}
