package workdir

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/agentloom/agentloom/tool"
)

// FindOptions configure Find.
type FindOptions struct {
	Name       string // what the model calls it; default "find"
	MaxResults int    // the most files a call; default 300
}

const maxFound = 300

// Find returns the tool that finds files: find(glob, path="."). A glob without
// a slash is matched against names at any depth, one with a slash against
// paths, from the directory that is searched or from the working directory; **
// stands for any directories. What grep leaves out is left out here, but for
// binary files. The paths come one a line, in order, from the working
// directory. dir is the directory it works in; "" is DefaultWorkdir.
func Find(dir string, opts FindOptions) tool.Tool { return newSpace(dir).finder(opts) }

type findArgs struct {
	Glob string  `json:"glob" jsonschema:"Which files: a pattern without / matches names at any depth, one with / matches paths; ** is any directories."`
	Path *string `json:"path,omitempty" jsonschema:"The directory to search; the working directory when left out."`
}

func (s *space) finder(opts FindOptions) tool.Tool {
	opts.MaxResults = orDefault(opts.MaxResults, maxFound)
	return newTool(opts.Name, "find", "Find files by a glob pattern. Returns their paths, one a line.",
		func(ctx context.Context, in findArgs) (string, error) {
			g, err := newGlob(in.Glob)
			if err != nil {
				return "", err
			}
			at := here(in.Path)
			var found []string
			w := &walk{ctx: ctx, space: s}
			err = s.within(at, func(root *os.Root, name string) error {
				if info, err := root.Stat(name); err != nil {
					return err
				} else if !info.IsDir() {
					return errNoDir
				}
				base := path.Clean(name)
				w.each = func(f file) bool {
					if g.matches(base, f) {
						found = append(found, shown(f.path()))
					}
					return len(found) <= opts.MaxResults
				}
				return w.run(root, name)
			})
			if err != nil {
				return "", pathError("search", at, err)
			}
			return report(found, opts.MaxResults, "files", w.unread.Load()), nil
		}, tool.WithEffect(tool.Pure))
}

// report is the result of a search, with what is missing from it.
func report(found []string, most int, what string, unread int64) string {
	switch {
	case len(found) == 0:
		found = append(found, "(no "+what+" found)")
	case len(found) > most:
		found = append(found[:most], fmt.Sprintf("... (only the first %d %s are shown; narrow the search for the others)", most, what))
	}
	if unread > 0 {
		found = append(found, fmt.Sprintf("... (%d files or directories could not be read)", unread))
	}
	return strings.Join(found, "\n")
}
