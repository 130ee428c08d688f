package workflow

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/agentloom/agentloom/value"
)

const (
	// maxSeconds bounds every timeout, so that it fits a time.Duration: 31 years.
	maxSeconds = 1e9
	// maxLatencyMS bounds the wait of the mock provider, as it does itself: a day.
	maxLatencyMS = 24 * 60 * 60 * 1000
	// maxCount bounds numbers of retries and of loop turns: more is a mistake.
	maxCount = 1000
	// unbounded is for whole numbers without an upper limit of their own.
	unbounded = math.MaxInt64
)

// checkInt wants least <= v <= most.
func (c *checker) checkInt(p place, key string, v, least, most int64) {
	switch {
	case v >= least && v <= most:
	case most == unbounded:
		c.errorf(p.key(key), "out_of_range", "", "%s is %d; it must be at least %d", key, v, least)
	default:
		c.errorf(p.key(key), "out_of_range", "", "%s is %d; it must be from %d to %d", key, v, least, most)
	}
}

// checkFloat wants least <= v <= most and no NaN; most may be infinite, v not.
func (c *checker) checkFloat(p place, key string, v, least, most float64) {
	switch {
	case v >= least && v <= most && !math.IsInf(v, 0):
	case math.IsNaN(v) || math.IsInf(v, 0):
		c.errorf(p.key(key), "out_of_range", "", "%s is %v; it must be a finite number", key, v)
	case math.IsInf(most, 0):
		c.errorf(p.key(key), "out_of_range", "", "%s is %v; it must be at least %v", key, numeral(v), numeral(least))
	default:
		c.errorf(p.key(key), "out_of_range", "", "%s is %v; it must be from %v to %v", key, numeral(v), numeral(least), numeral(most))
	}
}

// numeral is a number in a message: all its digits, unless they are many.
type numeral float64

func (n numeral) String() string {
	format := byte('f')
	if size := math.Abs(float64(n)); size >= 1e15 || size < 1e-6 && size > 0 {
		format = 'g'
	}
	return strconv.FormatFloat(float64(n), format, -1, 64)
}

// checkAbove wants 0 < v, finite.
func (c *checker) checkAbove(p place, key string, v float64) {
	switch {
	case v > 0 && !math.IsInf(v, 0):
	case math.IsNaN(v) || math.IsInf(v, 0):
		c.errorf(p.key(key), "out_of_range", "", "%s is %v; it must be a finite number", key, v)
	default:
		c.errorf(p.key(key), "out_of_range", "", "%s is %v; it must be above 0", key, numeral(v))
	}
}

// checkSeconds wants a timeout: nil, or above 0 and at most maxSeconds.
func (c *checker) checkSeconds(p place, key string, v *float64) {
	switch {
	case v == nil:
	case *v > maxSeconds && !math.IsInf(*v, 0):
		c.errorf(p.key(key), "out_of_range", "leave it out for no limit", "%s is %v seconds; it must be at most %v", key, numeral(*v), numeral(maxSeconds))
	default:
		c.checkAbove(p, key, *v)
	}
}

// checkWord wants one of the allowed words.
func (c *checker) checkWord(p place, key, v string, allowed ...string) {
	for _, a := range allowed {
		if v == a {
			return
		}
	}
	c.errorf(p.key(key), "unknown_value", c.didYouMean(v, allowed), "%s is %s; it must be %s", key, quoted(v), oneOf(allowed))
}

// checkOptionalWord is checkWord where "" means that the key is not set.
func (c *checker) checkOptionalWord(p place, key, v string, allowed ...string) {
	if v != "" {
		c.checkWord(p, key, v, allowed...)
	}
}

// checkRequired wants a text that is not empty.
func (c *checker) checkRequired(p place, key, v string) {
	if v == "" {
		c.errorf(p.key(key), "missing_key", "", "%s is required", key)
	}
}

// checkName wants a name that model services take for a tool: 1 to 64 letters,
// digits, "_" and "-".
func (c *checker) checkName(p place, what, v string) bool {
	switch {
	case v == "":
		c.errorf(p, "invalid_name", "", "the name of %s is empty", what)
	case len(v) > 64:
		c.errorf(p, "invalid_name", "", "the name %s of %s is longer than 64 characters", quoted(v), what)
	case !isWord(v):
		c.errorf(p, "invalid_name", "", "the name %s of %s may hold only letters, digits, \"_\" and \"-\"", quoted(v), what)
	default:
		return true
	}
	return false
}

// isWord reports whether all of s is ASCII letters, digits, "_" and "-".
func isWord(s string) bool {
	for i := range len(s) {
		if b := s[i]; !isLetter(b) && b != '-' && (b < '0' || b > '9') {
			return false
		}
	}
	return true
}

func isLetter(b byte) bool {
	return b == '_' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// checkValues wants a tree of values as package value defines them. A file
// gives nothing else; Go code can.
func (c *checker) checkValues(p place, m *value.Map) {
	if m.Len() == 0 {
		return
	}
	way, why := foreign(m, 0)
	if why == "" {
		return
	}
	for _, part := range slices.Backward(way) {
		up := p
		part.up = &up
		p = part
	}
	c.errorf(p, "not_a_value", "make it with value.From", "%s", why)
}

// foreign finds the first thing in v that is no value, says what it is, and
// returns the way to it, innermost part first.
func foreign(v any, depth int) (way []place, why string) {
	if depth > value.MaxDepth {
		return nil, fmt.Sprintf("the value is nested more than %d levels deep", value.MaxDepth)
	}
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
	case *big.Int:
		if v == nil {
			return nil, "a nil *big.Int is no value"
		}
	case *value.Map:
		for k, e := range v.All() {
			if way, why := foreign(e, depth+1); why != "" {
				return append(way, place{name: k}), why
			}
		}
	case []any:
		for i, e := range v {
			if way, why := foreign(e, depth+1); why != "" {
				return append(way, place{index: i, isItem: true}), why
			}
		}
	default:
		if _, err := value.From(v); err != nil {
			return nil, err.Error()
		}
		return nil, fmt.Sprintf("a %T is no value", v)
	}
	return nil, ""
}
