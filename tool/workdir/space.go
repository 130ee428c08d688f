package workdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

// A space is the directory that tools work in. It is opened by the first call
// and held: whatever is put at its path later, the tools stay in it.
type space struct {
	given string // absolute, or "" for the default
	err   error  // why given has no absolute path

	opening sync.Mutex
	root    *os.Root // nil: not open yet
	dir     string   // its path as given
	real    string   // the same with links resolved

	changing sync.Mutex // held by whoever changes a file
}

func newSpace(dir string) *space {
	s := &space{given: dir}
	if dir != "" {
		s.given, s.err = filepath.Abs(dir)
	}
	return s
}

var (
	errOutside = errors.New("is outside the working directory")
	errIsDir   = errors.New("is a directory")
	errNoDir   = errors.New("is not a directory")
	errNoFile  = errors.New("is no regular file")
	errBinary  = errors.New("is a binary file; only text can be read")
)

// open returns the space's root, and makes the directory when it is missing.
func (s *space) open() (*os.Root, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.root != nil {
		return s.root, nil
	}
	dir, err := s.given, s.err
	if dir == "" && err == nil {
		dir, err = DefaultWorkdir()
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	var real string
	if err == nil {
		real, err = filepath.EvalSymlinks(dir)
	}
	var root *os.Root
	if err == nil {
		root, err = os.OpenRoot(real)
	}
	if err != nil {
		return nil, fmt.Errorf("the working directory %q cannot be used: %w", short(dir), bare(err))
	}
	s.root, s.dir, s.real = root, dir, real
	return root, nil
}

// within calls do with the name that a path argument has beneath the root. The
// root refuses absolute names and links, and ".." above it, even where they
// lead back inside: then do is called again with the resolved name, which the
// root checks like any other. do must change nothing when it is refused.
func (s *space) within(path string, do func(root *os.Root, name string) error) error {
	root, err := s.open()
	if err != nil {
		return err
	}
	if err := checkPath(path); err != nil {
		return err
	}
	full := path
	if !filepath.IsAbs(path) {
		full = s.dir + "/" + path
	}
	if name, ok := beneath(full, s.dir, s.real); ok {
		if err := do(root, name); !escapes(err) {
			return err
		}
	}
	resolved, err := resolve(full)
	if err != nil {
		return err
	}
	name, ok := beneath(resolved, s.real)
	if !ok {
		return errOutside
	}
	if err := do(root, name); !escapes(err) {
		return err
	}
	return errOutside
}

// checkPath refuses what can be no path on any system.
func checkPath(path string) error {
	const most = 4096 // as the kernel has it
	switch {
	case path == "":
		return errors.New("is empty")
	case strings.ContainsRune(path, 0):
		return errors.New("holds a NUL character")
	case len(path) >= most:
		return syscall.ENAMETOOLONG
	}
	return nil
}

// beneath returns what is left of a full path after one of the directories
// that it is in, compared component by component.
func beneath(full string, dirs ...string) (name string, ok bool) {
	for _, dir := range dirs {
		dir = strings.TrimRight(dir, "/")
		if full == dir {
			return ".", true
		}
		if rest, found := strings.CutPrefix(full, dir+"/"); found {
			if rest = strings.TrimLeft(rest, "/"); rest == "" {
				rest = "."
			}
			return rest, true
		}
	}
	return "", false
}

// resolve follows the links of an absolute path as far as it exists. The rest,
// which is new, may not go up again, and a link may not lead nowhere.
func resolve(full string) (string, error) {
	at := "/"
	parts := strings.Split(full, "/")
	for i, part := range parts {
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			rest := strings.Join(parts[i:], "/")
			if strings.Contains("/"+rest+"/", "/../") {
				return "", bare(err)
			}
			return filepath.Join(at, rest), nil
		}
		if err != nil {
			return "", bare(err)
		}
		if info.Mode()&os.ModeSymlink != 0 {
			if next, err = filepath.EvalSymlinks(next); err != nil {
				return "", fmt.Errorf("holds a link that leads nowhere: %w", bare(err))
			}
		}
		at = next
	}
	return at, nil
}

// escapes says whether a root refused a name.
func escapes(err error) bool {
	// The os package does not export the error.
	return err != nil && bare(err).Error() == "path escapes from parent"
}

// openFile opens a regular file for reading: a FIFO or a device is not waited
// for. Reads fail once ctx has ended. The file must be closed with done.
func openFile(ctx context.Context, root *os.Root, name string) (f *os.File, info os.FileInfo, done func(), err error) {
	if err := regular(root.Stat(name)); err != nil {
		return nil, nil, nil, err
	}
	f, err = root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, nil, err
	}
	info, err = f.Stat() // another file may be there by now
	if err := regular(info, err); err != nil {
		_ = f.Close()
		return nil, nil, nil, err
	}
	// Some files of /proc are regular and wait for data all the same.
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	return f, info, func() { stop(); _ = f.Close() }, nil
}

// regular says why a file is none that can be read or replaced whole.
func regular(info os.FileInfo, err error) error {
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errIsDir
	case !info.Mode().IsRegular():
		return errNoFile
	}
	return nil
}

// pathError says what could not be done to the path that the call gave.
func pathError(verb, path string, err error) error {
	if err == nil {
		return nil
	}
	err = bare(err)
	for _, own := range []error{errOutside, errIsDir, errNoDir, errNoFile, errBinary} {
		if errors.Is(err, own) {
			return fmt.Errorf("cannot %s %q: it %w", verb, short(path), err)
		}
	}
	return fmt.Errorf("cannot %s %q: %w", verb, short(path), err)
}

func isUTF8(text string) bool { return utf8.ValidString(text) }

// text replaces bytes that are no character.
func text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
