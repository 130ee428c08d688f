package builtin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A codec is one text encoding.
type codec struct {
	name string
	// decode turns bytes into text, with U+FFFD for each thing that is no text
	// in the encoding; ok says whether there was none.
	decode func(b []byte) (text string, ok bool)
	// encode turns a character into bytes; ok says whether the encoding has it.
	encode func(b []byte, c rune) (out []byte, ok bool)
	// mark is written before the text.
	mark []byte
	// wide encodings have zero bytes in ordinary text.
	wide bool
}

// encodings lists what codecFor knows, for messages.
const encodings = "utf-8, utf-8-sig, ascii, latin-1, cp1252, utf-16, utf-16-le, utf-16-be"

const (
	utf8Mark    = "\xef\xbb\xbf"
	utf16LEMark = "\xff\xfe"
	utf16BEMark = "\xfe\xff"
)

// codecFor returns the encoding of a name, in any of its common spellings.
func codecFor(name string) (codec, bool) {
	key := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(strings.TrimSpace(name)))
	switch key {
	case "utf8", "u8":
		return codec{name: "utf-8", decode: decodeUTF8, encode: encodeUTF8}, true
	case "utf8sig":
		return codec{name: "utf-8-sig", mark: []byte(utf8Mark), encode: encodeUTF8,
			decode: func(b []byte) (string, bool) { return decodeUTF8(bytes.TrimPrefix(b, []byte(utf8Mark))) }}, true
	case "ascii", "usascii":
		return singleByte("ascii", func(b byte) rune { return below(b, 0x80) }), true
	case "latin1", "iso88591", "l1", "iso8859":
		return singleByte("latin-1", func(b byte) rune { return rune(b) }), true
	case "cp1252", "windows1252", "1252":
		return singleByte("cp1252", windows1252), true
	case "utf16":
		return codec{name: "utf-16", mark: []byte(utf16LEMark), wide: true,
			decode: decodeMarkedUTF16, encode: encodeUTF16(binary.LittleEndian)}, true
	case "utf16le":
		return codec{name: "utf-16-le", wide: true, encode: encodeUTF16(binary.LittleEndian),
			decode: func(b []byte) (string, bool) { return decodeUTF16(b, binary.LittleEndian) }}, true
	case "utf16be":
		return codec{name: "utf-16-be", wide: true, encode: encodeUTF16(binary.BigEndian),
			decode: func(b []byte) (string, bool) { return decodeUTF16(b, binary.BigEndian) }}, true
	}
	return codec{}, false
}

// encodingArgument is codecFor for a tool's argument; nil is utf-8.
func encodingArgument(arg *string) (codec, error) {
	name := "utf-8"
	if arg != nil {
		name = *arg
	}
	c, ok := codecFor(name)
	if !ok {
		return c, fmt.Errorf(`argument "encoding": %q is unknown; the known ones are %s`, short(name), encodings)
	}
	return c, nil
}

// encodeText writes a whole text, with the encoding's mark.
func (c codec) encodeText(text string) ([]byte, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("the text holds bytes that are no character")
	}
	out := bytes.Clone(c.mark)
	for _, r := range text {
		var ok bool
		if out, ok = c.encode(out, r); !ok {
			return nil, fmt.Errorf("the character %q (U+%04X) does not exist in %s", r, r, c.name)
		}
	}
	return out, nil
}

func decodeUTF8(b []byte) (string, bool) {
	if utf8.Valid(b) {
		return string(b), true
	}
	var text strings.Builder
	text.Grow(len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		text.WriteRune(r)
		b = b[n:]
	}
	return text.String(), false
}

func encodeUTF8(b []byte, c rune) ([]byte, bool) { return utf8.AppendRune(b, c), true }

// singleByte is an encoding with a character a byte; char gives utf8.RuneError
// for the bytes that have none.
func singleByte(name string, char func(byte) rune) codec {
	decode := func(b []byte) (string, bool) {
		var text strings.Builder
		text.Grow(len(b))
		ok := true
		for _, c := range b {
			r := char(c)
			ok = ok && r != utf8.RuneError
			text.WriteRune(r)
		}
		return text.String(), ok
	}
	encode := func(b []byte, c rune) ([]byte, bool) {
		if c < 0x80 {
			return append(b, byte(c)), true
		}
		for high := 0x80; high <= 0xff; high++ {
			if char(byte(high)) == c && c != utf8.RuneError {
				return append(b, byte(high)), true
			}
		}
		return b, false
	}
	return codec{name: name, decode: decode, encode: encode}
}

func below(b, limit byte) rune {
	if b < limit {
		return rune(b)
	}
	return utf8.RuneError
}

// windows1252 is Latin-1 with letters and signs in place of most of the
// control characters from 0x80 to 0x9F.
func windows1252(b byte) rune {
	const signs = "€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFDŽ\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFDžŸ"
	if b < 0x80 || b > 0x9f {
		return rune(b)
	}
	return []rune(signs)[b-0x80]
}

func decodeMarkedUTF16(b []byte) (string, bool) {
	if rest, ok := bytes.CutPrefix(b, []byte(utf16BEMark)); ok {
		return decodeUTF16(rest, binary.BigEndian)
	}
	return decodeUTF16(bytes.TrimPrefix(b, []byte(utf16LEMark)), binary.LittleEndian)
}

func decodeUTF16(b []byte, order binary.ByteOrder) (string, bool) {
	var text strings.Builder
	text.Grow(len(b))
	ok := true
	for len(b) > 1 {
		r := rune(order.Uint16(b))
		b = b[2:]
		if utf16.IsSurrogate(r) {
			if len(b) > 1 {
				r = utf16.DecodeRune(r, rune(order.Uint16(b)))
			} else {
				r = utf8.RuneError
			}
			if r == utf8.RuneError {
				ok = false
			} else {
				b = b[2:]
			}
		}
		text.WriteRune(r)
	}
	if len(b) == 1 {
		text.WriteRune(utf8.RuneError)
		ok = false
	}
	return text.String(), ok
}

func encodeUTF16(order binary.AppendByteOrder) func([]byte, rune) ([]byte, bool) {
	return func(b []byte, c rune) ([]byte, bool) {
		if hi, lo := utf16.EncodeRune(c); hi != utf8.RuneError {
			return order.AppendUint16(order.AppendUint16(b, uint16(hi)), uint16(lo)), true
		}
		return order.AppendUint16(b, uint16(c)), true
	}
}
