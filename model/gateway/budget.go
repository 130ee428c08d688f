package gateway

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/agentloom/agentloom/fault"
)

// Budget is what a run, an agent or a subworkflow may spend on model calls, in
// US dollars. Budgets form a tree: what is spent under one is spent under those
// above it too. It is safe for concurrent use.
//
// A call starts only when the most that it may cost fits into what is left
// after all that is spent and all that the calls under way may still cost.
// While it does not fit, but might once those have ended for less, it waits;
// when it can't fit any more it is refused with a fault.Budget error. A call
// whose highest cost is not known starts while anything is left, and may go
// over by itself.
//
// So calls that set max_tokens never spend more than the limit together, and a
// run of them that has more to do leaves at most the highest cost of its next
// call unspent.
type Budget struct {
	book   *book
	parent *Budget // nil at the root
	alone  bool    // the limits above don't hold here
	limit  amount

	// Guarded by the book's lock.
	spent    amount // as reported
	presumed amount // of calls that were sent and never reported anything
	reserved amount // by calls under way
}

// book is what the budgets of a tree share.
type book struct {
	mu      sync.Mutex
	changed chan struct{} // closed when a call has settled, then replaced
}

// NewBudget returns a budget of limitUSD, 0 or more; math.Inf(1) sets no limit
// of its own. Under a parent, which may be nil, both limits hold.
func NewBudget(limitUSD float64, parent *Budget) *Budget {
	b := &Budget{parent: parent, limit: dollarsDown(limitUSD)}
	if parent != nil {
		b.book = parent.book
	} else {
		b.book = &book{changed: make(chan struct{})}
	}
	return b
}

// Replace returns a budget under b to which the limits of b and of those above
// it do not apply, as for a subworkflow with a budget of its own. What is spent
// there still counts in b.
func (b *Budget) Replace(limitUSD float64) *Budget {
	c := NewBudget(limitUSD, b)
	c.alone = true
	return c
}

// Charge counts what was spent outside of this process, such as before a
// resume. A number below 0 counts nothing.
func (b *Budget) Charge(usd float64) {
	a := dollarsNear(usd)
	b.book.mu.Lock()
	defer b.book.mu.Unlock()
	for ; b != nil; b = b.parent {
		b.spent = b.spent.plus(a)
	}
}

// Spent returns what was spent under the budget, as the calls' costs say. What
// calls that timed out or were cancelled may have cost is not part of it,
// although it is held back.
func (b *Budget) Spent() float64 {
	b.book.mu.Lock()
	defer b.book.mu.Unlock()
	return b.spent.dollars()
}

// Exceeded reports whether more than the limit was spent. A run whose budget is
// used up but not exceeded has not ended badly until a call is refused.
func (b *Budget) Exceeded() bool {
	b.book.mu.Lock()
	defer b.book.mu.Unlock()
	return b.spent > b.limit
}

// claim is what a call wants to set aside: most, or at least least.
type claim struct{ least, most amount }

// hold is money set aside for a call. A nil hold is none.
type hold struct {
	budget    *Budget
	amount    amount
	maxTokens int64 // what the call is to be sent with; 0: as it is
	settled   bool
}

// reserve sets money aside for a call to the named provider, and waits for the
// calls under way where it has to.
func (b *Budget) reserve(ctx context.Context, provider string, c claim) (*hold, error) {
	for {
		b.book.mu.Lock()
		free, rest, tightest := b.room()
		switch {
		case free > 0 && free >= c.most:
			defer b.book.mu.Unlock()
			return b.take(c.most), nil
		case rest <= 0 || rest < c.least:
			defer b.book.mu.Unlock()
			return nil, tightest.refusal(provider, c)
		case free == rest:
			defer b.book.mu.Unlock()
			return b.take(free), nil
		}
		changed := b.book.changed
		b.book.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, notSent(ctx, provider)
		}
	}
}

// room returns what can be set aside now, what can be at most when the calls
// under way have ended, and the budget that has the least left then.
func (b *Budget) room() (free, rest amount, tightest *Budget) {
	free, rest = math.MaxInt64, math.MaxInt64
	for ; b != nil; b = b.parent {
		left := b.limit - b.spent.plus(b.presumed)
		free = min(free, left-b.reserved)
		if tightest == nil || left < rest {
			rest, tightest = left, b
		}
		if b.alone {
			break
		}
	}
	return free, rest, tightest
}

// take sets an amount aside here and above. The book is locked.
func (b *Budget) take(a amount) *hold {
	for up := b; up != nil; up = up.parent {
		up.reserved = up.reserved.plus(a)
	}
	return &hold{budget: b, amount: a}
}

// settle ends a hold: cost, in dollars, is what the call did cost. Where that
// is not known and the call may have been billed, what was set aside counts as
// gone. A second call does nothing.
func (h *hold) settle(cost *float64, billed bool) {
	if h == nil || h.settled {
		return
	}
	h.settled = true
	var spent, presumed amount
	if cost != nil {
		spent = dollarsNear(*cost)
	} else if billed {
		presumed = h.amount
	}
	k := h.budget.book
	k.mu.Lock()
	defer k.mu.Unlock()
	for b := h.budget; b != nil; b = b.parent {
		b.reserved -= h.amount
		b.spent = b.spent.plus(spent)
		b.presumed = b.presumed.plus(presumed)
	}
	close(k.changed)
	k.changed = make(chan struct{})
}

// refusal is the error of a call that does not fit any more. The book is
// locked.
func (b *Budget) refusal(provider string, c claim) error {
	left := max(b.limit-b.spent.plus(b.presumed), 0)
	text := fmt.Sprintf("the call to %s was not made: %s of the budget of %s is spent", provider, b.spent, b.limit)
	if b.presumed > 0 {
		text += fmt.Sprintf(", %s is held back for calls that broke off", b.presumed)
	}
	if left > 0 {
		text += fmt.Sprintf(", and the call may cost %s: lower its max_tokens or raise the budget", c.least)
	}
	return fault.New(fault.Budget, text, &Refusal{b})
}

// amount is money in millionths of a millionth of a dollar, which holds each
// price of a token exactly; at most some nine million dollars.
type amount int64

const perDollar = 1e12

// plus adds an amount that is not negative, and stops at the largest.
func (a amount) plus(b amount) amount {
	return amount(plus(int64(a), int64(b)))
}

func (a amount) dollars() float64 { return float64(a) / perDollar }

// String writes an amount for people, with three digits that count and at least
// the cents.
func (a amount) String() string {
	if a == math.MaxInt64 {
		return "an unlimited sum"
	}
	d, decimals := a.dollars(), 2
	for p := 1.0; d > 0 && d < p && decimals < 12; p /= 10 {
		decimals++
	}
	return "$" + strconv.FormatFloat(d, 'f', decimals, 64)
}

// A thousandth of the unit is a float's rounding, and no money.
func dollarsNear(usd float64) amount { return toAmount(math.Round(usd * perDollar)) }
func dollarsDown(usd float64) amount { return toAmount(math.Floor(usd*perDollar + 1e-3)) }

func dollarsUp(usd float64) amount { return toAmount(math.Ceil(usd*perDollar - 1e-3)) }

func toAmount(f float64) amount {
	switch {
	case !(f > 0): // also not a number
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	}
	return amount(f)
}
