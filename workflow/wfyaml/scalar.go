package wfyaml

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxIntDigits bounds an integer's text, as package value does for JSON.
const maxIntDigits = 4300

const quotedStyles = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// quoted reports whether a scalar is written so that it can only be a string.
func quoted(n *yaml.Node) bool { return n.Style&quotedStyles != 0 }

// surelyText reports whether a scalar node is a string at first sight: scalarOf
// says the same, but has to make a value of it. Most scalars are.
func surelyText(n *yaml.Node) bool {
	switch {
	case n.Kind != yaml.ScalarNode || n.Style&yaml.TaggedStyle != 0:
		return false
	case quoted(n):
		return true
	}
	return n.Value != "" && !mayBeOther(n.Value[0])
}

// mayBeOther reports whether plain text that starts so may be no string.
func mayBeOther(first byte) bool {
	switch first {
	case '~', 'n', 'N', 't', 'T', 'f', 'F', '.', '+', '-':
		return true
	}
	return first >= '0' && first <= '9'
}

// scalarOf reads a scalar node by YAML 1.2's core schema: nil, bool, int64,
// *big.Int, float64 or string. When it cannot be read, problem says why.
func scalarOf(n *yaml.Node) (v any, problem string) {
	if n.Style&yaml.TaggedStyle != 0 {
		return taggedScalar(n)
	}
	if quoted(n) || n.Tag == "!" {
		return n.Value, ""
	}
	return plainScalar(n.Value)
}

// taggedScalar reads a scalar with an explicit tag.
func taggedScalar(n *yaml.Node) (any, string) {
	if n.Tag == "!!str" {
		return n.Value, ""
	}
	v, problem := plainScalar(n.Value)
	if problem != "" {
		return nil, problem
	}
	ok := false
	switch n.Tag {
	case "!!null":
		ok = v == nil
	case "!!bool":
		_, ok = v.(bool)
	case "!!int":
		ok = isInt(v)
	case "!!float":
		if f, isNumber := toFloat(v); isNumber {
			return f, ""
		}
	default:
		return nil, fmt.Sprintf("the tag %s is not supported", show(n.Tag))
	}
	if !ok {
		return nil, fmt.Sprintf("%s does not fit the tag %s", show(n.Value), n.Tag)
	}
	return v, ""
}

// toFloat turns a number into a float, one beyond all floats into an infinity.
func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, true
	case float64:
		return v, true
	}
	return 0, false
}

func isInt(v any) bool {
	switch v.(type) {
	case int64, *big.Int:
		return true
	}
	return false
}

// plainScalar reads unquoted text.
func plainScalar(s string) (any, string) {
	if s == "" {
		return nil, ""
	}
	switch c := s[0]; {
	case c == '~' || c == 'n' || c == 'N' || c == 't' || c == 'T' || c == 'f' || c == 'F':
		switch s {
		case "~", "null", "Null", "NULL":
			return nil, ""
		case "true", "True", "TRUE":
			return true, ""
		case "false", "False", "FALSE":
			return false, ""
		}
	case c == '.' || c == '+' || c == '-' || c >= '0' && c <= '9':
		return plainNumber(s)
	}
	return s, ""
}

func plainNumber(s string) (any, string) {
	if digits, base := intDigits(s); base != 0 {
		return parseInt(s, digits, base)
	}
	switch strings.TrimLeft(s, "+-") {
	case ".inf", ".Inf", ".INF":
		if len(s) <= 5 {
			sign := 1
			if s[0] == '-' {
				sign = -1
			}
			return math.Inf(sign), ""
		}
	case ".nan", ".NaN", ".NAN":
		if s[0] == '.' {
			return math.NaN(), ""
		}
	}
	if isFloat(s) {
		// An error can only be the range: the value is then an infinity, as in
		// Python.
		f, _ := strconv.ParseFloat(s, 64)
		return f, ""
	}
	return s, ""
}

// intDigits returns the digits of an integer and their base, or base 0 when
// the text is no integer. Base 8 and 16 take no sign.
func intDigits(s string) (digits string, base int) {
	switch {
	case strings.HasPrefix(s, "0x"):
		digits, base = s[2:], 16
	case strings.HasPrefix(s, "0o"):
		digits, base = s[2:], 8
	case s[0] == '+' || s[0] == '-':
		digits, base = s[1:], 10
	default:
		digits, base = s, 10
	}
	if digits == "" {
		return "", 0
	}
	for i := range len(digits) {
		if digitValue(digits[i]) >= base {
			return "", 0
		}
	}
	return digits, base
}

// digitValue is what a digit counts, or 36 for what is no digit of any base.
func digitValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 36
}

func parseInt(s, digits string, base int) (any, string) {
	if len(digits) > maxIntDigits {
		return nil, fmt.Sprintf("an integer of %d digits; at most %d are read", len(digits), maxIntDigits)
	}
	if i, err := strconv.ParseInt(digits, base, 64); err == nil {
		if s[0] == '-' {
			i = -i
		}
		return i, ""
	}
	b, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return nil, fmt.Sprintf("%s is no integer", show(s))
	}
	if s[0] == '-' {
		b.Neg(b)
	}
	if b.IsInt64() {
		return b.Int64(), ""
	}
	return b, ""
}

// isFloat reports whether the text is a number with a point or an exponent:
// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
func isFloat(s string) bool {
	if s[0] == '+' || s[0] == '-' {
		s = s[1:]
	}
	mantissa, exponent, scientific := s, "", false
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent, scientific = s[:i], s[i+1:], true
	}
	if scientific {
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			exponent = exponent[1:]
		}
		if !digitsOnly(exponent) {
			return false
		}
	}
	whole, fraction, point := strings.Cut(mantissa, ".")
	switch {
	case whole == "":
		return point && digitsOnly(fraction)
	case fraction == "":
		return digitsOnly(whole)
	}
	return digitsOnly(whole) && digitsOnly(fraction)
}

func digitsOnly(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// yaml11Boolean reports whether a node is unquoted text that YAML 1.1 took for
// a boolean and YAML 1.2 takes for a string.
func yaml11Boolean(n *yaml.Node) bool {
	if quoted(n) || n.Style&yaml.TaggedStyle != 0 || n.Tag == "!" || len(n.Value) > 3 {
		return false
	}
	_, ok := yaml11Truth(n.Value)
	return ok
}

// yaml11Truth is the boolean that a text was to the readers of YAML 1.1 in use:
// y and n, which its specification had too, PyYAML left as they are.
func yaml11Truth(s string) (truth, ok bool) {
	switch strings.ToLower(s) {
	case "yes", "on":
		return true, true
	case "no", "off":
		return false, true
	}
	return false, false
}

// described is describe, made only where the message is.
type described struct{ *yaml.Node }

func (n described) String() string { return describe(n.Node) }

// describe names what a node holds, for a message.
func describe(n *yaml.Node) string {
	n = follow(n)
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	v, _ := scalarOf(n)
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case string:
		return "the string " + show(v)
	case float64:
		return "the number " + cut(n.Value)
	}
	return "the integer " + cut(n.Value)
}

func cut(s string) string {
	if len(s) > shownLength {
		return s[:shownLength] + "…"
	}
	return s
}
