package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// whole fetches an answer in one piece.
func (p *Provider) whole(ctx context.Context, c *call, out *httpapi.Collector) (*model.Response, error) {
	res, err := p.send(ctx, c, false)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return p.read(ctx, res, c, out)
}

func (p *Provider) read(ctx context.Context, res *http.Response, c *call, out *httpapi.Collector) (*model.Response, error) {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, p.failure(ctx, err)
	}
	var m wireMessage
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, p.unreadable(ctx, err)
	}
	return p.response(&m, c, out)
}

// unreadable is the error for an answer, or an event of one, that is not of the
// documented form.
func (p *Provider) unreadable(ctx context.Context, err error) error {
	if errors.Is(err, errBlocks) {
		return p.permanent("%s answered more than %d pieces of content, which is more than is read of an answer", p.Name(), maxBlocks)
	}
	return p.failure(ctx, err)
}

// response makes our answer of the service's.
func (p *Provider) response(m *wireMessage, c *call, out *httpapi.Collector) (*model.Response, error) {
	if m.Type == "error" && m.Error != nil {
		return nil, p.reported(m.Error)
	}
	r := &model.Response{Model: m.Model, Provider: p.Name(), Usage: m.Usage.neutral(), Raw: rawDetail(m, c)}
	if m.Content == nil {
		err := fault.New(fault.Transient, p.Name()+" answered without content, so there is no text", nil)
		if r.Usage == nil {
			return nil, err
		}
		return r, err
	}
	raws := make([]json.RawMessage, len(m.Content))
	isPlain := true
	reasoning := reasoningOf(out)
	for i, b := range m.Content {
		raws[i] = b.raw
		isPlain = isPlain && plain(b.Type)
		switch b.Type {
		case "text":
			out.Text(b.Text)
		case "thinking":
			reasoning.next()
			reasoning.add(b.Thinking)
		case "tool_use":
			r.ToolCalls = append(r.ToolCalls, model.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		}
	}
	out.Finish(r)
	p.conclude(r, m.StopReason, raws, isPlain)
	return r, nil
}

// reported is an error that the service reports under status 200 or in a
// stream.
func (p *Provider) reported(e *wireError) error {
	return p.service.Status(httpapi.StatusOfType(e.Type), e.Message)
}

// conclude sets what depends on the whole answer: the finish reason, the calls'
// ids and the native form.
func (p *Provider) conclude(r *model.Response, stopReason string, raws []json.RawMessage, isPlain bool) {
	r.FinishReason = finish(stopReason)
	if r.FinishReason == model.FinishStop && len(r.ToolCalls) > 0 {
		r.FinishReason = model.FinishToolCalls
	}
	changed := uniqueIDs(r.ToolCalls)
	if isPlain || changed { // a native form with other ids would not go with the calls' results
		return
	}
	if data, err := json.Marshal(raws); err == nil {
		r.Native = &model.Native{Provider: p.Name(), Data: data}
	}
}

func uniqueIDs(calls []model.ToolCall) (changed bool) {
	before := make([]string, len(calls))
	for i, c := range calls {
		before[i] = c.ID
	}
	httpapi.UniqueIDs(calls)
	for i, c := range calls {
		changed = changed || c.ID != before[i]
	}
	return changed
}

func finish(reason string) string {
	switch reason {
	case "end_turn", "stop_sequence":
		return model.FinishStop
	case "max_tokens", "model_context_window_exceeded":
		return model.FinishLength
	case "tool_use":
		return model.FinishToolCalls
	case "refusal":
		return model.FinishContentFilter
	}
	return strings.ToLower(reason)
}

// reasoningBlocks hands several blocks of thinking on as one trace, with an
// empty line between them.
type reasoningBlocks struct {
	out        *httpapi.Collector
	any, apart bool
}

func reasoningOf(out *httpapi.Collector) *reasoningBlocks { return &reasoningBlocks{out: out} }

// next begins a block.
func (b *reasoningBlocks) next() { b.apart = b.any }

func (b *reasoningBlocks) add(piece string) {
	if piece == "" {
		return
	}
	if b.apart {
		piece = "\n\n" + piece
	}
	b.any, b.apart = true, false
	b.out.Reasoning(piece)
}

// rawDetail keeps what helps to find the call at the service and to understand
// its answer.
func rawDetail(m *wireMessage, c *call) json.RawMessage {
	detail := struct {
		ID          string          `json:"id,omitempty"`
		StopDetails json.RawMessage `json:"stop_details,omitempty"`
		LeftOut     []string        `json:"left_out,omitempty"`
	}{ID: m.ID, LeftOut: c.leftOut}
	if bytes.HasPrefix(m.StopDetails, []byte("{")) {
		detail.StopDetails = m.StopDetails
	}
	b, err := json.Marshal(detail)
	if err != nil || string(b) == "{}" {
		return nil
	}
	return b
}
