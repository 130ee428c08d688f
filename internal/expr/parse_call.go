package expr

import "slices"

// call reads the arguments of a call of f.
func (p *parser) call(f *node) (*node, error) {
	off := p.tok().off
	return p.bracketed("(", ")", func() (*node, error) {
		n := &node{kind: kCall, kids: []*node{f}, off: off}
		keywords := false // seen name=…
		for !p.is(")") {
			arg, err := p.argument(len(n.kids) == 1)
			if err != nil {
				return nil, err
			}
			if err := checkArgument(n, arg, keywords); err != nil {
				return nil, err
			}
			keywords = keywords || arg.kind == kKeyword
			n.kids = append(n.kids, arg)
			if !p.accept(",") {
				break
			}
		}
		return n, nil
	})
}

func checkArgument(call, arg *node, keywords bool) error {
	isKeyword := func(name string) func(*node) bool {
		return func(k *node) bool { return k.kind == kKeyword && k.text == name }
	}
	before := call.kids[1:]
	switch {
	case arg.kind == kStarred && slices.ContainsFunc(before, isKeyword("")):
		return syntaxErrorAt(arg.off, "iterable argument unpacking follows keyword argument unpacking")
	case arg.kind != kKeyword && arg.kind != kStarred && keywords:
		return syntaxErrorAt(arg.off, "positional argument follows keyword argument")
	case arg.kind == kKeyword && arg.text != "" && slices.ContainsFunc(before, isKeyword(arg.text)):
		return syntaxErrorAt(arg.off, "keyword argument repeated: %s", arg.text)
	}
	return nil
}

func (p *parser) argument(first bool) (*node, error) {
	t := p.tok()
	if p.accept("**") {
		e, err := p.expression()
		return &node{kind: kKeyword, kids: []*node{e}, off: t.off}, err
	}
	if p.accept("*") {
		e, err := p.expression()
		return &node{kind: kStarred, kids: []*node{e}, off: t.off}, err
	}
	if next := p.toks[min(p.pos+1, len(p.toks)-1)]; t.kind == tokName && next.kind == tokOp && next.text == "=" {
		p.pos += 2
		e, err := p.expression()
		return &node{kind: kKeyword, text: t.text, kids: []*node{e}, off: t.off}, err
	}
	e, err := p.namedExpression()
	if err != nil || !p.is("for", "async") {
		return e, err
	}
	g, err := p.comprehension("GeneratorExp", e)
	if err == nil && (!first || !p.is(")")) {
		return nil, syntaxErrorAt(t.off, "Generator expression must be parenthesized")
	}
	return g, err
}

// comprehension reads the for and if clauses after the given elements.
func (p *parser) comprehension(k kind, elems ...*node) (*node, error) {
	for _, e := range elems {
		if e.kind == kStarred {
			return nil, syntaxErrorAt(e.off, "iterable unpacking cannot be used in comprehension")
		}
	}
	n := &node{kind: k, kids: elems, off: elems[0].off}
	for p.is("for", "async") {
		p.accept("async")
		if err := p.expect("for"); err != nil {
			return nil, err
		}
		if err := p.targets("in"); err != nil {
			return nil, err
		}
		if err := p.expect("in"); err != nil {
			return nil, err
		}
		iter, err := p.disjunction()
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, iter)
		for p.accept("if") {
			cond, err := p.disjunction()
			if err != nil {
				return nil, err
			}
			n.kids = append(n.kids, cond)
		}
	}
	return n, nil
}

// targets reads what is assigned to: a, b.c, (d, *e). end is the word after it.
func (p *parser) targets(end string) error {
	for {
		e, err := p.starredOr(func() (*node, error) { return p.binary(0) })
		if err != nil {
			return err
		}
		if err := checkTarget(e); err != nil {
			return err
		}
		if !p.accept(",") || p.is(end) {
			return nil
		}
	}
}

// checkTarget accepts what may stand left of an equals sign.
func checkTarget(e *node) error {
	switch e.kind {
	case kName, kAttribute, kSubscript:
		return nil
	case kTuple, kList, kStarred:
		for _, k := range e.kids {
			if err := checkTarget(k); err != nil {
				return err
			}
		}
		return nil
	}
	return syntaxErrorAt(e.off, "cannot assign to this expression")
}

// yield reads yield, yield values, or yield from iterable.
func (p *parser) yield() (*node, error) {
	n := &node{kind: "Yield", off: p.advance().off}
	if p.accept("from") {
		e, err := p.expression()
		n.kind, n.kids = "YieldFrom", []*node{e}
		return n, err
	}
	if p.is(")") || p.tok().kind == tokEnd || p.tok().kind == tokNewline {
		return n, nil
	}
	e, err := p.expressions()
	n.kids = []*node{e}
	return n, err
}

// lambda reads lambda parameters: expression. Defaults and body are kept.
func (p *parser) lambda() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	n := &node{kind: "Lambda", off: p.advance().off}
	for !p.is(":") {
		switch {
		case p.accept("/"):
		case p.is("*", "**"):
			star := p.advance().text
			if next := p.toks[min(p.pos+1, len(p.toks)-1)]; star == "*" && p.is(",") && next.kind == tokName {
				break // a bare star: what follows is given by name only
			}
			if err := p.name(); err != nil {
				return nil, err
			}
		case p.tok().kind == tokName:
			p.pos++
			if p.accept("=") {
				e, err := p.expression()
				if err != nil {
					return nil, err
				}
				n.kids = append(n.kids, e)
			}
		default:
			return nil, p.unexpected()
		}
		if !p.accept(",") {
			break
		}
	}
	if err := p.expect(":"); err != nil {
		return nil, err
	}
	body, err := p.expression()
	n.kids = append(n.kids, body)
	return n, err
}
