package expr

// primary reads an atom with the attributes, calls and indexes after it.
func (p *parser) primary() (*node, error) {
	e, err := p.atom()
	if err != nil {
		return nil, err
	}
	for {
		off := p.tok().off
		switch {
		case p.accept("."):
			if p.tok().kind != tokName {
				return nil, p.unexpected()
			}
			t := p.advance()
			e = &node{kind: kAttribute, text: t.text, kids: []*node{e}, off: t.off}
		case p.is("("):
			if e, err = p.call(e); err != nil {
				return nil, err
			}
		case p.is("["):
			index, err := p.bracketed("[", "]", p.index)
			if err != nil {
				return nil, err
			}
			e = &node{kind: kSubscript, kids: []*node{e, index}, off: off}
		default:
			return e, nil
		}
	}
}

// bracketed reads an opening bracket, what is inside, and the closing one.
func (p *parser) bracketed(open, end string, inside func() (*node, error)) (*node, error) {
	if err := p.expect(open); err != nil {
		return nil, err
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	e, err := inside()
	if err != nil {
		return nil, err
	}
	return e, p.expect(end)
}

func (p *parser) atom() (*node, error) {
	t := p.tok()
	switch {
	case t.kind == tokName:
		p.pos++
		return &node{kind: kName, text: t.text, off: t.off}, nil
	case t.kind == tokNumber:
		p.pos++
		return &node{kind: kConstant, val: t.val, refused: t.refused, off: t.off}, nil
	case t.kind == tokString:
		return p.strings()
	case p.accept("None"):
		return &node{kind: kConstant, off: t.off}, nil
	case p.accept("True"):
		return &node{kind: kConstant, val: true, off: t.off}, nil
	case p.accept("False"):
		return &node{kind: kConstant, val: false, off: t.off}, nil
	case p.accept("..."):
		return &node{kind: kConstant, refused: "an Ellipsis", off: t.off}, nil
	case p.is("("):
		return p.bracketed("(", ")", p.parenthesised)
	case p.is("["):
		return p.bracketed("[", "]", p.listDisplay)
	case p.is("{"):
		return p.bracketed("{", "}", p.braces)
	}
	return nil, p.unexpected()
}

// strings reads string literals that stand side by side: they are one.
func (p *parser) strings() (*node, error) {
	n := &node{kind: kConstant, off: p.tok().off}
	text, isBytes := "", p.tok().bytes
	for p.tok().kind == tokString {
		t := p.advance()
		if t.bytes != isBytes {
			return nil, syntaxErrorAt(t.off, "cannot mix bytes and nonbytes literals")
		}
		if t.format {
			n.kind = "JoinedStr"
		}
		if t.refused != "" {
			n.refused = t.refused
		}
		if s, ok := t.val.(string); ok {
			text += s
		}
	}
	n.val = text
	return n, nil
}

// parenthesised reads what stands in parentheses that are no call's: a tuple,
// a generator, a yield, or one expression.
func (p *parser) parenthesised() (*node, error) {
	off := p.tok().off
	switch {
	case p.is(")"):
		return &node{kind: kTuple, off: off, parens: true}, nil
	case p.is("yield"):
		return p.yield()
	}
	first, err := p.starredOr(p.namedExpression)
	if err != nil {
		return nil, err
	}
	switch {
	case p.is("for", "async"):
		return p.comprehension("GeneratorExp", first)
	case p.is(","):
		elems, err := p.more(first, ")", p.namedExpression)
		return &node{kind: kTuple, kids: elems, off: off, parens: true}, err
	case first.kind == kStarred:
		return nil, syntaxErrorAt(first.off, "cannot use starred expression here")
	}
	first.parens = true
	return first, nil
}

func (p *parser) listDisplay() (*node, error) {
	off := p.tok().off
	if p.is("]") {
		return &node{kind: kList, off: off}, nil
	}
	first, err := p.starredOr(p.namedExpression)
	if err != nil {
		return nil, err
	}
	if p.is("for", "async") {
		return p.comprehension("ListComp", first)
	}
	elems, err := p.more(first, "]", p.namedExpression)
	return &node{kind: kList, kids: elems, off: off}, err
}

// more reads `, element` as long as they come; a comma may stand before end.
func (p *parser) more(first *node, end string, elem func() (*node, error)) ([]*node, error) {
	elems := []*node{first}
	for p.accept(",") && !p.is(end) {
		e, err := p.starredOr(elem)
		if err != nil {
			return nil, err
		}
		elems = append(elems, e)
	}
	return elems, nil
}

// starredOr reads *operand, or what elem reads.
func (p *parser) starredOr(elem func() (*node, error)) (*node, error) {
	off := p.tok().off
	if !p.accept("*") {
		return elem()
	}
	e, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	return &node{kind: kStarred, kids: []*node{e}, off: off}, nil
}

// braces reads a dict or a set, displayed or comprehended.
func (p *parser) braces() (*node, error) {
	off := p.tok().off
	if p.is("}") {
		return &node{kind: kDict, off: off}, nil
	}
	if p.is("**") {
		return p.dictDisplay(off, nil, nil)
	}
	first, err := p.starredOr(p.namedExpression)
	if err != nil {
		return nil, err
	}
	if p.is(":") && first.kind != kStarred {
		p.pos++
		val, err := p.expression()
		if err != nil {
			return nil, err
		}
		if p.is("for", "async") {
			return p.comprehension("DictComp", first, val)
		}
		return p.dictDisplay(off, first, val)
	}
	if p.is("for", "async") {
		return p.comprehension("SetComp", first)
	}
	elems, err := p.more(first, "}", p.namedExpression)
	return &node{kind: "Set", kids: elems, off: off}, err
}

// dictDisplay reads the pairs after the first, which may be nil when the
// display starts with **.
func (p *parser) dictDisplay(off int, key, val *node) (*node, error) {
	n := &node{kind: kDict, off: off}
	if val != nil {
		n.kids = append(n.kids, key, val)
		if !p.accept(",") {
			return n, nil
		}
	}
	for !p.is("}") {
		key, val, err := p.pair()
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, key, val)
		if !p.accept(",") {
			break
		}
	}
	return n, nil
}

// pair reads key: value, or **mapping, whose key is nil.
func (p *parser) pair() (key, val *node, err error) {
	if p.accept("**") {
		val, err = p.binary(0)
		return nil, val, err
	}
	if key, err = p.expression(); err != nil {
		return nil, nil, err
	}
	if err = p.expect(":"); err != nil {
		return nil, nil, err
	}
	val, err = p.expression()
	return key, val, err
}

// index reads what stands in the brackets of a subscript.
func (p *parser) index() (*node, error) {
	off := p.tok().off
	first, err := p.starredOr(p.slice)
	if err != nil {
		return nil, err
	}
	if !p.is(",") && first.kind != kStarred {
		return first, nil
	}
	elems, err := p.more(first, "]", p.slice)
	return &node{kind: kTuple, kids: elems, off: off}, err
}

// slice reads an index, or lower:upper:step with each part optional.
func (p *parser) slice() (*node, error) {
	n := &node{kind: kSlice, kids: make([]*node, 3), off: p.tok().off}
	for i := range n.kids {
		if !p.is(":", "]", ",") {
			e, err := p.namedExpression()
			if err != nil {
				return nil, err
			}
			n.kids[i] = e
		}
		if i == 0 && !p.is(":") {
			if n.kids[0] == nil {
				return nil, p.unexpected()
			}
			return n.kids[0], nil
		}
		if i == 2 || !p.accept(":") {
			break
		}
	}
	return n, nil
}
