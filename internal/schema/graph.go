package schema

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// applied says what a schema inside of another is applied to.
type applied int

const (
	toNothing  applied = iota // it is only a place that references lead to
	toSame                    // the same value
	toElements                // the elements of a list
	toMembers                 // the members of an object
	toNames                   // the names of an object's members
)

// part is a schema directly inside of another.
type part struct {
	pointer string // from the outer schema, as in a JSON pointer
	schema  *jsonschema.Schema
	to      applied
	index   int // toElements: of one element only; -1: of any
	// one says that it is for the member called name only.
	one  bool
	name string
}

// parts returns the schemas directly inside of s.
func parts(s *jsonschema.Schema) []part {
	var out []part
	one := func(key string, inner *jsonschema.Schema, to applied) {
		if inner != nil {
			out = append(out, part{pointer: "/" + key, schema: inner, to: to, index: -1})
		}
	}
	list := func(key string, inner []*jsonschema.Schema, to applied) {
		for i, e := range inner {
			p := part{pointer: "/" + key + "/" + strconv.Itoa(i), schema: e, to: to, index: -1}
			if to == toElements {
				p.index = i
			}
			out = append(out, p)
		}
	}
	named := func(key string, inner map[string]*jsonschema.Schema, to applied) {
		for name, e := range inner {
			out = append(out, part{
				pointer: "/" + key + "/" + escapePointer(name), schema: e, to: to, index: -1,
				one: key == "properties", name: name,
			})
		}
	}
	named("$defs", s.Defs, toNothing)
	named("definitions", s.Definitions, toNothing)
	one("contentSchema", s.ContentSchema, toNothing)
	list("allOf", s.AllOf, toSame)
	list("anyOf", s.AnyOf, toSame)
	list("oneOf", s.OneOf, toSame)
	one("not", s.Not, toSame)
	one("if", s.If, toSame)
	one("then", s.Then, toSame)
	one("else", s.Else, toSame)
	named("dependentSchemas", s.DependentSchemas, toSame)
	named("dependencies", s.DependencySchemas, toSame)
	list("prefixItems", s.PrefixItems, toElements)
	list("items", s.ItemsArray, toElements)
	one("items", s.Items, toElements)
	one("additionalItems", s.AdditionalItems, toElements)
	one("contains", s.Contains, toElements)
	one("unevaluatedItems", s.UnevaluatedItems, toElements)
	named("properties", s.Properties, toMembers)
	named("patternProperties", s.PatternProperties, toMembers)
	one("additionalProperties", s.AdditionalProperties, toMembers)
	one("unevaluatedProperties", s.UnevaluatedProperties, toMembers)
	one("propertyNames", s.PropertyNames, toNames)
	return out
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// graph is a schema with where its references lead.
type graph struct {
	root  *jsonschema.Schema
	parts map[*jsonschema.Schema][]part // references included, as toSame

	resources map[string]*resource // by URI
	homes     map[*jsonschema.Schema]*resource
	dynamic   map[string][]*jsonschema.Schema // by $dynamicAnchor, of all resources
}

// resource is a schema with an identity of its own, inside of which references
// without one are looked up.
type resource struct {
	uri    *url.URL
	places map[string]*jsonschema.Schema // by JSON pointer and by anchor
}

// newGraph finds where the references of a schema lead, which must have
// been resolved.
func newGraph(root *jsonschema.Schema) (*graph, error) {
	g := &graph{
		root: root, parts: map[*jsonschema.Schema][]part{}, resources: map[string]*resource{},
		homes: map[*jsonschema.Schema]*resource{}, dynamic: map[string][]*jsonschema.Schema{},
	}
	if err := g.collect(root, &url.URL{}, nil); err != nil {
		return nil, err
	}
	for s := range g.homes {
		for _, ref := range []string{s.Ref, s.DynamicRef} {
			if ref == "" {
				continue
			}
			targets := g.targets(s, ref, ref == s.DynamicRef)
			if len(targets) == 0 {
				return nil, fmt.Errorf("the reference %q can't be followed", ref)
			}
			for _, t := range targets {
				g.parts[s] = append(g.parts[s], part{schema: t, to: toSame, index: -1})
			}
		}
	}
	return g, nil
}

// home is a resource that a schema lies in, and the pointer to it from there.
type home struct {
	*resource
	pointer string
}

// collect walks the tree of schemas, of which homes are the resources around
// s, outermost first.
func (g *graph) collect(s *jsonschema.Schema, base *url.URL, homes []home) error {
	if err := checkTypes(s); err != nil {
		return err
	}
	if s.ID != "" || len(homes) == 0 {
		id, err := url.Parse(s.ID)
		if err != nil {
			return err
		}
		base = base.ResolveReference(id)
		r := &resource{uri: base, places: map[string]*jsonschema.Schema{}}
		g.resources[withoutFragment(base)] = r
		homes = append(slices.Clip(homes), home{r, ""})
	}
	own := homes[len(homes)-1]
	g.homes[s] = own.resource
	for _, h := range homes {
		h.places[h.pointer] = s
	}
	for _, anchor := range []string{s.Anchor, s.DynamicAnchor} {
		if anchor != "" {
			own.places[anchor] = s
		}
	}
	if s.DynamicAnchor != "" {
		g.dynamic[s.DynamicAnchor] = append(g.dynamic[s.DynamicAnchor], s)
	}
	inner := parts(s)
	g.parts[s] = inner
	for _, p := range inner {
		deeper := make([]home, len(homes))
		for i, h := range homes {
			deeper[i] = home{h.resource, h.pointer + p.pointer}
		}
		if err := g.collect(p.schema, base, deeper); err != nil {
			return err
		}
	}
	return nil
}

func withoutFragment(u *url.URL) string {
	v := *u
	v.Fragment, v.RawFragment = "", ""
	return v.String()
}

// targets returns where a reference may lead: a dynamic one to every anchor of
// its name.
func (g *graph) targets(s *jsonschema.Schema, ref string, dynamic bool) []*jsonschema.Schema {
	u, err := url.Parse(ref)
	if err != nil {
		return nil
	}
	u = g.homes[s].uri.ResolveReference(u)
	r := g.resources[withoutFragment(u)]
	if r == nil {
		return nil
	}
	var out []*jsonschema.Schema
	if t := r.places[u.Fragment]; t != nil {
		out = append(out, t)
	}
	if dynamic {
		for _, t := range g.dynamic[u.Fragment] {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// checkTypes refuses types that JSON does not have, which no value could fit.
func checkTypes(s *jsonschema.Schema) error {
	for _, t := range append([]string{s.Type}, s.Types...) {
		switch t {
		case "", "null", "boolean", "object", "array", "number", "string", "integer":
		default:
			return fmt.Errorf("%q is no type; the types are string, number, integer, boolean, object, array and null", t)
		}
	}
	return nil
}
