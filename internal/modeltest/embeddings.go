package modeltest

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// Embeddings is a vendor's wire format for vectors.
type Embeddings struct {
	// Read reads a request, as Vendor.Read does.
	Read func(t testing.TB, r *http.Request, body []byte) EmbedSent
	// Answer is the body of a successful answer, JSON.
	Answer func(EmbedAnswer) string
	// NoUsage says that the service reports no tokens.
	NoUsage bool
	// NoModel says that the service does not name the model that answered; the
	// response then has the request's.
	NoModel bool
}

// EmbedSent is what an adapter sent.
type EmbedSent struct {
	Key        string
	Model      string
	Inputs     []string
	Dimensions *int64
}

// EmbedAnswer is what the service is to answer.
type EmbedAnswer struct {
	Model   string
	Vectors [][]float64
	Tokens  int64
}

// embeddings checks vectors.
func embeddings(t *testing.T, v Vendor) {
	e := v.Embeddings
	if e == nil {
		_, p := v.start(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
		_, err := p.Embed(t.Context(), &model.EmbedRequest{Model: "m", Inputs: []string{"a"}})
		if fails(t, err, fault.Permanent); !errors.Is(err, model.ErrNoEmbeddings) {
			t.Errorf("got %v, want model.ErrNoEmbeddings", err)
		}
		return
	}
	vectors := [][]float64{{0.5, -0.25, 0}, {1, 0, -2}, {0.125, 3, 4}}
	tests := map[string]model.EmbedRequest{
		"three":      {StepID: "a.b", Model: "m-1", Inputs: []string{"one", "two ü🧵", "three\n\u2028"}},
		"dimensions": {Model: "m-1", Inputs: []string{"one", "two", "three"}, Dimensions: ptr(int64(3))},
	}
	for name, req := range tests {
		t.Run(name, func(t *testing.T) {
			_, p := v.start(t, func(w http.ResponseWriter, r *http.Request) {
				want := EmbedSent{Key: Key, Model: req.Model, Inputs: req.Inputs, Dimensions: req.Dimensions}
				if diff := cmp.Diff(want, e.Read(t, r, readAll(t, r))); diff != "" {
					t.Errorf("sent (-want +got):\n%s", diff)
				}
				reply(200, e.Answer(EmbedAnswer{Model: "m-1", Vectors: vectors, Tokens: 9}))(w, r)
			})
			got, err := p.Embed(t.Context(), &req)
			if err != nil {
				t.Fatal(err)
			}
			want := &model.EmbedResponse{Vectors: vectors, Model: "m-1", Provider: v.Name, Usage: e.usage()}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
	oddVectors(t, v)
	brokenVectors(t, v)
}

func (e *Embeddings) usage() *model.Usage {
	if e.NoUsage {
		return nil
	}
	return &model.Usage{PromptTokens: 9, TotalTokens: 9}
}

// oddVectors checks answers with vectors that can't be the inputs'. They are
// billed all the same.
func oddVectors(t *testing.T, v Vendor) {
	e := v.Embeddings
	for name, vectors := range map[string][][]float64{
		"none":     {},
		"too few":  {{1, 2}},
		"too many": {{1, 2}, {3, 4}, {5, 6}},
		"lengths":  {{1, 2}, {3}},
		"empty":    {{1, 2}, {}},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := v.start(t, reply(200, e.Answer(EmbedAnswer{Model: "m", Vectors: vectors, Tokens: 9})))
			r, err := p.Embed(t.Context(), &model.EmbedRequest{Model: "m", Inputs: []string{"a", "b"}})
			fails(t, err, fault.Transient)
			if e.NoUsage {
				return
			}
			if r == nil || len(r.Vectors) != 0 {
				t.Fatalf("got %+v, want a response with usage and no vectors", r)
			}
			if diff := cmp.Diff(e.usage(), r.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

// brokenVectors checks errors and answers that are none.
func brokenVectors(t *testing.T, v Vendor) {
	req := &model.EmbedRequest{Model: "m", Inputs: []string{"a"}}
	whole := v.Embeddings.Answer(EmbedAnswer{Model: "m", Vectors: [][]float64{{1, 2}}, Tokens: 9})
	tests := map[string]struct {
		serve http.HandlerFunc
		kind  fault.Kind
	}{
		"half a JSON document": {reply(200, whole[:len(whole)/2]), fault.Transient},
		"no body":              {reply(200, ""), fault.Transient},
		"null":                 {reply(200, "null"), fault.Transient},
		"a web page":           {reply(200, "<html></html>", "Content-Type", "text/html"), fault.Permanent},
		"more than is read":    {bomb, fault.Permanent},
		"a redirect":           {reply(307, "", "Location", "http://127.0.0.1:1/"), fault.Permanent},
	}
	for status, kind := range map[int]fault.Kind{400: fault.Permanent, 401: fault.Permanent, 404: fault.Permanent, 429: fault.Transient, 500: fault.Transient} {
		tests[fmt.Sprint(status)] = struct {
			serve http.HandlerFunc
			kind  fault.Kind
		}{reply(status, v.Failure("the moon is full: "+Key)), kind}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, p := v.start(t, test.serve)
			_, err := p.Embed(t.Context(), req)
			fails(t, err, test.kind)
		})
	}
	t.Run("nothing to ask", func(t *testing.T) {
		_, p := v.start(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
		_, err := p.Embed(t.Context(), &model.EmbedRequest{Model: "m"})
		fails(t, err, fault.Permanent)
		_, err = p.Embed(t.Context(), &model.EmbedRequest{Inputs: []string{"a"}})
		fails(t, err, fault.Permanent)
	})
}
