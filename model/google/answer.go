package google

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// Complete makes one model call.
func (p *Provider) Complete(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	c, err := p.request(req)
	if err != nil {
		return nil, err
	}
	a := &assembly{service: p.service, out: httpapi.Collect(stream)}
	if stream == nil {
		err = p.send(ctx, a.readWhole, func(ctx context.Context) error {
			_, err := p.models.GenerateContent(ctx, c.model, nil, c.config)
			return err
		})
	} else {
		err = p.send(ctx, a.readStream, func(ctx context.Context) error {
			for _, err := range p.models.GenerateContentStream(ctx, c.model, nil, c.config) {
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	r := a.response(req.Model)
	if err == nil {
		err = a.verdict(stream != nil)
	}
	if err != nil && !a.worthKeeping(r) {
		return nil, err
	}
	return r, err
}

// answer is an answer, or a piece of one in a stream.
type answer struct {
	Candidates     []candidate `json:"candidates"`
	PromptFeedback *struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	UsageMetadata *tokens         `json:"usageMetadata"`
	ModelVersion  string          `json:"modelVersion"`
	ResponseID    string          `json:"responseId"`
	Error         json.RawMessage `json:"error"`
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	FinishReason  string `json:"finishReason"`
	FinishMessage string `json:"finishMessage"`
}

// tokens counts in the service's way: thoughts are not among the candidates'
// tokens.
type tokens struct {
	Prompt     count `json:"promptTokenCount"`
	ToolPrompt count `json:"toolUsePromptTokenCount"`
	Candidates count `json:"candidatesTokenCount"`
	Thoughts   count `json:"thoughtsTokenCount"`
	Cached     count `json:"cachedContentTokenCount"`
	Total      count `json:"totalTokenCount"`
}

// usage is ours.
func (t tokens) usage() *model.Usage {
	return httpapi.CleanUsage(model.Usage{
		PromptTokens:     t.Prompt.clean() + t.ToolPrompt.clean(),
		CompletionTokens: t.Candidates.clean() + t.Thoughts.clean(),
		TotalTokens:      int64(t.Total),
		ReasoningTokens:  int64(t.Thoughts),
		CachedTokens:     int64(t.Cached),
	})
}

// count is a number of tokens. What is no number is 0: a count must not spoil
// an answer.
type count int64

// UnmarshalJSON never fails.
func (c *count) UnmarshalJSON(src []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(src), `"`), 64)
	if err == nil && n > 0 && n < 1e15 {
		*c = count(n)
	}
	return nil
}

// clean is the count, or 0 for one that is absurd, so that it can be added to
// another.
func (c count) clean() int64 {
	return httpapi.CleanUsage(model.Usage{TotalTokens: int64(c)}).TotalTokens
}

// assembly puts an answer together from its pieces.
type assembly struct {
	service httpapi.Service
	out     *httpapi.Collector
	turn    nativeTurn
	calls   []model.ToolCall

	answered                    bool // a candidate came
	usage                       *model.Usage
	model, id                   string
	finishReason, finishMessage string
	blockReason, blockMessage   string
}

// readWhole reads an answer that is one JSON document.
func (a *assembly) readWhole(res *http.Response) error {
	a.service.Guard(res, httpapi.MaxAnswer)
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	return a.add(body)
}

// add takes the next piece.
func (a *assembly) add(src []byte) error {
	if tooMany(src, maxItems) {
		return unknownForm(a.service, errTooMany)
	}
	var piece answer
	if err := json.Unmarshal(src, &piece); err != nil {
		return unknownForm(a.service, err)
	}
	if m := piece.UsageMetadata; m != nil {
		if u := m.usage(); a.usage == nil || u.TotalTokens > 0 {
			a.usage = u // each piece counts from the start
		}
	}
	a.model, a.id = cmp.Or(piece.ModelVersion, a.model), cmp.Or(piece.ResponseID, a.id)
	if err := reported(a.service, piece.Error, src); err != nil {
		return err
	}
	if f := piece.PromptFeedback; f != nil && f.BlockReason != "" && f.BlockReason != "BLOCK_REASON_UNSPECIFIED" {
		a.blockReason, a.blockMessage = f.BlockReason, f.BlockReasonMessage
	}
	for _, c := range piece.Candidates {
		if c.Index != 0 {
			continue // one is asked for
		}
		a.answered = true
		if c.FinishReason != "" && c.FinishReason != "FINISH_REASON_UNSPECIFIED" {
			a.finishReason, a.finishMessage = c.FinishReason, c.FinishMessage
		}
		for _, raw := range c.Content.Parts {
			if err := a.part(raw); err != nil {
				return err
			}
		}
	}
	return nil
}

// unknownForm is the error for JSON that is not of the answer's form. Half a
// document is for httpapi to name.
func unknownForm(s httpapi.Service, err error) error {
	if errors.Is(err, errTooMany) {
		return fault.New(fault.Permanent, s.Name+" answered "+err.Error(), nil)
	}
	t, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	text := fmt.Sprintf("%s answered JSON of an unknown form (%s where none belongs, at %q)", s.Name, t.Value, t.Field)
	return fault.New(fault.Transient, text, nil)
}

// partFields are the fields of a part that are read here.
type partFields struct {
	text    string
	thought bool
	call    *functionCall
}

// readPart reads a part's known fields.
func readPart(fields map[string]json.RawMessage) (p partFields, err error) {
	read := func(name string, into any) {
		if raw, ok := fields[name]; ok && err == nil {
			err = json.Unmarshal(raw, into)
		}
	}
	read("text", &p.text)
	read("thought", &p.thought)
	read("functionCall", &p.call)
	return p, err
}

// part takes the next part of the turn.
func (a *assembly) part(raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] != '{' {
		return nil // null, or nothing that is known
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	p, err := readPart(fields)
	if err != nil {
		return unknownForm(a.service, err)
	}
	if c := p.call; c != nil {
		a.calls = append(a.calls, model.ToolCall{ID: c.ID, Name: c.Name, Arguments: compact(c.Args)})
	}
	if p.thought {
		a.out.Reasoning(p.text)
	} else {
		a.out.Text(p.text)
	}
	if !a.turn.add(raw, fields, p.text) {
		return unknownForm(a.service, errTooMany)
	}
	return nil
}

// compact drops the white space that the service, not the model, put between
// the tokens of a JSON text.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || string(raw) == "null" || json.Compact(&b, raw) != nil {
		return ""
	}
	return b.String()
}
