package mock_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/mock"
)

func embed(step string, texts ...string) *model.EmbedRequest {
	return &model.EmbedRequest{StepID: step, Model: "nomic", Inputs: texts}
}

// TestVector checks vectors against ones that Python computed by the
// definition in Vector's doc, to the last bit.
func TestVector(t *testing.T) {
	tests := []struct {
		text string
		want []float64
	}{
		{"", []float64{-1.0}},
		{"hello", []float64{0.1771664155286048, -0.9841809087808733}},
		{"Grüße 🧵", []float64{-0.6873922717291312, 0.3338148324458897, 0.27623395494281855, -0.5726351254362296, 0.10882709983946716}},
		{"hello", []float64{0.07774991862332836, -0.43191022034303983, -0.005788522305637425, -0.06333602527416819, 0.21205444315692762, 0.04423457710574037, 0.1063750732689426, -0.14329463327199296, -0.25571489611333403, 0.2611184175188299, 0.42922196844380567, 0.34779090086298325, 0.016001177762024574, 0.21005514023689414, 0.35862496128100246, 0.09855347603448736, 0.08667923774591024, 0.3092097580277429}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, mock.Vector(test.text, len(test.want))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestVectorsHaveUnitLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, n := rapid.String().Draw(t, "text"), rapid.IntRange(1, 2000).Draw(t, "n")
		v := mock.Vector(text, n)
		sum := 0.0
		for _, x := range v {
			sum += x * x
		}
		if len(v) != n || math.Abs(sum-1) > 1e-12 {
			t.Errorf("%d numbers, of the squared length %v", len(v), sum)
		}
	})
}

func TestEmbed(t *testing.T) {
	recorded := `{"embeddings": [[0.5, 1e-7, -2]], "model": "m-1", "usage": {"prompt_tokens": 3}, "cost_usd": 0.125}`
	usage := &model.Usage{PromptTokens: 3, TotalTokens: 3}
	made := func(n int, texts ...string) *model.EmbedResponse {
		out := &model.EmbedResponse{Model: "nomic", Provider: "mock", CostUSD: ptr(0.0), Usage: &model.Usage{}}
		for _, text := range texts {
			out.Vectors = append(out.Vectors, mock.Vector(text, n))
		}
		return out
	}
	fromFile := &model.EmbedResponse{Vectors: [][]float64{{0.5, 1e-7, -2}}, Model: "m-1", Provider: "mock", CostUSD: ptr(0.125), Usage: usage}
	short := embed("s", "a")
	short.Dimensions = ptr(int64(3))
	noEmbeddings := made(256, "a")
	noEmbeddings.Usage, noEmbeddings.CostUSD = nil, ptr(2.0)
	tests := map[string]struct {
		json string
		req  *model.EmbedRequest
		want *model.EmbedResponse
	}{
		"made up":                   {"", embed("s", "a", "b", "a", ""), made(mock.DefaultDimensions, "a", "b", "a", "")},
		"made up, short":            {"", short, made(3, "a")},
		"recorded":                  {`{"s": ` + recorded + `}`, embed("s", "a"), fromFile},
		"recorded, other length":    {`{"s": ` + recorded + `}`, short, fromFile},
		"by its own id":             {`{"s": ` + recorded + `}`, embed("outer.s", "a"), fromFile},
		"by hash":                   {`{"` + mock.HashEmbed(embed("", "a")) + `": ` + recorded + `}`, embed("s", "a"), fromFile},
		"a response without them":   {`{"s": {"content": "x", "cost_usd": 2}}`, embed("s", "a"), noEmbeddings},
		"another step's, not by it": {`{"t": ` + recorded + `}`, embed("s", "a"), made(256, "a")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := provider(t, mock.Config{Responses: []byte(test.json)}).Embed(t.Context(), test.req)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEmbedTurnsAndCopies(t *testing.T) {
	p := provider(t, mock.Config{Responses: []byte(`{"s": [{"embeddings": [[1, 2]]}, {"embeddings": [[3, 4]]}]}`)})
	var got []float64
	for range 3 {
		r, err := p.Embed(t.Context(), embed("s", "a"))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Vectors[0]...)
		r.Vectors[0][0] = 99
	}
	if diff := cmp.Diff([]float64{1, 2, 3, 4, 3, 4}, got); diff != "" {
		t.Errorf("vectors (-want +got):\n%s", diff)
	}
}

func TestEmbedRefuses(t *testing.T) {
	p := provider(t, mock.Config{Responses: []byte(`{"s": {"embeddings": [[1, 2]]}}`)})
	none, long := embed("x", "a"), embed("x", "a")
	none.Dimensions, long.Dimensions = ptr(int64(0)), ptr(int64(mock.MaxDimensions+1))
	for want, req := range map[string]*model.EmbedRequest{
		`step "s" has 1 embeddings, but the call has 2 texts`: embed("s", "a", "b"),
		"at least one text": embed("x"),
		"dimensions, not 0": none,
		"not 16385":         long,
	} {
		if _, err := p.Embed(t.Context(), req); fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a permanent error with %q", err, want)
		}
	}
}

func TestHashEmbed(t *testing.T) {
	req := embed("any", "<ü>", "b")
	for json, n := range map[string]*int64{
		`{"inputs":["<ü>","b"],"model":"nomic"}`:                  nil,
		`{"dimensions":256,"inputs":["<ü>","b"],"model":"nomic"}`: ptr(int64(256)),
	} {
		req.Dimensions = n
		sum := sha256.Sum256([]byte(json))
		if got, want := mock.HashEmbed(req), hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: got %s, want %s", json, got, want)
		}
	}
}

func TestEmbedLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := provider(t, mock.Config{LatencyModel: "replay", Responses: []byte(`{"s": {"latency_ms": 30.5, "embeddings": [[1]]}}`)})
		start := time.Now()
		if _, err := p.Embed(t.Context(), embed("s", "a")); err != nil || time.Since(start) != 30500*time.Microsecond {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}
