package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/agentloom/agentloom/sandbox"
)

// files reads and writes files.
type files struct {
	dir    string
	max    int64 // bytes of a file that is read, 0: no limit
	policy *sandbox.Policy
}

type readArgs struct {
	Path     string  `json:"path" jsonschema:"The file to read."`
	Encoding *string `json:"encoding,omitempty" jsonschema:"The file's text encoding; utf-8 when left out."`
}

var (
	errBinary  = errors.New("is a binary file; only text can be read")
	errNoPlain = errors.New("is no regular file")
	errIsDir   = errors.New("is a directory")
)

// read is the file_read tool. The text comes as it stands in the file, line
// ends and a byte order mark included (utf-8-sig and utf-16 drop the mark). A
// file is binary when it does not decode or holds a NUL character.
func (f files) read(ctx context.Context, in readArgs) (any, error) {
	c, err := encodingArgument(in.Encoding)
	if err != nil {
		return nil, err
	}
	path, err := resolve(f.dir, "path", in.Path)
	if err != nil {
		return nil, err
	}
	open := func() (*os.File, error) { return openPlain(path) }
	if f.policy != nil {
		at, err := f.policy.ReadPath(in.Path)
		if err != nil {
			return nil, err
		}
		open = at.Open
	}
	b, err := f.load(ctx, open, !c.wide)
	if err != nil {
		return nil, fileError("read", in.Path, err)
	}
	text, ok := c.decode(b)
	switch {
	case strings.ContainsRune(text, 0):
		return nil, fileError("read", in.Path, errBinary)
	case !ok:
		return nil, fileError("read", in.Path, fmt.Errorf("it is no %s text: a binary file, or another encoding", c.name))
	}
	return text, nil
}

// openPlain opens a regular file for reading.
func openPlain(path string) (*os.File, error) {
	if err := plain(os.Stat(path)); err != nil {
		return nil, err
	}
	// Another process may put a FIFO there at this moment: opening one for
	// reading must not wait for a writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := plain(file.Stat()); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// load reads a regular file whole. With narrow, a NUL byte ends the reading at
// once, so that a huge binary or sparse file costs nothing.
func (f files) load(ctx context.Context, open func() (*os.File, error), narrow bool) ([]byte, error) {
	file, err := open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// Some files of /proc are regular and wait for data all the same.
	stop := context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var buf bytes.Buffer
	for {
		n, err := io.CopyN(&buf, file, 1<<20)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case narrow && bytes.IndexByte(buf.Bytes()[buf.Len()-int(n):], 0) >= 0:
			return nil, errBinary
		case f.max > 0 && int64(buf.Len()) > f.max:
			return nil, tooLarge("it", f.max)
		case errors.Is(err, io.EOF):
			return buf.Bytes(), nil
		case err != nil:
			return nil, err
		}
	}
}

// plain says why a file is none that can be read or replaced whole.
func plain(info os.FileInfo, err error) error {
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errIsDir
	case !info.Mode().IsRegular():
		return errNoPlain
	}
	return nil
}

// fileError says what could not be done to the path that the call gave.
func fileError(verb, path string, err error) error {
	err = bare(err)
	if errors.Is(err, errIsDir) || errors.Is(err, errNoPlain) || errors.Is(err, errBinary) {
		return fmt.Errorf("cannot %s %q: it %w", verb, short(path), err)
	}
	return fmt.Errorf("cannot %s %q: %w", verb, short(path), err)
}
