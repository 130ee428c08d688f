// Package process runs shell commands whose every process can be ended.
package process

import (
	"crypto/rand"
	"io"
	"os/exec"
	"strings"
	"time"
)

// killGrace is how long the output pipes may stay open after everything that
// was found has been killed.
const killGrace = time.Second

// Options describe a command.
type Options struct {
	// Dir is the directory it runs in; "" is the process's.
	Dir string
	// Environ is its environment, as "name=value"; nil is the process's. The
	// command gets one variable more, whose name starts with
	// _AGENTLOOM_COMMAND_: its processes are known by it when they are killed.
	Environ []string
	// Stdout and Stderr get its output. They are written to until Done, each by
	// one goroutine, and must take all they are given.
	Stdout, Stderr io.Writer
}

// Running is a command that was started.
type Running struct {
	cmd      *exec.Cmd
	mark     string // a variable that only this command's processes have
	pipes    [2]io.ReadCloser
	finished chan struct{}
}

// Shell starts a command line with /bin/sh -c, in a process group of its own
// and with nothing to read. The error is the system's, which may name the
// directory or the shell.
func Shell(line string, opts Options) (*Running, error) {
	if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") {
		line = " " + line // else sh takes it for options
	}
	r := &Running{
		cmd:      &exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", line}, Dir: opts.Dir, Env: opts.Environ},
		mark:     "_AGENTLOOM_COMMAND_" + rand.Text() + "=1",
		finished: make(chan struct{}),
	}
	r.cmd.Env = append(r.cmd.Environ(), r.mark)
	ownGroup(r.cmd)
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := r.cmd.StderrPipe()
	if err != nil {
		_ = stdout.Close()
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	setMark(r.cmd.Process.Pid, r.mark)
	r.pipes = [2]io.ReadCloser{stdout, stderr}
	outDone, errDone := drain(opts.Stdout, stdout), drain(opts.Stderr, stderr)
	go func() {
		<-outDone
		<-errDone
		_ = r.cmd.Wait() // what it reports is in ProcessState
		close(r.finished)
	}()
	return r, nil
}

// drain copies a stream to its end.
func drain(to io.Writer, from io.Reader) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(to, from) // a read error is the stream's end
	}()
	return done
}

// Done is closed once the shell has ended and its output pipes are closed: a
// background process that keeps them open is part of the command.
func (r *Running) Done() <-chan struct{} { return r.finished }

// ExitCode is the shell's exit status, or the negative number of the signal
// that killed it. It may be asked for when Done is closed.
func (r *Running) ExitCode() int { return exitCode(r.cmd.ProcessState) }

// Kill ends every process of the command and waits until it is Done. A process
// that could not be found no longer holds that up: its pipes are closed.
func (r *Running) Kill() {
	killTree(r.cmd.Process.Pid, r.mark)
	grace := time.NewTimer(killGrace)
	defer grace.Stop()
	select {
	case <-r.finished:
	case <-grace.C:
		_ = r.pipes[0].Close()
		_ = r.pipes[1].Close()
		<-r.finished
	}
}
