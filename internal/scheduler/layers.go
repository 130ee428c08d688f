package scheduler

import (
	"fmt"
	"slices"
	"strings"
)

// layOut gives each step its layer: 0 without dependencies, else one more than
// the highest layer among them.
func (p *Plan) layOut() error {
	unmet := make([]int, len(p.steps))
	order := make([]int, 0, len(p.steps)) // every step after its dependencies
	for i := range p.steps {
		if unmet[i] = len(p.steps[i].deps); unmet[i] == 0 {
			order = append(order, i)
		}
	}
	count := 0
	for next := 0; next < len(order); next++ {
		step := &p.steps[order[next]]
		count = max(count, step.layer+1)
		for _, d := range step.dependents {
			p.steps[d].layer = max(p.steps[d].layer, step.layer+1)
			if unmet[d]--; unmet[d] == 0 {
				order = append(order, d)
			}
		}
	}
	if len(order) < len(p.steps) {
		return p.cycle(unmet)
	}
	p.layers = make([][]int, count)
	for i := range p.steps {
		l := p.steps[i].layer
		p.layers[l] = append(p.layers[l], i)
	}
	return nil
}

// cycle returns an error that shows a cycle among the steps with unmet
// dependencies.
func (p *Plan) cycle(unmet []int) error {
	blocked := func(i int) bool { return unmet[i] > 0 }
	at := slices.IndexFunc(unmet, func(n int) bool { return n > 0 })
	var path []int
	seen := make(map[int]int) // step: its place in path
	for {
		if from, ok := seen[at]; ok {
			return p.cycleError(append(path[from:], at))
		}
		seen[at] = len(path)
		path = append(path, at)
		// A blocked step always has a blocked dependency, so the walk goes on
		// until it comes back to where it was.
		at = p.steps[at].deps[slices.IndexFunc(p.steps[at].deps, blocked)]
	}
}

// cycleShown is how many steps of a long cycle its error shows.
const cycleShown = 10

func (p *Plan) cycleError(path []int) error {
	names := make([]string, 0, cycleShown+1)
	for i, s := range path {
		if i == cycleShown {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprintf("%q", p.steps[s].id))
	}
	return fmt.Errorf("the steps depend on each other in a cycle: %s", strings.Join(names, " needs "))
}
