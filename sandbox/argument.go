package sandbox

import "strings"

// maxValues is how many "=" of one argument may stand before a path.
const maxValues = 16

// checkArgument checks every path that a program may read in an argument: the
// whole of it, what follows an "=", and what is attached to a short flag. dir
// is where the program runs.
func (p *Policy) checkArgument(arg, dir string) error {
	if err := p.checkReading(arg, arg, dir); err != nil {
		return err
	}
	if strings.HasPrefix(arg, "-") {
		if err := p.checkReading(arg, attached(arg), dir); err != nil {
			return err
		}
	}
	for rest, n := arg, 0; ; n++ {
		i := strings.IndexByte(rest, '=')
		if i < 0 {
			return nil
		}
		if rest = strings.TrimLeft(rest[i:], "="); rest == "" {
			return nil
		}
		if n == maxValues {
			return p.refuse(shellCommand, nil, "argument %s has more than %d values", quote(arg), maxValues)
		}
		if err := p.checkReading(arg, rest, dir); err != nil {
			return err
		}
	}
}

// attached returns what may be a path attached to a flag: from the first "/",
// or all that follows a short flag's letter. A long flag's value is what
// follows its "=".
func attached(arg string) string {
	slash := strings.IndexByte(arg, '/')
	switch long := strings.HasPrefix(arg, "--"); {
	case long && strings.Contains(arg, "="):
		return ""
	case slash >= 0:
		return arg[slash:]
	case long || len(arg) < 2:
		return ""
	}
	return arg[2:]
}

// checkReading checks one reading of an argument: when it looks like a path, or
// is the name of a symbolic link, it must lead under one of the lists.
func (p *Policy) checkReading(arg, path, dir string) error {
	switch {
	case path == "":
		return nil
	case path != "." && path != ".." && strings.IndexByte(path, '/') < 0 && !isLink(below(dir, path)):
		return nil
	}
	real, err := resolve(dir, path)
	switch {
	case err != nil:
		return p.refuse(shellCommand, err, "argument %s can't be resolved as a path: %v", quote(arg), bare(err))
	case !isUnderAny(real, p.arguments):
		return p.refuse(shellCommand, nil, "argument %s leads out of allowed_paths, readable_paths and writable_paths", quote(arg))
	}
	return nil
}

func isLink(path string) bool {
	target, _, err := readLink(path)
	return err == nil && target != ""
}
