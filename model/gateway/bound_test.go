package gateway_test

import (
	"strings"
	"testing"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
	"github.com/agentloom/agentloom/value"
)

// TestAttachmentBounds: files count as what they may cost at most.
func TestAttachmentBounds(t *testing.T) {
	tests := map[string]struct {
		attachment model.Attachment
		most       float64 // dollars, at 1 for a million tokens
	}{
		"an image":     {model.Attachment{Type: model.Image, Data: make([]byte, 1<<20)}, 0.0081},
		"an image URL": {model.Attachment{Type: model.Image, URL: "https://h/i.png"}, 0.0081},
		"a PDF":        {model.Attachment{Type: model.PDF, Data: make([]byte, 10_000)}, 0.0401},
		"a PDF URL":    {model.Attachment{Type: model.PDF, URL: "https://h/f.pdf"}, 1.0001},
		"audio":        {model.Attachment{Type: model.Audio, Data: make([]byte, 10_000)}, 0.0101},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, fits := range []bool{true, false} {
				p := uses(0, 1, 0)
				g := open(t, dollar(), gateway.Entry{Provider: p})
				req := sized(0, 0)
				req.MaxTokens = new(int64)
				req.Messages[0].Attachments = []model.Attachment{test.attachment}
				limit := test.most
				if !fits {
					limit -= 0.0002
				}
				if _, err := g.Complete(t.Context(), within(gateway.NewBudget(limit, nil)), req, nil); (err == nil) != fits {
					t.Errorf("with %v: %v", limit, err)
				}
			}
		})
	}
}

// TestWindowBound: the input and the answer are no longer than the model's
// context window, whatever their size and max_tokens.
func TestWindowBound(t *testing.T) {
	for limit, fits := range map[float64]bool{128_000 * (2.5 + 10) / 1e6: true, 1.59: false} {
		g := open(t, gateway.Options{}, gateway.Entry{Provider: uses(0, 1, 1)})
		sel := within(gateway.NewBudget(limit, nil))
		sel.Model = "gpt-4o"
		if _, err := g.Complete(t.Context(), sel, sized(1<<20, 1<<40), nil); (err == nil) != fits {
			t.Errorf("with %v: %v", limit, err)
		}
	}
}

// TestInvalidText: a byte that is no UTF-8 is sent as three.
func TestInvalidText(t *testing.T) {
	for limit, fits := range map[float64]bool{0.003081: true, 0.003079: false} {
		g := open(t, dollar(), gateway.Entry{Provider: uses(0, 1, 0)})
		req := &model.Request{MaxTokens: new(int64), Messages: []model.Message{{Role: model.User, Text: strings.Repeat("\xff", 1000)}}}
		if _, err := g.Complete(t.Context(), within(gateway.NewBudget(limit, nil)), req, nil); (err == nil) != fits {
			t.Errorf("with %v: %v", limit, err)
		}
	}
}

// TestEmbedBudget: an embedding's worst case is its input.
func TestEmbedBudget(t *testing.T) {
	for limit, fits := range map[float64]bool{0.000296: true, 0.000295: false} {
		g := open(t, dollar(), gateway.Entry{Provider: reports("openai", model.Response{Usage: &model.Usage{PromptTokens: 50}})})
		b := gateway.NewBudget(limit, nil)
		_, err := g.Embed(t.Context(), within(b), &model.EmbedRequest{Inputs: []string{strings.Repeat("x", 100), strings.Repeat("y", 100)}})
		if (err == nil) != fits || !fits && fault.KindOf(err) != fault.Budget {
			t.Errorf("with %v: %v", limit, err)
		}
		if fits && b.Spent() != 0.00005 {
			t.Errorf("spent %v", b.Spent())
		}
	}
}

// TestWholeInputCounts: all parts of a request are part of its bound.
func TestWholeInputCounts(t *testing.T) {
	text := strings.Repeat("x", 1000)
	object := value.NewMap(1)
	object.Put("description", text)
	tests := map[string]func(*model.Request){
		"system":       func(r *model.Request) { r.System = text },
		"schema":       func(r *model.Request) { r.Schema = object },
		"tool":         func(r *model.Request) { r.Tools = []model.ToolSpec{{Name: "t", Parameters: object}} },
		"description":  func(r *model.Request) { r.Tools = []model.ToolSpec{{Name: "t", Description: text}} },
		"tool call":    func(r *model.Request) { r.Messages[0].ToolCalls = []model.ToolCall{{Arguments: text}} },
		"native":       func(r *model.Request) { r.Messages[0].Native = &model.Native{Data: []byte(text)} },
		"tool result":  func(r *model.Request) { r.Messages[0] = model.Message{Role: model.ToolRole, Text: text} },
		"many of them": func(r *model.Request) { r.Messages = make([]model.Message, 80) },
	}
	for name, change := range tests {
		g := open(t, dollar(), gateway.Entry{Provider: uses(0, 1, 0)})
		req := sized(0, 0)
		req.MaxTokens = new(int64)
		change(req)
		if _, err := g.Complete(t.Context(), within(gateway.NewBudget(0.001, nil)), req, nil); fault.KindOf(err) != fault.Budget {
			t.Errorf("%s: more than 1,000 tokens of input fit into as many: %v", name, err)
		}
	}
}
