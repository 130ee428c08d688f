package python

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentloom/agentloom/value"
)

const (
	// MaxIntDigits is the number of decimal digits from which CPython refuses to
	// turn an int into text or back, since that costs quadratic time.
	MaxIntDigits = 4300
	// maxNesting is how deep printing and comparing follow containers: state
	// values nest at most value.MaxDepth deep, expressions add a little.
	maxNesting = 2 * value.MaxDepth
)

// ErrTooLong says that a text would grow over the limit its caller set.
var ErrTooLong = errors.New("the text is longer than its limit")

// Str returns str(v), as print shows it. It never fails: it prints integers of
// any size, and "..." for what nests over 2000 levels deep. Use AppendStr
// where the value may be large.
func Str(v any) string { return unbounded(v, (*printer).str) }

// Repr returns repr(v): like Str, with strings quoted and escaped.
func Repr(v any) string { return unbounded(v, (*printer).repr) }

// ASCII returns ascii(v): like Repr, with all but ASCII escaped.
func ASCII(v any) string {
	return unbounded(v, func(p *printer, v any) error { p.ascii = true; return p.repr(v) })
}

// AppendStr appends str(v) to b. It stops with ErrTooLong before b grows over
// limit bytes, with a ValueError at an integer of over MaxIntDigits digits,
// and with a RecursionError at what nests over 2000 levels deep. After an
// error, what was appended is incomplete.
func AppendStr(b []byte, v any, limit int) ([]byte, error) {
	p := printer{b: b, limit: limit, strict: true}
	err := p.str(v)
	return p.b, err
}

// AppendRepr is AppendStr for repr(v).
func AppendRepr(b []byte, v any, limit int) ([]byte, error) {
	p := printer{b: b, limit: limit, strict: true}
	err := p.repr(v)
	return p.b, err
}

// AppendASCII is AppendStr for ascii(v).
func AppendASCII(b []byte, v any, limit int) ([]byte, error) {
	p := printer{b: b, limit: limit, strict: true, ascii: true}
	err := p.repr(v)
	return p.b, err
}

func unbounded(v any, print func(*printer, any) error) string {
	if s, ok := v.(string); ok {
		p := printer{limit: math.MaxInt}
		if err := print(&p, s); err == nil {
			return string(p.b)
		}
		return s
	}
	p := printer{limit: math.MaxInt}
	if err := print(&p, v); err != nil {
		return string(p.b) // cannot happen: a printer that is not strict has no limits
	}
	return string(p.b)
}

// A printer writes one value. When strict, it fails where CPython would.
type printer struct {
	b      []byte
	limit  int
	depth  int
	ascii  bool
	strict bool
}

func (p *printer) add(s string) error {
	if len(s) > p.limit-len(p.b) {
		return ErrTooLong
	}
	p.b = append(p.b, s...)
	return nil
}

func (p *printer) str(v any) error {
	if s, ok := v.(string); ok {
		return p.add(s)
	}
	return p.repr(v)
}

func (p *printer) repr(v any) error {
	switch v := v.(type) {
	case nil:
		return p.add("None")
	case bool:
		if v {
			return p.add("True")
		}
		return p.add("False")
	case int64:
		return p.add(strconv.FormatInt(v, 10))
	case *big.Int:
		return p.bigInt(v)
	case float64:
		return p.add(FloatRepr(v))
	case string:
		return p.quoted(v)
	case []any:
		return p.sequence("[", v, "]")
	case Tuple:
		if len(v) == 1 {
			return p.sequence("(", v, ",)")
		}
		return p.sequence("(", v, ")")
	case *value.Map, *Dict:
		return p.dict(v)
	case *View:
		if err := p.add(string(v.kind) + "("); err != nil {
			return err
		}
		return p.sequence("[", v.Elems(), "])")
	case Type:
		return p.add("<class '" + string(v) + "'>")
	}
	return p.add(fmt.Sprintf("<%T>", v))
}

func (p *printer) bigInt(x *big.Int) error {
	if p.strict {
		if err := CheckDigits(x); err != nil {
			return err
		}
	}
	return p.add(x.String())
}

// CheckDigits returns the ValueError that CPython raises when an int of over
// MaxIntDigits digits is turned into text, nil for a smaller one.
func CheckDigits(x *big.Int) error {
	if x.BitLen() < 3*MaxIntDigits { // a digit holds more than three bits
		return nil
	}
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(MaxIntDigits), nil)
	if x.CmpAbs(limit) < 0 {
		return nil
	}
	return ValueErrorf("Exceeds the limit (%d digits) for integer string conversion; "+
		"use sys.set_int_max_str_digits() to increase the limit", MaxIntDigits)
}

// enter counts one level of nesting; the caller must p.depth-- when it is true.
func (p *printer) enter() (bool, error) {
	if p.depth >= maxNesting {
		if p.strict {
			return false, Errorf("RecursionError", "maximum recursion depth exceeded while getting the repr of an object")
		}
		return false, p.add("...")
	}
	p.depth++
	return true, nil
}

func (p *printer) sequence(open string, elems []any, end string) error {
	ok, err := p.enter()
	if !ok {
		return err
	}
	defer func() { p.depth-- }()
	if err := p.add(open); err != nil {
		return err
	}
	for i, e := range elems {
		if i > 0 {
			if err := p.add(", "); err != nil {
				return err
			}
		}
		if err := p.repr(e); err != nil {
			return err
		}
	}
	return p.add(end)
}

func (p *printer) dict(d any) error {
	ok, err := p.enter()
	if !ok {
		return err
	}
	defer func() { p.depth-- }()
	sep := "{"
	for k, e := range Pairs(d) {
		if err := p.add(sep); err != nil {
			return err
		}
		sep = ", "
		if err := p.repr(k); err != nil {
			return err
		}
		if err := p.add(": "); err != nil {
			return err
		}
		if err := p.repr(e); err != nil {
			return err
		}
	}
	if sep == "{" {
		return p.add("{}")
	}
	return p.add("}")
}

// quoted writes a string literal. Single quotes, unless the text has single
// quotes and no double ones.
func (p *printer) quoted(s string) error {
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	if err := p.add(string(rune(quote))); err != nil {
		return err
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		var err error
		switch {
		case r == utf8.RuneError && size == 1:
			err = p.add(fmt.Sprintf(`\udc%02x`, s[i]))
		case r == rune(quote) || r == '\\':
			err = p.add(`\` + string(r))
		case r < utf8.RuneSelf && r >= ' ' && r != 0x7f:
			err = p.add(s[i : i+1])
		case r >= utf8.RuneSelf && !p.ascii && IsPrintable(r):
			err = p.add(s[i : i+size])
		default:
			err = p.add(escaped(r))
		}
		if err != nil {
			return err
		}
		i += size
	}
	return p.add(string(rune(quote)))
}

func escaped(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r <= 0xff:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// FloatRepr returns repr of a float: the fewest digits that read back to the
// same number, with an exponent below 1e-4 and from 1e16.
func FloatRepr(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if strings.IndexByte(s, '.') < 0 {
		s += ".0"
	}
	return s
}
