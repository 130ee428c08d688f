package step_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/internal/step"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

func personSchema() *value.Map {
	v, _ := value.DecodeJSON([]byte(`{"type":"object","required":["name","age"],
		"properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}}}`))
	return v.(*value.Map)
}

func TestOutputSchemaGivesAValue(t *testing.T) {
	for name, text := range map[string]string{
		"plain":       `{"name":"Ada","age":36}`,
		"white space": "\n {\"name\":\"Ada\",\"age\":36}\n",
		"a fence":     "Here it is:\n```json\n{\"name\":\"Ada\",\"age\":36}\n```\nAnything else?",
		"text around": `Sure! {"name":"Ada","age":36} is the answer.`,
	} {
		t.Run(name, func(t *testing.T) {
			m := &script{turns: []any{says(text)}}
			var r runner
			out, err := r.run(t.Context(), step.LLM{Models: m}, llmStep(workflow.LLMCallFields{
				SystemPrompt: "extract", OutputSchema: personSchema(),
			}))
			if err != nil {
				t.Fatal(err)
			}
			got, _ := value.EncodeJSON(out.Write)
			if string(got) != `{"name":"Ada","age":36}` {
				t.Errorf("output is %s", got)
			}
			if m.asked[0].Schema == nil || !strings.Contains(m.asked[0].System, "extract") ||
				!strings.Contains(m.asked[0].System, `"required":["name","age"]`) {
				t.Errorf("the request says %q, schema %v", m.asked[0].System, m.asked[0].Schema)
			}
		})
	}
}

func TestAMismatchIsSentBackAtMostTwice(t *testing.T) {
	wrong, right := says(`{"name":"Ada","age":"36"}`), says(`{"name":"Ada","age":36}`)
	m := &script{turns: []any{wrong, says("no JSON at all"), right}}
	var r runner
	out, err := r.run(t.Context(), step.LLM{Models: m}, llmStep(workflow.LLMCallFields{OutputSchema: personSchema()}))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.asked) != 3 || out.Report.Usage.TotalTokens != 30 {
		t.Errorf("%d turns, %+v", len(m.asked), out.Report.Usage)
	}
	last := m.asked[2].Messages
	if len(last) != 5 || last[1].Text != wrong.Text || !strings.Contains(last[2].Text, "age") ||
		!strings.Contains(last[4].Text, "no JSON") {
		t.Errorf("the model is told:\n%+v", last)
	}

	m = &script{turns: []any{wrong}}
	out, err = r.run(t.Context(), step.LLM{Models: m}, llmStep(workflow.LLMCallFields{OutputSchema: personSchema()}))
	if fault.KindOf(err) != fault.Permanent || len(m.asked) != 3 {
		t.Errorf("after %d turns: %v; want a permanent failure after 3", len(m.asked), err)
	}
	if out.Report.Usage.TotalTokens != 30 {
		t.Errorf("three turns cost %+v", out.Report.Usage)
	}
}

func TestAnAnswerThatWasCutShortIsNotRepaired(t *testing.T) {
	for _, finish := range []string{model.FinishLength, model.FinishContentFilter} {
		cut := says(`{"name":"Ad`)
		cut.FinishReason = finish
		m := &script{turns: []any{cut}}
		var r runner
		_, err := r.run(t.Context(), step.LLM{Models: m}, llmStep(workflow.LLMCallFields{OutputSchema: personSchema()}))
		if fault.KindOf(err) != fault.Permanent || len(m.asked) != 1 {
			t.Errorf("%s: %v after %d turns", finish, err, len(m.asked))
		}
	}
}

func TestRepairsDoNotRestoreTheToolTurns(t *testing.T) {
	three := 3
	m := &script{turns: []any{calls("add", `{"A":1,"B":2}`), says("no JSON"), calls("add", `{"A":1,"B":2}`), says("never")}}
	var r runner
	out, err := r.run(t.Context(), step.LLM{Models: m, Tools: toolsOf(t, adder())}, llmStep(workflow.LLMCallFields{
		OutputSchema: personSchema(), Tools: []workflow.ToolDeclaration{{Name: "add"}}, MaxToolIterations: &three,
	}))
	if err != nil || len(m.asked) != 3 || out.Report.FinishReason != step.FinishMaxIterations {
		t.Errorf("%d turns, finish reason %q, %v", len(m.asked), out.Report.FinishReason, err)
	}
}

