package recorder_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/mock"
	"github.com/agentloom/agentloom/model/recorder"
)

// scripted answers with what the test says.
type scripted struct {
	complete func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error)
	embed    func(*model.EmbedRequest) (*model.EmbedResponse, error)
}

func (scripted) Name() string { return "scripted" }

func (s scripted) Complete(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	return s.complete(ctx, req, stream)
}

func (s scripted) Embed(_ context.Context, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	return s.embed(req)
}

// echo answers with the text of the question.
func echo() scripted {
	return scripted{complete: func(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Response, error) {
		return &model.Response{Text: req.Messages[len(req.Messages)-1].Text, Model: "m", CostUSD: ptr(0.0)}, nil
	}}
}

// saying answers with one response.
func saying(r *model.Response) scripted {
	return scripted{complete: func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) { return r, nil }}
}

func ptr[T any](v T) *T { return &v }

func ask(step, text string) *model.Request {
	return &model.Request{StepID: step, Model: "m", Messages: []model.Message{{Role: model.User, Text: text}}}
}

func open(t testing.TB, cfg recorder.Config) *recorder.Recorder {
	t.Helper()
	r, err := recorder.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// call makes a call of a step that must succeed.
func call(t testing.TB, p model.Provider, step, text string) *model.Response {
	t.Helper()
	r, err := p.Complete(t.Context(), ask(step, text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func newFile(t testing.TB, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "r.json")
	if content != "" {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

func replay(t testing.TB, file string) *mock.Provider {
	t.Helper()
	p, err := mock.New(mock.Config{Responses: []byte(read(t, file)), File: file})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFile checks the file to the last byte.
func TestFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := newFile(t, "")
		r := open(t, recorder.Config{File: file})
		if got := read(t, file); got != "{\n  \"_version\": 2\n}\n" {
			t.Errorf("at the start:\n%s", got)
		}
		answers := []*model.Response{
			{Reasoning: "hm", ToolCalls: []model.ToolCall{
				{ID: "a", Name: "f", Arguments: "{\"b\": 1.50,\n \"a\": [1e3]}"}, {ID: "b", Name: "g", Arguments: "{\"x\": "}, {ID: "c", Name: "h"},
			}, Usage: &model.Usage{PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3, ReasoningTokens: 1, CachedTokens: 1}, FinishReason: "tool_calls", Model: "m-1"},
			{Text: "<ü> & \"x\"\n", CostUSD: ptr(0.25), FinishReason: "stop", Model: "m-1", Native: &model.Native{Provider: "p"}, Raw: []byte(`{}`), FirstToken: 5},
		}
		p := r.Wrap(scripted{complete: func(_ context.Context, _ *model.Request, _ func(model.Delta)) (*model.Response, error) {
			time.Sleep(1500*time.Microsecond + 400)
			next := answers[0]
			answers = answers[1:]
			return next, nil
		}})
		call(t, p, "sub.loop", "")
		call(t, p, "sub.loop", "")
		want := `{
  "_version": 2,
  "sub.loop": [
    {"content":"","reasoning":"hm","tool_calls":[{"id":"a","name":"f","arguments":{"b":1.50,"a":[1e3]}},{"id":"b","name":"g","arguments":"{\"x\": "},{"id":"c","name":"h","arguments":""}],"model":"m-1","usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"reasoning_tokens":1,"cached_tokens":1},"cost_usd":null,"finish_reason":"tool_calls","latency_ms":1.5},
    {"content":"<ü> & \"x\"\n","model":"m-1","cost_usd":0.25,"finish_reason":"stop","latency_ms":1.5}
  ]
}
`
		if diff := cmp.Diff(want, read(t, file)); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		only(t, file)
	})
}

// only checks that a recording's folder holds nothing else.
func only(t *testing.T, file string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(list) != 1 {
		t.Errorf("the folder holds %v, %v", list, err)
	}
}

// TestReplay checks that the mock provider gives back what was recorded.
func TestReplay(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[{}\[\]",:0-9a-z\\ ]{0,12}`), rapid.Just(`{"a": {"b": [1, 2.50, "ü"]}}`))
	count := rapid.Int64Range(0, 1<<50)
	file := newFile(t, "")
	rapid.Check(t, func(t *rapid.T) {
		want := &model.Response{
			Text: text.Draw(t, "text"), Reasoning: text.Draw(t, "reasoning"), Model: rapid.StringN(1, 9, -1).Draw(t, "model"), Provider: "mock",
			FinishReason: rapid.StringN(1, 9, -1).Draw(t, "finish"),
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
			want.ToolCalls = append(want.ToolCalls, model.ToolCall{ID: fmt.Sprint("id", i), Name: text.Draw(t, "name"), Arguments: text.Draw(t, "arguments")})
		}
		if rapid.Bool().Draw(t, "usage") {
			want.Usage = &model.Usage{
				PromptTokens: count.Draw(t, "p"), CompletionTokens: count.Draw(t, "c"), TotalTokens: count.Draw(t, "t"),
				ReasoningTokens: count.Draw(t, "r"), CachedTokens: count.Draw(t, "k"),
			}
		}
		if rapid.Bool().Draw(t, "priced") {
			want.CostUSD = ptr(rapid.Float64Range(0, 1e9).Draw(t, "cost"))
		}
		r, err := recorder.New(recorder.Config{File: file})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Wrap(saying(want)).Complete(context.Background(), ask("s", ""), nil); err != nil {
			t.Fatal(err)
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := mock.New(mock.Config{Responses: src})
		if err != nil {
			t.Fatalf("%v in %s", err, src)
		}
		got, err := p.Complete(context.Background(), ask("s", ""), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Arguments" }, cmp.Comparer(sameArguments))); diff != "" {
			t.Errorf("response (-recorded +replayed):\n%s", diff)
		}
	})
}

// sameArguments: an object may lose the white space around its parts.
func sameArguments(a, b string) bool {
	compact := func(s string) string {
		var v map[string]json.RawMessage
		if json.Unmarshal([]byte(s), &v) != nil || v == nil {
			return s
		}
		b, err := json.Marshal(json.RawMessage(s))
		if err != nil {
			return s
		}
		return string(b)
	}
	return compact(a) == compact(b)
}

func TestStreamsAreOneResponse(t *testing.T) {
	file := newFile(t, "")
	inner, err := mock.New(mock.Config{Responses: []byte(`{"s": {"content": "a b c", "reasoning": "d e"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	var pieces []model.Delta
	r, err := open(t, recorder.Config{File: file}).Wrap(inner).Complete(t.Context(), ask("s", ""), func(d model.Delta) { pieces = append(pieces, d) })
	if err != nil || len(pieces) != 5 || r.FirstToken <= 0 {
		t.Errorf("pieces %v of %+v, %v", pieces, r, err)
	}
	again, err := replay(t, file).Complete(t.Context(), ask("s", ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, again, cmpopts.IgnoreFields(model.Response{}, "FirstToken")); diff != "" {
		t.Errorf("response (-recorded +replayed):\n%s", diff)
	}
}

func TestEmbeddings(t *testing.T) {
	file := newFile(t, "")
	want := &model.EmbedResponse{Vectors: [][]float64{{0.1, -1e-9}, {3, 1.0 / 3}}, Model: "m", Provider: "mock", Usage: &model.Usage{PromptTokens: 4, TotalTokens: 4}}
	p := open(t, recorder.Config{File: file}).Wrap(scripted{embed: func(*model.EmbedRequest) (*model.EmbedResponse, error) { return want, nil }})
	for _, req := range []*model.EmbedRequest{{StepID: "a.b", Model: "m", Inputs: []string{"x", "y"}}, {Model: "m", Inputs: []string{"p", "q"}}} {
		if _, err := p.Embed(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		got, err := replay(t, file).Embed(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("response (-recorded +replayed):\n%s", diff)
		}
	}
}

// TestKeysThatAreMetadata checks calls that can't be kept under a step's id.
func TestKeysThatAreMetadata(t *testing.T) {
	file := newFile(t, "")
	p := open(t, recorder.Config{File: file}).Wrap(echo())
	for _, step := range []string{"", "_tools", "_version", "_x.y"} {
		call(t, p, step, "for "+step)
	}
	q := replay(t, file)
	for _, step := range []string{"", "_tools", "_version", "_x.y"} {
		if got := call(t, q, step, "for "+step).Text; got != "for "+step {
			t.Errorf("%q: got %q", step, got)
		}
	}
}

// TestFailuresAreNotRecorded checks retries: the success is the turn.
func TestFailuresAreNotRecorded(t *testing.T) {
	file := newFile(t, "")
	n := 0
	p := open(t, recorder.Config{File: file}).Wrap(scripted{
		complete: func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
			if n++; n%2 == 1 {
				return &model.Response{Text: "half", Usage: &model.Usage{PromptTokens: 1}}, fault.New(fault.Transient, "broke off", nil)
			}
			return &model.Response{Text: fmt.Sprint(n), CostUSD: ptr(0.0)}, nil
		},
		embed: func(*model.EmbedRequest) (*model.EmbedResponse, error) { return nil, errors.New("no") },
	})
	for range 2 {
		if r, err := p.Complete(t.Context(), ask("s", ""), nil); fault.KindOf(err) != fault.Transient || r == nil || r.Text != "half" {
			t.Errorf("got %+v, %v", r, err)
		}
		call(t, p, "s", "")
	}
	if _, err := p.Embed(t.Context(), &model.EmbedRequest{StepID: "e"}); err == nil {
		t.Error("no error")
	}
	q := replay(t, file)
	if a, b := call(t, q, "s", "").Text, call(t, q, "s", "").Text; a != "2" || b != "4" {
		t.Errorf("got %q and %q", a, b)
	}
	if s := read(t, file); strings.Contains(s, "half") || strings.Contains(s, `"e"`) {
		t.Errorf("a failure was recorded: %s", s)
	}
}

// TestOrderIsThatOfTheCalls checks calls of one step that overlap.
// TestLastAttemptIsKept: a replay makes no failing calls, so that the turns of
// an attempt that was given up would stand before those of the next.
func TestLastAttemptIsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rec.json")
	p := open(t, recorder.Config{File: file}).Wrap(echo())
	for _, c := range []struct {
		attempt int
		text    string
	}{{1, "given up"}, {1, "given up too"}, {2, "first"}, {1, "late"}, {2, "second"}} {
		req := ask("a", c.text)
		req.Attempt = c.attempt
		if _, err := p.Complete(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again, err := mock.New(mock.Config{Responses: src})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first", "second", "second"} {
		if got := call(t, again, "a", "?").Text; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestOrderIsThatOfTheCalls(t *testing.T) {
	file := newFile(t, "")
	started, finish := make(chan string), map[string]chan bool{"a": make(chan bool), "b": make(chan bool), "c": make(chan bool)}
	p := open(t, recorder.Config{File: file}).Wrap(scripted{complete: func(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Response, error) {
		text := req.Messages[0].Text
		started <- text
		<-finish[text]
		return &model.Response{Text: text}, nil
	}})
	done := make(chan bool)
	for _, text := range []string{"a", "b", "c"} {
		go func() {
			call(t, p, "s", text)
			done <- true
		}()
		<-started
	}
	for _, text := range []string{"c", "a", "b"} {
		finish[text] <- true
		<-done
	}
	q := replay(t, file)
	if got := call(t, q, "s", "").Text + call(t, q, "s", "").Text + call(t, q, "s", "").Text; got != "abc" {
		t.Errorf("got %q", got)
	}
}

// TestManyAtOnce checks that nothing is lost among parallel calls, and that
// each is on disk when it returns.
func TestManyAtOnce(t *testing.T) {
	file := newFile(t, "")
	p := open(t, recorder.Config{File: file}).Wrap(echo())
	var wg sync.WaitGroup
	for i := range 300 {
		wg.Go(func() {
			step := fmt.Sprintf("s%d", i)
			call(t, p, step, "text of "+step)
			if i%10 != 0 {
				return
			}
			if q := replay(t, file); call(t, q, step, "").Text != "text of "+step {
				t.Errorf("%s is not on disk", step)
			}
		})
	}
	wg.Wait()
	q := replay(t, file)
	for i := range 300 {
		step := fmt.Sprintf("s%d", i)
		if got := call(t, q, step, "").Text; got != "text of "+step {
			t.Errorf("%s: got %q", step, got)
		}
	}
	only(t, file)
}

// TestUnwritable checks that an answer that can't be recorded is returned all
// the same, that it is told, and that a later write makes up for it.
func TestUnwritable(t *testing.T) {
	file := newFile(t, "")
	var told []error
	r := open(t, recorder.Config{File: file, OnError: func(err error) { told = append(told, err) }})
	p := r.Wrap(echo())
	block := func() {
		if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	unblock := func() {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	block()
	if got := call(t, p, "s", "paid").Text; got != "paid" {
		t.Errorf("got %q", got)
	}
	if len(told) != 1 || fault.KindOf(told[0]) != fault.Permanent || !strings.Contains(told[0].Error(), file) {
		t.Errorf("told %v", told)
	}
	if err := r.RecordTool("s", "f", nil, 1, ""); fault.KindOf(err) != fault.Permanent {
		t.Errorf("got %v", err)
	}
	if err := r.Flush(); fault.KindOf(err) != fault.Permanent {
		t.Errorf("got %v", err)
	}
	unblock()
	call(t, p, "t", "later")
	if err := r.Flush(); err != nil || len(told) != 1 {
		t.Errorf("got %v, told %v", err, told)
	}
	q := replay(t, file)
	if a, b := call(t, q, "s", "").Text, call(t, q, "t", "").Text; a != "paid" || b != "later" {
		t.Errorf("got %q and %q", a, b)
	}
	block()
	call(t, p, "u", "flushed")
	unblock()
	if err := r.Flush(); err != nil {
		t.Error(err)
	}
	if got := call(t, replay(t, file), "u", "").Text; got != "flushed" {
		t.Errorf("got %q", got)
	}
}

func TestSize(t *testing.T) {
	file := newFile(t, "")
	var told error
	r := open(t, recorder.Config{File: file, MaxBytes: 2000, OnError: func(err error) { told = err }})
	p := r.Wrap(echo())
	call(t, p, "small", strings.Repeat("x", 1000))
	if err := r.Flush(); err != nil || told != nil {
		t.Errorf("got %v, told %v", err, told)
	}
	before := read(t, file)
	for range 3 {
		call(t, p, "big", strings.Repeat("x", 1000))
		if fault.KindOf(told) != fault.Permanent || !strings.Contains(told.Error(), "2000 bytes") {
			t.Errorf("told %v", told)
		}
	}
	if err := r.Flush(); err == nil {
		t.Error("a record is missing, and Flush does not say so")
	}
	if read(t, file) != before {
		t.Error("the file changed")
	}
	if _, err := recorder.New(recorder.Config{File: file, MaxBytes: 100}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("got %v", err)
	}
}

// TestSizeOfTheWhole checks that what the file had counts too.
func TestSizeOfTheWhole(t *testing.T) {
	content := `{"old": {"content": "` + strings.Repeat("x", 1500) + `"}}`
	file := newFile(t, content)
	var told error
	r := open(t, recorder.Config{File: file, MaxBytes: 2000, OnError: func(err error) { told = err }})
	call(t, r.Wrap(echo()), "new", strings.Repeat("x", 600))
	if told == nil || r.Flush() == nil {
		t.Errorf("told %v", told)
	}
	if got := call(t, replay(t, file), "old", "").Text; len(got) != 1500 {
		t.Errorf("what was there is lost: %d", len(got))
	}
}

func TestRefusesWhatIsNoRecording(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]string{
		"no JSON":       "hello",
		"half":          `{"a": {"content": "x"}`,
		"a list":        `[]`,
		"null":          `null`,
		"no responses":  `{"a": 5}`,
		"twice":         `{"a": {}, "a": {}}`,
		"newer":         `{"_version": 3}`,
		"odd version":   `{"_version": "2"}`,
		"odd tools":     `{"_tools": {}}`,
		"a tool's step": `{"_tools": [{"name": "f"}]}`,
	}
	for name, content := range tests {
		file := newFile(t, content)
		if _, err := recorder.New(recorder.Config{File: file}); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: got %v, want an invalid file", name, err)
		}
		if got := read(t, file); got != content {
			t.Errorf("%s: the file was changed to %s", name, got)
		}
	}
	for _, file := range []string{"", dir, filepath.Join(dir, "none", "r.json"), os.DevNull} {
		if _, err := recorder.New(recorder.Config{File: file}); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: got %v", file, err)
		}
	}
}

func TestEmptyAndMarkedFiles(t *testing.T) {
	for _, content := range []string{"\ufeff{\"a\": {\"content\": \"old\"}}", "{\"_version\": 1, \"a\": {\"content\": \"old\"}}"} {
		file := newFile(t, content)
		call(t, open(t, recorder.Config{File: file}).Wrap(echo()), "b", "new")
		q := replay(t, file)
		if a, b := call(t, q, "a", "").Text, call(t, q, "b", "").Text; a != "old" || b != "new" {
			t.Errorf("got %q and %q", a, b)
		}
	}
}

// TestLinks checks that the file that a link leads to is replaced, and that
// neither the temporary file's place nor the lock's is followed.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := t.TempDir()
	file, link, victim := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json"), filepath.Join(dir, "victim")
	for _, err := range []error{
		os.WriteFile(file, []byte(`{"a": {}}`), 0o644), os.WriteFile(victim, []byte("precious"), 0o644),
		os.Symlink(file, link), os.Symlink(victim, filepath.Join(dir, ".real.json.tmp")), os.Symlink("nowhere", filepath.Join(dir, "dangling")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	call(t, open(t, recorder.Config{File: link}).Wrap(echo()), "b", "new")
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if got := read(t, victim); got != "precious" {
		t.Errorf("the temporary file went to %q", got)
	}
	if got := call(t, replay(t, file), "b", "").Text; got != "new" {
		t.Errorf("got %q", got)
	}
	if _, err := recorder.New(recorder.Config{File: filepath.Join(dir, "dangling")}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("got %v", err)
	}
	if err := os.Symlink(victim, file+".lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := recorder.New(recorder.Config{File: file}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("the lock followed a link: %v", err)
	}
}

// TestWrapKeepsTheProvidersOwn checks what goes through unchanged.
func TestWrapKeepsTheProvidersOwn(t *testing.T) {
	r := open(t, recorder.Config{File: newFile(t, "")})
	closed := false
	p := r.Wrap(anyModel{scripted{}, &closed})
	if p.Name() != "scripted" || !p.(interface{ TakesAnyModel() bool }).TakesAnyModel() {
		t.Errorf("name %q", p.Name())
	}
	if err := p.(interface{ Close() error }).Close(); err != nil || !closed {
		t.Errorf("closed %v, %v", closed, err)
	}
	q := r.Wrap(scripted{})
	if err := q.(interface{ Close() error }).Close(); err != nil || q.(interface{ TakesAnyModel() bool }).TakesAnyModel() {
		t.Errorf("got %v", err)
	}
}

type anyModel struct {
	scripted
	closed *bool
}

func (anyModel) TakesAnyModel() bool { return true }
func (a anyModel) Close() error      { *a.closed = true; return nil }
