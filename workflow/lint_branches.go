package workflow

import (
	"math/bits"
	"slices"
)

// A step that depends on a router runs only if the router chose it, and so
// does everything after it. Two steps behind different choices of one router
// therefore never run in the same run.
//
// To see that fast, the steps that depend on one router get different numbers,
// and each bit of a number is a question with two answers. A step carries its
// own answers and those of all its ancestors. Two steps, or one step with
// itself, exclude each other exactly when some question has both answers.
// Sixty-four questions are answered for all steps in one pass over the graph.

// question is one bit of the numbers of the steps that depend on one router.
type question struct {
	router int
	bit    int
}

func (c *checker) questions() []question {
	var qs []question
	for i := range c.def.Steps {
		if c.def.Steps[i].Type != Router {
			continue
		}
		for b := range bits.Len(uint(max(0, len(c.graph.Dependents(i))-1))) {
			qs = append(qs, question{i, b})
		}
	}
	return qs
}

// answers has, for each step, the questions of one block that its running
// answers with yes, and those it answers with no.
type answers struct{ yes, no []uint64 }

// answer works out at most 64 questions for all steps.
func (c *checker) answer(qs []question) answers {
	n := len(c.def.Steps)
	a := answers{make([]uint64, n), make([]uint64, n)}
	for k, q := range qs {
		for number, step := range c.graph.Dependents(q.router) {
			if number>>q.bit&1 == 1 {
				a.yes[step] |= 1 << k
			} else {
				a.no[step] |= 1 << k
			}
		}
	}
	c.graph.Spread(a.yes)
	c.graph.Spread(a.no)
	return a
}

// lintNeverRuns finds steps that no run can reach: those that join two
// branches of one router, directly or through other steps, and those that
// depend on a router that can't choose them. What comes after such a step
// can't run either and is not mentioned.
func (c *checker) lintNeverRuns() {
	if !c.ordered() {
		return
	}
	dead := make([]bool, len(c.def.Steps))
	for i := range c.def.Steps {
		s := &c.def.Steps[i]
		if s.Type == Router && s.Router != nil {
			c.lintUnchosen(i, s.Router, dead)
		}
	}
	for block := range slices.Chunk(c.questions(), 64) {
		a := c.answer(block)
		for _, i := range c.graph.Order() {
			both := a.yes[i] & a.no[i]
			if both == 0 || dead[i] || c.inherited(a, i) {
				continue
			}
			dead[i] = true
			router := block[bits.TrailingZeros64(both)].router
			one, other := c.joined(router, i)
			c.warnf(stepAt(i).key("depends_on"), "never_runs", "put a follow-up step in each branch instead",
				"step %s can never run: it joins two branches of router %s, %s and %s, and one of them is always skipped",
				c.name(i), c.name(router), c.name(one), c.name(other))
		}
	}
}

// lintUnchosen finds steps that depend on a router without being its target.
func (c *checker) lintUnchosen(router int, f *RouterFields, dead []bool) {
	targets := make(map[string]bool, len(f.Conditions)+1)
	targets[f.Default] = true
	for k := range f.Conditions {
		targets[f.Conditions[k].Target] = true
	}
	for _, i := range c.graph.Dependents(router) {
		if targets[c.ids[i]] || dead[i] {
			continue
		}
		dead[i] = true
		c.warnf(stepAt(i).key("depends_on"), "never_runs", "make it a target, or let it depend on the steps of a branch",
			"step %s can never run: it depends on router %s, which never chooses it", c.name(i), c.name(router))
	}
}

// inherited reports whether one of a step's dependencies can't run already.
func (c *checker) inherited(a answers, i int) bool {
	return slices.ContainsFunc(c.graph.Deps(i), func(dep int) bool { return a.yes[dep]&a.no[dep] != 0 })
}

// joined returns the first two steps behind a router that step i comes after,
// itself included.
func (c *checker) joined(router, i int) (one, other int) {
	var found []int
	for n := range c.graph.Ancestors(i) {
		if c.graph.DependsOn(n, router) {
			found = append(found, n)
		}
	}
	if c.graph.DependsOn(i, router) {
		found = append(found, i)
	}
	slices.Sort(found)
	return found[0], found[1]
}
