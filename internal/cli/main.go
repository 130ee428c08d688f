// Package cli is the command line: one file a verb, each with flags that fill
// an options struct and a function that knows nothing of flags. It is the only
// package that reads the environment, and the one that wires providers and
// tools to the engine.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentloom/agentloom/workflow"
)

// Exit codes.
const (
	exitOK          = 0   // success, or a run that paused
	exitFailed      = 1   // failed, timed out, over budget, or the file did not load
	exitUsage       = 2   // wrong flags, arguments or settings
	exitInterrupted = 130 // stopped by Ctrl-C
)

// Process is what the operating system gives a program.
type Process struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // NAME=value
	Dir            string   // relative paths start here; "" is the working directory
}

// Main runs the command line and returns the exit code. It returns early, with
// its run still ending in the background, only at a second Ctrl-C; the caller
// exits then.
func Main(ctx context.Context, proc Process) int {
	p := &program{Process: proc, out: styleFor(proc.Stdout, proc.Environ), err: styleFor(proc.Stderr, proc.Environ)}
	out := &checkedWriter{w: proc.Stdout}
	safe := &hidingWriter{w: out, secrets: &p.secrets}
	p.Stdout = safe
	p.screen = newScreen(proc.Stderr, p.err, &p.secrets)
	p.Stderr = p.screen
	defer p.screen.close()
	root := newRoot(p)
	root.SetArgs(p.Args)
	err := root.ExecuteContext(ctx)
	_ = safe.flush()                  // out remembers the error
	if err == nil && out.err != nil { // of help, which ignores it
		err = failed("writing: %w", out.err)
	}
	if err == nil {
		return exitOK
	}
	var f *failure
	if !errors.As(err, &f) { // cobra's own: an unknown command or flag
		f = usage("%w", err)
	}
	if f.err != nil {
		p.reportFailure(f)
		_ = safe.flush()
	}
	return f.code
}

// checkedWriter remembers the first error of writing.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

// program is the state that all verbs share.
type program struct {
	Process
	out, err style
	screen   *screen // what Stderr is
	secrets  secrets
}

// failure ends the program with an exit code. err is nil when what went wrong
// has been told already.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit code %d", f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

func usage(format string, args ...any) *failure {
	return &failure{exitUsage, fmt.Errorf(format, args...)}
}

func failed(format string, args ...any) *failure {
	return &failure{exitFailed, fmt.Errorf(format, args...)}
}

// reportFailure tells an error that no verb has told: as text on stderr and,
// where the user asked for JSON, as the one document on stdout too.
func (p *program) reportFailure(f *failure) {
	head := p.err.red("error:") + " "
	if _, placed := errors.AsType[*workflow.InvalidError](f.err); placed {
		head = "" // each line says file, line and "error:" itself
	}
	p.say("%s%s\n", head, block(f.err.Error()))
	if p.wantsJSON() {
		// A write that fails here has nowhere left to be told.
		_ = p.printJSON(struct {
			Error string `json:"error"`
		}{f.err.Error()})
	}
}

// wantsJSON looks at the arguments themselves, for failures that come before
// the flags were read.
func (p *program) wantsJSON() bool {
	args := p.Args
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// printJSON writes one indented JSON document to stdout.
func (p *program) printJSON(v any) error {
	e := json.NewEncoder(p.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return failed("writing the result: %w", err)
	}
	return nil
}

// path returns where a file that the user named is.
func (p *program) path(name string) string {
	if p.Dir == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.Dir, name)
}

// workingDir returns the absolute directory that relative paths start from.
func (p *program) workingDir() string {
	if abs, err := filepath.Abs(p.Dir); err == nil {
		return abs
	}
	return p.Dir
}

// open opens a file that the user named, but no directory. Its errors, like
// readFile's, are a reason without the file's name.
func (p *program) open(name string) (*os.File, error) {
	f, err := os.Open(p.path(name))
	if err != nil {
		return nil, plainReason(err)
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		_ = f.Close()
		return nil, errors.New("this is a directory, not a file")
	}
	return f, nil
}

// readFile reads a whole file of at most limit bytes.
func (p *program) readFile(name string, limit int64) ([]byte, error) {
	f, err := p.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	src, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, plainReason(err)
	}
	if int64(len(src)) > limit {
		return nil, fmt.Errorf("larger than the limit of %d KiB", limit>>10)
	}
	return src, nil
}

// plainReason drops the operation and the path that a file error repeats.
func plainReason(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// say writes something for people to stderr. When that fails there is nowhere
// left to tell it.
func (p *program) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Stderr, format, args...)
}

// print writes text that is a command's result to stdout.
func (p *program) print(text string) error {
	if _, err := io.WriteString(p.Stdout, text); err != nil {
		return failed("writing the result: %w", err)
	}
	return nil
}
