package google_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/google"
)

// embedder answers with one vector for each text, which holds the text's
// number, and fails the call of number failing.
func embedder(t *testing.T, failing int) (p *google.Provider, batches *[]int) {
	t.Helper()
	batches = new([]int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Requests []struct {
				Content struct{ Parts []struct{ Text string } }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		*batches = append(*batches, len(body.Requests))
		if len(*batches) == failing {
			w.WriteHeader(503)
			return
		}
		out := []string{}
		for _, q := range body.Requests {
			out = append(out, `{"values": [`+q.Content.Parts[0].Text+`, 0.5]}`)
		}
		_, _ = fmt.Fprintf(w, `{"embeddings": [%s], "usageMetadata": {"promptTokenCount": %d}}`, strings.Join(out, ","), len(out))
	}))
	t.Cleanup(server.Close)
	return newProvider(t, google.Config{BaseURL: server.URL}), batches
}

// TestBatches checks that more texts than the service takes at once are sent in
// several calls.
func TestBatches(t *testing.T) {
	req := &model.EmbedRequest{Model: "gemini-embedding-001"}
	want := &model.EmbedResponse{Model: req.Model, Provider: "google", Usage: &model.Usage{PromptTokens: 250, TotalTokens: 250}}
	for i := range 250 {
		req.Inputs = append(req.Inputs, fmt.Sprint(i))
		want.Vectors = append(want.Vectors, []float64{float64(i), 0.5})
	}
	p, batches := embedder(t, 0)
	got, err := p.Embed(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{100, 100, 50}, *batches); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
	p, _ = embedder(t, 2)
	got, err = p.Embed(t.Context(), req)
	if fault.KindOf(err) != fault.Transient || got == nil || got.Vectors != nil || got.Usage == nil || got.Usage.PromptTokens != 100 {
		t.Errorf("got %+v, %v, want the first batch's usage beside the error", got, err)
	}
}

func TestEmbedAnswers(t *testing.T) {
	const usage = `"usageMetadata": {"promptTokenCount": 9}`
	tests := map[string]struct {
		body  string
		kind  fault.Kind // 0: it works
		usage int64
	}{
		"no usage":      {`{"embeddings": [{"values": [1, 2]}]}`, 0, 0},
		"usage":         {`{"embeddings": [{"values": [1, 2]}], ` + usage + `}`, 0, 9},
		"null":          {`{"embeddings": null, ` + usage + `}`, fault.Transient, 9},
		"no list":       {`{"embeddings": {"values": [1]}, ` + usage + `}`, fault.Transient, 9},
		"no numbers":    {`{"embeddings": [{"values": ["x"]}], ` + usage + `}`, fault.Transient, 9},
		"huge":          {`{"embeddings": [` + strings.Repeat("{},", 1000) + `{}], ` + usage + `}`, fault.Transient, 9},
		"an error":      {`{"error": {"code": 400, "message": "no"}, ` + usage + `}`, fault.Permanent, 9},
		"a number's up": {`{"embeddings": [{"values": [1e999]}], ` + usage + `}`, fault.Transient, 9},
	}
	for name, test := range tests {
		root, _ := serve(t, 200, kind, test.body)
		r, err := newProvider(t, google.Config{BaseURL: root}).Embed(t.Context(), &model.EmbedRequest{Model: "m", Inputs: []string{"a"}})
		if fault.KindOf(err) != test.kind || (err == nil) != (test.kind == 0) {
			t.Errorf("%s: %v, want kind %v", name, err, test.kind)
		}
		var got int64
		if r != nil && r.Usage != nil {
			got = r.Usage.PromptTokens
		}
		if got != test.usage || err == nil && (r.Usage == nil) != (test.usage == 0) {
			t.Errorf("%s: response %+v, want %d tokens", name, r, test.usage)
		}
	}
	p := newProvider(t, google.Config{BaseURL: "http://127.0.0.1:1"})
	for _, n := range []int64{0, -1, math.MaxInt64} {
		_, err := p.Embed(t.Context(), &model.EmbedRequest{Model: "m", Inputs: []string{"a"}, Dimensions: &n})
		if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), "dimensions") {
			t.Errorf("%d dimensions: %v", n, err)
		}
	}
}
