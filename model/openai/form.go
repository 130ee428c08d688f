package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// The forms that come back. They are read leniently: a field of another type
// than the documented one is as if it were not there. The SDK's own types take
// kilobytes for each item of a list, however small; here no list of an answer
// takes more memory than its text does.

// answer is a whole answer, or one event of a stream.
type answer struct {
	ID                string          `json:"id"`
	Model             string          `json:"model"`
	SystemFingerprint string          `json:"system_fingerprint"`
	ServiceTier       string          `json:"service_tier"`
	Choices           [1]*choice      `json:"choices"` // no more than one is asked for
	Usage             *counts         `json:"usage"`
	Error             json.RawMessage `json:"error"`
}

type choice struct {
	Index        int64  `json:"index"`
	FinishReason string `json:"finish_reason"`
	Message      turn   `json:"message"`
	Delta        turn   `json:"delta"` // in a stream
}

// turn is a message of the model's, or a piece of one.
type turn struct {
	Content   content  `json:"content"`
	Refusal   string   `json:"refusal"`
	ToolCalls callList `json:"tool_calls"`
	ownFields
}

// decode reads JSON, and be there more after it, into a pointer to a struct.
func decode(src []byte, into any) error {
	err := json.Unmarshal(src, into)
	if _, broken := errors.AsType[*json.SyntaxError](err); broken {
		err = json.NewDecoder(bytes.NewReader(src)).Decode(into)
	}
	return lenient(src, err)
}

// lenient drops the error for a field of another type; the rest of an object
// has been read then.
func lenient(src []byte, err error) error {
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); odd && bytes.HasPrefix(bytes.TrimSpace(src), []byte("{")) {
		return nil
	}
	return err
}

// each calls read for each item of a JSON list, and not at all for anything
// else, until it returns false.
func each(src []byte, read func(*json.Decoder) bool) {
	d := json.NewDecoder(bytes.NewReader(src))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return
	}
	for d.More() && read(d) {
	}
}

// item reads one item of a list and reports whether the list can go on.
func item(d *json.Decoder, into any) bool {
	err := d.Decode(into)
	_, odd := errors.AsType[*json.UnmarshalTypeError](err)
	return err == nil || odd
}

// maxCalls bounds the tool calls of one answer.
const maxCalls = 10_000

// callList are tool calls, or pieces of them.
type callList struct {
	calls   []wireCall
	tooMany bool
}

type wireCall struct {
	Index    *int64 `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

func (l *callList) UnmarshalJSON(src []byte) error {
	var c wireCall
	each(src, func(d *json.Decoder) bool {
		if l.tooMany = len(l.calls) == maxCalls; l.tooMany {
			return false
		}
		c = wireCall{}
		ok := item(d, &c)
		l.calls = append(l.calls, c)
		return ok
	})
	return nil
}

// arguments are a call's arguments as text. Some services send an object.
type arguments string

func (a *arguments) UnmarshalJSON(src []byte) error {
	*a = arguments(plain(src))
	return nil
}

// plain is the text of a JSON string, "" for null, and the JSON itself for
// anything else.
func plain(src []byte) (text string) {
	switch {
	case string(src) == "null":
		return ""
	case len(src) > 0 && src[0] == '"' && json.Unmarshal(src, &text) == nil:
		return text
	}
	return string(src)
}

// content is a message's text, and the trace that is among its parts. OpenAI
// sends a string or null; some services send a list of parts, of the types
// "text" and "thinking".
type content struct{ text, reasoning string }

func (c *content) UnmarshalJSON(src []byte) error {
	if len(src) == 0 || src[0] != '[' {
		c.text = plain(src)
		return nil
	}
	var text, reasoning strings.Builder
	var p textPart
	each(src, func(d *json.Decoder) bool {
		p = textPart{}
		ok := item(d, &p)
		switch p.Type {
		case "text":
			text.WriteString(p.Text)
		case "thinking":
			reasoning.WriteString(string(p.Thinking))
		}
		return ok
	})
	c.text, c.reasoning = text.String(), reasoning.String()
	return nil
}

type textPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking pieces `json:"thinking"`
}

// pieces is the text of a list of parts, joined.
type pieces string

func (p *pieces) UnmarshalJSON(src []byte) error {
	var b strings.Builder
	var part struct {
		Text string `json:"text"`
	}
	each(src, func(d *json.Decoder) bool {
		part.Text = ""
		ok := item(d, &part)
		b.WriteString(part.Text)
		return ok
	})
	*p = pieces(b.String())
	return nil
}

// counts are a service's counts of tokens.
type counts struct {
	Prompt            count `json:"prompt_tokens"`
	Completion        count `json:"completion_tokens"`
	Total             count `json:"total_tokens"`
	CacheHit          count `json:"prompt_cache_hit_tokens"` // DeepSeek's name for the cached ones
	CompletionDetails struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	PromptDetails struct {
		Cached count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// count is a number of tokens, which some services write as a string; 0 stands
// for whatever is no number that a call can have.
type count int64

func (c *count) UnmarshalJSON(src []byte) error {
	*c = 0
	if f, err := strconv.ParseFloat(string(bytes.Trim(src, `"`)), 64); err == nil && f > 0 && f < math.MaxInt32 {
		*c = count(f)
	}
	return nil
}

// embedAnswer is the answer to an embedding call.
type embedAnswer struct {
	Model string          `json:"model"`
	Data  json.RawMessage `json:"data"`
	Usage *counts         `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type embedding struct {
	Index  *int64 `json:"index"`
	Vector vector `json:"embedding"`
}

// vector is a list of numbers, or their bytes in base64, which some services
// send without being asked.
type vector []float64

func (v *vector) UnmarshalJSON(src []byte) error {
	if len(src) == 0 || src[0] != '"' {
		var list []float64
		err := json.Unmarshal(src, &list)
		if err == nil {
			*v = list
		}
		return nil // what is no vector counts as none
	}
	data, err := base64.StdEncoding.DecodeString(plain(src))
	if err != nil || len(data)%4 != 0 {
		return nil
	}
	list := make([]float64, len(data)/4)
	for i := range list {
		list[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
	*v = list
	return nil
}
