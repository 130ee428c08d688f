package expr

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentloom/agentloom/internal/python"
)

// maxRefusals is how many refused constructs one error names.
const maxRefusals = 6

// A refusal is one construct that expressions don't have.
type refusal struct {
	name string
	why  string // follows the name in the message when it is the first
	off  int
}

// A checker collects what is refused, the outer constructs first.
type checker struct {
	refusals []refusal
	unknown  *node // the first bare name that stands for nothing
}

// err returns the verdict: a SecurityError that explains the first refusal and
// names the others, else a NameError.
func (c *checker) err() error {
	if len(c.refusals) == 0 {
		if c.unknown != nil {
			return errorAt(c.unknown.off, "NameError", "name '%s' is not defined", c.unknown.text)
		}
		return nil
	}
	first := c.refusals[0]
	msg := first.name + " " + first.why
	var others []string
	for _, r := range c.refusals[1:] {
		if r.name != first.name && !slices.Contains(others, r.name) {
			others = append(others, r.name)
		}
	}
	if len(others) > 0 {
		msg += " (nor " + strings.Join(others[:min(len(others), maxRefusals)], ", ") + ")"
	}
	return errorAt(first.off, securityError, "%s", msg)
}

func (c *checker) refuse(n *node, name, why string, args ...any) {
	c.refusals = append(c.refusals, refusal{name: name, why: fmt.Sprintf(why, args...), off: n.off})
}

func (c *checker) checkAll(nodes []*node) {
	for _, n := range nodes {
		c.check(n)
	}
}

const notAllowed = "is not allowed in an expression"

func (c *checker) check(n *node) {
	if n == nil {
		return
	}
	switch n.kind {
	case kConstant:
		if n.refused != "" {
			c.refuse(n, string(kConstant), "%s: %s", notAllowed, n.refused)
		}
		return
	case kName:
		c.checkName(n)
		return
	case kAttribute:
		c.checkAttribute(n)
	case kSubscript:
		if !literalIndex(n.kids[1]) {
			c.refuse(n, string(kSubscript), "takes a literal key or a slice of integer literals, nothing computed")
		}
	case kCall:
		c.checkCall(n)
		return
	case kBinOp:
		if n.op != "Add" && n.op != "Sub" {
			c.refuse(n, n.op, "%s; arithmetic is + and - only", notAllowed)
		}
	case kUnaryOp:
		if n.op == "Invert" {
			c.refuse(n, n.op, notAllowed)
		}
	case kDict:
		for i := 0; i < len(n.kids); i += 2 {
			if n.kids[i] == nil {
				c.refuse(n, "Dict", "with ** %s", notAllowed)
			}
		}
	case kBoolOp, kCompare, kIfExp, kList, kTuple, kSlice:
	case "Module":
		c.refuse(n, "Expr", "may stand only once: write one expression, not several statements")
	default:
		c.refuse(n, string(n.kind), notAllowed)
	}
	c.checkAll(n.kids)
}

func (c *checker) checkName(n *node) {
	switch {
	case n.text == "state" || n.text == "steps":
	case isVariant(n.text):
		c.refuse(n, n.text, "holds characters that Python reads as others; write the plain ones")
	case strings.HasPrefix(n.text, "__") || functions[n.text] != nil || isType(n.text):
		c.refuse(n, n.text, "can't be used as a value")
	case c.unknown == nil:
		c.unknown = n
	}
}

func (c *checker) checkAttribute(n *node) {
	switch {
	case strings.HasPrefix(n.text, "_"):
		c.refuse(n, n.text, "is refused: attributes that start with _ are")
	case isVariant(n.text):
		c.refuse(n, n.text, "holds characters that Python reads as others; write ['%s']", n.text)
	}
}

// isVariant tells whether CPython would take an identifier for another one,
// such as a full-width ＿ for _.
func isVariant(name string) bool {
	return strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf && python.IsIdentVariant(r) }) >= 0
}

// checkCall checks what is called, and the arguments.
func (c *checker) checkCall(n *node) {
	f := n.kids[0]
	args := n.kids[1:]
	switch {
	case f.kind == kName && isVariant(f.text):
		c.checkName(f)
	case f.kind == kName && functions[f.text] == nil:
		c.refuse(f, f.text, "is not a function that expressions have: %s", functionNames)
	case f.kind == kName && f.text == "isinstance" && len(args) == 2:
		c.checkArgument(f, args[0])
		if !isTypes(args[1]) {
			c.checkArgument(f, args[1])
		}
		return
	case f.kind == kAttribute:
		if !strings.HasPrefix(f.text, "_") && !isMethod(f.text) {
			c.refuse(f, f.text, "is not a method that expressions have")
		}
		c.check(f)
	case f.kind != kName:
		c.refuse(n, string(kCall), "takes a function or a method by its name, nothing computed")
		c.check(f)
	}
	for _, a := range args {
		c.checkArgument(f, a)
	}
}

func (c *checker) checkArgument(f, a *node) {
	switch {
	case a.kind != kKeyword:
		c.check(a)
		return
	case a.text == "":
		c.refuse(a, "keyword", "** %s", notAllowed)
	case a.text == "key" && (f.text == "min" || f.text == "max"):
		c.refuse(a, "key", "is refused: min and max compare the values themselves")
	}
	c.checkAll(a.kids)
}

// isTypes tells whether a node is a type's name, or a tuple of types.
func isTypes(n *node) bool {
	if n.kind == kTuple {
		return !slices.ContainsFunc(n.kids, func(k *node) bool { return !isTypes(k) })
	}
	return n.kind == kName && isType(n.text)
}

func isType(name string) bool {
	switch name {
	case "str", "int", "float", "bool", "list", "dict", "tuple":
		return true
	}
	return false
}

// literalIndex tells whether an index is written out: a literal key, or a
// slice whose bounds are integers or None.
func literalIndex(n *node) bool {
	if n.kind != kSlice {
		return isLiteral(n)
	}
	for _, bound := range n.kids {
		if bound != nil && !isLiteral(bound) {
			return false
		}
	}
	return true
}

func isLiteral(n *node) bool {
	switch n.kind {
	case kConstant:
		return true
	case kUnaryOp:
		return (n.op == "USub" || n.op == "UAdd") && isLiteral(n.kids[0])
	case kTuple, kList, kDict:
		return !slices.ContainsFunc(n.kids, func(k *node) bool { return k == nil || !isLiteral(k) })
	}
	return false
}
