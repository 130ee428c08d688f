package workflow

import (
	"math/bits"
	"slices"
)

const (
	// maxAnswerWords bounds the memory for the answers of steps, to 32 MiB, and
	// maxAnswersRead the time to compare them. A definition of tens of thousands
	// of steps that write few keys behind thousands of routers goes beyond them;
	// its steps are then taken to exclude each other, and nothing is reported.
	maxAnswerWords = 1 << 22
	maxAnswersRead = 1 << 28
)

// exclusions says of some steps which of them exclude each other: no run has
// both, since they are in different branches of a router or one of them can
// never run. One step is compared with a block of 64 at once.
type exclusions struct {
	words int      // for the answers of one step, 64 questions a word
	yes   []uint64 // words for each step
	no    []uint64
	never []bool // can never run
	read  int
	gave  bool // gave up: everything excludes everything

	// Of the block: for each question, who answers it with yes and with no; for
	// each word of questions, those that anyone answers so; and who never runs.
	saysYes, saysNo []uint64
	anyYes, anyNo   []uint64
	blockNever      uint64
}

// newExclusions prepares the comparison of some steps.
func (c *checker) newExclusions(steps []int) *exclusions {
	qs := c.questions()
	e := &exclusions{words: (len(qs) + 63) / 64}
	if 2*e.words*len(steps) > maxAnswerWords {
		e.gave = true
		return e
	}
	e.yes, e.no = make([]uint64, e.words*len(steps)), make([]uint64, e.words*len(steps))
	e.never = make([]bool, len(steps))
	e.saysYes, e.saysNo = make([]uint64, 64*e.words), make([]uint64, 64*e.words)
	e.anyYes, e.anyNo = make([]uint64, e.words), make([]uint64, e.words)
	word := 0
	for block := range slices.Chunk(qs, 64) {
		a := c.answer(block)
		for i, step := range steps {
			e.yes[i*e.words+word], e.no[i*e.words+word] = a.yes[step], a.no[step]
			e.never[i] = e.never[i] || a.yes[step]&a.no[step] != 0
		}
		word++
	}
	return e
}

// load sets the block: at most 64 of the steps, by their position.
func (e *exclusions) load(block []int) {
	if e.gave {
		return
	}
	clear(e.saysYes)
	clear(e.saysNo)
	clear(e.anyYes)
	clear(e.anyNo)
	e.blockNever = 0
	for k, i := range block {
		if e.never[i] {
			e.blockNever |= 1 << k
		}
		for w := range e.words {
			yes, no := e.yes[i*e.words+w], e.no[i*e.words+w]
			e.anyYes[w] |= yes
			e.anyNo[w] |= no
			for ; yes != 0; yes &= yes - 1 {
				e.saysYes[64*w+bits.TrailingZeros64(yes)] |= 1 << k
			}
			for ; no != 0; no &= no - 1 {
				e.saysNo[64*w+bits.TrailingZeros64(no)] |= 1 << k
			}
		}
	}
}

// with returns the steps of the block that exclude the step at position i, bit
// k for the block's step k.
func (e *exclusions) with(i int) uint64 {
	if e.gave || e.never[i] {
		return ^uint64(0)
	}
	if e.read += e.words; e.read > maxAnswersRead {
		e.gave = true
	}
	excluded := e.blockNever
	for w := range e.words {
		for q := e.yes[i*e.words+w] & e.anyNo[w]; q != 0; q &= q - 1 {
			excluded |= e.saysNo[64*w+bits.TrailingZeros64(q)]
		}
		for q := e.no[i*e.words+w] & e.anyYes[w]; q != 0; q &= q - 1 {
			excluded |= e.saysYes[64*w+bits.TrailingZeros64(q)]
		}
	}
	return excluded
}
