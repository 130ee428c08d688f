package gateway

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/fault"
)

// TestBudgetInvariants puts random calls under random trees of budgets. Whatever
// the order in which they start and end: what is set aside and spent fits into
// every limit that holds, a call is refused only where it can't fit any more,
// one that could waits, and a budget holds the sum of what is below it.
func TestBudgetInvariants(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel() // a call that would wait leaves at once
	rapid.Check(t, func(t *rapid.T) {
		cents := func(label string, most int) float64 { return float64(rapid.IntRange(0, most).Draw(t, label)) / 100 }
		tree := []*Budget{NewBudget(cents("limit", 1000), nil)}
		for range rapid.IntRange(0, 5).Draw(t, "budgets") {
			parent := rapid.SampledFrom(tree).Draw(t, "parent")
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				tree = append(tree, NewBudget(cents("limit", 1000), parent))
			case 1:
				tree = append(tree, NewBudget(math.Inf(1), parent))
			case 2:
				tree = append(tree, parent.Replace(cents("limit", 1000)))
			}
		}
		var holds []*hold
		spent := map[*Budget]amount{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(holds) > 0 && rapid.Bool().Draw(t, "settle") {
				i := rapid.IntRange(0, len(holds)-1).Draw(t, "hold")
				h := holds[i]
				holds = append(holds[:i], holds[i+1:]...)
				if rapid.Bool().Draw(t, "reported") {
					cost := h.amount.dollars() * rapid.Float64Range(0, 1).Draw(t, "share")
					h.settle(&cost, true)
					for b := h.budget; b != nil; b = b.parent {
						spent[b] += dollarsNear(cost)
					}
				} else {
					h.settle(nil, rapid.Bool().Draw(t, "billed"))
				}
				h.settle(nil, true) // does nothing
				continue
			}
			b := rapid.SampledFrom(tree).Draw(t, "budget")
			c := claim{most: dollarsUp(cents("most", 300))}
			c.least = c.most
			if rapid.Bool().Draw(t, "strict") {
				c.least = min(c.most, dollarsUp(cents("least", 300)))
			}
			free, rest, _ := b.room()
			h, err := b.reserve(ended, "p", c)
			switch {
			case err == nil:
				if h.amount > free || h.amount < c.least || h.amount > c.most || free <= 0 {
					t.Fatalf("set aside %v of %v for %+v", h.amount, free, c)
				}
				holds = append(holds, h)
			case fault.KindOf(err) == fault.Budget:
				if rest > 0 && rest >= c.least {
					t.Fatalf("refused %+v with %v left: %v", c, rest, err)
				}
			case free > 0 && free >= c.most || free == rest:
				t.Fatalf("%+v waits for nothing, with %v free and %v left", c, free, rest)
			}
		}
		for _, b := range tree {
			var below bool // a budget of its own below it may take more
			for _, c := range tree {
				for up := c; up.parent != nil; up = up.parent {
					below = below || up.alone && up != b && isAbove(b, up)
				}
			}
			if used := b.spent + b.presumed + b.reserved; !below && used > b.limit {
				t.Fatalf("%v of %v used", used, b.limit)
			}
			if b.spent != spent[b] {
				t.Fatalf("spent %v, want %v", b.spent, spent[b])
			}
		}
		for _, h := range holds {
			h.settle(nil, false)
		}
		for _, b := range tree {
			if b.reserved != 0 {
				t.Fatalf("%v is still set aside", b.reserved)
			}
		}
	})
}

func isAbove(above, b *Budget) bool {
	for up := b.parent; up != nil; up = up.parent {
		if up == above {
			return true
		}
	}
	return false
}

func TestAmounts(t *testing.T) {
	for want, a := range map[string]amount{
		"$0.00": 0, "$1.00": perDollar, "$0.100": perDollar / 10, "$0.0100": perDollar / 100, "$12.35": 12_345_678_900_000,
		"$0.000123": 123_400_000, "an unlimited sum": math.MaxInt64,
	} {
		if got := a.String(); got != want {
			t.Errorf("%d: got %s, want %s", a, got, want)
		}
	}
	for usd, want := range map[float64]amount{0.1: 100_000_000_000, -1: 0, math.Inf(1): math.MaxInt64, math.Inf(-1): 0, 1e9: math.MaxInt64} {
		for _, f := range []func(float64) amount{dollarsNear, dollarsDown, dollarsUp} {
			if got := f(usd); got != want {
				t.Errorf("%v: got %d, want %d", usd, got, want)
			}
		}
	}
	if dollarsNear(math.NaN()) != 0 || plus(math.MaxInt64-1, 5) != math.MaxInt64 || plus(1, -5) != 1 {
		t.Error("a number that is none, or too many")
	}
}
