package workdir

import (
	"context"
	"os"
	"path"
	"sync"

	"github.com/agentloom/agentloom/tool"
)

// GrepOptions configure Grep.
type GrepOptions struct {
	Name       string // what the model calls it; default "grep"
	MaxResults int    // the most lines a call; default 200
}

const maxMatches = 200

// Grep returns the tool that searches files for a regular expression (RE2, as
// package regexp): grep(pattern, path=".", glob="*", ignore_case=false). Each
// line that matches is "path:line: text", with the path from the working
// directory, in the order of the paths; long lines are cut around the match.
// Beneath path, which may be a file, it leaves out .git, node_modules,
// __pycache__, virtual environments, caches and build output (build, dist,
// target), binary files, and links that lead out of the working directory or
// to a directory. glob is that of Find. dir is the directory it works in; "" is
// DefaultWorkdir.
func Grep(dir string, opts GrepOptions) tool.Tool { return newSpace(dir).grepper(opts) }

type grepArgs struct {
	Pattern    string  `json:"pattern" jsonschema:"The regular expression (RE2 syntax) to look for in each line."`
	Path       *string `json:"path,omitempty" jsonschema:"The directory or file to search; the working directory when left out."`
	Glob       *string `json:"glob,omitempty" jsonschema:"Which files to search, such as *.go or src/**/*.ts; all when left out."`
	IgnoreCase bool    `json:"ignore_case,omitempty" jsonschema:"Whether upper and lower case are the same."`
}

func (s *space) grepper(opts GrepOptions) tool.Tool {
	opts.MaxResults = orDefault(opts.MaxResults, maxMatches)
	return newTool(opts.Name, "grep", "Search text files for a regular expression. Returns path:line: text for each line that matches.",
		func(ctx context.Context, in grepArgs) (string, error) {
			p, err := newPattern(in.Pattern, in.IgnoreCase)
			if err != nil {
				return "", err
			}
			which := "*"
			if in.Glob != nil {
				which = *in.Glob
			}
			g, err := newGlob(which)
			if err != nil {
				return "", err
			}
			at := here(in.Path)
			var result string
			err = s.within(at, func(root *os.Root, name string) error {
				result, err = s.grep(ctx, p, g, root, name, opts.MaxResults)
				return err
			})
			return result, pathError("search", at, err)
		}, tool.WithEffect(tool.Pure))
}

func (s *space) grep(ctx context.Context, p *pattern, g glob, root *os.Root, name string, most int) (string, error) {
	info, err := root.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		if err := regular(info, nil); err != nil {
			return "", err
		}
		return s.grepFile(ctx, p, root, name, most)
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	found := &hunt{most: most, enough: cancel, jobs: make(chan job, workers()), slots: make(chan struct{}, 64)}
	w := &walk{ctx: inner, space: s}
	base := path.Clean(name)
	w.each = func(f file) bool { return !g.matches(base, f) || found.add(f) }
	var group sync.WaitGroup
	for range workers() {
		look := &searcher{ctx: inner, space: s, find: newFinder(p), buf: make([]byte, firstRead), most: most + 1,
			unread: func() { w.unread.Add(1) }}
		group.Go(func() { found.work(look) })
	}
	err = w.run(root, name)
	found.flush()
	close(found.jobs)
	group.Wait()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil && inner.Err() == nil:
		return "", err
	case inner.Err() != nil:
		w.unread.Store(0) // it was cut short: files are unread anyway
	}
	return report(found.lines, most, "lines", w.unread.Load()), nil
}

// grepFile searches a file that the call names.
func (s *space) grepFile(ctx context.Context, p *pattern, root *os.Root, name string, most int) (string, error) {
	f, info, done, err := openFile(ctx, root, name)
	if err != nil {
		return "", err
	}
	defer done()
	look := &searcher{ctx: ctx, space: s, find: newFinder(p), buf: make([]byte, firstRead), most: most + 1}
	at := file{in: &folder{path: path.Dir(path.Clean(name))}, name: path.Base(name)}
	lines, err := look.scan(nil, f, info.Size(), at)
	if err != nil {
		return "", err
	}
	return report(lines, most, "lines", 0), nil
}

// A hunt shares the files of a walk out to workers and puts what they find in
// the order of the walk.
type hunt struct {
	most   int
	enough func() // called once there are more lines than most
	jobs   chan job
	slots  chan struct{} // one for each job that is not in lines yet
	files  []file        // of the next job
	made   int           // jobs so far

	mu    sync.Mutex
	done  map[int][]string // lines of jobs that are ahead of their turn
	turn  int
	lines []string
}

type job struct {
	number int
	files  []file
}

// add is called with the files in order. It says whether more are wanted.
func (h *hunt) add(f file) bool {
	f.in.keep()
	const together = 16
	if h.files = append(h.files, f); len(h.files) < together {
		return true
	}
	return h.flush()
}

func (h *hunt) flush() bool {
	if len(h.files) == 0 {
		return true
	}
	h.slots <- struct{}{} // workers free them, in the order of the jobs
	h.jobs <- job{h.made, h.files}
	h.made++
	h.files = nil
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.lines) <= h.most
}

func (h *hunt) work(look *searcher) {
	for j := range h.jobs {
		var lines []string
		for _, f := range j.files {
			if look.ctx.Err() == nil && len(lines) <= h.most {
				lines = look.search(lines, f)
			}
			f.in.release()
		}
		h.finish(j.number, lines)
	}
}

func (h *hunt) finish(number int, lines []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done == nil {
		h.done = map[int][]string{}
	}
	h.done[number] = lines
	for {
		lines, ok := h.done[h.turn]
		if !ok {
			return
		}
		delete(h.done, h.turn)
		h.turn++
		<-h.slots
		if len(h.lines) <= h.most {
			h.lines = append(h.lines, lines...)
			if len(h.lines) > h.most {
				h.enough()
			}
		}
	}
}