func TestABadSchemaFailsBeforeAnyCall(t *testing.T) {
	for name, schema := range map[string]*value.Map{
		"wrong type":    value.MapOf("type", int64(5)),
		"external ref":  value.MapOf("$ref", "https://example.com/schema"),
		"broken regexp": value.MapOf("pattern", "("),
	} {
		m := &script{turns: []any{says("{}")}}
		var r runner
		_, err := r.run(t.Context(), step.LLM{Models: m}, llmStep(workflow.LLMCallFields{OutputSchema: schema}))
		if fault.KindOf(err) != fault.Permanent || len(m.asked) > 0 {
			t.Errorf("%s: %v after %d calls", name, err, len(m.asked))
		}
	}
}

func TestAnEmptyAnswerIsAFailure(t *testing.T) {
	for finish, want := range map[string]fault.Kind{
		model.FinishStop:          fault.Transient,
		model.FinishLength:        fault.Permanent,
		model.FinishContentFilter: fault.Permanent,
	} {
		empty := says(" \n")
		empty.FinishReason = finish
		m := &script{turns: []any{empty}}
		var r runner
		out, err := r.run(t.Context(), step.LLM{Models: m}, llmStep(workflow.LLMCallFields{}))
		if fault.KindOf(err) != want || out.Report.Usage == nil {
			t.Errorf("%s: %v (%v), usage %v", finish, err, fault.KindOf(err), out.Report.Usage)
		}
	}
}

func TestAConversationIsShared(t *testing.T) {
	m := &script{turns: []any{calls("add", `{"A":1,"B":2}`), says("three")}}
	r := runner{state: state.New(nil)}
	first := llmStep(workflow.LLMCallFields{
		Prompt: "add", Conversation: "c", SystemPrompt: "s", Tools: []workflow.ToolDeclaration{{Name: "add"}},
	})
	out, err := r.run(t.Context(), step.LLM{Models: m, Tools: toolsOf(t, adder())}, first)
	if err != nil {
		t.Fatal(err)
	}
	if out.Conversation == nil || out.Conversation.Name != "c" || len(out.Conversation.Messages) != 4 {
		t.Fatalf("the conversation is %+v", out.Conversation)
	}
	r.state = r.state.WithConversation("c", out.Conversation.Messages)
	m = &script{turns: []any{says("four")}}
	again, err := r.run(t.Context(), step.LLM{Models: m}, llmStep(workflow.LLMCallFields{Prompt: "one more", Conversation: "c"}))
	if err != nil {
		t.Fatal(err)
	}
	sent := m.asked[0].Messages
	if len(sent) != 5 || sent[0].Text != "add" || sent[3].Text != "three" || sent[4].Text != "one more" {
		t.Errorf("the second step sends %+v", sent)
	}
	if n := len(again.Conversation.Messages); n != 6 {
		t.Errorf("the conversation has %d messages, want 6", n)
	}
	if n := len(out.Conversation.Messages); n != 4 {
		t.Errorf("the first step's history grew to %d", n)
	}
	failing := &script{turns: []any{fault.New(fault.Transient, "gone", nil)}}
	bad, _ := r.run(t.Context(), step.LLM{Models: failing}, llmStep(workflow.LLMCallFields{Conversation: "c"}))
	if bad.Conversation != nil {
		t.Error("a failed step changed the conversation")
	}
}

