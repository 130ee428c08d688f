package builtin

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/confine"
	"github.com/agentloom/agentloom/internal/process"
	"github.com/agentloom/agentloom/sandbox"
)

// maxProcesses is how many processes and threads a command of the sandbox may
// have.
const maxProcesses = 512

// commandVariables are all that a command of the sandbox gets.
func commandVariables() []string { return []string{"PATH", "HOME", "LANG", "LC_ALL", "TZ"} }

// applySandbox takes the sandbox's limit over, and drops one that is disabled.
func applySandbox(opts *Options) error {
	if opts.Sandbox == nil {
		return nil
	}
	most := opts.Sandbox.Sandbox().MaxReadBytes
	if most != nil && *most > 0 && (opts.MaxReadBytes == 0 || *most < opts.MaxReadBytes) {
		opts.MaxReadBytes = *most
	}
	if !opts.Sandbox.Enabled() {
		opts.Sandbox = nil
		return nil
	}
	_, err := KernelGaps(opts.Sandbox)
	return err
}

// KernelGaps returns what of a sandbox this machine's kernel does not enforce
// for the programs that shell_command starts, as clauses such as "the kernel
// has no Landlock, so …". It is nothing where the checks alone are what is
// asked for: with the sandbox disabled, without allowed commands and with
// kernel off. Under kernel require or strict a gap that matters is an error.
func KernelGaps(p *sandbox.Policy) ([]string, error) {
	block := p.Sandbox()
	if !block.Enabled || block.Kernel == "off" {
		return nil, nil
	}
	rules := rulesOf(p)
	var gaps []string
	for _, gap := range confine.Kernel().Missing(rules) {
		if gap.Essential {
			gaps = append(gaps, gap.Text)
		}
	}
	switch {
	case len(gaps) > 0 && rules.Require:
		return nil, fault.New(fault.Invalid, fmt.Sprintf("config.sandbox.kernel is %s, and %s", block.Kernel, strings.Join(gaps, "; ")), nil)
	case len(block.AllowedCommands) == 0:
		return nil, nil
	}
	return gaps, nil
}

// rulesOf is what the kernel holds a command to: what the check of its
// arguments promises, and under strict what the lists say.
func rulesOf(p *sandbox.Policy) confine.Rules {
	s := p.Sandbox()
	r := confine.Rules{
		Read:      slices.Concat(s.AllowedPaths, s.ReadablePaths),
		Write:     slices.Concat(s.AllowedPaths, s.WritablePaths),
		NoNetwork: !s.AllowNetwork || len(s.AllowedDomains) > 0,
		Require:   s.Kernel == "require" || s.Kernel == "strict",
		Strict:    s.Kernel == "strict",
		Limits:    confine.Limits{Processes: maxProcesses},
	}
	if !r.Strict {
		all := slices.Concat(r.Read, s.WritablePaths)
		r.Read, r.Write = all, all
	}
	return r
}

// startChecked checks a command and starts its program, without a shell.
func (s shell) startChecked(in commandArgs, opts process.Options) (*process.Running, error) {
	if cwdOf(in) == "" {
		return nil, errors.New(`argument "cwd" is empty`)
	}
	argv, err := s.policy.Command(in.Command, cwdOf(in))
	if err != nil {
		return nil, err
	}
	// Held open, the directory is the one that was checked.
	root, err := sandbox.Location{Path: argv.Dir}.OpenDir()
	if err != nil {
		return nil, fmt.Errorf("the directory to run in, %q: %w", short(cwdOf(in)), bare(err))
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("the directory to run in, %q: %w", short(cwdOf(in)), bare(err))
	}
	defer dir.Close()
	opts.Dir, opts.Only = openedDir(dir, argv.Dir), commandVariables()
	if s.policy.Sandbox().Kernel != "off" {
		rules := rulesOf(s.policy)
		opts.Start = func(cmd *exec.Cmd, held func(pid int)) error {
			rules.Held = held
			return confine.Start(cmd, rules)
		}
	}
	r, err := process.Program(argv.Path, argv.Args, opts)
	if err != nil {
		return nil, fmt.Errorf("the command could not be started: %w", bare(err))
	}
	return r, nil
}

// cwdOf is the argument as it was given, or its default.
func cwdOf(in commandArgs) string {
	if in.Cwd == nil {
		return "."
	}
	return *in.Cwd
}

// programOf is the program as a command names it, for a message.
func programOf(command string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(command, " \t"), " ")
	return short(name)
}
