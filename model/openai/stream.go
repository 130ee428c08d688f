package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// stream makes one call whose answer comes in pieces.
func (p *Provider) stream(ctx context.Context, body *request, sink func(model.Delta)) (*model.Response, error) {
	body.Stream = true
	if !p.quirks.noStreamOptions {
		body.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	s := &streaming{p: p, out: httpapi.Collect(sink)}
	res, err := p.post(ctx, p.completions, body)
	if err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "application/json" {
		return s.atOnce(ctx, res)
	}
	defer func() { _ = res.Body.Close() }()
	p.service.GuardEvents(res, httpapi.MaxAnswer, httpapi.MaxEvent)
	err = s.read(ctx, res.Body)
	return s.response(err)
}

// atOnce hands on the answer of a service that does not stream.
func (s *streaming) atOnce(ctx context.Context, res *http.Response) (*model.Response, error) {
	src, err := s.p.whole(ctx, res, httpapi.MaxAnswer)
	if err != nil {
		return nil, err
	}
	r, err := s.p.response(ctx, src)
	if err != nil {
		return r, err
	}
	s.out.Reasoning(r.Reasoning)
	s.out.Plain(r.Text)
	s.out.Finish(r)
	return r, nil
}

// streaming is one stream that is read.
type streaming struct {
	p     *Provider
	out   *httpapi.Collector
	calls []*call
	slots map[int64]*call // by the service's index

	model, id, fingerprint, tier string
	finish                       string
	usage                        *model.Usage
	choice                       bool // there was one
	texted, refused, done        bool
	own                          ownFields
}

// call is a tool call as its pieces come.
type call struct {
	id, name  string
	arguments strings.Builder
}

// read reads the events to the stream's end. It returns nil for a whole answer.
func (s *streaming) read(ctx context.Context, body io.Reader) error {
	events := httpapi.ReadEvents(body)
	for !s.done && events.Next() && ctx.Err() == nil {
		if err := s.event(events.Data()); err != nil {
			return s.p.service.Failure(ctx, err)
		}
	}
	switch err := events.Err(); {
	case s.finish != "" || s.done && s.choice:
		return nil
	case ctx.Err() != nil:
		return httpapi.Ended(ctx, s.p.Name())
	case err != nil:
		return s.p.service.Failure(ctx, err)
	case s.done:
		return fault.New(fault.Transient, s.p.Name()+" answered without a choice, so there is no text", nil)
	}
	return s.p.service.Cut()
}

// event takes one event.
func (s *streaming) event(data []byte) error {
	data = bytes.TrimSpace(data)
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		s.done = true
		return nil
	}
	if !bytes.HasPrefix(data, []byte("{")) {
		if !json.Valid(data) {
			return io.ErrUnexpectedEOF
		}
		return nil // nothing that this version of the format knows
	}
	var a answer
	if err := lenient(data, json.Unmarshal(data, &a)); err != nil {
		return err
	}
	if err := s.p.reported(a.Error, data); err != nil {
		return err
	}
	s.id, s.model = cmp.Or(a.ID, s.id), cmp.Or(a.Model, s.model)
	s.fingerprint, s.tier = cmp.Or(a.SystemFingerprint, s.fingerprint), cmp.Or(a.ServiceTier, s.tier)
	if a.Usage != nil {
		s.usage = a.Usage.neutral() // the last counts: some send it as it grows
	}
	choice := a.Choices[0]
	if choice == nil || choice.Index != 0 {
		return nil
	}
	s.choice = true
	s.finish = cmp.Or(choice.FinishReason, s.finish)
	return s.delta(&choice.Delta)
}

// delta takes one piece of the message.
func (s *streaming) delta(d *turn) error {
	s.own.add(&d.ownFields)
	s.out.Reasoning(cmp.Or(d.trace(), d.Content.reasoning))
	if d.Content.text != "" {
		s.texted = true
		s.out.Text(d.Content.text)
	}
	if d.Refusal != "" {
		s.refused = true
		if !s.texted {
			s.out.Plain(d.Refusal)
		}
	}
	for i := range d.ToolCalls.calls {
		s.call(&d.ToolCalls.calls[i])
	}
	if d.ToolCalls.tooMany || len(s.calls) > maxCalls {
		return s.p.tooMany()
	}
	return nil
}

// call takes one piece of a tool call. It belongs to the call of its index;
// some services leave the index out or say 0 always, and then a new id begins a
// new call.
func (s *streaming) call(d *wireCall) {
	var c *call
	index := int64(0)
	if d.Index != nil {
		index = *d.Index
		c = s.slots[index]
	} else if len(s.calls) > 0 {
		c = s.calls[len(s.calls)-1]
	}
	if c == nil || d.Function.Name != "" && d.ID != "" && c.id != "" && c.id != d.ID {
		c = &call{}
		s.calls = append(s.calls, c)
		if s.slots == nil {
			s.slots = map[int64]*call{}
		}
		s.slots[index] = c
	}
	c.id, c.name = cmp.Or(c.id, d.ID), cmp.Or(c.name, d.Function.Name)
	c.arguments.WriteString(string(d.Function.Arguments))
}

// response is what has come, beside the error that ended the stream; nil when
// nothing has.
func (s *streaming) response(err error) (*model.Response, error) {
	r := &model.Response{Model: s.model, Provider: s.p.Name(), Usage: s.usage, Raw: raw(s.id, s.fingerprint, s.tier)}
	s.out.Finish(r)
	for _, c := range s.calls {
		r.ToolCalls = append(r.ToolCalls, model.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments.String()})
	}
	httpapi.UniqueIDs(r.ToolCalls)
	if err != nil {
		if r.Text == "" && r.Reasoning == "" && len(r.ToolCalls) == 0 && r.Usage == nil {
			return nil, err
		}
		return r, err
	}
	r.Native = s.p.native(r.ToolCalls, s.own)
	r.FinishReason = finish(s.finish, s.refused, len(r.ToolCalls) > 0)
	return r, nil
}
