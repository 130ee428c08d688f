package mock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agentloom/agentloom/fault"
)

// reader reads the responses token by token, so that each error can say where
// it is.
type reader struct {
	dec  *json.Decoder
	src  []byte
	file string
}

// parse reads the file format of the package's doc.
func parse(src []byte, file string) (map[string][]response, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff")) // editors' byte order mark
	r := &reader{dec: json.NewDecoder(bytes.NewReader(src)), src: src, file: file}
	// The decoder's position is that of a whole token; the checker, which goes
	// first, knows the very byte that is wrong.
	if err := json.Unmarshal(src, new(json.RawMessage)); err != nil {
		return nil, r.broken(err)
	}
	out := map[string][]response{}
	if err := r.open('{', "the responses must be an object, keyed by step id"); err != nil {
		return nil, err
	}
	for r.dec.More() {
		key, at, err := r.key()
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(key, "_") {
			if _, err := r.raw(); err != nil {
				return nil, err
			}
			continue
		}
		if _, twice := out[key]; twice {
			return nil, r.errorAt(at, "the key %q stands twice", key)
		}
		if out[key], err = r.turns(key); err != nil {
			return nil, err
		}
	}
	return out, r.close()
}

// turns reads one key's value: a response or a list of them.
func (r *reader) turns(key string) ([]response, error) {
	at := r.next()
	switch r.peek() {
	case '{':
		one, err := r.response(fmt.Sprintf("%q", key))
		return []response{one}, err
	case '[':
	default:
		if _, err := r.raw(); err != nil {
			return nil, err
		}
		return nil, r.errorAt(at, "%q must be a response, as in {\"content\": \"…\"}, or a list of responses", key)
	}
	if err := r.open('[', ""); err != nil {
		return nil, err
	}
	var list []response
	for r.dec.More() {
		where := fmt.Sprintf("turn %d of %q", len(list)+1, key)
		if c := r.peek(); c != '{' {
			at := r.next()
			if _, err := r.raw(); err != nil {
				return nil, err
			}
			return nil, r.errorAt(at, "%s must be a response, as in {\"content\": \"…\"}", where)
		}
		one, err := r.response(where)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	if err := r.close(); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, r.errorAt(at, "%q is an empty list; it must hold at least one response", key)
	}
	return list, nil
}

// response reads one response; where names it in errors.
func (r *reader) response(where string) (response, error) {
	var out response
	if err := r.open('{', ""); err != nil {
		return out, err
	}
	seen := map[string]bool{}
	for r.dec.More() {
		name, at, err := r.key()
		if err != nil {
			return out, err
		}
		if seen[name] {
			return out, r.errorAt(at, "%s has the key %q twice", where, name)
		}
		seen[name] = true
		valueAt := r.next()
		raw, err := r.raw()
		if err != nil {
			return out, err
		}
		switch err := out.set(name, raw); {
		case errors.Is(err, errUnknown):
			return out, r.errorAt(at, "%s has the unknown key %q%s", where, name, suggest(name))
		case err != nil:
			return out, r.errorAt(valueAt, "%s of %s %w", name, where, err)
		}
	}
	return out, r.close()
}

// open reads the bracket that the next value must begin with.
func (r *reader) open(want json.Delim, otherwise string) error {
	at := r.next()
	t, err := r.dec.Token()
	if err != nil {
		return r.broken(err)
	}
	if t != want {
		return r.errorAt(at, "%s", otherwise)
	}
	return nil
}

func (r *reader) close() error {
	if _, err := r.dec.Token(); err != nil {
		return r.broken(err)
	}
	return nil
}

func (r *reader) key() (string, int64, error) {
	at := r.next()
	t, err := r.dec.Token()
	if err != nil {
		return "", at, r.broken(err)
	}
	return t.(string), at, nil // the decoder lets nothing else stand here
}

func (r *reader) raw() (json.RawMessage, error) {
	var raw json.RawMessage
	if err := r.dec.Decode(&raw); err != nil {
		return nil, r.broken(err)
	}
	return raw, nil
}

// next is where the next token starts.
func (r *reader) next() int64 {
	i := r.dec.InputOffset()
	for i < int64(len(r.src)) && strings.IndexByte(" \t\r\n:,", r.src[i]) >= 0 {
		i++
	}
	return i
}

func (r *reader) peek() byte {
	if i := r.next(); i < int64(len(r.src)) {
		return r.src[i]
	}
	return 0
}

// broken is the error for what is no JSON.
func (r *reader) broken(err error) error {
	at := r.dec.InputOffset()
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = s.Offset - 1
		if strings.HasPrefix(s.Error(), "unexpected end") {
			return r.errorAt(int64(len(r.src)), "the JSON ends too early")
		}
	}
	return r.errorAt(at, "this is no JSON: %w", err)
}

// errorAt is an Invalid error with file, line and column, the column counted
// in characters.
func (r *reader) errorAt(at int64, format string, args ...any) error {
	at = max(0, min(at, int64(len(r.src))))
	before := r.src[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:]))) + 1
	cause := fmt.Errorf(format, args...)
	return fault.New(fault.Invalid, fmt.Sprintf("%s:%d:%d: %v", r.file, line, column, cause), errors.Unwrap(cause))
}
