// Package expr is the expression language of router conditions: a subset of
// Python 3 over two names, state and steps.
//
// The whole of Python's grammar is read, so that what is refused can be named;
// only an allow-listed part of it is ever evaluated, over plain data, by this
// package itself. There is no way from an expression to anything else.
//
//	p, err := expr.Compile("state.priority is not None and state.priority >= 3")
//	v, err := p.Eval(st)
//	chosen := expr.Truth(v)
//
// # What an expression may hold
//
//   - strings, ints, floats, True, False, None; lists, tuples, dicts. Bytes,
//     complex numbers, f-strings, sets, ... and \N{…} are refused.
//   - comparisons, and, or, not, a if c else b, binary + and -, unary + and -.
//   - len, str, int, float, bool, abs, min, max, isinstance, called directly;
//     key= is refused. In isinstance, str int float bool list dict tuple, or
//     tuples of them, are types.
//   - indexes that are literals, and slices whose bounds are integer literals.
//   - methods of strings that return plain values (not format, format_map,
//     encode, translate, maketrans); of numbers as_integer_ratio, conjugate,
//     bit_length, bit_count, is_integer, hex, and the attributes real, imag,
//     numerator, denominator; of dicts get, keys, values, items; of lists and
//     tuples count, index.
//
// # How names are read
//
// A missing key of a dict from the state reads as None, written as an
// attribute or as an index; of a dict displayed in the expression, as an
// attribute only: its index raises KeyError, as in Python. An attribute of a
// dict is always its key; a call is always the dict's method. A step that did
// not succeed is None, and so are its output and its status. Any other
// attribute of None raises AttributeError.
//
// Evaluating the same program on the same state gives the same result.
package expr

import (
	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/internal/state"
)

// The limits. Reaching one is an error that says so.
const (
	// MaxSource is the longest source, in bytes.
	MaxSource = 10 << 10
	// MaxDepth is how many brackets, prefix operators and conditionals may stand
	// inside each other. Chains (a + b + c, a.b.c, a and b) don't count.
	MaxDepth = 100
	// MaxString is the longest string an evaluation may make, in bytes; longer
	// ones in the state can still be compared and searched.
	MaxString = 4 << 20
	// MaxMemory is how much all the strings, lists and dicts that one evaluation
	// makes may take together, in bytes, roughly.
	MaxMemory = 64 << 20
	// MaxSteps bounds the work of one evaluation: a step is one construct
	// evaluated, one pair of values compared, or a few bytes of text handled.
	MaxSteps = 2_000_000
)

// A Program is a compiled expression. It is immutable, and may be evaluated by
// many goroutines at once.
type Program struct {
	root *node
	refs []Reference
}

// Compile reads an expression. Its error is an *Error: SyntaxError when the
// text is no Python, else SecurityError when it holds anything that is
// refused, in a branch that would not be taken as well, else NameError when it
// has a bare name other than state and steps.
func Compile(src string) (*Program, error) {
	if len(src) > MaxSource {
		return nil, errorAt(0, securityError, "the expression is %d bytes long; at most %d are allowed", len(src), MaxSource)
	}
	root, err := parse(src)
	if err != nil {
		return nil, err
	}
	c := checker{}
	c.check(root)
	if err := c.err(); err != nil {
		return nil, err
	}
	return &Program{root: root, refs: references(root)}, nil
}

// Eval computes the expression's value on a state. Beside the types of package
// value the result may be a python.Tuple, *python.Dict or *python.View. Its
// error is an *Error named like the exception that Python would raise, or
// MemoryError or TimeoutError at a limit.
func (p *Program) Eval(s state.State) (any, error) {
	m := &machine{state: s, work: python.NewWork(MaxSteps), memory: MaxMemory}
	return m.eval(p.root)
}

// Truth tells whether a result counts as true, as Python's bool() does.
func Truth(v any) bool { return python.Truth(v) }
