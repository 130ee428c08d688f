package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentloom/agentloom/workflow"
)

// Argv is a command to execute as it stands, without a shell.
type Argv struct {
	// Path is the program's file, absolute, as it was found in PATH.
	Path string
	// Args are the program as it was written and its arguments.
	Args []string
	// Dir is the directory to run in, absolute and resolved.
	Dir string
}

// ErrNoProgram is the cause of a refusal of a command whose program is allowed
// but is no executable file in PATH: it is not installed, or a shell's builtin.
var ErrNoProgram = errors.New("no such program")

const shellCommand = "shell_command"

// Command checks a command line and returns what to execute. cwd is where it
// runs, relative to the run's directory; "" is ".". The checks, in this order:
// the directory, shell operators, shell expansion, the program, interpreters,
// path arguments. A command that is read as sh reads it word by word is
// executed like that; one that can't be is refused.
//
// With the sandbox disabled it is the command line for "sh -c", unchecked.
//
// The error is a refusal, except for a directory that is missing or is none.
func (p *Policy) Command(command, cwd string) (Argv, error) {
	if cwd == "" {
		cwd = "."
	}
	if !p.block.Enabled {
		return p.shell(command, cwd)
	}
	dir, err := resolve(p.opts.Dir, cwd)
	switch {
	case err != nil:
		return Argv{}, p.refuse(shellCommand, err, "directory %s can't be resolved: %v", quote(cwd), bare(err))
	case !isUnderAny(dir, p.cwds):
		return Argv{}, p.refuse(shellCommand, nil, "directory %s is not under allowed_paths or readable_paths", quote(cwd))
	case len(command) > maxCommand:
		return Argv{}, p.refuse(shellCommand, nil, "the command has %d bytes, more than %d", len(command), maxCommand)
	}
	if op := findOperator(command); op != "" {
		return Argv{}, p.refuse(shellCommand, nil, "shell operator or line break %s; a call runs one program", quote(op))
	}
	if ex := findExpansion(command); ex != "" {
		return Argv{}, p.refuse(shellCommand, nil, "shell expansion %s, which is refused inside quotes too", quote(ex))
	}
	args, err := splitWords(command)
	if err != nil {
		return Argv{}, p.refuse(shellCommand, nil, "the command can't be read safely: %v", err)
	}
	path, err := p.program(args[0], dir)
	if err != nil {
		return Argv{}, err
	}
	for _, arg := range args[1:] {
		if err := p.checkArgument(arg, dir); err != nil {
			return Argv{}, err
		}
	}
	if path == "" {
		return Argv{}, p.refuse(shellCommand, ErrNoProgram, "program %s is no executable file in PATH", quote(args[0]))
	}
	if err := mustBeDir(dir, cwd); err != nil {
		return Argv{}, err
	}
	return Argv{Path: path, Args: args, Dir: dir}, nil
}

// CheckCommand is the check of commands for tools of your own. It passes
// anything when the sandbox is disabled. What it passes is safe to execute as
// the argument list that Command returns; a shell is not part of the promise.
func (p *Policy) CheckCommand(command, cwd string) error {
	if !p.block.Enabled {
		return nil
	}
	_, err := p.Command(command, cwd)
	return err
}

func (p *Policy) shell(command, cwd string) (Argv, error) {
	if strings.IndexByte(command, 0) >= 0 || strings.IndexByte(cwd, 0) >= 0 {
		return Argv{}, errors.New("the command or its directory holds a NUL character")
	}
	dir := cwd
	if !filepath.IsAbs(dir) { // not cleaned: only the kernel knows what ".." is
		dir = below(p.opts.Dir, dir)
	}
	return Argv{Path: "/bin/sh", Args: []string{"sh", "-c", "--", command}, Dir: dir}, mustBeDir(dir, cwd)
}

func mustBeDir(dir, cwd string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("the directory to run in, %s: %w", quote(cwd), bare(err))
	case !info.IsDir():
		return fmt.Errorf("the directory to run in, %s, is not a directory", quote(cwd))
	}
	return nil
}

// program returns the file of an allowed program. "" is one that PATH does not
// have.
func (p *Policy) program(word, dir string) (string, error) {
	name := word[strings.LastIndexByte(word, '/')+1:]
	switch {
	case isAssignment(word):
		return "", p.refuse(shellCommand, nil, "program %s is an assignment; set no variables", quote(word))
	case name == "" || !slices.Contains(p.block.AllowedCommands, name):
		return "", p.refuse(shellCommand, nil, "program %s is not in allowed_commands", quote(word))
	}
	path, found := p.lookup(name)
	if name != word && (found == nil || !isSame(found, dir, word)) {
		return "", p.refuse(shellCommand, nil, "program %s is not the file that %s is in PATH", quote(word), quote(name))
	}
	if workflow.IsInterpreter(name) && !slices.Contains(p.block.DangerOptIn, name) {
		return "", p.refuse(shellCommand, nil, "program %s can run any other, so danger_opt_in must list it too", quote(name))
	}
	return path, nil
}

// lookup finds a program in PATH as execvp does.
func (p *Policy) lookup(name string) (string, fs.FileInfo) {
	for _, dir := range p.path {
		path := below(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, info
		}
	}
	return "", nil
}

func isSame(file fs.FileInfo, dir, path string) bool {
	if !filepath.IsAbs(path) {
		path = below(dir, path)
	}
	info, err := os.Stat(path)
	return err == nil && os.SameFile(file, info)
}
