package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
)

// hidden stands in place of a key in all that is printed or recorded.
const hidden = "[key]"

// shortestSecret is how long a key is at least: a shorter one is a placeholder
// of a service that wants none, and may be part of any text.
const shortestSecret = 8

// secrets are the keys of the environment, which must not leave the program in
// any other way than to their services: not even where a service repeats its
// key in an answer or a command prints its variables. The zero secrets hide
// nothing.
type secrets struct {
	mu   sync.Mutex
	keys []string // the longest first, since one may begin another
}

// learn adds the keys that variables hold: those named *_API_KEY, and names.
func (s *secrets) learn(vars map[string]string, names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, v := range vars {
		if !strings.HasSuffix(name, "_API_KEY") && !slices.Contains(names, name) {
			continue
		}
		v = strings.TrimSpace(v)
		if len(v) < shortestSecret {
			continue
		}
		s.keys = append(s.keys, v)
		quoted, _ := json.Marshal(v) // a string always has a form
		if inner := string(quoted[1 : len(quoted)-1]); inner != v {
			s.keys = append(s.keys, inner)
		}
	}
	slices.SortFunc(s.keys, func(a, b string) int { return len(b) - len(a) })
	s.keys = slices.Compact(s.keys)
}

// list returns the keys, which nobody changes.
func (s *secrets) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.keys)
}

// hide replaces each key in a text.
func (s *secrets) hide(text string) string {
	for _, key := range s.list() {
		text = strings.ReplaceAll(text, key, hidden)
	}
	return text
}

// hidingWriter hides keys in what is written, also one that comes in several
// pieces: it keeps back an end that may begin a key. It is not safe for
// concurrent use.
type hidingWriter struct {
	w       io.Writer
	secrets *secrets
	held    []byte
}

func (h *hidingWriter) Write(b []byte) (int, error) {
	keys := h.secrets.list()
	if len(keys) == 0 && len(h.held) == 0 {
		return h.w.Write(b)
	}
	text := append(h.held, b...)
	for _, key := range keys {
		text = bytes.ReplaceAll(text, []byte(key), []byte(hidden))
	}
	keep := 0
	for _, key := range keys {
		keep = max(keep, overlap(text, key))
	}
	h.held = slices.Clone(text[len(text)-keep:])
	if _, err := h.w.Write(text[:len(text)-keep]); err != nil {
		return 0, err
	}
	return len(b), nil
}

// overlap is how many bytes at the end of a text begin a key.
func overlap(text []byte, key string) int {
	for n := min(len(text), len(key)-1); n > 0; n-- {
		if string(text[len(text)-n:]) == key[:n] {
			return n
		}
	}
	return 0
}

// flush writes what was kept back.
func (h *hidingWriter) flush() error {
	held := h.held
	h.held = nil
	if len(held) == 0 {
		return nil
	}
	_, err := h.w.Write(held)
	return err
}
