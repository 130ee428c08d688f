package scheduler

import (
	"fmt"
	"strings"
)

// failuresShown is how many failed steps a run's error names.
const failuresShown = 5

// failures are the steps that failed or timed out, as a run's error tells of
// them: in the order in which they ended, since the first is the likeliest
// cause of the others.
type failures struct {
	count int
	first []int  // the first few
	how   string // what became of the first: "failed" or "timed out"
	err   string // the first one's error
}

func (f *failures) add(i int, end phase, err string) {
	if f.count == 0 {
		f.how, f.err = "failed", err
		if end == timedOut {
			f.how = "timed out"
		}
	}
	if f.count < failuresShown {
		f.first = append(f.first, i)
	}
	f.count++
}

// message is the run's error; there must be a failure.
func (f *failures) message(p *Plan) string {
	first := fmt.Sprintf("step %q %s: %s", p.steps[f.first[0]].id, f.how, f.err)
	if f.count == 1 {
		return first
	}
	names := make([]string, len(f.first))
	for n, i := range f.first {
		names[n] = fmt.Sprintf("%q", p.steps[i].id)
	}
	list := strings.Join(names, ", ")
	if more := f.count - len(f.first); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d steps failed (%s); the first: %s", f.count, list, first)
}
