package mock_test

import (
	"strings"
	"testing"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/mock"
)

func TestAStrictReplayMakesNothingUp(t *testing.T) {
	p, err := mock.New(mock.Config{Strict: true, Responses: []byte(`{"known": {"content": "hi"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := p.Complete(t.Context(), ask("known"), nil); err != nil || r.Text != "hi" {
		t.Errorf("a recorded step: %v, %v", r, err)
	}
	_, err = p.Complete(t.Context(), ask("other"), nil)
	if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("a step that was not recorded: %v", err)
	}
	_, err = p.Embed(t.Context(), &model.EmbedRequest{StepID: "other", Model: "m", Inputs: []string{"x"}})
	if fault.KindOf(err) != fault.Permanent {
		t.Errorf("vectors that were not recorded: %v", err)
	}
}
