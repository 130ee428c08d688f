package expr

// parse reads a whole source: one expression, or statements, of which the
// nodes say no more than what they are.
func parse(src string) (*node, error) {
	toks, err := lex(src)
	if err != nil {
		return nil, err
	}
	p := &parser{toks: toks}
	p.skipLines()
	if p.tok().kind == tokEnd {
		return nil, syntaxErrorAt(0, "the expression is empty")
	}
	first, err := p.statement()
	if err != nil {
		return nil, err
	}
	if p.tok().kind != tokEnd && p.tok().kind != tokNewline && !p.is(";") {
		return nil, p.unexpected()
	}
	body := &node{kind: "Module", kids: []*node{first}, off: first.off}
	for p.accept(";") || p.tok().kind == tokNewline {
		p.skipLines()
		if p.tok().kind == tokEnd {
			break
		}
		next, err := p.statement()
		if err != nil {
			return nil, err
		}
		body.kids = append(body.kids, next)
	}
	if p.tok().kind != tokEnd {
		return nil, p.unexpected()
	}
	if len(body.kids) == 1 {
		return first, nil
	}
	return body, nil
}

func (p *parser) skipLines() {
	for p.tok().kind == tokNewline {
		p.pos++
	}
}

// expressions reads one expression, or several with commas: a tuple.
func (p *parser) expressions() (*node, error) {
	off := p.tok().off
	first, err := p.starredOr(p.expression)
	if err != nil || !p.is(",") {
		return first, err
	}
	n := &node{kind: kTuple, kids: []*node{first}, off: off}
	for p.accept(",") && !p.endsExpressions() {
		e, err := p.starredOr(p.expression)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, e)
	}
	return n, nil
}

func (p *parser) endsExpressions() bool {
	return p.tok().kind == tokEnd || p.tok().kind == tokNewline || p.is("=", ";", ")", ":")
}

// statementNames are the statements that a keyword starts.
var statementNames = map[string]kind{
	"import": "Import", "from": "ImportFrom", "del": "Delete", "pass": "Pass", "break": "Break",
	"continue": "Continue", "return": "Return", "raise": "Raise", "global": "Global", "nonlocal": "Nonlocal",
	"assert": "Assert", "if": "If", "for": "For", "while": "While", "try": "Try", "with": "With",
	"def": "FunctionDef", "class": "ClassDef", "async": "AsyncFunctionDef",
}

func (p *parser) statement() (*node, error) {
	t := p.tok()
	n := &node{kind: statementNames[t.text], off: t.off}
	switch {
	case t.kind == tokOp && t.text == "@":
		n.kind = "FunctionDef"
		return n, p.block()
	case t.kind != tokKeyword || n.kind == "":
		return p.expressionStatement()
	}
	p.pos++
	switch t.text {
	case "pass", "break", "continue":
		return n, nil
	case "import":
		return n, p.importedNames(true)
	case "from":
		return n, p.importFrom()
	case "del":
		return n, p.targets("")
	case "global", "nonlocal":
		return n, p.importedNames(false)
	case "return", "raise", "assert":
		return n, p.operands(t.text)
	case "async":
		n.kind = map[string]kind{"for": "AsyncFor", "with": "AsyncWith", "def": "AsyncFunctionDef"}[p.tok().text]
		if n.kind == "" {
			return nil, p.unexpected()
		}
	}
	return n, p.block()
}

// block takes a compound statement to the end of the source. It only looks for
// the colon that each has.
func (p *parser) block() error {
	colon := false
	for p.tok().kind != tokEnd {
		colon = colon || p.is(":")
		p.pos++
	}
	if !colon {
		return syntaxErrorAt(p.tok().off, "invalid syntax: expected ':'")
	}
	return nil
}

// operands reads what may follow return, raise and assert.
func (p *parser) operands(word string) error {
	if p.endsExpressions() && word != "assert" {
		return nil
	}
	if word == "return" {
		_, err := p.expressions()
		return err
	}
	if _, err := p.expression(); err != nil {
		return err
	}
	if word == "raise" && p.accept("from") || word == "assert" && p.accept(",") {
		_, err := p.expression()
		return err
	}
	return nil
}

