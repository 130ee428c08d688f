package modeltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/value"
)

// Tools says what a vendor's tool calls have.
type Tools struct {
	// RawArguments says that arguments come as the text that the model wrote,
	// and not as a JSON object.
	RawArguments bool
	// OwnIDs says that the service gives each call an id.
	OwnIDs bool
	// NoChoice says that the vendor has no tool choice: "none" then sends no
	// tools, and "required" and a tool's name have no effect.
	NoChoice bool
}

// A message of a tool that Read returns has a CallID or a ToolName, or both,
// and IsError where the request says so by any means.

// tools checks tools, their calls and their results.
func tools(t *testing.T, v Vendor) {
	if v.Tools == nil {
		t.Skipf("%s declares no tools", v.Name)
	}
	t.Run("offered", func(t *testing.T) { offered(t, v) })
	t.Run("called", func(t *testing.T) { called(t, v) })
	t.Run("answered", func(t *testing.T) { answered(t, v) })
}

func toolSpecs() []model.ToolSpec {
	return []model.ToolSpec{
		{Name: "add", Description: "Adds numbers.", Parameters: value.MapOf(
			"type", "object",
			"properties", value.MapOf("a", value.MapOf("type", "integer", "description", "the first"), "b", value.MapOf("type", "integer")),
			"required", []any{"a", "b"},
		)},
		{Name: "get_time-2", Parameters: value.MapOf("type", "object", "properties", value.NewMap(0))},
	}
}

// offered checks how tools and the choice among them are sent.
func offered(t *testing.T, v Vendor) {
	var want []Tool
	for _, s := range toolSpecs() {
		want = append(want, Tool{s.Name, s.Description, plain(t, s.Parameters)})
	}
	choices := map[string]*model.ToolChoice{
		"no choice": nil,
		"auto":      {Mode: model.AutoTools},
		"required":  {Mode: model.RequireTools},
		"none":      {Mode: model.NoTools},
		"named":     {Mode: model.NamedTool, Name: "add"},
	}
	for name, choice := range choices {
		t.Run(name, func(t *testing.T) {
			req := ask()
			req.Tools, req.ToolChoice = toolSpecs(), choice
			got := v.sent(t, req)
			if v.Tools.NoChoice || name == "auto" && got.ToolChoice == nil { // auto is the default
				choice = nil
			}
			wanted := want
			if v.Tools.NoChoice && name == "none" {
				wanted = nil
			}
			if diff := cmp.Diff(wanted, got.Tools); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(choice, got.ToolChoice); diff != "" {
				t.Errorf("choice (-want +got):\n%s", diff)
			}
		})
	}
}

