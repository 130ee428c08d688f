package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ReadPath checks that a file or directory may be read and says where it lies.
// A relative path starts from the run's directory. It must be under
// allowed_paths or readable_paths once links and ".." are resolved, and may not
// be a FIFO, a device or a socket. It may be missing.
func (p *Policy) ReadPath(path string) (Location, error) {
	return p.locate("file_read", path, p.readable, "allowed_paths or readable_paths")
}

// WritePath checks that a file may be written with size bytes, as encoded, and
// says where it lies. A relative path starts from the run's directory. It must
// be under allowed_paths or writable_paths once links and ".." are resolved,
// may not be a FIFO, a device, a socket or a protected file, and size may not
// be above max_write_bytes.
func (p *Policy) WritePath(path string, size int64) (Location, error) {
	const use = "file_write"
	at, err := p.locate(use, path, p.writable, "allowed_paths or writable_paths")
	if err != nil || !p.block.Enabled {
		return at, err
	}
	if p.isProtected(at.Path) {
		return Location{}, p.refuse(use, nil, "path %s is a file of the run itself, which tools can't write", quote(path))
	}
	if most := p.block.MaxWriteBytes; most != nil && size > *most {
		return Location{}, p.refuse(use, nil, "writing %d bytes to %s is more than max_write_bytes, which is %d", size, quote(path), *most)
	}
	return at, nil
}

func (p *Policy) locate(use, path string, dirs []string, rule string) (Location, error) {
	real, err := resolve(p.opts.Dir, path)
	slash := path != "" && os.IsPathSeparator(path[len(path)-1])
	if err == nil && slash {
		err = mayBeDirectory(real)
	}
	switch {
	case err != nil && !p.block.Enabled:
		return Location{}, fmt.Errorf("path %s can't be resolved: %w", quote(path), bare(err))
	case err != nil:
		return Location{}, p.refuse(use, err, "path %s can't be resolved: %v", quote(path), bare(err))
	case p.block.Enabled && !isUnderAny(real, dirs):
		return Location{}, p.refuse(use, nil, "path %s is not under %s", quote(path), rule)
	}
	if info, err := os.Lstat(real); err == nil && p.block.Enabled && !info.IsDir() && !info.Mode().IsRegular() {
		return Location{}, p.refuse(use, nil, "path %s is %s, and only regular files can be read and written", quote(path), kindOf(info.Mode()))
	}
	return Location{Path: real, isDir: slash}, nil
}

var errNoDirectory = errors.New("it ends in a slash and is no directory")

func mayBeDirectory(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		return errNoDirectory
	}
	return nil
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeSymlink != 0:
		return "a link that has just been made"
	}
	return "no regular file"
}

// isProtected reports whether a resolved path is a protected file, under a
// protected directory, or another name (a hard link) of a protected file.
func (p *Policy) isProtected(real string) bool {
	if isUnderAny(real, p.opts.Protected) {
		return true
	}
	info, err := os.Lstat(real)
	if err != nil {
		return false
	}
	for _, path := range p.opts.Protected {
		if own, err := os.Stat(path); err == nil && os.SameFile(own, info) {
			return true
		}
	}
	return false
}

// CheckPath is the check of files for tools of your own: of WritePath with no
// bytes when writable, of ReadPath otherwise. It passes anything when the
// sandbox is disabled.
//
// What it passes can change before the file is opened. ReadPath and WritePath
// with the methods of Location leave no such moment.
func (p *Policy) CheckPath(path string, writable bool) error {
	if !p.block.Enabled {
		return nil
	}
	if writable {
		_, err := p.WritePath(path, 0)
		return err
	}
	_, err := p.ReadPath(path)
	return err
}

// CheckURL is the check of requests for tools of your own: the rules of
// http_request, and where internal addresses are refused the host is resolved
// and each of its addresses checked. It passes anything when the sandbox is
// disabled. The error is a refusal, or ctx's end.
//
// A DNS answer may change before the request is sent. A Guard of Request
// leaves no such moment.
func (p *Policy) CheckURL(ctx context.Context, rawURL string) error {
	if !p.block.Enabled {
		return nil
	}
	n := p.Request()
	u, err := parseURL(n, rawURL)
	if err != nil {
		return err
	}
	if err := n.CheckURL(u); err != nil || !n.DenyInternal {
		return err
	}
	return NewGuard(n, p.opts.Guard).Check(ctx, rawURL)
}
