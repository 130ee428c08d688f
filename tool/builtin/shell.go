package builtin

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/agentloom/agentloom/value"
)

// killGrace is how long the output pipes may stay open after everything that
// was found has been killed.
const killGrace = time.Second

// shell runs commands.
type shell struct {
	dir     string
	environ []string // nil: the process's
	max     int64    // bytes of an output stream, 0: no limit
}

type commandArgs struct {
	Command string   `json:"command" jsonschema:"The command line, run by sh -c."`
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
	dir, err := s.cwd(in.Cwd)
	if err != nil {
		return nil, err
	}
	stop := time.NewTimer(timeout)
	defer stop.Stop()
	r, err := s.start(in.Command, dir)
	if err != nil {
		return nil, err
	}
	select {
	case <-r.finished:
		return result(exitCode(r.cmd.ProcessState), r.stdout.text(), r.stderr.text()), nil
	case <-stop.C:
		r.kill()
		return result(-1, r.stdout.text(), "Command timed out"), nil
	case <-r.overflow:
		r.kill()
		return nil, tooLarge("the command's output", s.max)
	case <-ctx.Done():
		r.kill()
		return nil, fmt.Errorf("the command was stopped: %w", context.Cause(ctx))
	}
}

func result(returncode int, stdout, stderr string) *value.Map {
	return value.MapOf("returncode", int64(returncode), "stdout", stdout, "stderr", stderr)
}

func (s shell) cwd(arg *string) (string, error) {
	path := "."
	if arg != nil {
		path = *arg
	}
	dir, err := resolve(s.dir, "cwd", path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("the directory to run in, %q: %w", path, bare(err))
	}
	if !info.IsDir() {
		return "", fmt.Errorf("the directory to run in, %q, is not a directory", path)
	}
	return dir, nil
}

// A running command.
type running struct {
	cmd            *exec.Cmd
	mark           string // a variable that only this command's processes have
	stdout, stderr *capture
	overflow       chan struct{} // gets a value when a capture is too large
	finished       chan struct{} // closed when the shell and its pipes are done
}

func (s shell) start(command, dir string) (*running, error) {
	if strings.HasPrefix(command, "-") || strings.HasPrefix(command, "+") {
		command = " " + command // else sh takes it for options
	}
	r := &running{
		cmd:      &exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", command}, Dir: dir, Env: s.environ},
		mark:     "_AGENTLOOM_COMMAND_" + rand.Text() + "=1",
		overflow: make(chan struct{}, 2),
		finished: make(chan struct{}),
	}
	r.cmd.Env = append(r.cmd.Environ(), r.mark)
	ownGroup(r.cmd)
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("the command could not be started: %w", bare(err))
	}
	stderr, err := r.cmd.StderrPipe()
	if err != nil {
		_ = stdout.Close()
		return nil, fmt.Errorf("the command could not be started: %w", bare(err))
	}
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("the command could not be started: %w", bare(err))
	}
	r.stdout = read(stdout, s.max, r.overflow)
	r.stderr = read(stderr, s.max, r.overflow)
	go func() {
		<-r.stdout.done
		<-r.stderr.done
		_ = r.cmd.Wait() // what it reports is in ProcessState
		close(r.finished)
	}()
	return r, nil
}

// kill ends every process of the command and waits for the shell. A process
// that could not be found no longer holds up the call: its pipes are closed.
func (r *running) kill() {
	killTree(r.cmd.Process.Pid, r.mark)
	grace := time.NewTimer(killGrace)
	defer grace.Stop()
	select {
	case <-r.finished:
	case <-grace.C:
		_ = r.stdout.from.Close()
		_ = r.stderr.from.Close()
		<-r.finished
	}
}

// capture is what one output stream printed so far.
type capture struct {
	from io.ReadCloser
	buf  bytes.Buffer
	done chan struct{} // closed at the stream's end; buf may be read then
}

// read captures a stream to its end. Past limit, unless it is 0, it tells
// overflow and throws the rest away.
func read(from io.ReadCloser, limit int64, overflow chan<- struct{}) *capture {
	c := &capture{from: from, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		if limit == 0 {
			_, _ = c.buf.ReadFrom(from) // a read error is the stream's end
			return
		}
		_, _ = c.buf.ReadFrom(io.LimitReader(from, limit))
		if n, _ := io.Copy(io.Discard, io.LimitReader(from, 1)); n > 0 {
			overflow <- struct{}{}
			_, _ = io.Copy(io.Discard, from)
		}
	}()
	return c
}

// text waits for the stream's end. Bytes that are not UTF-8 are replaced.
func (c *capture) text() string {
	<-c.done
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
