package modeltest

import (
	"cmp"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// Stream says how a vendor frames a streamed answer.
type Stream struct {
	// Frames are the events of a successful stream, each with its line ends:
	// at least one for each piece of the reasoning and of the text, and the
	// answer's other fields (but not its Text and Reasoning) where the vendor
	// has them. The arguments of tool calls are cut into pieces where the
	// vendor does that.
	Frames func(reasoning, text []string, a Answer) []string
	// Closing is how many of the last frames may be missing for an answer to
	// be whole still, plus the one that says so: a stream that is cut before
	// them is broken.
	Closing int
	// ContentType of the stream; default text/event-stream.
	ContentType string
	// Failure is an error event for trouble at the service; "" with a vendor
	// that reports none in a stream.
	Failure func(message string) string
	// Unknown are events that a reader must pass over: comments, pings, types
	// that do not exist yet.
	Unknown []string
}

// write sends frames, each flushed.
func (s *Stream) write(w http.ResponseWriter, frames ...string) {
	w.Header().Set("Content-Type", cmp.Or(s.ContentType, "text/event-stream"))
	for _, f := range frames {
		if _, err := io.WriteString(w, f); err != nil {
			return // the client has left
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// serve answers every request with frames.
func (s *Stream) serve(frames ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { s.write(w, frames...) }
}

// deltas keeps what a call hands on. It has no lock: the race detector tells
// when the pieces come from another goroutine.
type deltas struct {
	text, reasoning string
	n               int
}

func (d *deltas) add(t *testing.T) func(model.Delta) {
	return func(piece model.Delta) {
		if (piece.Text == "") == (piece.Reasoning == "") {
			t.Errorf("a piece has not exactly one field: %+v", piece)
		}
		d.text += piece.Text
		d.reasoning += piece.Reasoning
		d.n++
	}
}

// match checks that the response holds what was handed on.
func (d *deltas) match(t *testing.T, r *model.Response) {
	t.Helper()
	switch {
	case r == nil:
		if d.n > 0 {
			t.Errorf("pieces came (text %q, reasoning %q), but no response", d.text, d.reasoning)
		}
	case r.Text != d.text || r.Reasoning != d.reasoning:
		t.Errorf("the pieces are %q and %q, the response %q and %q", d.text, d.reasoning, r.Text, r.Reasoning)
	case (r.FirstToken > 0) != (d.n > 0):
		t.Errorf("%d pieces, and the first after %v", d.n, r.FirstToken)
	}
}

// streams checks answers that come in pieces.
func streams(t *testing.T, v Vendor) {
	if v.Stream == nil {
		t.Skipf("%s declares no streams", v.Name)
	}
	usage := v.usage()
	plain := []string{"Gr", "üße, ", "世界", " 🧵\n", "\u2028\"x\""}
	type test struct {
		reasoning, text []string
		answer          Answer
		want            model.Response
	}
	tests := map[string]test{
		"text":     {nil, plain, Answer{Usage: usage}, model.Response{Text: strings.Join(plain, ""), Usage: usage}},
		"no usage": {nil, plain, Answer{}, model.Response{Text: strings.Join(plain, "")}},
		"no text":  {nil, nil, Answer{Usage: usage}, model.Response{Usage: usage}},
		"thoughts": {
			nil, []string{"\n<th", "ink>\n2+", "2 = 4?", "\n</thi", "nk>", "\n\n", "It is ", "<think>4"}, Answer{Usage: usage},
			model.Response{Reasoning: "2+2 = 4?", Text: "It is <think>4", Usage: usage},
		},
		"half a tag": {nil, []string{"<th", "in"}, Answer{}, model.Response{Text: "<thin"}},
	}
	if v.Thinking != nil && v.Thinking.Shows {
		tests["reasoning"] = test{
			[]string{"let me", " see"}, plain, Answer{Usage: usage},
			model.Response{Reasoning: "let me see", Text: strings.Join(plain, ""), Usage: usage},
		}
	}
	for vendors, neutral := range v.FinishReasons {
		tests["finish "+vendors] = test{nil, plain, Answer{FinishReason: vendors}, model.Response{Text: strings.Join(plain, ""), FinishReason: neutral}}
	}
	for name, test := range tests {
		test.answer.Model, test.want.Model, test.want.Provider = "m-1-2026", "m-1-2026", v.Name
		if test.answer.FinishReason == "" {
			test.answer.FinishReason, test.want.FinishReason = v.reason(t, model.FinishStop), model.FinishStop
		}
		frames := v.Stream.Frames(test.reasoning, test.text, test.answer)
		for how, serve := range map[string]http.HandlerFunc{
			"":                  v.Stream.serve(frames...),
			" a byte at a time": v.Stream.serve(strings.Split(strings.Join(frames, ""), "")...),
			" at once":          v.Stream.serve(strings.Join(frames, "")),
			" with others":      v.Stream.serve(between(frames, v.Stream.Unknown)...),
		} {
			t.Run(name+how, func(t *testing.T) {
				_, p := v.start(t, serve)
				v.streamed(t, p, ask(), &test.want)
			})
		}
	}
	t.Run("the request", func(t *testing.T) {
		_, p := v.start(t, func(w http.ResponseWriter, r *http.Request) {
			got := v.Read(t, r, readAll(t, r))
			want := Sent{Key: Key, Model: "some-model", Messages: ask().Messages, Stream: true}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			v.Stream.write(w, v.Stream.Frames(nil, plain, Answer{Model: "m"})...)
		})
		if _, err := p.Complete(t.Context(), ask(), func(model.Delta) {}); err != nil {
			t.Error(err)
		}
	})
	t.Run("as it comes", func(t *testing.T) { asItComes(t, v) })
	t.Run("one connection", func(t *testing.T) { oneConnection(t, v) })
}

// oneConnection checks that a stream leaves its connection to the next call.
func oneConnection(t *testing.T, v Vendor) {
	frames := v.Stream.Frames(nil, []string{"a", "b"}, Answer{Model: "m", FinishReason: v.reason(t, model.FinishStop)})
	connections := map[string]bool{}
	_, p := v.start(t, func(w http.ResponseWriter, r *http.Request) {
		connections[r.RemoteAddr] = true // the calls follow one another
		v.Stream.write(w, frames...)
	})
	for range 50 {
		if _, err := p.Complete(t.Context(), ask(), func(model.Delta) {}); err != nil {
			t.Fatal(err)
		}
	}
	if len(connections) > 1 {
		t.Errorf("50 calls opened %d connections", len(connections))
	}
}

// streamed makes a streamed call and checks its response and its pieces.
func (v Vendor) streamed(t *testing.T, p model.Provider, req *model.Request, want *model.Response) {
	t.Helper()
	var d deltas
	began := time.Now()
	got, err := p.Complete(t.Context(), req, d.add(t))
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); got.FirstToken > took {
		t.Errorf("the first piece after %v of %v", got.FirstToken, took)
	}
	d.match(t, got)
	got.Raw, got.FirstToken = nil, 0
	if v.Thinking != nil && got.Reasoning != "" {
		got.Native = nil // a reasoning block may have to be sent back
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
}

// reason is the vendor's word for a neutral finish reason.
func (v Vendor) reason(t *testing.T, neutral string) string {
	t.Helper()
	first := ""
	for vendors, n := range v.FinishReasons {
		if n == neutral && (first == "" || vendors < first) {
			first = vendors
		}
	}
	if first == "" {
		t.Fatalf("%s declares no finish reason for %s", v.Name, neutral)
	}
	return first
}

// between puts others before each frame.
func between(frames, others []string) []string {
	var out []string
	for _, f := range frames {
		out = append(append(out, others...), f)
	}
	return out
}

// asItComes checks that a piece is handed on before the next has come.
func asItComes(t *testing.T, v Vendor) {
	next := make(chan struct{})
	frames := v.Stream.Frames(nil, []string{"one ", "two ", "three"}, Answer{Model: "m"})
	_, p := v.start(t, func(w http.ResponseWriter, r *http.Request) {
		for _, f := range frames {
			v.Stream.write(w, f)
			if !strings.Contains(f, "one ") && !strings.Contains(f, "two ") {
				continue
			}
			select {
			case <-next:
			case <-r.Context().Done():
				return
			case <-time.After(10 * time.Second):
				t.Error("the piece was not handed on")
				return
			}
		}
	})
	r, err := p.Complete(t.Context(), ask(), func(d model.Delta) {
		if d.Text != "three" {
			next <- struct{}{}
		}
	})
	if err != nil || r.Text != "one two three" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// breaks makes a streamed call that ends with an error, and returns what came
// beside it.
func (v Vendor) breaks(t *testing.T, serve http.HandlerFunc, want fault.Kind) (*model.Response, *fault.Error) {
	t.Helper()
	_, p := v.start(t, serve)
	var d deltas
	r, err := p.Complete(t.Context(), ask(), d.add(t))
	f := fails(t, err, want)
	d.match(t, r)
	return r, f
}
