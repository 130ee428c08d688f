package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// maxBlocks bounds the pieces of content in one answer, so that a hostile one
// costs no more memory than its own size asks for.
const maxBlocks = 10_000

var errBlocks = errors.New("too many content blocks")

// wireMessage is an answer. The SDK's own type for it takes several kilobytes
// for each block, however small.
type wireMessage struct {
	Type        string          `json:"type"`
	ID          string          `json:"id"`
	Model       string          `json:"model"`
	StopReason  string          `json:"stop_reason"`
	StopDetails json.RawMessage `json:"stop_details"`
	Content     blockList       `json:"content"`
	Usage       *wireUsage      `json:"usage"`
	Error       *wireError      `json:"error"` // of a message of type "error"
}

type wireError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// wireBlock is one piece of content. raw is all of it, as it came.
type wireBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	raw      json.RawMessage
}

// blockList is nil when the answer has no place for content.
type blockList []wireBlock

func (l *blockList) UnmarshalJSON(src []byte) error {
	if string(src) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(src))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("content is no list")
	}
	out := blockList{}
	for d.More() {
		if len(out) == maxBlocks {
			return errBlocks
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		b := wireBlock{raw: raw}
		if err := json.Unmarshal(raw, &b); err != nil {
			return err
		}
		if b.Type != "" {
			out = append(out, b)
		}
	}
	*l = out
	return nil
}

// plain reports whether the neutral fields of a response say all of a block.
func plain(blockType string) bool { return blockType == "text" || blockType == "tool_use" }

// wireUsage counts tokens. A stream reports it in parts: what a later event
// does not have stays.
type wireUsage struct {
	Input         *count `json:"input_tokens"`
	CacheCreation *count `json:"cache_creation_input_tokens"`
	CacheRead     *count `json:"cache_read_input_tokens"`
	Output        *count `json:"output_tokens"`
	Details       struct {
		Thinking *count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// count is a number of tokens; 0 stands for whatever is no number that a call
// can have.
type count int64

func (c *count) UnmarshalJSON(src []byte) error {
	*c = 0
	if f, err := strconv.ParseFloat(string(src), 64); err == nil && f > 0 && f < math.MaxInt32 {
		*c = count(f)
	}
	return nil
}

func (u *wireUsage) update(o *wireUsage) {
	if o == nil {
		return
	}
	for _, f := range []struct{ to, from **count }{
		{&u.Input, &o.Input}, {&u.CacheCreation, &o.CacheCreation}, {&u.CacheRead, &o.CacheRead},
		{&u.Output, &o.Output}, {&u.Details.Thinking, &o.Details.Thinking},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
}

// neutral is nil when no tokens were reported. The service counts the prompt's
// cached tokens, read and written, apart.
func (u *wireUsage) neutral() *model.Usage {
	if u == nil || u.Input == nil && u.Output == nil {
		return nil
	}
	get := func(c *count) int64 {
		if c == nil {
			return 0
		}
		return int64(*c)
	}
	return httpapi.CleanUsage(model.Usage{
		PromptTokens:     get(u.Input) + get(u.CacheCreation) + get(u.CacheRead),
		CompletionTokens: get(u.Output),
		ReasoningTokens:  get(u.Details.Thinking),
		CachedTokens:     get(u.CacheRead),
	})
}
