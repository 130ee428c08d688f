package workflow

import (
	"errors"
	"strings"

	"github.com/agentloom/agentloom/internal/expr"
	"github.com/agentloom/agentloom/internal/template"
	"github.com/agentloom/agentloom/value"
)

// lintTemplate looks at a text that is always a template.
func (c *checker) lintTemplate(p place, text string) {
	if c.enoughWarnings() || !strings.ContainsAny(text, "{}") {
		return
	}
	t, err := template.Parse(text)
	if err != nil {
		c.badTemplate(p, err)
		return
	}
	for _, f := range t.Fields() {
		c.lintRead(p, f.Path, f.Text)
	}
}

// lintArgs looks at arguments. Their strings are templates or, each as a
// whole, paths into the state.
func (c *checker) lintArgs(p place, args *value.Map) {
	if args.Len() == 0 {
		return
	}
	c.once(args, func() {
		for k, v := range args.All() {
			c.lintArg(p.key(k), v, 1)
		}
	})
}

func (c *checker) lintArg(p place, v any, depth int) {
	if depth > value.MaxDepth {
		return // Validate says so
	}
	switch v := v.(type) {
	case string:
		c.lintText(p, v)
	case []any:
		if len(v) > 0 {
			c.once(extent{&v[0], len(v)}, func() {
				for i, e := range v {
					c.lintArg(p.item(i), e, depth+1)
				}
			})
		}
	case *value.Map:
		if isLiteral(v) {
			return
		}
		c.once(v, func() {
			for k, e := range v.All() {
				c.lintArg(p.key(k), e, depth+1)
			}
		})
	}
}

// extent is which list a list is.
type extent struct {
	first  *any
	length int
}

// once looks at a list or mapping unless it was seen to be without fault. In a
// file, thousands of steps can share one through an alias.
func (c *checker) once(shared any, look func()) {
	if c.faultless[shared] || c.enoughWarnings() {
		return
	}
	before := c.warnings
	look()
	if c.warnings > before {
		return
	}
	if c.faultless == nil {
		c.faultless = map[any]bool{}
	}
	c.faultless[shared] = true
}

func (c *checker) lintText(p place, text string) {
	if c.enoughWarnings() {
		return
	}
	fields, paths, err := template.ValueFields(text)
	if err != nil {
		c.badTemplate(p, err)
		return
	}
	for _, f := range fields {
		c.lintRead(p, f.Path, f.Text)
	}
	for _, path := range paths {
		c.lintRead(p, path, text)
	}
}

// isLiteral reports whether m is {value: X, template: false}, which is passed
// on as it is written.
func isLiteral(m *value.Map) bool {
	_, has := m.Get("value")
	flag, _ := m.Get("template")
	return m.Len() == 2 && has && flag == false
}

func (c *checker) badTemplate(p place, err error) {
	message := err.Error()
	if e, ok := errors.AsType[*template.Error](err); ok {
		message = e.Message
	}
	c.warnf(p, "bad_template", "", "the template does not work: %s", message)
}

func (c *checker) lintExpression(p place, src string) {
	if src == "" || c.enoughWarnings() {
		return
	}
	if _, err := expr.Compile(src); err != nil {
		c.warnf(p, "bad_expression", "", "the expression does not work: %s", err.Error())
	}
}

// lintRead wants that something in the file sets what a field reads.
func (c *checker) lintRead(p place, path template.Path, text string) {
	if path.Root != "state" || len(path.Segments) == 0 {
		return
	}
	if c.sets == nil {
		c.sets = newSetKeys(c.def)
	}
	missing := c.sets.missing(path.Segments)
	if missing == "" {
		return
	}
	suggestion := c.didYouMean(missing, c.sets.names)
	if suggestion == "" {
		suggestion = "set it under state, as the output of a step, or with -s when the workflow is run"
	}
	c.warnf(p, "unset_state", suggestion, "nothing in the file sets state.%s, which %s reads", missing, quoted(text))
}

// setKeys are the keys of the state that a file sets.
type setKeys struct {
	state   *value.Map
	outputs map[string]bool // dotted, as steps write them
	objects map[string]bool // dotted: made on the way to an output
	names   []string        // all of them, to suggest
}

func newSetKeys(def *Definition) *setKeys {
	k := &setKeys{
		state:   def.State,
		outputs: make(map[string]bool, len(def.Steps)),
		objects: map[string]bool{},
		names:   def.State.Keys(),
	}
	for i := range def.Steps {
		key := def.Steps[i].Output
		if key == "" || k.outputs[key] || strings.Count(key, ".") >= maxOutputNames {
			continue
		}
		k.outputs[key] = true
		k.names = append(k.names, key)
		for at, b := range []byte(key) {
			if b == '.' {
				k.objects[key[:at]] = true
			}
		}
	}
	return k
}

// missing returns the dotted key on the way down segments that nothing sets,
// "" when each is set or can't be known.
func (k *setKeys) missing(segments []template.Segment) string {
	var key string
	var here any = k.state
	for i, s := range segments {
		m, isMap := here.(*value.Map)
		if strings.Contains(s.Key, ".") || !isMap {
			return ""
		}
		if i > 0 {
			key += "."
		}
		key += s.Key
		if k.outputs[key] {
			return ""
		}
		next, ok := m.Get(s.Key)
		switch {
		case ok:
			here = next
		case k.objects[key]:
			here = (*value.Map)(nil)
		default:
			return key
		}
	}
	return ""
}
