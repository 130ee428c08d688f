package workdir

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentloom/agentloom/internal/process"
	"github.com/agentloom/agentloom/tool"
)

// BashOptions configure Bash.
type BashOptions struct {
	Name string // what the model calls it; default "bash"
	// Timeout is how long a command may take when the call does not say;
	// default 30 s.
	Timeout time.Duration
	// AllowPattern, when set, is the only filter: a command runs when it
	// returns true, and the deny list does not count. It may be called by many
	// goroutines.
	AllowPattern func(command string) bool
	// ExtraEnv is added to the commands' environment.
	ExtraEnv map[string]string
	// Environ is what PATH, HOME, LANG, LC_ALL, TZ, TMPDIR and TERM are taken
	// from, as "name=value"; nil is the process's environment. Nothing else is
	// taken, and of PATH only absolute directories.
	Environ []string
}

const (
	commandTimeout = 30 * time.Second
	maxOutput      = 10_000      // characters of each stream
	maxCommand     = 128<<10 - 1 // bytes; Linux takes no longer argument
)

// Bash returns the tool that runs a shell command with /bin/sh -c in the
// directory: bash(command, timeout_sec). The answer is the command, its exit
// code, its stdout, and its stderr when there is any, each cut at 10,000
// characters. At the timeout everything the command started is killed.
//
// Without AllowPattern it refuses what is on a short deny list: recursive
// removal of /, sudo, mkfs, dd onto a device, a fork bomb, writing to a raw
// disk and chmod 777 /. The list guards against mistakes; it is no sandbox: a
// command has the access of the process. The tool is destructive. "" is
// DefaultWorkdir.
func Bash(dir string, opts BashOptions) tool.Tool {
	s := newSpace(dir)
	if opts.Timeout <= 0 {
		opts.Timeout = commandTimeout
	}
	return newTool(opts.Name, "bash", "Run a shell command with /bin/sh -c in the working directory.",
		func(ctx context.Context, in bashArgs) (string, error) { return s.bash(ctx, in, opts) }, tool.Destructive())
}

type bashArgs struct {
	Command    string   `json:"command" jsonschema:"The command line."`
	TimeoutSec *float64 `json:"timeout_sec,omitempty" jsonschema:"Seconds after which the command is killed; 30 when left out."`
}

func (s *space) bash(ctx context.Context, in bashArgs, opts BashOptions) (string, error) {
	if err := permitted(in.Command, opts.AllowPattern); err != nil {
		return "", err
	}
	timeout, err := in.timeout(opts.Timeout)
	if err != nil {
		return "", err
	}
	environ, err := environment(opts)
	if err != nil {
		return "", err
	}
	if _, err := s.open(); err != nil {
		return "", err
	}
	stop := time.NewTimer(timeout)
	defer stop.Stop()
	var stdout, stderr capture
	r, err := process.Shell(in.Command, process.Options{Dir: s.dir, Environ: environ, Stdout: &stdout, Stderr: &stderr})
	if err != nil {
		return "", fmt.Errorf("the command could not be started: %w", bare(err))
	}
	select {
	case <-r.Done():
		return transcript(in.Command, fmt.Sprintf("[exit=%d]", r.ExitCode()), &stdout, &stderr), nil
	case <-stop.C:
		r.Kill()
		return failure(fmt.Errorf("the command did not end within %v; it was killed with everything it started\n%s",
			timeout, transcript(in.Command, "[killed]", &stdout, &stderr))), nil
	case <-ctx.Done():
		r.Kill()
		return "", fmt.Errorf("the command was stopped: %w", context.Cause(ctx))
	}
}

func permitted(command string, allow func(string) bool) error {
	if strings.ContainsRune(command, 0) {
		return errors.New("the command holds a NUL character")
	}
	if len(command) > maxCommand {
		return fmt.Errorf("the command has %d bytes; at most %d are allowed", len(command), maxCommand)
	}
	if allow != nil {
		if !allow(command) {
			return errors.New("the command is not allowed here")
		}
		return nil
	}
	if why := denied(command); why != "" {
		return fmt.Errorf("the command is refused: %s", why)
	}
	return nil
}

func (in bashArgs) timeout(byDefault time.Duration) (time.Duration, error) {
	switch t := in.TimeoutSec; {
	case t == nil:
		return byDefault, nil
	case math.IsNaN(*t) || *t <= 0:
		return 0, fmt.Errorf("timeout_sec must be above 0, not %v", *t)
	case *t >= math.MaxInt64/float64(time.Second):
		return math.MaxInt64, nil
	default:
		return max(1, time.Duration(*t*float64(time.Second))), nil
	}
}

// environment is what a command gets.
func environment(opts BashOptions) ([]string, error) {
	from := opts.Environ
	if from == nil {
		from = new(exec.Cmd).Environ()
	}
	env := []string{}
	for _, v := range from {
		name, val, _ := strings.Cut(v, "=")
		switch name {
		case "PATH":
			env = append(env, "PATH="+absolute(val))
		case "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "TERM":
			env = append(env, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(opts.ExtraEnv)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(opts.ExtraEnv[name], 0) {
			return nil, fmt.Errorf("the environment variable %q of the tool's settings cannot be set", short(name))
		}
		env = append(env, name+"="+opts.ExtraEnv[name])
	}
	return env, nil
}

// absolute drops the entries of a PATH that depend on the directory: there, a
// file of the agent would pass for a program.
func absolute(path string) string {
	dirs := filepath.SplitList(path)
	dirs = slices.DeleteFunc(dirs, func(d string) bool { return !filepath.IsAbs(d) })
	return strings.Join(dirs, string(os.PathListSeparator))
}

// transcript is how a command's run is shown.
func transcript(command, status string, stdout, stderr *capture) string {
	out := "$ " + command + "\n" + status + "\n--- stdout ---\n" + stdout.text()
	if stderr.total > 0 {
		if !strings.HasSuffix(out, "\n") {
			out += "\n"
		}
		out += "--- stderr ---\n" + stderr.text()
	}
	return out
}

// capture keeps the start of an output stream and counts the rest.
type capture struct {
	head  []byte
	total int64
}

func (c *capture) Write(p []byte) (int, error) {
	const most = maxOutput * 4 // a character has up to four bytes
	c.total += int64(len(p))
	c.head = append(c.head, p[:min(len(p), most-len(c.head))]...)
	return len(p), nil
}

// text is the stream without its last line break, cut where it is too long. It
// may be asked for when the command is done.
func (c *capture) text() string {
	kept := len(c.head)
	count := 0
	for i := range string(c.head) {
		if count++; count > maxOutput {
			kept = i
			break
		}
	}
	out := text(c.head[:kept])
	if more := c.total - int64(kept); more > 0 {
		return fmt.Sprintf("%s\n... (truncated, %d more bytes)", out, more)
	}
	return strings.TrimSuffix(out, "\n")
}
