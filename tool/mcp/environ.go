package mcp

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// environment is what a program gets: what it needs to find itself, and what
// its definition says.
func environment(base []string, own [][2]string) []string {
	inherited := []string{
		"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
		// Windows
		"APPDATA", "COMSPEC", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE",
	}
	env := []string{} // not nil, which would be the whole environment
	for _, pair := range base {
		name, _, _ := strings.Cut(pair, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		if slices.Contains(inherited, name) {
			env = append(env, pair)
		}
	}
	for _, pair := range own {
		env = append(env, pair[0]+"="+pair[1])
	}
	return env
}

var errNotFound = errors.New("no such program; give its path, or a name that PATH knows")

// lookPath finds a command: one with a slash from the directory, a bare name
// in the absolute directories of the environment's last PATH.
func lookPath(command, dir string, env []string) (string, error) {
	if strings.ContainsRune(command, filepath.Separator) || strings.Contains(command, "/") {
		if !filepath.IsAbs(command) {
			command = filepath.Join(dir, command)
		}
		return filepath.Abs(command)
	}
	var path string
	for _, pair := range env {
		if v, ok := strings.CutPrefix(pair, "PATH="); ok {
			path = v
		}
	}
	names := []string{command}
	if runtime.GOOS == "windows" {
		names = []string{command + ".exe", command + ".com", command + ".bat", command + ".cmd"}
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			continue // what a command is must not depend on where it runs
		}
		for _, name := range names {
			file := filepath.Join(d, name)
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
				return file, nil
			}
		}
	}
	return "", errNotFound
}
