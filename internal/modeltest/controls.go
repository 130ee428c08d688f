package modeltest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/value"
)

// Attachments says how a vendor takes one type of attachment.
type Attachments struct {
	MediaTypes []string // the ones that it takes, at least one
	URL        bool     // it also fetches URLs
}

// Thinking says how a vendor lets its models reason.
type Thinking struct {
	// Controls are pairs of what is asked for and Sent.Thinking.
	Controls []Control
	// Shows says that the trace comes with the answer (Answer.Reasoning, and
	// the reasoning of Stream.Frames).
	Shows bool
}

// Control is one setting of the reasoning controls.
type Control struct {
	Asked model.Thinking
	Sent  string
}

// attachments checks files that go with a user's message.
func attachments(t *testing.T, v Vendor) {
	with := func(a ...model.Attachment) *model.Request {
		req := ask()
		req.Messages = []model.Message{{Role: model.User, Text: "What is this?", Attachments: a}}
		return req
	}
	data := []byte("\x89PNG\r\n\x1a\n\x00\xff no real file")
	fallback := map[model.AttachmentType]string{model.Image: "image/png", model.PDF: "application/pdf", model.Audio: "audio/wav"}
	for _, kind := range []model.AttachmentType{model.Image, model.PDF, model.Audio} {
		takes, declared := v.Attachments[kind]
		byURL := model.Attachment{Type: kind, MediaType: fallback[kind], URL: "https://example.com/a?b=c&d"}
		byData := model.Attachment{Type: kind, MediaType: fallback[kind], Data: data}
		if !declared {
			t.Run("no "+string(kind), func(t *testing.T) {
				for _, a := range []model.Attachment{byData, byURL} {
					if f := v.refuses(t, with(a)); !strings.Contains(f.Message, string(kind)) {
						t.Errorf("the message does not name the type: %s", f.Message)
					}
				}
			})
			continue
		}
		for _, mt := range takes.MediaTypes {
			t.Run(mt, func(t *testing.T) {
				req := with(model.Attachment{Type: kind, MediaType: mt, Data: data})
				if diff := cmp.Diff(req.Messages, v.sent(t, req).Messages); diff != "" {
					t.Errorf("sent (-want +got):\n%s", diff)
				}
			})
		}
		t.Run(string(kind)+" by URL", func(t *testing.T) {
			if !takes.URL {
				v.refuses(t, with(byURL))
				return
			}
			got := v.sent(t, with(byURL)).Messages
			if len(got) != 1 || len(got[0].Attachments) != 1 || got[0].Attachments[0].URL != byURL.URL || got[0].Attachments[0].Type != kind {
				t.Errorf("sent %+v", got)
			}
		})
		t.Run("bad "+string(kind), func(t *testing.T) {
			v.refuses(t, with(model.Attachment{Type: kind, MediaType: fallback[kind]}))
			v.refuses(t, with(model.Attachment{Type: kind, Data: data}))
			v.refuses(t, with(model.Attachment{Type: kind, MediaType: "text/x-odd", Data: data}))
		})
		t.Run("several of "+string(kind), func(t *testing.T) {
			req := with(byData, byData)
			req.Messages[0].Attachments[0].MediaType = takes.MediaTypes[0]
			req.Messages[0].Attachments[1].MediaType = takes.MediaTypes[0]
			req.Messages[0].Text = ""
			if diff := cmp.Diff(req.Messages, v.sent(t, req).Messages); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("an unknown type", func(t *testing.T) {
		v.refuses(t, with(model.Attachment{Type: "hologram", MediaType: "image/png", Data: data}))
	})
}

// schemas checks the service's structured output. Schemas that the vendor does
// not take are for the adapter's own tests.
func schemas(t *testing.T, v Vendor) {
	if !v.Schema {
		t.Skipf("%s declares no structured output", v.Name)
	}
	req := ask()
	req.Schema = value.MapOf(
		"type", "object",
		"properties", value.MapOf("name", value.MapOf("type", "string", "description", "the name"), "age", value.MapOf("type", "integer")),
		"required", []any{"name", "age"},
		"additionalProperties", false,
	)
	if diff := cmp.Diff(plain(t, req.Schema), v.sent(t, req).Schema); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	const text = `{"name": "Ann", "age": 5}`
	_, p := v.start(t, reply(200, v.Answer(Answer{Text: text, Model: "m"})))
	if r, err := p.Complete(t.Context(), req, nil); err != nil || r.Text != text || len(r.ToolCalls) != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// thinking checks the reasoning controls and the trace.
func thinking(t *testing.T, v Vendor) {
	if v.Thinking == nil {
		t.Skipf("%s declares no reasoning controls", v.Name)
	}
	for _, c := range v.Thinking.Controls {
		req := ask()
		req.Thinking = &c.Asked
		if got := v.sent(t, req).Thinking; got != c.Sent {
			t.Errorf("%+v: sent %q, want %q", c.Asked, got, c.Sent)
		}
	}
	if !v.Thinking.Shows {
		return
	}
	t.Run("trace", func(t *testing.T) {
		_, p := v.start(t, reply(200, v.Answer(Answer{Reasoning: "let me\nsee", Text: "4", Model: "m"})))
		if r, err := p.Complete(t.Context(), ask(), nil); err != nil || r.Text != "4" || r.Reasoning != "let me\nsee" {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	t.Run("trace sent back", func(t *testing.T) { traceBack(t, v) })
	t.Run("a trace that breaks off", func(t *testing.T) {
		if v.Stream == nil {
			t.Skipf("%s declares no streams", v.Name)
		}
		frames := v.Stream.Frames([]string{"let me ", "see"}, []string{"4"}, Answer{Model: "m", FinishReason: v.reason(t, model.FinishStop)})
		for n := range len(frames) - v.Stream.Closing + 1 {
			v.breaks(t, v.Stream.serve(frames[:n]...), fault.Transient)
		}
	})
}

// traceBack checks that a turn with a trace can be sent back, and that the
// trace never becomes text.
func traceBack(t *testing.T, v Vendor) {
	var sent []Sent
	_, p := v.start(t, func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, v.Read(t, r, readAll(t, r)))
		reply(200, v.Answer(Answer{Reasoning: "let me see", Text: "4", Model: "m"}))(w, r)
	})
	req := ask()
	r, err := p.Complete(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Messages = append(req.Messages, r.Message(), model.Message{Role: model.User, Text: "Sure?"})
	if _, err := p.Complete(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if got := sent[1].Messages; len(got) != 3 || got[1].Text != "4" {
		t.Errorf("sent %+v", got)
	}
}
