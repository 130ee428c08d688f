package cli

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func keysOf(vars map[string]string, names ...string) *secrets {
	s := &secrets{}
	s.learn(vars, names...)
	return s
}

func TestWhichVariablesHoldSecrets(t *testing.T) {
	s := keysOf(map[string]string{
		"OPENAI_API_KEY": "sk-canary-1", "HOUSE_TOKEN": " house-canary\n", "HOME": "/home/canary-3",
		"LOCAL_API_KEY": "ollama", "ODD_API_KEY": `quote"canary`, "LONGER_API_KEY": "sk-canary-12",
	}, "HOUSE_TOKEN")
	for text, want := range map[string]string{
		"a sk-canary-1 b":           "a [key] b",
		"sk-canary-12":              "[key]", // and not [key]2
		"house-canary":              "[key]",
		"/home/canary-3, ollama":    "/home/canary-3, ollama", // a place, and a placeholder
		`{"a": "quote\"canary"}`:    `{"a": "[key]"}`,
		`quote"canary, sk-canary-1`: "[key], [key]",
	} {
		if got := s.hide(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	var none secrets
	if got := none.hide("sk-canary-1"); got != "sk-canary-1" {
		t.Errorf("without keys: %q", got)
	}
}

// However a text is cut into pieces, what comes out is the text with its keys
// hidden.
func TestKeysInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := keysOf(map[string]string{"A_API_KEY": "aabaabaac", "B_API_KEY": "baabaaba"})
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aabc")), 0, 60, -1).Draw(t, "text") +
			rapid.SampledFrom([]string{"", "aabaabaac", "baabaaba", "aabaabaa"}).Draw(t, "key") + "b"
		var b strings.Builder
		w := &hidingWriter{w: &b, secrets: s}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if written, err := w.Write([]byte(rest[:n])); err != nil || written != n {
				t.Fatal(written, err)
			}
			rest = rest[n:]
		}
		if err := w.flush(); err != nil {
			t.Fatal(err)
		}
		for _, key := range s.list() {
			if strings.Contains(b.String(), key) {
				t.Fatalf("%q is in %q", key, b.String())
			}
		}
		if !strings.Contains(s.hide(text), hidden) && b.String() != text {
			t.Fatalf("%q became %q", text, b.String())
		}
	})
}

// Nothing is kept back that can't begin a key.
func TestTextIsNotKeptBack(t *testing.T) {
	var b strings.Builder
	w := &hidingWriter{w: &b, secrets: keysOf(map[string]string{"A_API_KEY": "sk-canary-1"})}
	for _, piece := range []struct{ in, out string }{{"Hi", "Hi"}, {" ask", " a"}, {" me", "sk me"}, {"sk-canary-", ""}, {"1!", "[key]!"}} {
		b.Reset()
		_, _ = w.Write([]byte(piece.in))
		if b.String() != piece.out {
			t.Errorf("after %q came %q, want %q", piece.in, b.String(), piece.out)
		}
	}
}

// Whatever else is written ends the line of a stream first.
func TestTheOpenLineEndsFirst(t *testing.T) {
	var b strings.Builder
	p := &program{}
	p.screen = newScreen(&b, p.err, &p.secrets)
	p.Stderr = p.screen
	p.screen.piece("ask/turn[1]", "Hel")
	p.screen.piece("ask/turn[1]", "lo\nyou")
	p.warn("careful")
	p.screen.piece("ask/turn[1]", "r")
	p.say("%s\n", "interrupted")
	p.screen.piece("b", "other")
	p.screen.piece("ask/turn[1]", "s")
	p.screen.close()
	want := "ask │ Hello\nask │ you\nwarning: careful\nask │ r\ninterrupted\nb │ other\nask │ s\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
