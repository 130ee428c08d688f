package openai

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// Embed turns texts into vectors.
func (p *Provider) Embed(ctx context.Context, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	if req.Model == "" || len(req.Inputs) == 0 {
		return nil, fault.New(fault.Permanent, fmt.Sprintf("an embedding call to %s needs a model and at least one text", p.Name()), nil)
	}
	res, err := p.post(ctx, p.embeddings, embedRequest{
		Model: req.Model, Input: req.Inputs, EncodingFormat: "float", Dimensions: req.Dimensions,
	})
	if err != nil {
		return nil, err
	}
	src, err := p.whole(ctx, res, httpapi.MaxVectors)
	if err != nil {
		return nil, err
	}
	var a embedAnswer
	if err := decode(src, &a); err != nil {
		return nil, p.service.Failure(ctx, err)
	}
	if isNull(src) {
		return nil, p.nothing()
	}
	r := &model.EmbedResponse{Model: a.Model, Provider: p.Name()}
	if a.Usage != nil {
		r.Usage = httpapi.CleanUsage(model.Usage{PromptTokens: int64(a.Usage.Prompt), TotalTokens: int64(a.Usage.Total)})
	}
	if r.Vectors, err = p.vectors(&a, src, req); err != nil {
		r.Vectors = nil
		if r.Usage == nil {
			return nil, err
		}
	}
	return r, err
}

// vectors are the answer's, in the inputs' order.
func (p *Provider) vectors(a *embedAnswer, src []byte, req *model.EmbedRequest) ([][]float64, error) {
	data := make([]embedding, 0, len(req.Inputs))
	tooMany := false
	each(a.Data, func(d *json.Decoder) bool {
		if tooMany = len(data) == len(req.Inputs); tooMany {
			return false
		}
		var e embedding
		ok := item(d, &e)
		data = append(data, e)
		return ok
	})
	if len(data) == 0 {
		if err := p.reported(a.Error, src); err != nil {
			return nil, err
		}
	}
	if tooMany {
		return nil, fault.New(fault.Transient, fmt.Sprintf("%s answered more vectors than there are inputs, which are %d", p.Name(), len(req.Inputs)), nil)
	}
	vectors := inOrder(data)
	if err := p.service.CheckVectors(vectors, len(req.Inputs)); err != nil {
		return nil, err
	}
	return vectors, p.service.CheckDimensions(vectors, req.Dimensions)
}

// inOrder are the vectors in the inputs' order: by their indexes, or as they
// came when these are no numbering.
func inOrder(data []embedding) [][]float64 {
	byIndex, asCame := make([][]float64, len(data)), make([][]float64, len(data))
	numbered := true
	seen := make([]bool, len(data))
	for i, d := range data {
		asCame[i] = d.Vector
		if d.Index == nil || *d.Index < 0 || *d.Index >= int64(len(data)) || seen[*d.Index] {
			numbered = false
			continue
		}
		seen[*d.Index] = true
		byIndex[*d.Index] = d.Vector
	}
	if numbered {
		return byIndex
	}
	return asCame
}