func TestAttachmentsAreSentAndCounted(t *testing.T) {
	m := &script{turns: []any{says("a cat")}}
	r := runner{state: state.New(value.MapOf("pic", "cat.png"))}
	attach := func(_ context.Context, a workflow.Attachment) (model.Attachment, error) {
		return model.Attachment{Type: model.AttachmentType(a.Type), Data: []byte(a.Source)}, nil
	}
	out, err := r.run(t.Context(), step.LLM{Models: m, Attach: attach}, llmStep(workflow.LLMCallFields{
		Attachments: []workflow.Attachment{{Type: "image", Source: "{state.pic}"}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.asked[0].Messages[0].Attachments; len(got) != 1 || string(got[0].Data) != "cat.png" {
		t.Errorf("sent %+v", got)
	}
	if *out.Report.Attachments != 1 {
		t.Errorf("counted %d", *out.Report.Attachments)
	}
}

func agentStep() workflow.Step {
	return workflow.Step{ID: "ask", Type: workflow.AgentStep, Agent: &workflow.AgentFields{Agent: "helper", Prompt: "go {state.x}"}}
}

func TestAnAgentBringsItsOwnPolicy(t *testing.T) {
	temperature, tokens, budget := 0.5, int64(100), 0.25
	agents := []workflow.Agent{{Name: "other"}, {
		Name: "helper", SystemPrompt: "You know {state.x}.", Provider: "p", Model: "big", Temperature: &temperature,
		MaxTokens: &tokens, Tools: []string{"add"}, BudgetUSD: &budget,
	}}
	m := &script{turns: []any{calls("add", `{"A":1,"B":2}`), says("done")}}
	r := runner{state: state.New(value.MapOf("x", "it"))}
	out, err := r.run(t.Context(), step.Agent{Agents: agents, Models: m, Tools: toolsOf(t, adder())}, agentStep())
	if err != nil || out.Write != "done" {
		t.Fatal(out.Write, err)
	}
	req := m.asked[0]
	if req.System != "You know it." || req.Messages[0].Text != "go it" || *req.Temperature != 0.5 || *req.MaxTokens != 100 {
		t.Errorf("asked %+v", req)
	}
	if len(req.Tools) != 1 || req.Tools[0].Description != "Add two numbers." {
		t.Errorf("tools %+v", req.Tools)
	}
	if sel := m.selected[0]; sel.Provider != "p" || sel.Model != "big" {
		t.Errorf("selected %+v", m.selected[0])
	}
	if diff := cmp.Diff([]float64{0.25}, m.budgets); diff != "" {
		t.Errorf("budgets: %s", diff)
	}
}

func TestAnAgentAtItsLastTurn(t *testing.T) {
	two := 2
	agents := []workflow.Agent{{Name: "helper", Tools: []string{"add"}, MaxToolIterations: &two}}
	talk := calls("add", `{"A":1,"B":1}`)
	m := &script{turns: []any{talk, talk, says("as far as I know, 2")}}
	r := runner{state: state.New(value.MapOf("x", "it"))}
	out, err := r.run(t.Context(), step.Agent{Agents: agents, Models: m, Tools: toolsOf(t, adder())}, agentStep())
	if err != nil || out.Write != "as far as I know, 2" {
		t.Fatal(out.Write, err)
	}
	last := m.asked[2]
	if last.ToolChoice == nil || last.ToolChoice.Mode != model.NoTools {
		t.Errorf("the last turn may use tools: %+v", last.ToolChoice)
	}
	if msg := last.Messages[len(last.Messages)-1]; msg.Role != model.ToolRole || !msg.IsError {
		t.Errorf("the calls that were not run have no result: %+v", msg)
	}

	agents[0].OnMaxIterations = "fail"
	m = &script{turns: []any{talk}}
	_, err = r.run(t.Context(), step.Agent{Agents: agents, Models: m, Tools: toolsOf(t, adder())}, agentStep())
	if fault.KindOf(err) != fault.Permanent || len(m.asked) != 2 {
		t.Errorf("on_max_iterations: fail gave %v after %d turns", err, len(m.asked))
	}
}

func TestAnAgentFailsEarly(t *testing.T) {
	r := runner{state: state.New(value.MapOf("x", "it"))}
	m := &script{turns: []any{says("never")}}
	agents := []workflow.Agent{{Name: "helper", Tools: []string{"add", "ghost", "spook"}}}
	_, err := r.run(t.Context(), step.Agent{Agents: agents, Models: m, Tools: toolsOf(t, adder())}, agentStep())
	if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), "ghost, spook") || len(m.asked) > 0 {
		t.Errorf("unregistered tools: %v", err)
	}
	if _, err = r.run(t.Context(), step.Agent{Models: m}, agentStep()); fault.KindOf(err) != fault.Permanent {
		t.Errorf("an unknown agent: %v", err)
	}
}

func TestAnAgentsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := 1.5
		wait := tool.Func("wait", "", func(ctx context.Context, _ struct{}) (any, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Hour):
				return "late", nil
			}
		})
		agents := []workflow.Agent{{Name: "helper", Tools: []string{"wait"}, Timeout: &limit}}
		m := &script{turns: []any{calls("wait", "{}"), says("never")}}
		r := runner{state: state.New(value.MapOf("x", "it"))}
		_, err := r.run(t.Context(), step.Agent{Agents: agents, Models: m, Tools: toolsOf(t, wait)}, agentStep())
		if fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), `agent "helper" timed out after 1.5s`) {
			t.Errorf("got %v", err)
		}
	})
}

