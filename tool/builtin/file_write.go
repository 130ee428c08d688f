package builtin

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agentloom/agentloom/internal/owner"
	"github.com/agentloom/agentloom/value"
)

type writeArgs struct {
	Path     string  `json:"path" jsonschema:"The file to write; missing parent directories are created."`
	Content  string  `json:"content" jsonschema:"The whole text of the file."`
	Encoding *string `json:"encoding,omitempty" jsonschema:"The text encoding to write; utf-8 when left out."`
}

// write is the file_write tool. A reader of an existing file sees the old
// content or the new, never a part; its mode and, where possible, its owner
// stay. Behind a symbolic link, the file that it points to is replaced.
func (f files) write(ctx context.Context, in writeArgs) (any, error) {
	c, err := encodingArgument(in.Encoding)
	if err != nil {
		return nil, err
	}
	path, err := resolve(f.dir, "path", in.Path)
	if err != nil {
		return nil, err
	}
	content, err := c.encodeText(in.Content)
	if err != nil {
		return nil, fileError("write", in.Path, err)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if f.policy == nil {
		err = store(path, content)
	} else if at, refused := f.policy.WritePath(in.Path, int64(len(content))); refused != nil {
		return nil, refused
	} else {
		err = storeChecked(at, content)
	}
	if err != nil {
		return nil, fileError("write", in.Path, err)
	}
	return value.MapOf("written", int64(len(content)), "path", in.Path), nil
}

func store(path string, content []byte) error {
	if os.IsPathSeparator(path[len(path)-1]) {
		return errIsDir
	}
	parent, _ := filepath.Split(path)
	if parent = strings.TrimRight(parent, string(filepath.Separator)); parent != "" {
		if err := makeDirs(parent); err != nil {
			return err
		}
	}
	path, err := followLinks(path)
	if err != nil {
		return err
	}
	old, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replace(path, content, nil)
	case err != nil:
		return err
	}
	if err := plain(old, nil); err != nil {
		return err
	}
	if err := writable(path); err != nil {
		return err
	}
	if err = replace(path, content, old); isKept(err) {
		return overwrite(path, content)
	}
	return err
}

// isKept says that a file can't be replaced, only written over: a writable one
// in a directory that is not, or that takes no new files at all (/proc), or one
// that is a mount point.
func isKept(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EROFS) ||
		errors.Is(err, fs.ErrNotExist)
}

// makeDirs makes a directory with its parents. Where a symbolic link leads
// nowhere, what is wrong with the link is the error, not that it exists.
func makeDirs(path string) error {
	err := os.MkdirAll(path, 0o777)
	if errors.Is(err, fs.ErrExist) {
		if _, broken := os.Stat(path); broken != nil {
			return broken
		}
	}
	return err
}

// followLinks returns the path that a chain of symbolic links ends at. The
// last file of the chain may be missing.
func followLinks(path string) (string, error) {
	const most = 40 // as many as the kernel follows
	for range most {
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link, or one that Lstat reports better
		}
		if !filepath.IsAbs(target) {
			parent, _ := filepath.Split(path)
			target = parent + target
		}
		path = target
	}
	return "", errors.New("too many levels of symbolic links")
}

// writable opens a file for writing without changing it: a file that is
// read-only must not be replaced through its directory.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// replace writes a new file beside path and renames it over path. old is the
// file that is there, or nil.
func replace(path string, content []byte, old os.FileInfo) (err error) {
	mode := os.FileMode(0o666) // less the process's umask
	if old != nil {
		mode = old.Mode().Perm()
	}
	parent, _ := filepath.Split(path)
	temp := parent + ".agentloom-" + rand.Text()
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(temp)
		}
	}()
	if err = fill(f, content, old); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// fill writes a new file that is to stand in for an old one, or for none, and
// closes it when that went well.
func fill(f *os.File, content []byte, old os.FileInfo) error {
	if old != nil {
		owner.Keep(f, old)
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

func overwrite(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
