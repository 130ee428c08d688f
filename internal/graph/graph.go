// Package graph answers questions about a directed graph of steps: its layers,
// its cycles, and who comes after whom. It knows ids and nothing else.
//
// Nodes are named by their index, from 0, in the order they were given. No
// function recurses, so a chain of any length is fine, and building a graph
// costs time and memory linear in nodes and edges.
package graph

import (
	"iter"
	"slices"
)

// Graph is an immutable directed graph. Build one with New.
type Graph struct {
	ids   []string
	index map[string]int
	deps  edges // to what a node depends on
	outs  edges // to what depends on a node
	order []int // topological: dependencies first
	layer []int // from 0; -1 on and after a cycle
	depth int   // number of layers
}

// edges lists each node's neighbours, one after another in one slice.
type edges struct {
	start []int // of node n's neighbours; one longer than there are nodes
	list  []int
}

func (e *edges) of(n int) []int { return e.list[e.start[n]:e.start[n+1]:e.start[n+1]] }

// New builds the graph of nodes named ids, where node n depends on deps[n].
// deps may be shorter than ids. Where two nodes have one id, the id means the
// first of them. A dependency that is listed twice counts once; one that no
// node has is left out.
func New(ids []string, deps [][]string) *Graph {
	g := &Graph{ids: ids, index: make(map[string]int, len(ids))}
	for n, id := range ids {
		if _, taken := g.index[id]; !taken {
			g.index[id] = n
		}
	}
	g.link(deps)
	g.sort()
	return g
}

func (g *Graph) link(deps [][]string) {
	n := len(g.ids)
	g.deps = edges{start: make([]int, n+1)}
	g.outs = edges{start: make([]int, n+1)}
	seenBy := make([]int, n) // node + 1 that last listed this one
	for from := range n {
		if from < len(deps) {
			for _, id := range deps[from] {
				to, ok := g.index[id]
				if !ok || seenBy[to] == from+1 {
					continue
				}
				seenBy[to] = from + 1
				g.deps.list = append(g.deps.list, to)
				g.outs.start[to+1]++
			}
		}
		g.deps.start[from+1] = len(g.deps.list)
	}
	g.reverse()
}

// reverse fills outs from deps; outs.start holds each node's count, one later.
func (g *Graph) reverse() {
	for n := range g.ids {
		g.outs.start[n+1] += g.outs.start[n]
	}
	g.outs.list = make([]int, len(g.deps.list))
	next := append([]int(nil), g.outs.start...)
	for from := range g.ids {
		for _, to := range g.deps.of(from) {
			g.outs.list[next[to]] = from
			next[to]++
		}
	}
}

// sort finds the topological order and the layers, after Kahn.
func (g *Graph) sort() {
	n := len(g.ids)
	g.order = make([]int, 0, n)
	g.layer = make([]int, n)
	waits := make([]int, n)
	for i := range n {
		g.layer[i] = -1
		if waits[i] = len(g.deps.of(i)); waits[i] == 0 {
			g.layer[i] = 0
			g.order = append(g.order, i)
		}
	}
	for head := 0; head < len(g.order); head++ {
		i := g.order[head]
		g.depth = max(g.depth, g.layer[i]+1)
		for _, out := range g.outs.of(i) {
			if waits[out]--; waits[out] == 0 {
				// i is the last of out's dependencies in an order that goes
				// layer by layer, so it is in the highest layer of them.
				g.layer[out] = g.layer[i] + 1
				g.order = append(g.order, out)
			}
		}
	}
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.ids) }

// ID returns a node's id.
func (g *Graph) ID(n int) string { return g.ids[n] }

// Index returns the node with an id.
func (g *Graph) Index(id string) (int, bool) {
	n, ok := g.index[id]
	return n, ok
}

// Deps returns the nodes that n depends on, in the order they were listed. The
// slice must not be changed.
func (g *Graph) Deps(n int) []int { return g.deps.of(n) }

// Dependents returns the nodes that depend on n, in node order. The slice must
// not be changed.
func (g *Graph) Dependents(n int) []int { return g.outs.of(n) }

// DependsOn reports whether n lists dep among its own dependencies.
func (g *Graph) DependsOn(n, dep int) bool {
	_, found := slices.BinarySearch(g.outs.of(dep), n)
	return found
}

// Acyclic reports whether the graph has no cycle.
func (g *Graph) Acyclic() bool { return len(g.order) == len(g.ids) }

// Order returns the nodes so that each comes after all it depends on. Nodes on
// a cycle, and all that come after one, are left out. The slice must not be
// changed.
func (g *Graph) Order() []int { return g.order }

// Layer returns a node's layer: 0 without dependencies, else one more than the
// highest of its dependencies' layers; -1 on a cycle and after one.
func (g *Graph) Layer(n int) int { return g.layer[n] }

// Layers returns the nodes by layer, each layer in node order. Nodes on a
// cycle, and all that come after one, are left out.
func (g *Graph) Layers() [][]int {
	size := make([]int, g.depth)
	for _, l := range g.layer {
		if l >= 0 {
			size[l]++
		}
	}
	layers := make([][]int, g.depth)
	all := make([]int, len(g.order))
	for l, n := range size {
		layers[l], all = all[:0:n], all[n:]
	}
	for n, l := range g.layer {
		if l >= 0 {
			layers[l] = append(layers[l], n)
		}
	}
	return layers
}

// Descendants ranges over the nodes that depend on n, directly or not, each
// once, nearest first. It needs memory linear in the number of nodes.
func (g *Graph) Descendants(n int) iter.Seq[int] { return g.walk(&g.outs, n) }

// Ancestors ranges over the nodes that n depends on, directly or not, each
// once, nearest first. It needs memory linear in the number of nodes.
func (g *Graph) Ancestors(n int) iter.Seq[int] { return g.walk(&g.deps, n) }

func (g *Graph) walk(e *edges, from int) iter.Seq[int] {
	return func(yield func(int) bool) {
		seen := make([]bool, len(g.ids))
		queue := []int{from}
		for head := 0; head < len(queue); head++ {
			for _, n := range e.of(queue[head]) {
				if seen[n] {
					continue
				}
				seen[n] = true
				if !yield(n) {
					return
				}
				queue = append(queue, n)
			}
		}
	}
}

// Spread gives each node, beside its own bits, those of all its ancestors. So
// it answers 64 questions of the form "is this node an ancestor of that one?"
// for every node in one pass. marks has one entry a node. Nodes on a cycle or
// after one keep their bits.
func (g *Graph) Spread(marks []uint64) {
	for _, n := range g.order {
		for _, dep := range g.deps.of(n) {
			marks[n] |= marks[dep]
		}
	}
}

// Gather gives each node, beside its own bits, those of all its descendants.
// It is Spread in the other direction.
func (g *Graph) Gather(marks []uint64) {
	for i := len(g.order) - 1; i >= 0; i-- {
		n := g.order[i]
		for _, dep := range g.deps.of(n) {
			marks[dep] |= marks[n]
		}
	}
}
