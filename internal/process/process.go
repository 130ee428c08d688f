// Package process runs commands whose every process can be ended.
package process

import (
	"crypto/rand"
	"io"
	"os/exec"
	"slices"
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
	// Only, unless it is nil, names the variables of Environ that the command
	// gets, and it gets no other, also not that one.
	Only []string
	// Start starts the command; nil is its own method. It must call held with
	// the command's process id, at best before the first instruction is run, and
	// the command must lead its process group.
	Start func(cmd *exec.Cmd, held func(pid int)) error
	// Stdout and Stderr get its output. They are written to until Done, each by
	// one goroutine, and must take all they are given.
	Stdout, Stderr io.Writer
}

// Running is a command that was started.
type Running struct {
	cmd      *exec.Cmd
	mark     string // what only this command's processes have
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
	return Program("/bin/sh", []string{"sh", "-c", line}, opts)
}

// Program starts the program of a file with its arguments, of which the first
// is its name, as Shell does and without a shell.
func Program(path string, args []string, opts Options) (*Running, error) {
	r := &Running{
		cmd:      &exec.Cmd{Path: path, Args: args, Dir: opts.Dir, Env: opts.Environ},
		mark:     "_AGENTLOOM_COMMAND_" + rand.Text() + "=1",
		finished: make(chan struct{}),
	}
	if opts.Only != nil {
		r.cmd.Env = only(r.cmd.Environ(), opts.Only)
	} else {
		r.cmd.Env = append(r.cmd.Environ(), r.mark)
	}
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
	held := func(pid int) { setMark(pid, r.mark) }
	if opts.Start == nil {
		opts.Start = startPlain
	}
	if err := opts.Start(r.cmd, held); err != nil {
		_, _ = stdout.Close(), stderr.Close() // no more than closed already
		return nil, err
	}
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

func startPlain(cmd *exec.Cmd, held func(pid int)) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	held(cmd.Process.Pid)
	return nil
}

// only keeps the variables with these names. It never returns nil, which would
// be the environment of this process.
func only(environ, names []string) []string {
	kept := []string{}
	for _, variable := range environ {
		if name, _, _ := strings.Cut(variable, "="); slices.Contains(names, name) {
			kept = append(kept, variable)
		}
	}
	return kept
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
