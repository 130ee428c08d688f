package workdir

import (
	"path"
	"regexp"
	"strings"
)

// denied says why a command is on the deny list, or "". The list is short and
// against mistakes: it knows the usual spellings, and leaves what only looks
// alike, such as rm -rf /tmp/x or echo sudo, alone.
func denied(command string) string {
	if isForkBomb(command) {
		return "it is a fork bomb"
	}
	return deniedIn(command, 0)
}

func deniedIn(command string, depth int) string {
	const most = 8 // of shells in shells
	if depth > most {
		return "it nests too many shells"
	}
	commands, ok := splitCommands(command)
	if !ok {
		return "it nests too many substitutions"
	}
	for _, c := range commands {
		for _, target := range c.writes {
			if isDisk(target) {
				return "it writes to a raw disk"
			}
		}
		words := program(c.words)
		if len(words) == 0 {
			continue
		}
		name, args := path.Base(words[0]), words[1:]
		if why := deniedProgram(name, args); why != "" {
			return why
		}
		if script, ok := nested(name, args, c.here); ok {
			if why := deniedIn(script, depth+1); why != "" {
				return why
			}
		}
	}
	return ""
}

// program leaves out what stands before a command's program: assignments,
// keywords and programs that run another.
func program(words []string) []string {
	wrapped := false
	for i, w := range words {
		switch base := path.Base(w); {
		case isAssignment(w):
		case base == "if" || base == "then" || base == "else" || base == "elif" || base == "do" || base == "while" ||
			base == "until" || base == "!" || base == "{":
		case base == "env" || base == "command" || base == "exec" || base == "nohup" || base == "time" ||
			base == "nice" || base == "xargs" || base == "timeout" || base == "stdbuf" || base == "setsid" || base == "builtin":
			wrapped = true
		case wrapped && (strings.HasPrefix(w, "-") || strings.Trim(w, "0123456789.smhd") == ""):
		default:
			return words[i:]
		}
	}
	return nil
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// nested is the script that a shell is given.
func nested(name string, args []string, here string) (script string, ok bool) {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh":
		for i, a := range args {
			if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") && i+1 < len(args) {
				return args[i+1], true
			}
		}
		return here, here != ""
	case "eval":
		return strings.Join(args, " "), true
	}
	return "", false
}

func deniedProgram(name string, args []string) string {
	switch {
	case name == "sudo":
		return "it uses sudo"
	case name == "mkfs" || strings.HasPrefix(name, "mkfs."):
		return "it makes a file system"
	case name == "rm" && flagged(args, "rR", "--recursive") && anyOf(args, isRoot):
		return "it removes / recursively"
	case name == "find" && len(args) > 0 && isRoot(args[0]) && anyOf(args, func(a string) bool { return a == "-delete" }):
		return "it removes / recursively"
	case name == "chmod" && anyOf(args, isOpenMode) && anyOf(args, isRoot):
		return "it opens / to everybody"
	case name == "dd" && anyOf(args, func(a string) bool {
		to, ok := strings.CutPrefix(a, "of=")
		return ok && isDevice(to)
	}):
		return "it writes onto a device with dd"
	case (name == "tee" || name == "shred" || name == "wipefs" || name == "blkdiscard") && anyOf(args, isDisk),
		(name == "cp" || name == "mv") && len(args) > 0 && isDisk(args[len(args)-1]):
		return "it writes to a raw disk"
	}
	return ""
}

func anyOf(words []string, is func(string) bool) bool {
	for _, w := range words {
		if is(w) {
			return true
		}
	}
	return false
}

// flagged says whether one of the letters is among the short flags, or the
// long flag.
func flagged(args []string, letters, long string) bool {
	return anyOf(args, func(a string) bool {
		if strings.HasPrefix(a, "--") {
			return len(a) > len("--r") && strings.HasPrefix(long, a)
		}
		return strings.HasPrefix(a, "-") && strings.ContainsAny(a, letters)
	})
}

// isRoot says whether a word is / in any spelling, or all that is in it.
func isRoot(word string) bool {
	if !strings.HasPrefix(word, "/") {
		return false
	}
	dir := path.Clean(strings.TrimSuffix(word, "*"))
	return dir == "/"
}

// isOpenMode says whether a chmod mode lets everybody do everything.
func isOpenMode(word string) bool {
	octal := strings.TrimLeft(word, "0")
	switch word {
	case "a+rwx", "a=rwx", "ugo+rwx", "ugo=rwx", "+rwx", "=rwx":
		return true
	}
	return octal == "777" || len(octal) == 4 && strings.HasSuffix(octal, "777") && octal[0] < '8' && octal[0] > '0'
}

// isDevice says whether a path is a device that keeps what is written to it.
func isDevice(word string) bool {
	rest, ok := strings.CutPrefix(path.Clean(word), "/dev/")
	if !ok || strings.HasPrefix(rest, "fd/") || strings.HasPrefix(rest, "shm/") || strings.HasPrefix(rest, "std") {
		return false
	}
	return rest != "null" && rest != "zero" && rest != "full" && rest != "tty"
}

// isDisk says whether a path is a disk, or a part of one.
func isDisk(word string) bool {
	rest, ok := strings.CutPrefix(path.Clean(word), "/dev/")
	if !ok {
		return false
	}
	for _, kind := range []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "mapper/", "md", "nbd", "loop", "zram", "mem", "kmem", "port"} {
		if strings.HasPrefix(rest, kind) {
			return true
		}
	}
	return false
}

// isForkBomb finds a function that pipes itself into itself in the background,
// such as :(){ :|:& };:
func isForkBomb(command string) bool {
	for _, m := range forkBomb().FindAllStringSubmatch(command, -1) {
		if m[1] == m[2] && m[2] == m[3] {
			return true
		}
	}
	return false
}

func forkBomb() *regexp.Regexp {
	const name = `([^\s(){};|&]+)`
	return regexp.MustCompile(name + `\s*\(\s*\)\s*\{\s*` + name + `\s*\|\s*` + name + `\s*&`)
}