// plain turns a value into what encoding/json makes of its JSON.
func plain(t *testing.T, v any) (out any) {
	t.Helper()
	src, err := value.EncodeJSON(v)
	if err == nil {
		err = json.Unmarshal(src, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// called checks what is made of a model's calls.
func called(t *testing.T, v Vendor) {
	usage := &model.Usage{PromptTokens: 21, CompletionTokens: 34, TotalTokens: 55}
	many := make([]model.ToolCall, 1000)
	for i := range many {
		many[i] = model.ToolCall{ID: fmt.Sprintf("id-%d", i), Name: "add", Arguments: fmt.Sprintf(`{"a":%d,"b":1}`, i)}
	}
	tests := map[string][]model.ToolCall{
		"one":        {{ID: "id-a", Name: "add", Arguments: `{"a":1,"b":2}`}},
		"several":    {{ID: "id-a", Name: "add", Arguments: `{"a":1,"b":{"c":["ü🧵\n"]}}`}, {ID: "id-b", Name: "get_time-2", Arguments: `{}`}, {ID: "id-c", Name: "add", Arguments: `{"a":1,"b":2}`}},
		"unknown":    {{ID: "id-a", Name: "no such tool!", Arguments: `{"x":1}`}},
		"a thousand": many,
	}
	if v.Tools.OwnIDs {
		tests["ids twice"] = []model.ToolCall{{ID: "id-a", Name: "add", Arguments: `{"a":1}`}, {ID: "id-a", Name: "add", Arguments: `{"a":2}`}}
		tests["no ids"] = []model.ToolCall{{Name: "add", Arguments: `{"a":1}`}, {Name: "add", Arguments: `{"a":2}`}}
	}
	if v.Tools.RawArguments {
		tests["odd arguments"] = []model.ToolCall{
			{ID: "1", Name: "add", Arguments: `{"a": 1, "b": `}, {ID: "2", Name: "add", Arguments: `[1,2]`}, {ID: "3", Name: "add", Arguments: "null"},
			{ID: "4", Name: "add", Arguments: ""}, {ID: "5", Name: "add", Arguments: "add 1 and 2"}, {ID: "6", Name: "add", Arguments: "{\"a\":1,\n \"a\": 2} "},
		}
	}
	for name, calls := range tests {
		// Some services say "stop" though there are calls.
		for _, reason := range v.callReasons(t) {
			answer := Answer{ToolCalls: calls, Model: "m", Usage: usage, FinishReason: reason}
			t.Run(name+", "+reason, func(t *testing.T) {
				_, p := v.start(t, reply(200, v.Answer(answer)))
				r, err := p.Complete(t.Context(), ask(), nil)
				v.checkCalls(t, answer, r, err)
			})
			if v.Stream == nil {
				continue
			}
			t.Run(name+", "+reason+", streamed", func(t *testing.T) {
				_, p := v.start(t, v.Stream.serve(v.Stream.Frames(nil, []string{"Let me", " see."}, answer)...))
				r, err := p.Complete(t.Context(), ask(), func(model.Delta) {})
				v.checkCalls(t, answer, r, err)
				if err == nil && r.Text != "Let me see." {
					t.Errorf("text %q", r.Text)
				}
			})
		}
	}
}

// callReasons are the vendor's finish reasons for a turn with calls. Some
// vendors have none of their own for that.
func (v Vendor) callReasons(t *testing.T) []string {
	reasons := []string{v.reason(t, model.FinishStop)}
	if slices.Contains(slices.Collect(maps.Values(v.FinishReasons)), model.FinishToolCalls) {
		reasons = append(reasons, v.reason(t, model.FinishToolCalls))
	}
	return reasons
}

func (v Vendor) checkCalls(t *testing.T, sent Answer, r *model.Response, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if r.FinishReason != model.FinishToolCalls || r.Usage == nil || *r.Usage != *sent.Usage {
		t.Errorf("finish reason %q, usage %+v", r.FinishReason, r.Usage)
	}
	if len(r.ToolCalls) != len(sent.ToolCalls) {
		t.Fatalf("%d calls, want %d", len(r.ToolCalls), len(sent.ToolCalls))
	}
	ids := map[string]bool{}
	for i, got := range r.ToolCalls {
		want := sent.ToolCalls[i]
		if got.ID == "" || ids[got.ID] {
			t.Errorf("call %d has the id %q", i, got.ID)
		}
		if v.Tools.OwnIDs && want.ID != "" && !ids[want.ID] && got.ID != want.ID {
			t.Errorf("call %d has the id %q, want %q", i, got.ID, want.ID)
		}
		ids[got.ID] = true
		if got.Name != want.Name || !v.sameArguments(want.Arguments, got.Arguments) {
			t.Errorf("call %d is %s(%s), want %s(%s)", i, got.Name, got.Arguments, want.Name, want.Arguments)
		}
	}
}

func (v Vendor) sameArguments(want, got string) bool {
	if want == got || v.Tools.RawArguments {
		return want == got
	}
	return sameJSON(want, got)
}

// sameJSON compares arguments; "" is {}.
func sameJSON(a, b string) bool {
	decode := func(s string) (out any, err error) {
		if s == "" {
			s = "{}"
		}
		err = json.Unmarshal([]byte(s), &out)
		return out, err
	}
	x, errX := decode(a)
	y, errY := decode(b)
	return errX == nil && errY == nil && cmp.Equal(x, y)
}

// answered checks how a turn with calls and the tools' results are sent back.
func answered(t *testing.T, v Vendor) {
	turn := func(args ...string) []model.Message {
		m := []model.Message{{Role: model.User, Text: "1+2?"}, {Role: model.Assistant, Text: "Let me see."}}
		for i, a := range args {
			id := fmt.Sprintf("id-%d", i)
			m[1].ToolCalls = append(m[1].ToolCalls, model.ToolCall{ID: id, Name: "add", Arguments: a})
			m = append(m, model.Message{Role: model.ToolRole, CallID: id, ToolName: "add", Text: fmt.Sprintf("result %d", i), IsError: i == 1})
		}
		return m
	}
	noText := turn(`{"a":1,"b":2}`)
	noText[1].Text = ""
	emptyResult := turn(`{}`)
	emptyResult[2].Text = ""
	tests := map[string]struct {
		messages []model.Message
		odd      bool // the arguments are no JSON object
	}{
		"one":           {turn(`{"a":1,"b":2}`), false},
		"several":       {turn(`{"a":1,"b":2}`, `{}`, ``), false},
		"no text":       {noText, false},
		"an empty one":  {emptyResult, false},
		"going on":      {append(turn(`{"a":1}`), model.Message{Role: model.Assistant, Text: "3."}, model.Message{Role: model.User, Text: "Thanks"}), false},
		"odd arguments": {turn(`{"a": `, `[1]`, `null`, `"x"`), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			req := ask()
			req.Tools, req.Messages = toolSpecs(), test.messages
			got := v.sent(t, req).Messages
			if len(got) != len(test.messages) {
				t.Fatalf("sent %d messages, want %d: %+v", len(got), len(test.messages), got)
			}
			for i, want := range test.messages {
				if diff := cmp.Diff(want, v.known(got[i], want, test.odd)); diff != "" {
					t.Errorf("message %d (-want +got):\n%s", i+1, diff)
				}
			}
		})
	}
	t.Run("the response's own turn", func(t *testing.T) { ownTurn(t, v) })
}

// known fills in what not every vendor has on the wire.
func (v Vendor) known(got, want model.Message, odd bool) model.Message {
	if got.Role == model.ToolRole && got.CallID+got.ToolName != "" {
		if got.CallID == "" {
			got.CallID = want.CallID
		}
		if got.ToolName == "" {
			got.ToolName = want.ToolName
		}
	}
	for i := range got.ToolCalls {
		if i >= len(want.ToolCalls) {
			break
		}
		c, w := &got.ToolCalls[i], want.ToolCalls[i]
		if c.ID == "" && !v.Tools.OwnIDs {
			c.ID = w.ID
		}
		if odd || sameJSON(c.Arguments, w.Arguments) {
			c.Arguments = w.Arguments
		}
	}
	return got
}

// ownTurn checks that a turn can be sent back as Response.Message has it.
func ownTurn(t *testing.T, v Vendor) {
	answer := Answer{Text: "Let me see.", Model: "m", ToolCalls: []model.ToolCall{{ID: "id-a", Name: "add", Arguments: `{"a":1,"b":2}`}}}
	var second []Sent
	_, p := v.start(t, func(w http.ResponseWriter, r *http.Request) {
		second = append(second, v.Read(t, r, readAll(t, r)))
		reply(200, v.Answer(answer))(w, r)
	})
	req := ask()
	req.Tools = toolSpecs()
	r, err := p.Complete(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := r.ToolCalls[0]
	req.Messages = append(req.Messages, r.Message(), model.Message{Role: model.ToolRole, CallID: call.ID, ToolName: call.Name, Text: "3"})
	if _, err := p.Complete(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	got := second[1].Messages
	if len(got) != 3 || len(got[1].ToolCalls) != 1 || got[1].Text != answer.Text || got[1].ToolCalls[0].Name != "add" ||
		!sameJSON(got[1].ToolCalls[0].Arguments, call.Arguments) || got[2].Text != "3" {
		t.Errorf("sent %+v", got)
	}
}
