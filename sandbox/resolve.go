package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	maxPath  = 4096 // bytes, as the kernel has it
	maxLinks = 40   // as many as the kernel follows
)

// resolve returns the absolute path that a path leads to, every symbolic link
// followed and every ".." taken where the links before it lead. A relative
// path starts from base, which is resolved already. What does not exist stays
// as it is written; ".." behind it takes it away again.
func resolve(base, path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("it is empty")
	case strings.IndexByte(path, 0) >= 0:
		return "", errors.New("it holds a NUL character")
	case len(path) > maxPath:
		return "", syscall.ENAMETOOLONG
	}
	out, rest := base, path
	if filepath.IsAbs(path) {
		out, rest = rootOf(path)
	}
	// Behind what is missing nothing is looked for until ".." leads back.
	for links, missing := 0, 0; rest != ""; {
		var part string
		part, rest = cutPart(rest)
		switch part {
		case "", ".":
			continue
		case "..":
			out, missing = filepath.Dir(out), max(0, missing-1)
			continue
		}
		out = below(out, part)
		if missing > 0 {
			missing++
			continue
		}
		target, gone, err := readLink(out)
		switch {
		case err != nil:
			return "", err
		case gone:
			missing = 1
		}
		if target == "" {
			continue
		}
		if links++; links > maxLinks {
			return "", syscall.ELOOP
		}
		out = filepath.Dir(out)
		if filepath.IsAbs(target) {
			out, target = rootOf(target)
		}
		rest = target + string(filepath.Separator) + rest
	}
	return out, nil
}

// rootOf splits an absolute path into the root and the rest.
func rootOf(path string) (root, rest string) {
	volume := filepath.VolumeName(path)
	return volume + string(filepath.Separator), path[len(volume):]
}

func cutPart(path string) (part, rest string) {
	for i := range len(path) {
		if os.IsPathSeparator(path[i]) {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

func below(dir, name string) string {
	if os.IsPathSeparator(dir[len(dir)-1]) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}

// isUnder compares resolved paths by their components.
func isUnder(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
}

func isUnderAny(path string, dirs []string) bool {
	for _, dir := range dirs {
		if isUnder(path, dir) {
			return true
		}
	}
	return false
}

// bare takes the operation and the path off an operating system error.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
