package openai_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/openai"
)

func TestEmbeddingAnswers(t *testing.T) {
	tests := map[string]struct {
		body string
		want [][]float64
		kind fault.Kind
	}{
		"by the book":    {`{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [3e-2, -4]}], "usage": {"prompt_tokens": 5, "total_tokens": 5}}`, [][]float64{{1, 2}, {0.03, -4}}, 0},
		"no index":       {`{"data": [{"embedding": [1, 2]}, {"embedding": [3, 4]}]}`, [][]float64{{1, 2}, {3, 4}}, 0},
		"an odd index":   {`{"data": [{"index": 7, "embedding": [1, 2]}, {"index": -1, "embedding": [3, 4]}]}`, [][]float64{{1, 2}, {3, 4}}, 0},
		"base64":         {`{"data": [{"index": 1, "embedding": "AACAPwAAAEA="}, {"index": 0, "embedding": "AABAQAAAgEA="}]}`, [][]float64{{3, 4}, {1, 2}}, 0},
		"other length":   {`{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [3]}]}`, nil, fault.Permanent},
		"no vectors":     {`{"data": [{"index": 0, "embedding": null}, {"index": 1}]}`, nil, fault.Transient},
		"no data":        {`{}`, nil, fault.Transient},
		"an error":       {`{"error": {"message": "slow down", "code": 429}}`, nil, fault.Transient},
		"a permanent":    {`{"error": {"message": "no such model", "code": 404}}`, nil, fault.Permanent},
		"another type":   {`[1]`, nil, fault.Permanent},
		"half":           {`{"data": [`, nil, fault.Transient},
		"odd embeddings": {`{"data": [{"embedding": "x"}, {"embedding": {}}]}`, nil, fault.Transient},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root, _ := serve(t, test.body)
			req := &model.EmbedRequest{Model: "m", Inputs: []string{"a", "b"}, Dimensions: new(int64(2))}
			r, err := newProvider(t, openai.Config{APIKey: "k", BaseURL: root}).Embed(t.Context(), req)
			if fault.KindOf(err) != test.kind {
				t.Fatalf("got %v, want kind %v", err, test.kind)
			}
			if err == nil && !cmp.Equal(test.want, r.Vectors) {
				t.Errorf("got %v, want %v", r.Vectors, test.want)
			}
		})
	}
}
