package recorder_test

import (
	"context"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/recorder"
	"github.com/agentloom/agentloom/value"
)

func tools(t *testing.T, src string) *recorder.ToolReplay {
	t.Helper()
	r, err := recorder.ParseTools([]byte(src), "r.json")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestToolResultsComeBack checks values of every kind to the last bit.
func TestToolResultsComeBack(t *testing.T) {
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	results := []any{nil, true, int64(1), 1.0, 0.1, math.Copysign(0, -1), 1e300, huge, "", "<ü> \u2028 🧵\n", []any{}, []any{int64(1), []any{nil}},
		value.NewMap(0), value.MapOf("z", int64(1), "a", value.MapOf("c", 2.0, "b", "x"))}
	file := newFile(t, "")
	r := open(t, recorder.Config{File: file})
	for i, result := range results {
		if err := r.RecordTool("s", "f", value.MapOf("i", int64(i)), result, ""); err != nil {
			t.Fatal(err)
		}
	}
	back := tools(t, read(t, file))
	if back.Len() != len(results) {
		t.Errorf("%d calls, want %d", back.Len(), len(results))
	}
	for i, want := range results {
		got, errText, ok := back.Lookup("s", "f", value.MapOf("i", int64(i)))
		if !ok || errText != "" {
			t.Fatalf("%v: not found, %q", want, errText)
		}
		a, errA := value.EncodeJSON(want)
		b, errB := value.EncodeJSON(got)
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("got %s, want %s (%v, %v)", b, a, errA, errB)
		}
	}
}

func TestLookup(t *testing.T) {
	file := newFile(t, "")
	r := open(t, recorder.Config{File: file})
	args := value.MapOf("b", int64(1), "a", value.MapOf("y", 2.0, "x", []any{"z"}))
	for _, c := range []struct {
		step, name string
		args       *value.Map
		result     any
		errText    string
	}{
		{"a.s", "f", args, "first", ""},
		{"a.s", "f", args, nil, "the disk is full"},
		{"a.s", "f", args, "third", ""},
		{"a.s", "g", args, "g's", ""},
		{"b.s", "f", args, "b's", ""},
		{"a.s", "f", nil, "no arguments", ""},
	} {
		if err := r.RecordTool(c.step, c.name, c.args, c.result, c.errText); err != nil {
			t.Fatal(err)
		}
	}
	back := tools(t, read(t, file))
	other := value.MapOf("a", value.MapOf("x", []any{"z"}, "y", 2.0), "b", int64(1)) // another order of keys
	type answer struct {
		Result any
		Err    string
		OK     bool
	}
	var got []answer
	for _, c := range []struct {
		step, name string
		args       *value.Map
	}{
		{"a.s", "f", other}, {"a.s", "f", args}, {"a.s", "f", args}, {"a.s", "f", args}, {"a.s", "g", args}, {"b.s", "f", args},
		{"a.s", "f", nil}, {"a.s", "f", value.NewMap(0)},
		{"s", "f", args}, {"a.s", "h", args}, {"a.s", "f", value.MapOf("b", 1.0)},
	} {
		result, errText, ok := back.Lookup(c.step, c.name, c.args)
		got = append(got, answer{result, errText, ok})
	}
	want := []answer{
		{"first", "", true}, {nil, "the disk is full", true}, {"third", "", true}, {"third", "", true}, {"g's", "", true}, {"b's", "", true},
		{"no arguments", "", true}, {"no arguments", "", true}, {}, {}, {},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestTape(t *testing.T) {
	var tape recorder.Tape
	if _, _, ok := tape.Replay("s", "f", nil); ok || tape.Record("s", "f", nil, 1, "") != nil {
		t.Error("an empty tape has something")
	}
	file := newFile(t, "")
	tape.To = open(t, recorder.Config{File: file})
	if err := tape.Record("s", "f", nil, int64(1), ""); err != nil {
		t.Fatal(err)
	}
	tape.From = tools(t, read(t, file))
	if got, failure, ok := tape.Replay("s", "f", nil); got != int64(1) || failure != "" || !ok {
		t.Errorf("got %v, %q, %v", got, failure, ok)
	}
}

func TestParseTools(t *testing.T) {
	for _, src := range []string{"", "{}", `{"s": {"content": "x"}, "_tools": []}`} {
		if n := tools(t, src).Len(); n != 0 {
			t.Errorf("%q: %d calls", src, n)
		}
	}
	for _, src := range []string{"[]", "x", `{"_tools": 5}`, `{"_tools": [5]}`, `{"_tools": [{}]}`, `{"_tools": [{"step_id": "s", "name": 5}]}`,
		`{"_tools": [{"step_id": "s", "name": "f", "arguments": [1]}]}`, `{"_version": 9}`, `{"a": `,
		`{"_tools": [{"step_id": "s", "name": "f", "result": ` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}]}`} {
		if _, err := recorder.ParseTools([]byte(src), "r.json"); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "r.json") {
			t.Errorf("%.40s: got %v", src, err)
		}
	}
}

func TestToolResultThatIsNoValue(t *testing.T) {
	r := open(t, recorder.Config{File: newFile(t, "")})
	if err := r.RecordTool("s", "f", nil, make(chan int), ""); fault.KindOf(err) != fault.Permanent {
		t.Errorf("got %v", err)
	}
	if err := r.RecordTool("s", "f", nil, struct{ A int }{5}, ""); err != nil {
		t.Error(err)
	}
}

// TestNothingSecretIsWritten puts a secret into every text that there is.
func TestNothingSecretIsWritten(t *testing.T) {
	const secret, sentinel = `canary"0123`, "<REDACTED>"
	file := newFile(t, "")
	r := open(t, recorder.Config{File: file, Redact: func(s string) string { return strings.ReplaceAll(s, secret, sentinel) }})
	const written = `{"canary\"0123": ["x canary\"0123 y", {"plain": "\u0063anary\"0123"}], "n": 1.50}`
	p := r.Wrap(saying(&model.Response{
		Text: "text " + secret, Reasoning: secret + " reasoning", Model: secret, FinishReason: secret,
		ToolCalls: []model.ToolCall{{ID: secret, Name: "f" + secret, Arguments: written}, {ID: "b", Name: "g", Arguments: "no JSON " + secret}},
		Raw:       []byte(`"` + secret + `"`), Native: &model.Native{Data: []byte(`"canary"`)},
	}))
	call(t, p, "s", secret)
	args := value.MapOf("a", []any{secret}, secret, int64(1))
	if err := r.RecordTool("s", secret, args, value.MapOf(secret, secret), ""); err != nil {
		t.Fatal(err)
	}
	if err := r.RecordTool("s", "f", args, nil, "error "+secret); err != nil {
		t.Fatal(err)
	}
	got := read(t, file)
	if strings.Contains(got, "canary") || strings.Contains(got, "0123") {
		t.Errorf("the secret is in the file:\n%s", got)
	}
	if n := strings.Count(got, sentinel); n < 12 {
		t.Errorf("%d sentinels in:\n%s", n, got)
	}
	res, err := replay(t, file).Complete(context.Background(), ask("s", ""), nil)
	if err != nil || res.Text != "text "+sentinel || res.ToolCalls[1].Arguments != "no JSON "+sentinel {
		t.Errorf("got %+v, %v", res, err)
	}
	if !strings.Contains(res.ToolCalls[0].Arguments, `"n":1.5`) {
		t.Errorf("got %s", res.ToolCalls[0].Arguments)
	}
}
