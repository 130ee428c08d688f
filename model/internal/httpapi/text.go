package httpapi

import (
	"strconv"
	"strings"
	"unicode"
)

const (
	// maxMessage is the most of a service's own words that goes into an error,
	// in characters.
	maxMessage = 500
	// minSecret is the length from which a key is taken for a secret. Shorter
	// ones are placeholders that local servers want ("none", "ollama"), and
	// blotting these out would only garble messages.
	minSecret = 8
)

// Clean makes text from outside fit for an error: the key is blotted out,
// control, bidirectional and other invisible characters are escaped, and what
// is longer than 500 characters is cut.
func Clean(text, key string) string {
	text = redact(strings.ToValidUTF8(text, "\ufffd"), key)
	var b strings.Builder
	n := 0
	for _, r := range strings.TrimSpace(text) {
		if n++; n > maxMessage {
			b.WriteString("…")
			break
		}
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRune(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

func redact(text, key string) string {
	if len(key) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, key, "[key]")
}
