package graph_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/internal/graph"
)

func TestLayers(t *testing.T) {
	tests := []struct {
		name string
		ids  []string
		deps [][]string
		want [][]int
	}{
		{"empty", nil, nil, [][]int{}},
		{"independent steps keep their order", []string{"c", "a", "b"}, nil, [][]int{{0, 1, 2}}},
		{"chain in reverse", []string{"c", "b", "a"}, [][]string{{"b"}, {"a"}, nil}, [][]int{{2}, {1}, {0}}},
		{"the highest dependency counts", []string{"a", "b", "c", "d"}, [][]string{nil, {"a"}, {"b"}, {"a", "c"}}, [][]int{{0}, {1}, {2}, {3}}},
		{"diamond", []string{"a", "b", "c", "d"}, [][]string{nil, {"a"}, {"a"}, {"c", "b"}}, [][]int{{0}, {1, 2}, {3}}},
		{"unknown and repeated dependencies don't count", []string{"a", "b"}, [][]string{{"x"}, {"a", "a"}}, [][]int{{0}, {1}}},
		{"a cycle and what follows it are left out", []string{"a", "b", "c", "d"}, [][]string{nil, {"c"}, {"b"}, {"c"}}, [][]int{{0}}},
		{"an id that stands twice means the first", []string{"a", "a", "b"}, [][]string{nil, {"a"}, {"a"}}, [][]int{{0}, {1, 2}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, graph.New(test.ids, test.deps).Layers()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnknownDependenciesAreLeftOut(t *testing.T) {
	g := graph.New([]string{"a", "b"}, [][]string{{"x"}, {"a", "y"}})
	if diff := cmp.Diff([][]int{{0}, {1}}, g.Layers()); diff != "" {
		t.Error(diff)
	}
}

func TestLookups(t *testing.T) {
	g := graph.New([]string{"a", "b", "c"}, [][]string{nil, {"a"}, {"b", "a", "b"}})
	if n, ok := g.Index("c"); !ok || n != 2 || g.ID(n) != "c" || g.Len() != 3 {
		t.Errorf("Index(c) = %d, %t", n, ok)
	}
	if _, ok := g.Index("nobody"); ok {
		t.Error("an unknown id was found")
	}
	if diff := cmp.Diff([]int{1, 0}, g.Deps(2)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 2}, g.Dependents(0)); diff != "" {
		t.Error(diff)
	}
	for range g.Descendants(0) {
		break // stopping early must not panic
	}
}

func TestCycles(t *testing.T) {
	tests := []struct {
		name string
		ids  []string
		deps [][]string
		want []string
	}{
		{"none", []string{"a", "b"}, [][]string{nil, {"a"}}, nil},
		{"itself", []string{"a"}, [][]string{{"a"}}, []string{"a -> a"}},
		{"two", []string{"a", "b"}, [][]string{{"b"}, {"a"}}, []string{"a -> b -> a"}},
		{"starts at its first step", []string{"x", "c", "a", "b"}, [][]string{nil, {"b"}, {"c"}, {"a"}}, []string{"c -> b -> a -> c"}},
		{"the shortest of a knot", []string{"a", "b", "c"}, [][]string{{"b"}, {"c"}, {"a", "b"}}, []string{"b -> c -> b"}},
		{
			"disjoint ones, each once",
			[]string{"a", "b", "c", "d", "e"},
			[][]string{{"b"}, {"a"}, {"d"}, {"c"}, {"a", "c"}},
			[]string{"a -> b -> a", "c -> d -> c"},
		},
		{
			"disjoint ones that are tied to each other",
			[]string{"a", "b", "c", "d"},
			[][]string{{"b", "c"}, {"a"}, {"d"}, {"c", "a"}},
			[]string{"a -> b -> a", "c -> d -> c"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := graph.New(test.ids, test.deps)
			var got []string
			for _, c := range g.Cycles() {
				got = append(got, g.CycleString(c))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLongCycleIsPrintedShort(t *testing.T) {
	ids, deps := chain(10_000)
	deps[0] = []string{ids[9_999]}
	g := graph.New(ids, deps)
	cycles := g.Cycles()
	if len(cycles) != 1 || len(cycles[0]) != 10_001 {
		t.Fatalf("%d cycles", len(cycles))
	}
	want := "s0 -> s9999 -> s9998 -> s9997 -> s9996 -> s9995 -> (9989 more) -> s5 -> s4 -> s3 -> s2 -> s1 -> s0"
	if got := g.CycleString(cycles[0]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// anyGraph draws a graph, with cycles.
func anyGraph(t *rapid.T) (*graph.Graph, [][]bool) {
	n := rapid.IntRange(0, 9).Draw(t, "n")
	ids, deps, edge := make([]string, n), make([][]string, n), make([][]bool, n)
	for i := range n {
		ids[i] = fmt.Sprint("s", i)
		edge[i] = make([]bool, n)
	}
	for i := range n {
		for _, j := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(t, ids[i]) {
			deps[i] = append(deps[i], ids[j])
			edge[i][j] = true
		}
	}
	return graph.New(ids, deps), edge
}

// closure is the plain definition of "comes after", after Warshall.
func closure(edge [][]bool) [][]bool {
	reach := make([][]bool, len(edge))
	for i := range edge {
		reach[i] = slices.Clone(edge[i])
	}
	for k := range reach {
		for i := range reach {
			for j := range reach {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	return reach
}

func TestAgainstTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, edge := anyGraph(t)
		reach := closure(edge)
		checkWalks(t, g, reach)
		checkMarks(t, g, reach)
		checkLayers(t, g, edge, reach)
		checkCycles(t, g, edge, reach)
	})
}

func checkWalks(t *rapid.T, g *graph.Graph, reach [][]bool) {
	for i := range g.Len() {
		var up, down []int
		for j := range g.Len() {
			if reach[i][j] {
				up = append(up, j)
			}
			if reach[j][i] {
				down = append(down, j)
			}
		}
		if got := slices.Sorted(g.Ancestors(i)); !slices.Equal(got, up) {
			t.Fatalf("ancestors of %d: %v, want %v", i, got, up)
		}
		if got := slices.Sorted(g.Descendants(i)); !slices.Equal(got, down) {
			t.Fatalf("descendants of %d: %v, want %v", i, got, down)
		}
	}
}

func checkMarks(t *rapid.T, g *graph.Graph, reach [][]bool) {
	if !g.Acyclic() {
		return
	}
	spread, gather := make([]uint64, g.Len()), make([]uint64, g.Len())
	for i := range g.Len() {
		spread[i], gather[i] = 1<<i, 1<<i
	}
	g.Spread(spread)
	g.Gather(gather)
	for i := range g.Len() {
		for j := range g.Len() {
			want := i == j || reach[i][j]
			if got := spread[i]>>j&1 == 1; got != want {
				t.Fatalf("spread: %d is an ancestor of %d: %t", j, i, got)
			}
			if got := gather[j]>>i&1 == 1; got != want {
				t.Fatalf("gather: %d is a descendant of %d: %t", i, j, got)
			}
		}
	}
}

func checkLayers(t *rapid.T, g *graph.Graph, edge, reach [][]bool) {
	for i := range g.Len() {
		want := 0
		for j := range g.Len() {
			switch {
			case reach[i][i], reach[i][j] && reach[j][j]:
				want = -1
			case edge[i][j] && want >= 0:
				want = max(want, g.Layer(j)+1)
			}
		}
		if got := g.Layer(i); got != want {
			t.Fatalf("layer of %d is %d, want %d", i, got, want)
		}
	}
	var listed []int
	for l, nodes := range g.Layers() {
		if !slices.IsSorted(nodes) || len(nodes) == 0 {
			t.Fatalf("layer %d is %v", l, nodes)
		}
		for _, n := range nodes {
			if g.Layer(n) != l {
				t.Fatalf("node %d is listed in layer %d", n, l)
			}
		}
		listed = append(listed, nodes...)
	}
	if !slices.Equal(slices.Sorted(slices.Values(listed)), slices.Sorted(slices.Values(g.Order()))) {
		t.Fatalf("layers hold %v, order %v", listed, g.Order())
	}
	done := make([]bool, g.Len())
	for _, n := range g.Order() {
		for _, d := range g.Deps(n) {
			if !done[d] {
				t.Fatalf("%d comes before its dependency %d", n, d)
			}
		}
		done[n] = true
	}
}

func checkCycles(t *rapid.T, g *graph.Graph, edge, reach [][]bool) {
	acyclic := true
	for i := range reach {
		acyclic = acyclic && !reach[i][i]
	}
	cycles := g.Cycles()
	if g.Acyclic() != acyclic || (len(cycles) == 0) != acyclic {
		t.Fatalf("Acyclic() = %t, %d cycles; acyclic is %t", g.Acyclic(), len(cycles), acyclic)
	}
	used := make([]bool, g.Len())
	for _, c := range cycles {
		if c[0] != c[len(c)-1] || c[0] != slices.Min(c) {
			t.Fatalf("cycle %v does not start and end at its first node", c)
		}
		for k, n := range c[1:] {
			if !edge[c[k]][n] {
				t.Fatalf("cycle %v: %d does not depend on %d", c, c[k], n)
			}
			if used[n] {
				t.Fatalf("cycle %v shares node %d or visits it twice", c, n)
			}
			used[n] = true
		}
	}
	// What is left without the cycles found has none.
	rest := make([][]bool, g.Len())
	for i := range rest {
		rest[i] = make([]bool, g.Len())
		for j := range rest {
			rest[i][j] = edge[i][j] && !used[i] && !used[j]
		}
	}
	for i, r := range closure(rest) {
		if r[i] {
			t.Fatalf("the cycle of %d is not reported", i)
		}
	}
}

func chain(n int) ([]string, [][]string) {
	ids, deps := make([]string, n), make([][]string, n)
	for i := range n {
		ids[i] = fmt.Sprint("s", i)
		if i > 0 {
			deps[i] = []string{ids[i-1]}
		}
	}
	return ids, deps
}

func lattice(n int) ([]string, [][]string) {
	ids, deps := chain(n)
	for i := range n {
		if row := i / 100; row > 0 {
			deps[i] = []string{ids[i-100], ids[(row-1)*100+(i+1)%100]}
		} else {
			deps[i] = nil
		}
	}
	return ids, deps
}

func TestTenThousandNodes(t *testing.T) {
	ids, deps := chain(10_000)
	if n := len(graph.New(ids, deps).Layers()); n != 10_000 {
		t.Errorf("the chain has %d layers", n)
	}
	ids, deps = lattice(10_000)
	if n := len(graph.New(ids, deps).Layers()); n != 100 {
		t.Errorf("the lattice has %d layers", n)
	}
	for i := range deps {
		deps[i] = []string{ids[(i+1)%2+i/2*2]}
	}
	if n := len(graph.New(ids, deps).Cycles()); n != 5_000 {
		t.Errorf("%d of 5,000 pairs were found", n)
	}
}

func BenchmarkNew(b *testing.B) {
	for _, shape := range []struct {
		name string
		make func(int) ([]string, [][]string)
	}{{"chain", chain}, {"lattice", lattice}} {
		b.Run(shape.name, func(b *testing.B) {
			ids, deps := shape.make(10_000)
			for b.Loop() {
				graph.New(ids, deps).Layers()
			}
		})
	}
}

func BenchmarkCycles(b *testing.B) {
	ids, deps := chain(10_000)
	deps[0] = []string{ids[9_999]}
	g := graph.New(ids, deps)
	for b.Loop() {
		g.Cycles()
	}
}
