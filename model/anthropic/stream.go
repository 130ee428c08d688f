package anthropic

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// stream fetches an answer as a stream of events. Of a stream that breaks off,
// what had come is returned beside the error.
func (p *Provider) stream(ctx context.Context, c *call, out *httpapi.Collector) (*model.Response, error) {
	res, err := p.send(ctx, c, true)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if isType(res, "application/json") { // some services don't stream
		return p.read(ctx, res, c, out)
	}
	g := &gatherer{p: p, out: out, reasoning: reasoningOf(out), blocks: map[int64]*streamBlock{}}
	err = g.read(ctx, res)
	r := &model.Response{
		Model: g.message.Model, Provider: p.Name(), Usage: g.usage.neutral(), Raw: rawDetail(&g.message, c),
		ToolCalls: g.toolCalls(),
	}
	out.Finish(r)
	if err != nil {
		uniqueIDs(r.ToolCalls)
		if !g.started {
			return nil, err
		}
		return r, err
	}
	raws, isPlain := g.native()
	p.conclude(r, g.message.StopReason, raws, isPlain)
	return r, nil
}

// gatherer puts an answer together from its events.
type gatherer struct {
	p         *Provider
	out       *httpapi.Collector
	reasoning *reasoningBlocks
	started   bool
	message   wireMessage // all but its content and usage
	usage     wireUsage
	order     []*streamBlock
	blocks    map[int64]*streamBlock // by the service's index
}

// streamBlock is one piece of content as it grows.
type streamBlock struct {
	start     wireBlock
	text      strings.Builder // also of thinking
	input     strings.Builder
	signature strings.Builder
}

// wireEvent holds the fields of all events that are known. The others are
// ignored whatever their form.
type wireEvent struct {
	Message      *wireStart      `json:"message"`
	Index        int64           `json:"index"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        struct {
		Type        string          `json:"type"`
		Text        string          `json:"text"`
		Thinking    string          `json:"thinking"`
		Signature   string          `json:"signature"`
		PartialJSON string          `json:"partial_json"`
		StopReason  string          `json:"stop_reason"`
		StopDetails json.RawMessage `json:"stop_details"`
	} `json:"delta"`
	Usage *wireUsage `json:"usage"`
	Error wireError  `json:"error"`
}

type wireStart struct {
	ID    string     `json:"id"`
	Model string     `json:"model"`
	Usage *wireUsage `json:"usage"`
}

// read reads events up to the one that ends the message.
func (g *gatherer) read(ctx context.Context, res *http.Response) error {
	d := ssestream.NewDecoder(res)
	for d.Next() {
		if ctx.Err() != nil {
			break
		}
		event := d.Event()
		done, err := g.take(ctx, event.Type, event.Data)
		if done || err != nil {
			return err
		}
	}
	switch err := d.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return g.p.permanent("%s sent a line of its stream that is longer than is read of one", g.p.Name())
	case err != nil || ctx.Err() != nil:
		return g.p.failure(ctx, err)
	}
	return g.p.service.Cut()
}

// take takes one event. Some services leave the event's name out, and its type
// stands in the data only.
func (g *gatherer) take(ctx context.Context, kind string, data []byte) (done bool, err error) {
	if kind == "" {
		var named struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(data, &named) != nil {
			return false, nil // a comment, or another service's "[DONE]"
		}
		kind = named.Type
	}
	switch kind {
	case "message_start", "content_block_start", "content_block_delta", "message_delta", "error":
	case "message_stop":
		return true, nil
	default:
		return false, nil
	}
	var e wireEvent
	if err := json.Unmarshal(data, &e); err != nil {
		if kind == "error" {
			return false, g.p.reported(&wireError{Message: httpapi.Message(data)})
		}
		return false, g.p.unreadable(ctx, err)
	}
	return false, g.apply(ctx, kind, &e)
}

func (g *gatherer) apply(ctx context.Context, kind string, e *wireEvent) error {
	switch kind {
	case "message_start":
		g.started = true
		if m := e.Message; m != nil {
			g.message.ID, g.message.Model = m.ID, m.Model
			g.usage.update(m.Usage)
		}
	case "content_block_start":
		return g.startBlock(ctx, e)
	case "content_block_delta":
		g.grow(e)
	case "message_delta":
		g.message.StopReason, g.message.StopDetails = e.Delta.StopReason, e.Delta.StopDetails
		g.usage.update(e.Usage)
	case "error":
		return g.p.reported(&e.Error)
	}
	return nil
}

func (g *gatherer) startBlock(ctx context.Context, e *wireEvent) error {
	if len(g.order) == maxBlocks {
		return g.p.unreadable(ctx, errBlocks)
	}
	b := &streamBlock{}
	if err := json.Unmarshal(e.ContentBlock, &b.start); err != nil {
		return g.p.unreadable(ctx, err)
	}
	b.start.raw = e.ContentBlock
	g.order = append(g.order, b)
	g.blocks[e.Index] = b
	switch b.start.Type {
	case "text":
		g.addText(b, b.start.Text)
	case "thinking":
		g.reasoning.next()
		g.addThinking(b, b.start.Thinking)
	}
	return nil
}

// grow adds a piece to its block. A piece of a kind that is not known, or of a
// block that never began, is ignored.
func (g *gatherer) grow(e *wireEvent) {
	b := g.blocks[e.Index]
	if b == nil {
		return
	}
	switch e.Delta.Type {
	case "text_delta":
		g.addText(b, e.Delta.Text)
	case "thinking_delta":
		g.addThinking(b, e.Delta.Thinking)
	case "signature_delta":
		b.signature.WriteString(e.Delta.Signature)
	case "input_json_delta":
		b.input.WriteString(e.Delta.PartialJSON)
	}
}

func (g *gatherer) addText(b *streamBlock, piece string) {
	b.text.WriteString(piece)
	g.out.Text(piece)
}

func (g *gatherer) addThinking(b *streamBlock, piece string) {
	b.text.WriteString(piece)
	g.reasoning.add(piece)
}

func (g *gatherer) toolCalls() []model.ToolCall {
	var calls []model.ToolCall
	for _, b := range g.order {
		if b.start.Type == "tool_use" {
			calls = append(calls, model.ToolCall{ID: b.start.ID, Name: b.start.Name, Arguments: b.arguments()})
		}
	}
	return calls
}

// arguments are the pieces that came, or else what the block began with: the
// service itself begins every call with an empty object.
func (b *streamBlock) arguments() string {
	if b.input.Len() > 0 {
		return b.input.String()
	}
	if start := string(b.start.Input); start != "null" {
		return start
	}
	return ""
}

// native are the blocks as the service would have sent them in one piece.
func (g *gatherer) native() (raws []json.RawMessage, isPlain bool) {
	isPlain = true
	for _, b := range g.order {
		raw := b.whole()
		if raw == nil {
			continue
		}
		isPlain = isPlain && plain(b.start.Type)
		raws = append(raws, raw)
	}
	return raws, isPlain
}

// whole is the block with its pieces in it; nil for what is none.
func (b *streamBlock) whole() json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(b.start.raw, &fields) != nil || b.start.Type == "" {
		return nil
	}
	set := func(name, value string) {
		if text, err := json.Marshal(value); err == nil {
			fields[name] = text
		}
	}
	switch b.start.Type {
	case "text":
		set("text", b.text.String())
	case "thinking":
		set("thinking", b.text.String())
		if b.signature.Len() > 0 {
			set("signature", b.signature.String())
		}
	case "tool_use":
		fields["input"] = toolInput(b.arguments())
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return raw
}
