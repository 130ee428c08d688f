package builtin

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var codecNames = strings.Split(encodings, ", ")

// What an encoding can write, it reads back.
func TestCodecsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, ok := codecFor(rapid.SampledFrom(codecNames).Draw(t, "encoding"))
		if !ok {
			t.Fatal("not known")
		}
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("aé€\ufeff😀\x80")), 0, 9, -1)).Draw(t, "text")
		b, err := c.encodeText(text)
		if err != nil {
			if strings.HasPrefix(c.name, "utf") && utf8.ValidString(text) {
				t.Fatalf("%s cannot write %q: %v", c.name, text, err)
			}
			return
		}
		if got, ok := c.decode(b); !ok || got != text {
			t.Fatalf("%s wrote %q and read %q, %v", c.name, text, got, ok)
		}
	})
}

func TestEncodeTextRefusesInvalidText(t *testing.T) {
	c, _ := codecFor("utf-8")
	if _, err := c.encodeText("a\xff"); err == nil {
		t.Error("no error")
	}
}

// Whatever the bytes, decoding gives valid text; and where it says that they
// were text, writing them gives the bytes back, marks aside.
func FuzzDecode(f *testing.F) {
	for i := range codecNames {
		f.Add(uint8(i), []byte("a\xff\xfe\x00\x3d\xd8\x00\xde\x81€"))
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		name := codecNames[int(which)%len(codecNames)]
		c, _ := codecFor(name)
		text, ok := c.decode(b)
		if !utf8.ValidString(text) {
			t.Fatalf("%s: %q is no text", name, text)
		}
		if !ok || len(c.mark) > 0 {
			return
		}
		back, err := c.encodeText(text)
		if err != nil || string(back) != string(b) {
			t.Fatalf("%s: read %q from %q and wrote %q, %v", name, text, b, back, err)
		}
	})
}
