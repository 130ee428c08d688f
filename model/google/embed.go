package google

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"

	"google.golang.org/genai"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// maxBatch is how many texts the service takes in one call.
const maxBatch = 100

// Embed turns texts into vectors, in calls of up to 100 texts each. The
// vectors are as the service gives them; those of gemini-embedding-001 are of
// unit length only when Dimensions is not set. Usage is nil when the service
// reports none, as it does for some models.
func (p *Provider) Embed(ctx context.Context, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	if req.Model == "" || len(req.Inputs) == 0 {
		return nil, p.refuse("an embedding call to %s needs a model and at least one text", p.Name())
	}
	name, err := p.modelName(req.Model)
	if err != nil {
		return nil, err
	}
	config := &genai.EmbedContentConfig{}
	if d := req.Dimensions; d != nil {
		if *d < 1 || *d > math.MaxInt32 {
			return nil, p.refuse("%s has no vectors of %d dimensions", p.Name(), *d)
		}
		config.OutputDimensionality = genai.Ptr(clamp32(*d))
	}
	out := &model.EmbedResponse{Model: req.Model, Provider: p.Name()}
	for batch := range slices.Chunk(req.Inputs, maxBatch) {
		if err = p.embedBatch(ctx, name, batch, config, out); err != nil {
			break
		}
	}
	if err == nil {
		err = p.service.CheckVectors(out.Vectors, len(req.Inputs))
	}
	if err != nil {
		out.Vectors = nil
		if out.Usage == nil {
			return nil, err
		}
	}
	return out, err
}

type embeddings struct {
	Embeddings    json.RawMessage `json:"embeddings"`
	UsageMetadata *tokens         `json:"usageMetadata"`
	Error         json.RawMessage `json:"error"`
}

type embedding struct {
	Values []float64 `json:"values"`
}

// embedBatch adds the vectors of a batch to out.
func (p *Provider) embedBatch(ctx context.Context, name string, texts []string, config *genai.EmbedContentConfig, out *model.EmbedResponse) error {
	contents := make([]*genai.Content, len(texts))
	for i, text := range texts {
		contents[i] = genai.NewContentFromText(text, genai.RoleUser)
	}
	read := func(res *http.Response) error {
		p.service.Guard(res, httpapi.MaxVectors)
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		return p.addVectors(body, len(texts), out)
	}
	return p.send(ctx, read, func(ctx context.Context) error {
		_, err := p.models.EmbedContent(ctx, name, contents, config)
		return err
	})
}

// addVectors adds what an answer to n texts holds to out.
func (p *Provider) addVectors(body []byte, n int, out *model.EmbedResponse) error {
	var answer embeddings
	if err := json.Unmarshal(body, &answer); err != nil {
		return unknownForm(p.service, err)
	}
	if m := answer.UsageMetadata; m != nil {
		sum := *m.usage()
		if out.Usage != nil {
			sum = sum.Add(*out.Usage)
		}
		out.Usage = &sum
	}
	if err := reported(p.service, answer.Error, body); err != nil {
		return err
	}
	if len(answer.Embeddings) == 0 {
		return p.service.CheckVectors(nil, n)
	}
	// One more than was asked for is enough to see that there are too many.
	items, err := readList[embedding](answer.Embeddings, n+1)
	if err != nil && !errors.Is(err, errTooMany) {
		return unknownForm(p.service, err)
	}
	vectors := make([][]float64, len(items))
	for i, v := range items {
		vectors[i] = v.Values
	}
	out.Vectors = append(out.Vectors, vectors...)
	return p.service.CheckVectors(vectors, n)
}
