package wfyaml

import (
	"fmt"
	"strings"

	"github.com/agentloom/agentloom/internal/nearest"
	"github.com/agentloom/agentloom/workflow"
)

// stepReader reads steps. It has the tables of their keys, made once a file.
type stepReader struct {
	*decoder
	shared []field[workflow.Step]
	kinds  []kind
}

// step reads one step into s. Where the type is missing or wrong, the keys
// that every step has are still read.
func (d *stepReader) step(it item, s *workflow.Step) {
	es, ok := d.mapping(it, "a mapping (a step)")
	if !ok {
		return
	}
	k := d.kindOf(es, it)
	if k != nil {
		s.Type = k.name
		k.start(s)
	}
	for _, e := range es {
		if !d.ownKey(e, it) {
			continue
		}
		f, known := d.field(k, e.key)
		switch {
		case !known:
			d.notOfStep(e, es, it, k)
		case f != nil && !isNull(e.value):
			f.set(d.decoder, s, it.key(e.key, e.value))
		}
	}
	if s.Type == "" {
		d.missingType(es, it)
	}
}

// field returns the field of a key. Without a kind, the keys of all kinds
// are known, but their values are not read.
func (d *stepReader) field(k *kind, key string) (f *field[workflow.Step], known bool) {
	if f := findField(d.shared, key); f != nil {
		return f, true
	}
	if k == nil {
		return nil, len(d.kindsWith(key)) > 0
	}
	f = findField(k.fields, key)
	return f, f != nil
}

func findField(fields []field[workflow.Step], key string) *field[workflow.Step] {
	for i := range fields {
		if fields[i].key == key {
			return &fields[i]
		}
	}
	return nil
}

// kindOf finds the kind that a step's `type` names; nil when there is none.
func (d *stepReader) kindOf(es []entry, it item) *kind {
	e, ok := lookup(es, "type")
	if !ok || isNull(e.value) {
		return nil
	}
	name, it := "", it.key("type", e.value)
	if !d.string(it, &name) {
		return nil
	}
	for i := range d.kinds {
		if string(d.kinds[i].name) == name {
			return &d.kinds[i]
		}
	}
	if d.news(workflow.SeverityError, "unknown_step_type", it.node, "") {
		suggestion := "the types are " + enumerate(d.kindNames())
		if near := nearest.Of(name, d.kindNames()); near != "" {
			suggestion = fmt.Sprintf("did you mean %q?", near)
		}
		d.put(workflow.SeverityError, "unknown_step_type", at(it.node), it.path, "unknown step type "+show(name), suggestion)
		d.mark(spot{node: it.node})
	}
	return nil
}

// missingType reports a step without a type, unless its type, or the key that
// was meant to be it, is reported already.
func (d *stepReader) missingType(es []entry, it item) {
	lack := spot{follow(it.node), "type"}
	if e, null := lookup(es, "type"); null {
		lack = spot{node: e.value}
	}
	if !d.broken[lack] && d.news(workflow.SeverityError, "missing_key", it.node, "type") {
		d.put(workflow.SeverityError, "missing_key", at(it.node), it.key("type", nil).path,
			"type is required", "the types are "+enumerate(d.kindNames()))
		d.mark(lack)
	}
}

// notOfStep reports a key that a step's kind does not have.
func (d *stepReader) notOfStep(e entry, es []entry, it item, k *kind) {
	var kindName string
	if k != nil {
		kindName = string(k.name)
	}
	if !d.news(workflow.SeverityError, "unknown_key", e.name, kindName) {
		return
	}
	what, known := "a step", fieldKeys(d.shared)
	if k != nil {
		what = withArticle(kindName) + " step"
		known = append(known, fieldKeys(k.fields)...)
	}
	owners := d.kindsWith(e.key)
	if len(owners) == 0 {
		d.putUnknownKey(e, es, it, what, known)
		return
	}
	d.put(workflow.SeverityError, "misplaced_key", at(e.name), it.key(e.key, e.value).path,
		fmt.Sprintf("`%s` is no key of %s", e.key, what),
		fmt.Sprintf("it belongs to steps of type %s; this one takes %s", enumerate(owners), enumerate(fieldKeys(k.fields))))
}

// kindsWith names the kinds that have a key of their own.
func (d *stepReader) kindsWith(key string) []string {
	var names []string
	for _, k := range d.kinds {
		if findField(k.fields, key) != nil {
			names = append(names, string(k.name))
		}
	}
	return names
}

func (d *stepReader) kindNames() []string {
	names := make([]string, len(d.kinds))
	for i, k := range d.kinds {
		names[i] = string(k.name)
	}
	return names
}

// enumerate joins names for a sentence: a, b and c.
func enumerate(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// withArticle puts a or an before a step type, as it is spoken: an llm_call.
func withArticle(noun string) string {
	if strings.Contains("aeil", noun[:1]) {
		return "an " + noun
	}
	return "a " + noun
}