func TestEmbed(t *testing.T) {
	embed := func(inputs string, st *value.Map) (any, any, *model.EmbedRequest, error) {
		var asked *model.EmbedRequest
		m := &script{vectors: func(req *model.EmbedRequest) (*model.EmbedResponse, error) {
			asked = req
			vectors := make([][]float64, len(req.Inputs))
			for i := range vectors {
				vectors[i] = []float64{float64(i), 0.5}
			}
			return &model.EmbedResponse{Vectors: vectors, Provider: "p"}, nil
		}}
		r := runner{state: state.New(st)}
		two := int64(2)
		out, err := r.run(t.Context(), step.Embed{Models: m}, workflow.Step{
			ID: "e", Type: workflow.Embed, Embed: &workflow.EmbedFields{Inputs: inputs, Model: "m", Dimensions: &two},
		})
		return out.Write, out.Result, asked, err
	}
	docs := value.MapOf("documents", []any{"a", "b", "c"}, "one", "text", "in", value.MapOf("side", []any{"x"}),
		"none", []any{}, "mixed", []any{"a", int64(1)}, "number", int64(3))
	for inputs, want := range map[string]string{
		"state.documents":   "3 vectors × 2",
		"{state.documents}": "3 vectors × 2",
		"state.one":         "1 vector × 2",
		"state.in.side":     "1 vector × 2",
		"state.none":        "0 vectors",
	} {
		write, summary, asked, err := embed(inputs, docs)
		if err != nil || summary != want {
			t.Errorf("%s: %v, %v", inputs, summary, err)
			continue
		}
		if asked != nil && (*asked.Dimensions != 2 || len(asked.Inputs) != len(write.([]any))) {
			t.Errorf("%s asked %+v", inputs, asked)
		}
	}
	for _, inputs := range []string{"state.documents[0]", "state.missing", "state.mixed", "state.number", "just text", "documents"} {
		if _, _, asked, err := embed(inputs, docs); fault.KindOf(err) != fault.Permanent || asked != nil {
			t.Errorf("%s: %v, asked %v", inputs, err, asked)
		}
	}
}

func TestEmbedRefusesAListOfTheWrongLength(t *testing.T) {
	m := &script{vectors: func(*model.EmbedRequest) (*model.EmbedResponse, error) {
		return &model.EmbedResponse{Vectors: [][]float64{{1}}, Provider: "p", Usage: &model.Usage{TotalTokens: 9}}, nil
	}}
	r := runner{state: state.New(value.MapOf("d", []any{"a", "b"}))}
	out, err := r.run(t.Context(), step.Embed{Models: m}, workflow.Step{
		ID: "e", Type: workflow.Embed, Embed: &workflow.EmbedFields{Inputs: "state.d"},
	})
	if fault.KindOf(err) != fault.Transient || out.Report.Usage.TotalTokens != 9 {
		t.Errorf("%v, usage %+v", err, out.Report.Usage)
	}
}
