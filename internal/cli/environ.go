package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/joho/godotenv"
)

// environment is the process's variables with those of .env beneath them.
type environment struct {
	vars   map[string]string
	dotenv []string // names that only .env set, sorted
	file   bool     // whether there is a .env
}

func parseEnviron(environ []string) map[string]string {
	vars := make(map[string]string, len(environ))
	for _, kv := range environ {
		if name, v, ok := strings.Cut(kv, "="); ok && name != "" {
			vars[name] = v
		}
	}
	return vars
}

// list returns the variables as NAME=value, sorted.
func (e environment) list() []string {
	out := make([]string, 0, len(e.vars))
	for _, name := range slices.Sorted(maps.Keys(e.vars)) {
		out = append(out, name+"="+e.vars[name])
	}
	return out
}

// maxDotenv bounds .env, in bytes.
const maxDotenv = 256 << 10

// environment reads the process's variables and .env in the working directory,
// which never overrides a variable that is set, be it to nothing.
func (p *program) environment() (environment, error) {
	env := environment{vars: parseEnviron(p.Environ)}
	defer func() { p.secrets.learn(env.vars) }()
	src, err := p.readFile(".env", maxDotenv)
	if errors.Is(err, fs.ErrNotExist) {
		return env, nil
	}
	if err != nil {
		return env, usage(".env: %w", err)
	}
	env.file = true
	vars, err := parseDotenv(src)
	if err != nil {
		return env, err
	}
	for name, v := range vars {
		if _, set := env.vars[name]; !set {
			env.vars[name] = v
			env.dotenv = append(env.dotenv, name)
		}
	}
	slices.Sort(env.dotenv)
	return env, nil
}

// parseDotenv reads NAME=value lines. The library's own errors quote the line,
// which may hold a key, so an error here names the line's number only.
func parseDotenv(src []byte) (map[string]string, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(src), "\ufeff"), "\r\n", "\n")
	vars, err := godotenv.Unmarshal(text)
	if err == nil && wellNamed(vars) {
		return vars, nil
	}
	return nil, usage(".env:%d: this is no NAME=value line; quote values that hold line breaks, and close each quote",
		brokenLine(text))
}

// wellNamed refuses what the library lets pass: no name, and spaces in one.
func wellNamed(vars map[string]string) bool {
	for name := range vars {
		if name == "" || strings.ContainsAny(name, " \t\v\f\r\u0085\u00a0") {
			return false
		}
	}
	return true
}

// brokenLine returns the number, from 1, of the first line that starts a
// statement which never becomes whole.
func brokenLine(text string) int {
	lines := strings.SplitAfter(text, "\n")
	for start := 0; start < len(lines); {
		end := statementEnd(lines, start)
		if end == 0 {
			return start + 1
		}
		start = end
	}
	return len(lines)
}

// maxStatement is how many lines brokenLine follows one quoted value.
const maxStatement = 200

// statementEnd returns the index after the statement that starts at a line, or
// 0 when it never ends.
func statementEnd(lines []string, start int) int {
	for end := start + 1; end <= min(len(lines), start+maxStatement); end++ {
		vars, err := godotenv.Unmarshal(strings.Join(lines[start:end], ""))
		if !wellNamed(vars) {
			return 0
		}
		if err == nil {
			return end
		}
		if !strings.Contains(err.Error(), "unterminated") {
			return 0
		}
	}
	return 0
}

// userConfigDir returns the user's configuration directory, or "" when the
// environment does not tell it.
func (e environment) userConfigDir(goos string) string {
	home := e.vars["HOME"]
	switch goos {
	case "windows":
		return e.vars["AppData"]
	case "darwin":
		if home != "" {
			return home + "/Library/Application Support"
		}
		return ""
	}
	if d := e.vars["XDG_CONFIG_HOME"]; strings.HasPrefix(d, string(os.PathSeparator)) {
		return d
	}
	if home != "" {
		return home + "/.config"
	}
	return ""
}

// names returns the variables with a prefix that are set, sorted.
func (e environment) names(prefix string) []string {
	var out []string
	for name := range e.vars {
		if strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// origin says where a variable was set, for people.
func (e environment) origin(name string) string {
	if _, found := slices.BinarySearch(e.dotenv, name); found {
		return fmt.Sprintf("%s (.env)", name)
	}
	return name
}
