package workdir

import (
	"context"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// skipped names the directories that grep and find leave out, at any depth
// beneath the one they are given: version control, packages of others, caches,
// virtual environments and build output.
func skipped(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", ".eggs",
		"build", "dist", "target", ".next", ".gradle", ".cache", ".mypy_cache", ".pytest_cache", ".ruff_cache":
		return true
	}
	return strings.HasSuffix(name, ".egg-info")
}

// marked says whether a directory with such a file is left out too, whatever
// its name: virtual environments and caches have one.
func marked(file string) bool { return file == "pyvenv.cfg" || file == "CACHEDIR.TAG" }

// ahead is how many directories beside the one that is walked are read ahead.
const ahead = 4

// A walk visits the regular files beneath a directory, and the links to regular
// files of the working directory, in the order of their paths.
type walk struct {
	ctx   context.Context
	space *space
	// each gets a file, whose folder it may keep until it calls release, and
	// says whether to go on.
	each   func(file) bool
	unread atomic.Int64 // directories and files that could not be read
}

// file is one that a walk found.
type file struct {
	in   *folder
	name string
	link bool
}

// path is the file's path from the working directory.
func (f file) path() string { return join(f.in.path, f.name) }

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// A folder is an open directory, shared by who reads its files.
type folder struct {
	root *os.Root
	path string // from the working directory
	refs atomic.Int32
}

func (f *folder) keep() { f.refs.Add(1) }

func (f *folder) release() {
	if f.refs.Add(-1) == 0 {
		_ = f.root.Close()
	}
}

// listing is a directory, read or being read.
type listing struct {
	*folder
	entries []entry
	ready   sync.WaitGroup
	started bool
}

type entry struct {
	name string
	link bool
	dir  *listing // nil: a file
}

// run walks the directory name of root.
func (w *walk) run(root *os.Root, name string) error {
	top := &listing{folder: &folder{path: path.Clean(name)}, started: true}
	r, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	top.root = r
	top.keep()
	if err := w.list(top, true); err != nil {
		top.release()
		return err
	}
	w.visit(top)
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return nil
}

// read opens and lists a directory of a folder.
func (w *walk) read(in *folder, l *listing) {
	root, err := in.root.OpenRoot(path.Base(l.path))
	if err != nil {
		w.unread.Add(1)
		return
	}
	l.root = root
	l.keep()
	if w.list(l, false) != nil {
		w.unread.Add(1)
	}
}

// list reads an open directory's entries.
func (w *walk) list(l *listing, top bool) error {
	d, err := l.root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	found, err := entriesOf(d) // what was found before an error counts
	slices.SortFunc(found, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	l.entries = make([]entry, 0, len(found))
	for _, e := range found {
		name := e.Name()
		switch kind := e.Type(); {
		case kind.IsDir():
			if !skipped(name) {
				l.entries = append(l.entries, entry{name: name, dir: &listing{folder: &folder{path: join(l.path, name)}}})
			}
		case kind.IsRegular():
			if !top && marked(name) {
				l.entries = nil
				return nil
			}
			l.entries = append(l.entries, entry{name: name})
		case kind&os.ModeSymlink != 0:
			if w.linked(join(l.path, name)) {
				l.entries = append(l.entries, entry{name: name, link: true})
			}
		}
	}
	return err
}

// linked says whether a link leads to a regular file of the working directory.
func (w *walk) linked(path string) bool {
	return w.space.within(path, func(root *os.Root, name string) error { return regular(root.Stat(name)) }) == nil
}

// visit goes through a directory that was read, and reads the next ones beside
// it meanwhile. It says whether to go on.
func (w *walk) visit(l *listing) bool {
	if l.folder.root == nil {
		return true // it could not be opened
	}
	defer l.release()
	var dirs []*listing
	for _, e := range l.entries {
		if e.dir != nil {
			dirs = append(dirs, e.dir)
		}
	}
	at := 0 // in dirs
	defer func() {
		for _, d := range dirs[at:] { // started, and not visited
			if d.ready.Wait(); d.started && d.root != nil {
				d.release()
			}
		}
	}()
	for i := range l.entries {
		if w.ctx.Err() != nil {
			return false
		}
		e := l.entries[i]
		if e.dir == nil {
			if !w.each(file{in: l.folder, name: e.name, link: e.link}) {
				return false
			}
			continue
		}
		for _, d := range dirs[at:min(at+ahead, len(dirs))] {
			if !d.started {
				d.started = true
				d.ready.Go(func() { w.read(l.folder, d) })
			}
		}
		e.dir.ready.Wait()
		at++
		l.entries[i].dir = nil // its memory is free once it was visited
		dirs[at-1] = nil
		if !w.visit(e.dir) {
			return false
		}
	}
	return true
}

// workers is how many files are searched at once.
func workers() int { return max(2, runtime.GOMAXPROCS(0)) }
