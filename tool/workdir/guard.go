package workdir

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
)

// Guard wraps tools so that a path argument which leaves the roots is refused:
// the result is then "ERROR: …" and the tool is not called. Roots are
// directories, relative ones from the process's; "" is DefaultWorkdir. Without
// roots every path is refused.
//
// A path argument is one whose name, at any depth of the arguments, has a word
// that says so: path, file, filename, filepath, dir, directory, folder, cwd,
// workdir, root, source, src, destination, dest or dst, or the plural of one,
// as in "file_path" or "sourceDir". It is a text, or a list or a map of them.
// A relative path starts at the first root. Links are followed as far as the
// path exists, and the tool gets the absolute path that this led to, so that
// it opens what was checked. Other tools can still be fooled by who swaps a
// directory for a link between the check and the use; those of this package
// stay in their own directory even then.
func Guard(tools []tool.Tool, roots ...string) []tool.Tool {
	roots = slices.Clone(roots)
	for i, r := range roots {
		if full, err := filepath.Abs(r); r != "" && err == nil { // else the first call tells
			roots[i] = full
		}
	}
	g := &guard{roots: sync.OnceValues(func() ([]string, error) { return resolveRoots(roots) })}
	guarded := make([]tool.Tool, len(tools))
	for i, t := range tools {
		guarded[i] = guardedTool{t, g}
	}
	return guarded
}

type guardedTool struct {
	tool.Tool
	guard *guard
}

func (t guardedTool) Call(ctx context.Context, args *value.Map) (any, error) {
	checked, err := t.guard.object(args, "", false)
	if err != nil {
		return failure(err), nil
	}
	return t.Tool.Call(ctx, checked)
}

type guard struct {
	// roots gives the directories, with links resolved at the first call.
	roots func() ([]string, error)
}

func resolveRoots(roots []string) ([]string, error) {
	var resolved []string
	for _, root := range roots {
		var err error
		if root == "" {
			root, err = DefaultWorkdir()
		}
		if err == nil {
			root, err = filepath.Abs(root)
		}
		if err == nil {
			root, err = resolve(root)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot be checked: the allowed directory %q: %w", short(root), err)
		}
		resolved = append(resolved, root)
	}
	return resolved, nil
}

// object checks the arguments in a map and returns it with the paths that the
// tool is to use. With path, all texts in it are paths.
func (g *guard) object(m *value.Map, at string, path bool) (*value.Map, error) {
	if m == nil {
		return nil, nil
	}
	out := value.NewMap(m.Len())
	for name, v := range m.All() {
		v, err := g.argument(v, at+name, path || isPathName(name))
		if err != nil {
			return nil, err
		}
		out.Put(name, v)
	}
	return out, nil
}

func (g *guard) argument(v any, at string, path bool) (any, error) {
	switch v := v.(type) {
	case *value.Map:
		return g.object(v, at+".", path)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			var err error
			if out[i], err = g.argument(e, fmt.Sprintf("%s[%d]", at, i), path); err != nil {
				return nil, err
			}
		}
		return out, nil
	case string:
		if !path {
			return v, nil
		}
		checked, err := g.path(v)
		if err != nil {
			return nil, fmt.Errorf("argument %q: %q %w", short(at), short(v), err)
		}
		return checked, nil
	}
	return v, nil
}

var errLeaves = errors.New("is outside the directories that are allowed")

// path returns the path that a tool is to use for the one it was given.
func (g *guard) path(given string) (string, error) {
	if given == "" {
		return "", nil // the tool knows what it means, or that it means nothing
	}
	if err := checkPath(given); err != nil {
		return "", err
	}
	if strings.HasPrefix(given, "~") || strings.HasPrefix(strings.ToLower(given), "file:") {
		return "", errors.New("must be a plain path")
	}
	roots, err := g.roots()
	if err != nil {
		return "", err
	}
	full := given
	if !filepath.IsAbs(given) && len(roots) > 0 {
		full = roots[0] + "/" + given
	}
	resolved, err := resolve(full)
	if err != nil {
		return "", err
	}
	for _, root := range roots {
		if _, ok := beneath(resolved, root); ok {
			return resolved, nil
		}
	}
	return "", errLeaves
}

// isPathName says whether an argument's name says that it is a path.
func isPathName(name string) bool {
	for _, word := range nameWords(name) {
		if word == "directories" {
			return true
		}
		switch strings.TrimSuffix(word, "s") {
		case "path", "file", "filename", "filepath", "dir", "directory", "folder", "cwd", "workdir", "root",
			"source", "src", "destination", "dest", "dst", "pathname", "dirname":
			return true
		}
	}
	return false
}

// nameWords takes snake_case, kebab-case and camelCase apart, in lower case.
func nameWords(name string) []string {
	var words []string
	var word []rune
	lower := false
	end := func() {
		if len(word) > 0 {
			words = append(words, string(word))
			word = nil
		}
	}
	for _, c := range name {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			end()
			lower = false
			continue
		}
		if unicode.IsUpper(c) && lower {
			end()
		}
		lower = !unicode.IsUpper(c)
		word = append(word, unicode.ToLower(c))
	}
	end()
	return words
}
