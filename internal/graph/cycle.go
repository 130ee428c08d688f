package graph

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// maxRounds bounds how often the search for cycles starts again without
	// the nodes of the cycles found so far. Each round is linear.
	maxRounds = 16
	// maxStarts bounds from how many nodes a shortest cycle is looked for in
	// one knot of cycles; below it the cycle found is the shortest there is.
	maxStarts = 16
	// maxNames is how many ids of a cycle are printed.
	maxNames = 12
)

// Cycles returns cycles that share no node, in the order of their first nodes.
// Each is short, starts at its first node in node order, goes from a node to
// one that it depends on, and ends where it started; a node that depends on
// itself is [n n]. There is none exactly when the graph is acyclic; of very
// many, only some are returned.
func (g *Graph) Cycles() [][]int {
	if g.Acyclic() {
		return nil
	}
	alive := make([]bool, len(g.ids))
	for n, l := range g.layer {
		alive[n] = l < 0
	}
	var cycles [][]int
	for range maxRounds {
		knots := g.knots(alive)
		if len(knots) == 0 {
			break
		}
		s := newSearch(g, knots)
		for _, knot := range knots {
			cycle := s.shortest(knot)
			cycles = append(cycles, cycle)
			for _, n := range cycle {
				alive[n] = false
			}
		}
	}
	slices.SortFunc(cycles, func(a, b []int) int { return a[0] - b[0] })
	return cycles
}

// CycleString prints a cycle as `a -> b -> a`, the middle of a long one left
// out.
func (g *Graph) CycleString(cycle []int) string {
	names := make([]string, 0, maxNames+1)
	for i, n := range cycle {
		if skipped := len(cycle) - maxNames; skipped > 0 {
			if i == maxNames/2 {
				names = append(names, fmt.Sprintf("(%d more)", skipped))
			}
			if i >= maxNames/2 && i < maxNames/2+skipped {
				continue
			}
		}
		names = append(names, g.ids[n])
	}
	return strings.Join(names, " -> ")
}

// knots returns the strongly connected components of the living nodes that
// hold a cycle, each with its nodes in node order (Tarjan's algorithm with its
// own stack).
func (g *Graph) knots(alive []bool) [][]int {
	t := tarjan{
		g: g, alive: alive,
		found:   make([]int, len(g.ids)),
		low:     make([]int, len(g.ids)),
		next:    make([]int, len(g.ids)),
		onStack: make([]bool, len(g.ids)),
	}
	for n := range g.ids {
		if alive[n] && t.found[n] == 0 {
			t.visit(n)
		}
	}
	return t.knots
}

type tarjan struct {
	g       *Graph
	alive   []bool
	clock   int
	found   []int // when a node was first seen, from 1; 0: not yet
	low     []int // earliest node known to be reachable within the component
	next    []int // position of the next dependency to look at
	onStack []bool
	stack   []int // nodes whose component is open
	knots   [][]int
}

func (t *tarjan) enter(path []int, n int) []int {
	t.clock++
	t.found[n], t.low[n] = t.clock, t.clock
	t.stack = append(t.stack, n)
	t.onStack[n] = true
	return append(path, n)
}

func (t *tarjan) visit(root int) {
	path := t.enter(nil, root)
	for len(path) > 0 {
		n := path[len(path)-1]
		deps := t.g.Deps(n)
		if t.next[n] < len(deps) {
			dep := deps[t.next[n]]
			t.next[n]++
			switch {
			case !t.alive[dep]:
			case t.found[dep] == 0:
				path = t.enter(path, dep)
			case t.onStack[dep]:
				t.low[n] = min(t.low[n], t.found[dep])
			}
			continue
		}
		path = path[:len(path)-1]
		if len(path) > 0 {
			up := path[len(path)-1]
			t.low[up] = min(t.low[up], t.low[n])
		}
		if t.low[n] == t.found[n] {
			t.close(n)
		}
	}
}

// close takes the component of root, its first node, off the stack.
func (t *tarjan) close(root int) {
	at := len(t.stack) - 1
	for t.stack[at] != root {
		at--
	}
	for _, n := range t.stack[at:] {
		t.onStack[n] = false
	}
	if len(t.stack)-at > 1 || t.g.DependsOn(root, root) {
		knot := slices.Clone(t.stack[at:])
		slices.Sort(knot)
		t.knots = append(t.knots, knot)
	}
	t.stack = t.stack[:at]
}

// search looks for cycles inside of knots, breadth first.
type search struct {
	g     *Graph
	knot  []int // each node's knot, from 1; 0 for none
	came  []int // from where a node was reached in the current round
	round []int // the last round in which a node was reached
	now   int
	queue []int
}

func newSearch(g *Graph, knots [][]int) *search {
	n := len(g.ids)
	s := &search{g: g, knot: make([]int, n), came: make([]int, n), round: make([]int, n)}
	for k, nodes := range knots {
		for _, n := range nodes {
			s.knot[n] = k + 1
		}
	}
	return s
}

// shortest returns a shortest cycle through one of the knot's first nodes,
// turned so that it starts at its own first node and ends there.
func (s *search) shortest(knot []int) []int {
	var best []int
	for _, start := range knot[:min(len(knot), maxStarts)] {
		if c := s.from(start); c != nil && (best == nil || len(c) < len(best)) {
			best = c
		}
	}
	first := slices.Index(best, slices.Min(best))
	turned := append(slices.Clone(best[first:]), best[:first]...)
	return append(turned, turned[0])
}

// from returns the nodes of a shortest cycle through start.
func (s *search) from(start int) []int {
	s.now++
	s.queue = append(s.queue[:0], start)
	s.round[start] = s.now
	for head := 0; head < len(s.queue); head++ {
		n := s.queue[head]
		for _, dep := range s.g.Deps(n) {
			if dep == start {
				return s.back(start, n)
			}
			if s.knot[dep] == s.knot[start] && s.round[dep] != s.now {
				s.round[dep], s.came[dep] = s.now, n
				s.queue = append(s.queue, dep)
			}
		}
	}
	return nil
}

// back returns the way that led from start to n.
func (s *search) back(start, n int) []int {
	var way []int
	for ; n != start; n = s.came[n] {
		way = append(way, n)
	}
	way = append(way, start)
	slices.Reverse(way)
	return way
}
