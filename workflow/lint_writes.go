package workflow

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// writer is a step with an output. Writers are kept in the order of their
// keys, so that the keys inside of a key (a.b and a.c inside of a) follow it.
type writer struct {
	step int
	key  string
	end  int // the first writer after this one whose key is outside of key
}

// checkParallelWrites finds steps that may write one output at the same time:
// neither comes after the other, and some run has both. Writing a and a.b is
// writing one output too.
func (c *checker) checkParallelWrites(severity Severity) {
	if !c.ordered() {
		return
	}
	w := writes{checker: c, all: c.writers()}
	for i := range w.all {
		if w.all[i].end > i+1 {
			w.outer = append(w.outer, i)
		}
	}
	w.clash = make([]int, len(w.all))
	w.before, w.after = make([]uint64, len(c.ids)), make([]uint64, len(c.ids))
	for block := range slices.Chunk(w.outer, 64) {
		w.compare(block)
	}
	for i, other := range w.clash {
		if other > 0 {
			w.tell(severity, w.all[i], w.all[other-1])
		}
	}
}

// writes is one search for parallel writes.
type writes struct {
	*checker
	all   []writer
	outer []int // writers whose key others write too, or parts of it
	clash []int // for each writer, 1 + an earlier step's that clashes with it

	before, after []uint64    // see compare
	exclusions    *exclusions // made when first needed
}

func (c *checker) writers() []writer {
	var all []writer
	for i := range c.def.Steps {
		if key := c.def.Steps[i].Output; key != "" {
			all = append(all, writer{step: i, key: key})
		}
	}
	slices.SortStableFunc(all, func(a, b writer) int { return compareKeys(a.key, b.key) })
	var open []int // writers whose keys hold the current one
	closeUntil := func(key string, at int) {
		for len(open) > 0 && !inside(key, all[open[len(open)-1]].key) {
			all[open[len(open)-1]].end = at
			open = open[:len(open)-1]
		}
	}
	for i := range all {
		closeUntil(all[i].key, i)
		open = append(open, i)
	}
	for _, i := range open {
		all[i].end = len(all)
	}
	return all
}

// compareKeys orders keys so that a key comes right before what is inside it.
func compareKeys(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			switch {
			case a[i] == '.':
				return -1
			case b[i] == '.':
				return 1
			}
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// inside reports whether key is outer or a part of it.
func inside(key, outer string) bool {
	return strings.HasPrefix(key, outer) && (len(key) == len(outer) || key[len(outer)] == '.')
}

// compare looks at up to 64 writers, each against those that follow within its
// key. Bit k of a mask stands for the block's writer k.
func (w *writes) compare(block []int) {
	clear(w.before)
	clear(w.after)
	for k, i := range block {
		w.before[w.all[i].step] |= 1 << k
		w.after[w.all[i].step] |= 1 << k
	}
	w.graph.Spread(w.before) // now: the block's writers that come before a step
	w.graph.Gather(w.after)  // now: those that come after it
	loaded := false
	var open uint64 // the block's writers whose key the current one is inside of
	next, shuts := 0, 0
	for i := block[0]; ; i++ {
		if i >= shuts {
			open, shuts = w.stillOpen(block, open, i)
			if open == 0 {
				if next == len(block) {
					return
				}
				i = block[next]
			}
		}
		step := w.all[i].step
		if apart := open &^ (w.before[step] | w.after[step]); apart != 0 && w.clash[i] == 0 {
			if !loaded {
				loaded = true
				w.loadExclusions(block)
			}
			w.judge(block, i, apart&^w.exclusions.with(i))
		}
		if next < len(block) && block[next] == i {
			open |= 1 << next
			next++
			_, shuts = w.stillOpen(block, open, i)
		}
	}
}

// stillOpen drops from open the writers whose key ends before writer i, and
// returns where the next of the others ends.
func (w *writes) stillOpen(block []int, open uint64, i int) (still uint64, shuts int) {
	shuts = len(w.all)
	for rest := open; rest != 0; rest &= rest - 1 {
		k := bits.TrailingZeros64(rest)
		if end := w.all[block[k]].end; end <= i {
			open &^= 1 << k
		} else {
			shuts = min(shuts, end)
		}
	}
	return open, shuts
}

func (w *writes) loadExclusions(block []int) {
	if w.exclusions == nil {
		steps := make([]int, len(w.all))
		for i := range w.all {
			steps[i] = w.all[i].step
		}
		w.exclusions = w.newExclusions(steps)
	}
	w.exclusions.load(block)
}

// judge reports that writer i clashes with writers of the block. Of two, the
// later in the file is the one to report.
func (w *writes) judge(block []int, i int, clashing uint64) {
	for ; clashing != 0 && w.clash[i] == 0; clashing &= clashing - 1 {
		late, early := i, block[bits.TrailingZeros64(clashing)]
		if w.all[late].step < w.all[early].step {
			late, early = early, late
		}
		if w.clash[late] == 0 {
			w.clash[late] = early + 1
		}
	}
}

func (w *writes) tell(severity Severity, late, early writer) {
	p := stepAt(late.step).key("output")
	say := w.warnf
	if severity == SeverityError {
		say = w.errorf
	}
	suggestion := "write different keys, or let one step depend on the other"
	a, b := w.name(early.step), w.name(late.step)
	if early.key == late.key {
		say(p, "parallel_writes", suggestion, "steps %s and %s may write output %s at the same time", a, b, quoted(late.key))
		return
	}
	say(p, "parallel_writes", suggestion, "step %s may write output %s while step %s writes %s",
		b, quoted(late.key), a, quoted(early.key))
}
