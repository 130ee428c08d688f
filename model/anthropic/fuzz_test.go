package anthropic_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/anthropic"
)

// canned answers with a body, without any network.
type canned struct {
	kind string
	body []byte
}

func (c *canned) RoundTrip(*http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", c.kind)
	_, _ = w.Write(c.body)
	return w.Result(), nil
}

// fuzz checks that no answer, however odd, does more than fail, and that what
// comes out of it is sound.
func fuzz(f *testing.F, pattern, kind string, seeds ...string) {
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	transport := &canned{kind: kind}
	p := newProvider(f, anthropic.Config{BaseURL: "http://service.test", HTTPClient: &http.Client{Transport: transport}})
	f.Fuzz(func(t *testing.T, body []byte) {
		transport.body = body
		var text, reasoning string
		r, err := p.Complete(t.Context(), ask(), func(d model.Delta) { text, reasoning = text+d.Text, reasoning+d.Reasoning })
		if err == nil && r == nil {
			t.Fatal("neither an answer nor an error")
		}
		if err != nil && fault.KindOf(err) == 0 {
			t.Errorf("an error without a kind: %v", err)
		}
		if r == nil {
			return
		}
		if r.Text != text || r.Reasoning != reasoning || !utf8.ValidString(text+reasoning) {
			t.Errorf("the pieces are %q and %q, the response %q and %q", text, reasoning, r.Text, r.Reasoning)
		}
		if u := r.Usage; u != nil && (u.PromptTokens < 0 || u.CompletionTokens < 0 || u.TotalTokens < u.PromptTokens || u.ReasoningTokens > u.CompletionTokens) {
			t.Errorf("usage %+v", *u)
		}
		if r.Native != nil && !json.Valid(r.Native.Data) {
			t.Errorf("the native form is no JSON: %s", r.Native.Data)
		}
		sendBack(t, p, transport, r)
	})
}

// sendBack checks that whatever a model said can be sent back to it.
func sendBack(t *testing.T, p *anthropic.Provider, transport *canned, r *model.Response) {
	req := ask()
	req.Messages = append(req.Messages, r.Message(), model.Message{Role: model.User, Text: "Go on."})
	transport.body = []byte("null")
	if _, err := p.Complete(t.Context(), req, nil); fault.KindOf(err) != fault.Transient { // null is no answer
		t.Errorf("the turn can't be sent back: %v", err)
	}
}

func FuzzAnswer(f *testing.F) {
	fuzz(f, "*.json", "application/json", ``, `null`, `[]`, `"x"`, `{}`, `{"content":null}`, `{"content":[null]}`, `{"content":"x"}`, `{"content":[{"type":"text","text":{}}]}`,
		`{"content":[],"usage":[]}`, `{"type":"error","error":null}`, `{"type":"error","error":{"type":"overloaded_error","message":"x"}}`, `{"content":[{"type":"tool_use"}],"usage":{"input_tokens":"x"}}`)
}

func FuzzStream(f *testing.F) {
	fuzz(f, "*.sse", "text/event-stream", ``, "\n\n", "event: message_stop\n\n", "event: error\ndata: {}\n\n", "event: error\ndata: x\n\n", "data: [DONE]\n\n",
		"event: content_block_delta\ndata: {\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n", "event: content_block_start\ndata: {\"content_block\":null}\n\n",
		"event: message_start\ndata: {\"message\":null}\n\nevent: message_delta\ndata: {\"delta\":null,\"usage\":null}\n\nevent: message_stop\ndata: {}\n\n")
}
