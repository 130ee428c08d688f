package ollama

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// chatAnswer is a whole answer, or one line of a stream.
type chatAnswer struct {
	Model      string          `json:"model"`
	Error      json.RawMessage `json:"error"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Message    *struct {
		Content   string     `json:"content"`
		Thinking  string     `json:"thinking"`
		ToolCalls []toolCall `json:"tool_calls"`
	} `json:"message"`
	PromptTokens     count `json:"prompt_eval_count"`
	CompletionTokens count `json:"eval_count"`

	CreatedAt    string `json:"created_at"`
	RemoteModel  string `json:"remote_model"`
	RemoteHost   string `json:"remote_host"`
	LoadDuration int64  `json:"load_duration"`
}

type embedAnswer struct {
	Model        string      `json:"model"`
	Embeddings   [][]float64 `json:"embeddings"`
	PromptTokens count       `json:"prompt_eval_count"`
}

// count is a number of tokens. One that makes no sense is no reason to lose an
// answer.
type count struct {
	n    int64
	sent bool
}

func (c *count) UnmarshalJSON(src []byte) error {
	*c = count{sent: string(src) != "null"}
	n, err := strconv.ParseInt(string(src), 10, 64)
	if err == nil {
		c.n = n
	}
	return nil
}

// answer gathers one answer.
type answer struct {
	provider *Provider
	collect  *httpapi.Collector
	thinking strings.Builder // what came in the field for it
	calls    []model.ToolCall
	last     chatAnswer // each field as it came last
	some     bool       // a message came
}

// readWhole reads an answer that did not stream.
func (a *answer) readWhole(body io.Reader) error {
	src, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if err := a.add(src); err != nil {
		return err
	}
	if !a.some {
		return fault.New(fault.Transient, a.provider.Name()+" answered without a message, so there is no text", nil)
	}
	return nil
}

// readStream reads lines up to the one that says it is the last. stop ends the
// connection.
func (a *answer) readStream(body io.Reader, stop func()) error {
	lines := bufio.NewReaderSize(body, 32<<10)
	for {
		line, err := a.line(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		ended := err != nil
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := a.add(line); err != nil {
				if f, ok := errors.AsType[*fault.Error](err); ended && ok && f.Err != nil {
					return a.provider.service.Cut() // half a line is no wrong one
				}
				return err
			}
			if a.last.Done {
				drain(lines, stop)
				return nil
			}
		}
		if ended {
			return a.provider.service.Cut()
		}
	}
}

// line reads one line of bounded length. The line may be valid only until the
// next is read; the last one comes with io.EOF.
func (a *answer) line(lines *bufio.Reader) ([]byte, error) {
	line, err := lines.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	long := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(long) > httpapi.MaxEvent {
			text := fmt.Sprintf("%s sent a line of more than %d bytes in its stream, which is more than is read of one", a.provider.Name(), httpapi.MaxEvent)
			return nil, fault.New(fault.Permanent, text, nil)
		}
		line, err = lines.ReadSlice('\n')
		long = append(long, line...)
	}
	return long, err
}

// drain reads the end of a stream whose last line has come, so that the
// connection can be used again; but not for long.
func drain(body io.Reader, stop func()) {
	const most, longest = 4 << 10, 200 * time.Millisecond
	timer := time.AfterFunc(longest, stop)
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, most) // the answer is whole, whatever this says
}

// add takes a whole answer, or a stream's line.
func (a *answer) add(src []byte) error {
	var c chatAnswer
	if err := json.Unmarshal(src, &c); err != nil {
		return a.provider.notWhole(err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		p := a.provider
		text := p.Name() + " reported an error in its answer"
		if words := httpapi.Clean(httpapi.Message(src), p.service.Key); words != "" {
			text += ": " + words
		}
		return fault.New(fault.Transient, text, nil)
	}
	a.merge(&c)
	m := c.Message
	if m == nil {
		return nil
	}
	a.some = true
	a.collect.Reasoning(m.Thinking)
	a.thinking.WriteString(m.Thinking)
	a.collect.Text(m.Content)
	for _, call := range m.ToolCalls {
		a.calls = append(a.calls, model.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: arguments(call.Function.Arguments)})
	}
	return nil
}

// merge keeps what the answer says of itself.
func (a *answer) merge(c *chatAnswer) {
	l := &a.last
	l.Done = c.Done
	for _, f := range []struct {
		into *string
		from string
	}{
		{&l.Model, c.Model}, {&l.DoneReason, c.DoneReason}, {&l.CreatedAt, c.CreatedAt},
		{&l.RemoteModel, c.RemoteModel}, {&l.RemoteHost, c.RemoteHost},
	} {
		if f.from != "" {
			*f.into = f.from
		}
	}
	if c.PromptTokens.sent {
		l.PromptTokens = c.PromptTokens
	}
	if c.CompletionTokens.sent {
		l.CompletionTokens = c.CompletionTokens
	}
	if c.LoadDuration != 0 {
		l.LoadDuration = c.LoadDuration
	}
}

// arguments is the text of a call's arguments. Servers that speak Ollama's
// language may send OpenAI's form, the text in a string.
func arguments(raw json.RawMessage) string {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &text) == nil:
		return text
	}
	return string(raw)
}

// response makes our answer of what came; of a call that failed, nil when
// nothing did.
func (a *answer) response(failed error) (*model.Response, error) {
	r := &model.Response{
		Model:        a.last.Model,
		Provider:     a.provider.Name(),
		ToolCalls:    a.calls,
		Usage:        a.usage(),
		CostUSD:      new(float64),
		FinishReason: a.finish(),
		Raw:          a.raw(),
	}
	a.collect.Finish(r)
	httpapi.UniqueIDs(r.ToolCalls)
	if thinking := a.thinking.String(); thinking != "" {
		data, _ := json.Marshal(native{thinking}) // a text always has a form
		r.Native = &model.Native{Provider: a.provider.Name(), Data: data}
	}
	if failed == nil {
		return r, nil
	}
	if r.Text == "" && r.Reasoning == "" && len(r.ToolCalls) == 0 && r.Usage == nil {
		return nil, failed
	}
	return r, failed
}

// usage is nil when the server reported no tokens. It leaves a count out when
// it is 0.
func (a *answer) usage() *model.Usage {
	prompt, completion := a.last.PromptTokens, a.last.CompletionTokens
	if !prompt.sent && !completion.sent {
		return nil
	}
	return httpapi.CleanUsage(model.Usage{PromptTokens: prompt.n, CompletionTokens: completion.n})
}

// finish is why the answer ended. Old servers don't say.
func (a *answer) finish() string {
	switch {
	case len(a.calls) > 0:
		return model.FinishToolCalls
	case a.last.DoneReason == "" && a.last.Done:
		return model.FinishStop
	}
	return strings.ToLower(a.last.DoneReason)
}

// raw keeps what helps to understand a call afterwards.
func (a *answer) raw() json.RawMessage {
	b, err := json.Marshal(struct {
		CreatedAt    string `json:"created_at,omitempty"`
		RemoteModel  string `json:"remote_model,omitempty"`
		RemoteHost   string `json:"remote_host,omitempty"`
		LoadDuration int64  `json:"load_duration,omitempty"`
	}{a.last.CreatedAt, a.last.RemoteModel, a.last.RemoteHost, a.last.LoadDuration})
	if err != nil || string(b) == "{}" {
		return nil
	}
	return b
}
