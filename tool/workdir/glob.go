package workdir

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// What a glob may cost.
const (
	maxGlob         = 1000 // bytes
	maxAlternatives = 100  // patterns without braces that it stands for
)

// A glob chooses files by name or by path.
type glob struct {
	patterns []string // without braces; any of them
	path     bool     // match paths, not names
}

// newGlob reads a pattern: * ? [a-z] {a,b} and ** for any directories. One
// without a slash is for names.
func newGlob(pattern string) (glob, error) {
	if len(pattern) > maxGlob {
		return glob{}, fmt.Errorf("the glob is longer than %d bytes", maxGlob)
	}
	pattern = strings.TrimPrefix(pattern, "./")
	if pattern == "" || !doublestar.ValidatePattern(pattern) {
		return glob{}, fmt.Errorf("the glob %q cannot be read", short(pattern))
	}
	patterns, err := alternatives(nil, "", pattern)
	if err != nil {
		return glob{}, err
	}
	return glob{patterns: patterns, path: strings.Contains(pattern, "/")}, nil
}

// matches says whether a file is chosen. Its path is taken from the directory
// that is searched and from the working directory: either may fit.
func (g glob) matches(base string, f file) bool {
	name := f.name
	if g.path {
		name = f.path()
	}
	if g.match(name) {
		return true
	}
	rest, below := strings.CutPrefix(name, base+"/")
	return g.path && below && g.match(rest)
}

func (g glob) match(name string) bool {
	for _, p := range g.patterns {
		if p == "*" && !g.path || doublestar.MatchUnvalidated(p, name) {
			return true
		}
	}
	return false
}

// alternatives spells out the braces of a valid pattern, so that the cost of
// matching is bounded: nested choices would be tried again at each of them.
func alternatives(list []string, head, rest string) ([]string, error) {
	at, end, commas := braces(rest)
	if at < 0 {
		if len(list) == maxAlternatives {
			return nil, errors.New("the glob has too many alternatives in braces")
		}
		return append(list, head+rest), nil
	}
	from := at + 1
	var err error
	for _, to := range append(commas, end) {
		if list, err = alternatives(list, head+rest[:at], rest[from:to]+rest[end+1:]); err != nil {
			return nil, err
		}
		from = to + 1
	}
	return list, nil
}

// braces finds the first braces of a valid pattern and the commas in them; at
// is -1 when there are none.
func braces(p string) (at, end int, commas []int) {
	at = -1
	depth, class := 0, false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			if depth++; depth == 1 {
				at = i
			}
		case c == ',' && depth == 1:
			commas = append(commas, i)
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return at, i, commas
			}
		}
	}
	return -1, 0, nil
}
