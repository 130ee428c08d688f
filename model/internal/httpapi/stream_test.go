package httpapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

func TestSplitThink(t *testing.T) {
	tests := map[string]struct{ whole, reasoning, text string }{
		"none":               {"Hello", "", "Hello"},
		"nothing":            {"", "", ""},
		"white space":        {" \n Hello \n", "", " \n Hello \n"},
		"white space only":   {" \n ", "", " \n "},
		"a block":            {"<think>2+2</think>4", "2+2", "4"},
		"white space around": {"\n<think>\n 2 +\n2\n</think>\n\n4 \n", "2 +\n2", "4 \n"},
		"empty block":        {"<think>\n\n</think>\n\n4", "", "4"},
		"not closed":         {"<think>2+2\n", "2+2", ""},
		"half a tag":         {"<thin", "", "<thin"},
		"half an end":        {"<think>2+2</thi", "2+2</thi", ""},
		"an end inside":      {"<think>a </thin </think>b", "a </thin", "b"},
		"not at the start":   {"x <think>2+2</think>4", "", "x <think>2+2</think>4"},
		"a second block":     {"<think>a</think>b<think>c</think>", "a", "b<think>c</think>"},
		"another tag":        {"<thinking>a</thinking>b", "", "<thinking>a</thinking>b"},
		"no text":            {"<think>a</think>", "a", ""},
		"much white space":   {strings.Repeat(" ", 2000) + "<think>a</think>", "", strings.Repeat(" ", 2000) + "<think>a</think>"},
		"letters of 4 bytes": {"<think>🧵</think>🪡", "🧵", "🪡"},
	}
	for name, test := range tests {
		if reasoning, text := httpapi.SplitThink(test.whole); reasoning != test.reasoning || text != test.text {
			t.Errorf("%s: got %q and %q, want %q and %q", name, reasoning, text, test.reasoning, test.text)
		}
	}
}

// TestThinkSplitterByPieces checks that it makes no difference how an answer is
// cut into pieces.
func TestThinkSplitterByPieces(t *testing.T) {
	part := rapid.SampledFrom([]string{"<think>", "</think>", "<", "/", "</", "thi", "nk>", " ", "\n", "a", "🧵", strings.Repeat(" ", 70)})
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(part).Draw(t, "pieces")
		wantReasoning, wantText := httpapi.SplitThink(strings.Join(pieces, ""))
		var s httpapi.ThinkSplitter
		var reasoning, text string
		add := func(r, x string) {
			if r != "" && text != "" {
				t.Fatal("reasoning after text")
			}
			reasoning += r
			text += x
		}
		for _, p := range pieces {
			add(s.Add(p))
		}
		add(s.End())
		if reasoning != wantReasoning || text != wantText {
			t.Errorf("got %q and %q, want %q and %q", reasoning, text, wantReasoning, wantText)
		}
	})
}

// TestThinkSplitterHoldsLittle checks that endless white space is neither kept
// nor copied again and again.
func TestThinkSplitterHoldsLittle(t *testing.T) {
	for _, start := range []string{"", "<think>", "<think>a", "<think>a</think>", "a"} {
		var s httpapi.ThinkSplitter
		s.Add(start)
		out := 0
		for range 10_000 {
			r, x := s.Add(" ")
			out += len(r) + len(x)
		}
		r, x := s.End()
		if held := len(r) + len(x); held > 1100 {
			t.Errorf("after %q, %d bytes were held (%d went out)", start, held, out)
		}
	}
}

func TestCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []model.Delta
		c := httpapi.Collect(func(d model.Delta) { got = append(got, d) })
		time.Sleep(3 * time.Second)
		c.Text("<thi")
		time.Sleep(2 * time.Second)
		c.Text("nk>why")
		c.Reasoning(" not")
		time.Sleep(time.Second)
		c.Text("</think>so ")
		c.Text("")
		c.Text("it is")
		r := model.Response{Model: "m"}
		c.Finish(&r)
		want := []model.Delta{{Reasoning: "why"}, {Reasoning: " not"}, {Text: "so "}, {Text: "it is"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pieces (-want +got):\n%s", diff)
		}
		wantResponse := model.Response{Model: "m", Text: "so it is", Reasoning: "why not", FirstToken: 5 * time.Second}
		if diff := cmp.Diff(wantResponse, r); diff != "" {
			t.Errorf("response (-want +got):\n%s", diff)
		}
	})
	t.Run("held at the end", func(t *testing.T) {
		var got []model.Delta
		c := httpapi.Collect(func(d model.Delta) { got = append(got, d) })
		c.Text("<thin")
		r := model.Response{}
		c.Finish(&r)
		if r.Text != "<thin" || len(got) != 1 || got[0].Text != "<thin" || r.FirstToken <= 0 {
			t.Errorf("got %+v and %+v", r, got)
		}
	})
	t.Run("without a sink", func(t *testing.T) {
		c := httpapi.Collect(nil)
		c.Text("a")
		r := model.Response{}
		c.Finish(&r)
		if r.Text != "a" || r.FirstToken != 0 {
			t.Errorf("got %+v", r)
		}
	})
}

func TestGuardEvents(t *testing.T) {
	event := "data: 0123456789\r\n\r\n" // 20 bytes
	tests := map[string]struct {
		body string
		ok   bool
	}{
		"many events":     {strings.Repeat(event, 20), true},
		"one event":       {strings.Repeat("data: 01\n", 3) + "\n", true},
		"of too many":     {strings.Repeat("data: 01\n", 5) + "\n", false},
		"a long line":     {"data: " + strings.Repeat("x", 100), false},
		"blank lines":     {strings.Repeat("\r\n", 100), true},
		"too long at all": {strings.Repeat(event, 51), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			res := &http.Response{Body: io.NopCloser(strings.NewReader(test.body))}
			httpapi.Service{Name: "x"}.GuardEvents(res, 1000, 40)
			got, err := io.ReadAll(res.Body)
			if test.ok && (err != nil || string(got) != test.body) || !test.ok && fault.KindOf(err) != fault.Permanent {
				t.Errorf("read %d bytes of %d, %v", len(got), len(test.body), err)
			}
		})
	}
}

func TestStatusOfType(t *testing.T) {
	for kind, want := range map[string]int{
		"overloaded_error": 529, "rate_limit_error": 429, "rate_limit_exceeded": 429, "invalid_request_error": 400,
		"authentication_error": 401, "permission_error": 403, "not_found_error": 404, "request_too_large": 413,
		"api_error": 500, "server_error": 500, "RESOURCE_EXHAUSTED": 429, "UNAVAILABLE": 503, "INVALID_ARGUMENT": 400,
		"DEADLINE_EXCEEDED": 504, "PERMISSION_DENIED": 403, "context_length_exceeded": 400, "": 500, "new": 500,
	} {
		if got := httpapi.StatusOfType(kind); got != want {
			t.Errorf("%s: %d, want %d", kind, got, want)
		}
	}
}
