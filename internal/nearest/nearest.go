// Package nearest finds the known word that somebody most likely meant.
package nearest

import (
	"strings"
	"unicode/utf8"
)

// maxLength bounds the words that are compared, in bytes: the cost of a
// comparison grows with the product of the lengths.
const maxLength = 128

// Of returns the candidate that is most like word, or "" when none is like it
// enough to be suggested. A candidate that differs in case only is the best;
// else the one with the fewest letters inserted, left out, replaced or swapped
// with their neighbour: one in a word of two to five letters, else a third of
// the letters, and at most three. Of equally good candidates the first wins.
func Of(word string, candidates []string) string {
	if word == "" || len(word) > maxLength {
		return ""
	}
	lower := []rune(strings.ToLower(word))
	best, limit := "", allowed(len(lower))
	var m matrix
	for _, c := range candidates {
		if c == "" || len(c) > maxLength || c == word {
			continue
		}
		if strings.EqualFold(c, word) {
			return c
		}
		if gap := utf8.RuneCountInString(c) - len(lower); gap > limit || -gap > limit {
			continue
		}
		if d := m.distance(lower, []rune(strings.ToLower(c)), limit); d <= limit {
			best, limit = c, d-1
		}
		if limit < 0 {
			break
		}
	}
	return best
}

// allowed is how many edits a word of n letters may be away: never all of it.
func allowed(n int) int {
	return min(max(1, min(3, n/3)), n-1)
}

// matrix keeps three rows of the table between comparisons.
type matrix struct{ older, old, row []int }

// distance is the number of edits between a and b (optimal string alignment),
// or more than limit as soon as it is known to be more.
func (m *matrix) distance(a, b []rune, limit int) int {
	n := len(b) + 1
	if cap(m.row) < n {
		m.older, m.old, m.row = make([]int, n), make([]int, n), make([]int, n)
	}
	older, old, row := m.older[:n], m.old[:n], m.row[:n]
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j < n; j++ {
			same := a[i-1] == b[j-1]
			d := old[j-1]
			if !same {
				d = 1 + min(old[j-1], old[j], row[j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, older[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		// A later row can still be one lower than this one, through a swap.
		if least > limit+1 {
			return limit + 1
		}
		older, old, row = old, row, older
	}
	return old[len(b)]
}
