package nearest_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/internal/nearest"
)

func TestOf(t *testing.T) {
	keys := []string{"draft", "depends_on", "prompt", "type", "output", "timeout", "id", "tool_name", "tool_args"}
	tests := []struct{ word, want string }{
		{"drafft", "draft"},
		{"darft", "draft"},
		{"DRAFT", "draft"},
		{"depend_on", "depends_on"},
		{"dependsOn", "depends_on"},
		{"typ", "type"},
		{"tpye", "type"},
		{"tool", ""},
		{"toolname", "tool_name"},
		{"xyz", ""},
		{"di", "id"},
		{"x", ""},
		{"", ""},
		{"draft", ""},
		{"tymeot", "timeout"},
		{strings.Repeat("x", 1000), ""},
		{"prömpt", "prompt"},
	}
	for _, test := range tests {
		if got := nearest.Of(test.word, keys); got != test.want {
			t.Errorf("Of(%q) = %q, want %q", test.word, got, test.want)
		}
	}
}

func TestCaseComesFirst(t *testing.T) {
	if got := nearest.Of("draft", []string{"drafts", "Draft"}); got != "Draft" {
		t.Errorf("got %q", got)
	}
}

func TestFirstOfEqualsWins(t *testing.T) {
	if got := nearest.Of("step_x", []string{"step_a", "step_b"}); got != "step_a" {
		t.Errorf("got %q", got)
	}
}

// One edit of a word of six letters is always found, when nothing else is near.
func TestOneEdit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{6,20}`).Draw(t, "word")
		i := rapid.IntRange(0, len(word)-2).Draw(t, "at")
		edits := []string{
			word[:i] + word[i+1:],
			word[:i] + "0" + word[i:],
			word[:i] + "0" + word[i+1:],
			word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:],
		}
		wrong := rapid.SampledFrom(edits).Draw(t, "edit")
		if wrong == word {
			return
		}
		if got := nearest.Of(wrong, []string{strings.Repeat("9", 30), word}); got != word {
			t.Fatalf("Of(%q) = %q, want %q", wrong, got, word)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("step_%05d", i)
	}
	for b.Loop() {
		nearest.Of("stop_9x999", ids)
	}
}
