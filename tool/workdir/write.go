package workdir

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/agentloom/agentloom/internal/owner"
	"github.com/agentloom/agentloom/tool"
)

// WriteOptions configure Write.
type WriteOptions struct {
	Name string // what the model calls it; default "write"
	// NoCreateParents makes a missing parent directory an error; by default
	// parents are created.
	NoCreateParents bool
}

// Write returns the tool that creates or overwrites a text file:
// write(path, content). It answers with the number of bytes. A reader of an
// existing file sees the old content or the new, never a part; its mode and,
// where possible, its owner stay. The tool is destructive. dir is the directory
// it works in; "" is DefaultWorkdir.
func Write(dir string, opts WriteOptions) tool.Tool { return newSpace(dir).writer(opts) }

type writeArgs struct {
	Path    string `json:"path" jsonschema:"The file to write."`
	Content string `json:"content" jsonschema:"The whole text of the file."`
}

func (s *space) writer(opts WriteOptions) tool.Tool {
	return newTool(opts.Name, "write", "Create a text file, or replace one.",
		func(ctx context.Context, in writeArgs) (string, error) {
			s.changing.Lock()
			defer s.changing.Unlock()
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			err := s.within(in.Path, func(root *os.Root, name string) error {
				if strings.HasSuffix(name, "/") {
					return errIsDir
				}
				parent, _ := path.Split(name)
				if parent = strings.TrimRight(parent, "/"); parent != "" && !opts.NoCreateParents {
					if err := makeParents(root, parent); err != nil {
						return err
					}
				}
				return store(root, name, []byte(in.Content), nil)
			})
			if err != nil {
				return "", pathError("write", in.Path, err)
			}
			return fmt.Sprintf("Wrote %d byte(s) to %s", len(in.Content), shown(in.Path)), nil
		}, tool.Destructive(), tool.WithEffect(tool.Idempotent))
}

// makeParents makes a directory with its parents. Where a link leads nowhere,
// what is wrong with the link is the error, not that it exists; a file likewise.
func makeParents(root *os.Root, name string) error {
	err := root.MkdirAll(name, 0o777)
	if errors.Is(err, fs.ErrExist) {
		info, broken := root.Stat(name)
		if broken != nil {
			return broken
		}
		if !info.IsDir() {
			return syscall.ENOTDIR
		}
	}
	return err
}

var errChanged = errors.New("the file was changed meanwhile by something else; read it again")

// store gives a file its content. Behind a link, the file that it leads to is
// replaced. With known, the file must still be the one it describes.
func store(root *os.Root, name string, content []byte, known os.FileInfo) error {
	name, err := followLinks(root, name)
	if err != nil {
		return err
	}
	// From here on the directory is held: where it is moved to, or what is put
	// in its place, does not matter.
	parentName, leaf := path.Split(name)
	parent, err := root.OpenRoot("./" + parentName)
	if err != nil {
		return err
	}
	defer parent.Close()
	old, err := parent.Lstat(leaf)
	switch {
	case errors.Is(err, fs.ErrNotExist) && known == nil:
		return replace(parent, leaf, content, nil)
	case err != nil:
		return err
	}
	if err := regular(old, nil); err != nil {
		return err
	}
	if known != nil && !sameContent(known, old) {
		return errChanged
	}
	if err := writable(parent, leaf); err != nil {
		return err
	}
	err = replace(parent, leaf, content, old)
	// A writable file in a directory that is not, or one that is a mount point,
	// cannot be replaced, only written over.
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EROFS) {
		return overwrite(parent, leaf, content)
	}
	return err
}

func sameContent(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// followLinks returns the name that a chain of links ends at. The last file of
// the chain may be missing.
func followLinks(root *os.Root, name string) (string, error) {
	const most = 40 // as many as the kernel follows
	for range most {
		target, err := root.Readlink(name)
		if escapes(err) {
			return "", err
		}
		if err != nil {
			return name, nil // no link, or one that Lstat reports better
		}
		if path.IsAbs(target) {
			return target, nil // the root refuses it
		}
		parent, _ := path.Split(name)
		name = parent + target
	}
	return "", syscall.ELOOP
}

// writable opens a file for writing without changing it: a file that is
// read-only must not be replaced through its directory.
func writable(parent *os.Root, leaf string) error {
	f, err := parent.OpenFile(leaf, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// replace writes a new file beside leaf and renames it over leaf. old is the
// file that is there, or nil.
func replace(parent *os.Root, leaf string, content []byte, old os.FileInfo) (err error) {
	mode := os.FileMode(0o666) // less the process's umask
	if old != nil {
		mode = old.Mode().Perm()
	}
	temp := ".agentloom-" + rand.Text()
	f, err := parent.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = parent.Remove(temp)
		}
	}()
	if old != nil {
		owner.Keep(f, old)
		if err = f.Chmod(mode); err != nil {
			return err
		}
	}
	if _, err = f.Write(content); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return parent.Rename(temp, leaf)
}

func overwrite(parent *os.Root, leaf string, content []byte) error {
	f, err := parent.OpenFile(leaf, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	if err = regular(f.Stat()); err == nil {
		if err = f.Truncate(0); err == nil {
			_, err = f.Write(content)
		}
	}
	if err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
