package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/agentloom/agentloom/internal/process"
	"github.com/agentloom/agentloom/sandbox"
	"github.com/agentloom/agentloom/value"
)

// shell runs commands.
type shell struct {
	dir     string
	environ []string // nil: the process's
	max     int64    // bytes of an output stream, 0: no limit
	policy  *sandbox.Policy
}

// about tells a model how commands are run.
func (s shell) about() string {
	if s.policy != nil {
		return "Run one program with its arguments, without a shell: operators, expansions and line breaks are refused."
	}
	return "Run a command line with sh -c."
}

type commandArgs struct {
	Command string   `json:"command" jsonschema:"The command line."`
	Timeout *float64 `json:"timeout,omitempty" jsonschema:"Seconds before the command is stopped; 30 when left out."`
	Cwd     *string  `json:"cwd,omitempty" jsonschema:"The directory to run in; the current one when left out."`
}

// command is the shell_command tool. It returns once the shell has ended and
// its output pipes are closed, as a background process that keeps them open is
// part of the command. At the timeout the result holds what was printed to
// stdout until then.
func (s shell) command(ctx context.Context, in commandArgs) (any, error) {
	timeout, err := seconds(in.Timeout)
	if err != nil {
		return nil, err
	}
	if strings.ContainsRune(in.Command, 0) {
		return nil, errors.New(`argument "command" holds a NUL character`)
	}
	stop := time.NewTimer(timeout)
	defer stop.Stop()
	overflow := make(chan struct{}, 2)
	stdout, stderr := &capture{max: s.max, overflow: overflow}, &capture{max: s.max, overflow: overflow}
	r, err := s.start(in, process.Options{Environ: s.environ, Stdout: stdout, Stderr: stderr})
	switch {
	case errors.Is(err, sandbox.ErrNoProgram): // what sh says of one
		return result(127, "", programOf(in.Command)+": not found\n"), nil
	case err != nil:
		return nil, err
	}
	select {
	case <-r.Done():
		return result(r.ExitCode(), stdout.text(), stderr.text()), nil
	case <-stop.C:
		r.Kill()
		return result(-1, stdout.text(), "Command timed out"), nil
	case <-overflow:
		r.Kill()
		return nil, tooLarge("the command's output", s.max)
	case <-ctx.Done():
		r.Kill()
		return nil, fmt.Errorf("the command was stopped: %w", context.Cause(ctx))
	}
}

// start starts a command, which is checked with the sandbox enabled.
func (s shell) start(in commandArgs, opts process.Options) (r *process.Running, err error) {
	if s.policy != nil {
		return s.startChecked(in, opts)
	}
	if opts.Dir, err = s.cwd(cwdOf(in)); err != nil {
		return nil, err
	}
	if r, err = process.Shell(in.Command, opts); err != nil {
		return nil, fmt.Errorf("the command could not be started: %w", bare(err))
	}
	return r, nil
}

func result(returncode int, stdout, stderr string) *value.Map {
	return value.MapOf("returncode", int64(returncode), "stdout", stdout, "stderr", stderr)
}

func (s shell) cwd(path string) (string, error) {
	dir, err := resolve(s.dir, "cwd", path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("the directory to run in, %q: %w", short(path), bare(err))
	}
	if !info.IsDir() {
		return "", fmt.Errorf("the directory to run in, %q, is not a directory", short(path))
	}
	return dir, nil
}

// capture is what one output stream printed so far. Past max, unless it is 0,
// it tells overflow and throws the rest away.
type capture struct {
	buf      bytes.Buffer
	max      int64
	overflow chan<- struct{} // has room for one value of each capture
	full     bool
}

func (c *capture) Write(p []byte) (int, error) {
	keep := p
	if room := c.max - int64(c.buf.Len()); c.max > 0 && int64(len(p)) > room {
		keep = p[:room]
		if !c.full {
			c.full = true
			c.overflow <- struct{}{}
		}
	}
	_, _ = c.buf.Write(keep) // never fails
	return len(p), nil
}

// text is what was captured, once the command is done. Bytes that are not
// UTF-8 are replaced.
func (c *capture) text() string {
	text, _ := decodeUTF8(c.buf.Bytes())
	return text
}

// bare takes the operation and the paths off an operating system error; the
// message names what the call gave instead.
func bare(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
