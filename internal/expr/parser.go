package expr

import "slices"

// A parser reads Python's whole expression grammar, and of its statements as
// much as it takes to name them. It builds nodes for what expressions don't
// allow too: a construct is refused by its name, after the text turned out to
// be Python.
type parser struct {
	toks  []token
	pos   int
	depth int
}

// errTooDeep is raised by enter; it is no syntax error, since Python itself
// would read the text.
func errTooDeep(off int) *Error {
	return errorAt(off, securityError, "the expression nests more than %d levels deep", MaxDepth)
}

func (p *parser) tok() token { return p.toks[p.pos] }

func (p *parser) advance() token {
	t := p.toks[p.pos]
	if t.kind != tokEnd {
		p.pos++
	}
	return t
}

// is tells whether the next token is one of the given operators or keywords.
func (p *parser) is(texts ...string) bool {
	t := p.tok()
	return (t.kind == tokOp || t.kind == tokKeyword) && slices.Contains(texts, t.text)
}

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expect(text string) error {
	if p.accept(text) {
		return nil
	}
	if p.tok().kind == tokEnd {
		return syntaxErrorAt(p.tok().off, "invalid syntax: %q is missing at the end", text)
	}
	return p.unexpected()
}

func (p *parser) unexpected() error {
	t := p.tok()
	if t.kind == tokEnd {
		return syntaxErrorAt(t.off, "invalid syntax: the expression ends too early")
	}
	return syntaxErrorAt(t.off, "invalid syntax at %q", t.text)
}

// enter counts a level of nesting; leave ends it.
func (p *parser) enter() error {
	if p.depth++; p.depth > MaxDepth {
		return errTooDeep(p.tok().off)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// expression reads a conditional expression, a lambda, or anything below.
func (p *parser) expression() (*node, error) {
	if p.is("lambda") {
		return p.lambda()
	}
	body, err := p.disjunction()
	if err != nil || !p.is("if") {
		return body, err
	}
	off := p.advance().off
	test, err := p.disjunction()
	if err != nil {
		return nil, err
	}
	if err := p.expect("else"); err != nil {
		return nil, err
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	orelse, err := p.expression()
	if err != nil {
		return nil, err
	}
	return &node{kind: kIfExp, kids: []*node{test, body, orelse}, off: off}, nil
}

// namedExpression is an expression, or name := expression.
func (p *parser) namedExpression() (*node, error) {
	e, err := p.expression()
	if err != nil || !p.is(":=") {
		return e, err
	}
	if e.kind != kName || e.parens {
		return nil, syntaxErrorAt(p.tok().off, "cannot use assignment expressions with this target")
	}
	off := p.advance().off
	v, err := p.expression()
	if err != nil {
		return nil, err
	}
	return &node{kind: "NamedExpr", kids: []*node{v}, off: off}, nil
}

func (p *parser) disjunction() (*node, error) { return p.boolOp("or", "Or", p.conjunction) }
func (p *parser) conjunction() (*node, error) { return p.boolOp("and", "And", p.inversion) }

func (p *parser) boolOp(word, op string, operand func() (*node, error)) (*node, error) {
	first, err := operand()
	if err != nil || !p.is(word) {
		return first, err
	}
	n := &node{kind: kBoolOp, op: op, kids: []*node{first}, off: p.tok().off}
	for p.accept(word) {
		next, err := operand()
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, next)
	}
	return n, nil
}

func (p *parser) inversion() (*node, error) {
	if !p.is("not") {
		return p.comparison()
	}
	return p.prefix("Not", p.inversion)
}

// prefix reads an operator that stands before its operand.
func (p *parser) prefix(op string, operand func() (*node, error)) (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	off := p.advance().off
	e, err := operand()
	if err != nil {
		return nil, err
	}
	return &node{kind: kUnaryOp, op: op, kids: []*node{e}, off: off}, nil
}

func (p *parser) comparison() (*node, error) {
	first, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	n := &node{kind: kCompare, kids: []*node{first}, off: p.tok().off}
	for {
		op := p.comparisonOperator()
		if op == "" {
			break
		}
		next, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		n.ops = append(n.ops, op)
		n.kids = append(n.kids, next)
	}
	if len(n.ops) == 0 {
		return first, nil
	}
	return n, nil
}

// comparisonOperator reads one, or returns "" when none is next.
func (p *parser) comparisonOperator() string {
	switch {
	case p.is("==", "!=", "<", "<=", ">", ">=", "in"):
		return p.advance().text
	case p.is("not") && p.toks[p.pos+1].kind == tokKeyword && p.toks[p.pos+1].text == "in":
		p.pos += 2
		return "not in"
	case p.accept("is"):
		if p.accept("not") {
			return "is not"
		}
		return "is"
	}
	return ""
}

// binaryLevels are the operators that associate to the left, from the weakest,
// each with the class it has in the ast.
var binaryLevels = [...]map[string]string{
	{"|": "BitOr"},
	{"^": "BitXor"},
	{"&": "BitAnd"},
	{"<<": "LShift", ">>": "RShift"},
	{"+": "Add", "-": "Sub"},
	{"*": "Mult", "/": "Div", "//": "FloorDiv", "%": "Mod", "@": "MatMult"},
}

func (p *parser) binary(level int) (*node, error) {
	if level == len(binaryLevels) {
		return p.factor()
	}
	left, err := p.binary(level + 1)
	if err != nil {
		return nil, err
	}
	for p.tok().kind == tokOp && binaryLevels[level][p.tok().text] != "" {
		t := p.advance()
		right, err := p.binary(level + 1)
		if err != nil {
			return nil, err
		}
		left = &node{kind: kBinOp, op: binaryLevels[level][t.text], kids: []*node{left, right}, off: t.off}
	}
	return left, nil
}

func (p *parser) factor() (*node, error) {
	switch {
	case p.is("+"):
		return p.prefix("UAdd", p.factor)
	case p.is("-"):
		return p.prefix("USub", p.factor)
	case p.is("~"):
		return p.prefix("Invert", p.factor)
	}
	return p.power()
}

func (p *parser) power() (*node, error) {
	base, err := p.awaited()
	if err != nil || !p.is("**") {
		return base, err
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	off := p.advance().off
	exp, err := p.factor()
	if err != nil {
		return nil, err
	}
	return &node{kind: kBinOp, op: "Pow", kids: []*node{base, exp}, off: off}, nil
}

func (p *parser) awaited() (*node, error) {
	off := p.tok().off
	if !p.accept("await") {
		return p.primary()
	}
	e, err := p.primary()
	if err != nil {
		return nil, err
	}
	return &node{kind: "Await", kids: []*node{e}, off: off}, nil
}