// importedNames reads a.b as c, d; dotted only where asked.
func (p *parser) importedNames(dotted bool) error {
	for {
		if err := p.name(); err != nil {
			return err
		}
		for dotted && p.accept(".") {
			if err := p.name(); err != nil {
				return err
			}
		}
		if p.accept("as") {
			if err := p.name(); err != nil {
				return err
			}
		}
		if !p.accept(",") || p.is(")") {
			return nil
		}
	}
}

func (p *parser) name() error {
	if p.tok().kind != tokName {
		return p.unexpected()
	}
	p.pos++
	return nil
}

// importFrom reads the rest of from ..a.b import c as d.
func (p *parser) importFrom() error {
	dots := false
	for p.accept(".") || p.accept("...") {
		dots = true
	}
	if !dots || !p.is("import") {
		if err := p.name(); err != nil {
			return err
		}
		for p.accept(".") {
			if err := p.name(); err != nil {
				return err
			}
		}
	}
	if err := p.expect("import"); err != nil {
		return err
	}
	switch {
	case p.accept("*"):
		return nil
	case p.accept("("):
		if err := p.importedNames(false); err != nil {
			return err
		}
		return p.expect(")")
	}
	return p.importedNames(false)
}

// expressionStatement reads an expression, or an assignment of any form.
func (p *parser) expressionStatement() (*node, error) {
	if p.is("yield") {
		return p.yield()
	}
	off := p.tok().off
	if p.startsMatch() {
		return &node{kind: "Match", off: off}, p.rest()
	}
	e, err := p.expressions()
	if err != nil {
		return nil, err
	}
	off = p.tok().off
	switch t := p.tok(); {
	case p.is("="):
		n := &node{kind: "Assign", kids: []*node{e}, off: off}
		return n, p.assigned(n)
	case t.kind == tokOp && len(t.text) > 1 && t.text[len(t.text)-1] == '=' && !p.is("==", "!=", "<=", ">=", ":="):
		p.pos++
		right, err := p.yieldOr(p.expressions)
		if err == nil {
			err = checkSingleTarget(e)
		}
		return &node{kind: "AugAssign", kids: []*node{e, right}, off: off}, err
	case p.is(":"):
		return p.annotated(e)
	}
	return e, nil
}

// startsMatch tells a match statement, whose first word is no keyword, by an
// operand right behind that word and a colon that ends a line.
func (p *parser) startsMatch() bool {
	next := p.toks[min(p.pos+1, len(p.toks)-1)]
	if p.tok().text != "match" || next.kind != tokName && next.kind != tokNumber && next.kind != tokString && next.text != "{" {
		return false
	}
	for i, t := range p.toks[:len(p.toks)-1] {
		if t.kind == tokOp && t.text == ":" && p.toks[i+1].kind == tokNewline {
			return true
		}
	}
	return false
}

// assigned reads the rest of a = b = c, after a.
func (p *parser) assigned(n *node) error {
	target := n.kids[0]
	for p.accept("=") {
		if err := checkTarget(target); err != nil {
			return err
		}
		e, err := p.yieldOr(p.expressions)
		if err != nil {
			return err
		}
		n.kids = append(n.kids, e)
		target = e
	}
	return nil
}

func (p *parser) yieldOr(read func() (*node, error)) (*node, error) {
	if p.is("yield") {
		return p.yield()
	}
	return read()
}

// annotated reads the rest of target: annotation = value. Where the target is
// none it may still be a match statement, which starts with no keyword.
func (p *parser) annotated(target *node) (*node, error) {
	off := p.advance().off
	if (target.kind == kCall || target.kind == kSubscript) && target.kids[0].text == "match" && p.tok().kind == tokNewline {
		return &node{kind: "Match", off: target.off}, p.rest()
	}
	if err := checkSingleTarget(target); err != nil {
		return nil, err
	}
	annotation, err := p.expression()
	if err != nil {
		return nil, err
	}
	n := &node{kind: "AnnAssign", kids: []*node{target, annotation}, off: off}
	if p.accept("=") {
		e, err := p.yieldOr(p.expressions)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, e)
	}
	return n, nil
}

// rest takes all that is left.
func (p *parser) rest() error {
	p.pos = len(p.toks) - 1
	return nil
}

func checkSingleTarget(e *node) error {
	if e.kind == kTuple || e.kind == kList || e.kind == kStarred {
		return syntaxErrorAt(e.off, "illegal target")
	}
	return checkTarget(e)
}
