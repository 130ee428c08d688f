package attachment

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/agentloom/agentloom/fault"
)

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// readFile reads a regular file whole. That there is none wraps
// fs.ErrNotExist.
func (l *Loader) readFile(ctx context.Context, path string) ([]byte, error) {
	if len(path) > longestPath || strings.ContainsRune(path, 0) {
		return nil, fs.ErrNotExist
	}
	name := "attachment " + quote(path)
	file, err := l.openFile(name, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fileError(name, err)
	}
	if err := regular(name, info); err != nil {
		return nil, err
	}
	if info.Size() > l.max {
		return nil, l.tooLarge(name)
	}
	return l.readAll(ctx, file, name, info.Size())
}

// errRefused is in the chain of a file's refusal.
var errRefused = errors.New("the sandbox refuses the file")

// openFile opens a regular file, with the sandbox enabled once it is checked.
// A refused attachment is tried again, so a refusal is Transient.
func (l *Loader) openFile(name, path string) (*os.File, error) {
	if l.policy != nil {
		at, err := l.policy.ReadPath(path)
		if err != nil {
			return nil, fault.New(fault.Transient, err.Error(), errors.Join(errRefused, err))
		}
		file, err := at.Open()
		if err != nil {
			return nil, fileError(name, err)
		}
		return file, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.dir, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(name, err)
	}
	if err := regular(name, info); err != nil {
		return nil, err
	}
	// Another process may put a FIFO there at this moment: opening one must not
	// wait for its writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fileError(name, err)
	}
	return file, nil
}

// readAll reads a file that may grow while it is read, or wait for data as
// some files of /proc do.
func (l *Loader) readAll(ctx context.Context, file *os.File, name string, size int64) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	data := make([]byte, 0, size+512)
	for {
		if ctx.Err() != nil {
			return nil, ended(ctx, "reading "+name)
		}
		if len(data) == cap(data) {
			data = append(data, make([]byte, 4096)...)[:len(data)]
		}
		n, err := file.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > l.max:
			return nil, l.tooLarge(name)
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil && ctx.Err() == nil:
			return nil, fileError(name, err)
		}
	}
}

func regular(name string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return permanent(nil, "%s is a directory; name a file", name)
	case !info.Mode().IsRegular():
		return permanent(nil, "%s is no regular file", name)
	}
	return nil
}

// fileError says what a file's error means. Its kind is Permanent: what is
// missing or forbidden stays so, as a rule.
func fileError(name string, err error) *fault.Error {
	switch {
	case isMissing(err), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		return permanent(fs.ErrNotExist, "%s: there is no such file", name)
	case errors.Is(err, syscall.ELOOP):
		return permanent(err, "%s is a link that leads back to itself", name)
	case errors.Is(err, fs.ErrPermission):
		return permanent(err, "%s may not be read: check its permissions", name)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return permanent(err, "%s can't be read: %s", name, err)
}
