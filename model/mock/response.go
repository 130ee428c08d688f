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
)

// response is one canned response.
type response struct {
	content      string
	model        string // "" for the one that was asked
	usage        *model.Usage
	costUnknown  bool // cost_usd is null
	costUSD      float64
	latencyMS    *float64
	finishReason string // "" for "stop"
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
		FinishReason: cmp.Or(c.finishReason, model.FinishStop),
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
		return checkToolCalls(raw)
	case "reasoning":
		return checkReasoning(raw)
	case "embeddings":
		return checkEmbeddings(raw)
	}
	return errUnknown
}

var (
	errUnknown = errors.New("is no field of a response")
	errNotYet  = errors.New("is not supported yet")
)

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

func checkToolCalls(raw json.RawMessage) error {
	var calls []struct {
		ID        string                     `json:"id"`
		Name      *string                    `json:"name"`
		Arguments map[string]json.RawMessage `json:"arguments"`
	}
	if strict(raw, &calls) != nil {
		return errors.New(`must be a list of calls, as in [{"id": "call_1", "name": "search", "arguments": {"query": "go"}}]`)
	}
	for i, c := range calls {
		if c.Name == nil || *c.Name == "" {
			return fmt.Errorf("has no name in call %d", i+1)
		}
	}
	if len(calls) > 0 {
		return errNotYet
	}
	return nil
}

func checkReasoning(raw json.RawMessage) error {
	var text string
	if err := readString(raw, &text); err != nil {
		return err
	}
	if text != "" {
		return errNotYet
	}
	return nil
}

func checkEmbeddings(raw json.RawMessage) error {
	var vectors [][]float64
	if json.Unmarshal(raw, &vectors) != nil {
		return errors.New("must be a list of vectors, as in [[0.1, 0.2]]")
	}
	if len(vectors) > 0 {
		return errNotYet
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
