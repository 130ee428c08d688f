package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/workflow"
)

// PolicyOptions say where a run stands. The zero value is that of a process
// that may run no command.
type PolicyOptions struct {
	// Dir is the directory the run starts from, from which relative paths
	// start; "" is the process's working directory.
	Dir string
	// Path is the value of PATH, in which the allowed commands are looked for.
	// With the sandbox enabled and commands allowed, each of its entries must
	// be absolute.
	Path string
	// Protected are files and directories that no tool may write although they
	// lie in a directory that may be written: recordings, the running workflow.
	// .agentloom in Dir is always one of them.
	Protected []string
	// Guard says how CheckURL resolves hosts.
	Guard Options
}

// A Policy is config.sandbox with its paths resolved, links too, at the moment
// it was made: what stands in the lists' place later is not what is listed. It
// does not change and may be used by many goroutines.
//
// A refusal is a *fault.Error of kind Refused. It names the built-in tool that
// the check is for, or the one that As was given.
type Policy struct {
	block     workflow.Sandbox // the effective block; its path lists are resolved
	opts      PolicyOptions    // Dir and Protected are resolved
	path      []string
	cwds      []string // where commands may run
	arguments []string // where their path arguments may lead
	readable  []string
	writable  []string
	use       string // "": each check names its built-in tool
}

// New returns the Policy of a sandbox block; nil is one that is disabled. It
// fails when a listed path can't be resolved and when an entry of PATH is not
// absolute. A listed directory may be missing.
func New(block *workflow.Sandbox, opts PolicyOptions) (*Policy, error) {
	if block == nil {
		block = &workflow.Sandbox{AllowNetwork: true}
	}
	var err error
	if opts.Dir == "" {
		if opts.Dir, err = os.Getwd(); err != nil {
			return nil, fmt.Errorf("the directory that the run starts from: %w", err)
		}
	}
	if opts.Dir, err = filepath.Abs(opts.Dir); err != nil {
		return nil, fmt.Errorf("the directory that the run starts from: %w", err)
	}
	if opts.Dir, err = resolve("", opts.Dir); err != nil {
		return nil, fmt.Errorf("the directory that the run starts from: %w", err)
	}
	if !block.Enabled {
		return build(*block, opts), nil
	}
	own := copyOf(*block)
	for _, list := range []struct {
		key   string
		paths []string
	}{
		{"allowed_paths", own.AllowedPaths}, {"readable_paths", own.ReadablePaths}, {"writable_paths", own.WritablePaths},
	} {
		if err := resolveAll(opts.Dir, "config.sandbox."+list.key, list.paths); err != nil {
			return nil, err
		}
	}
	opts.Protected = append(slices.Clone(opts.Protected), ".agentloom")
	if err := resolveAll(opts.Dir, "the protected files", opts.Protected); err != nil {
		return nil, err
	}
	if err := checkPATH(own, opts.Path); err != nil {
		return nil, err
	}
	return build(own, opts), nil
}

// build makes a Policy of what is resolved already.
func build(block workflow.Sandbox, opts PolicyOptions) *Policy {
	return &Policy{
		block: block, opts: opts,
		path:      filepath.SplitList(opts.Path),
		cwds:      slices.Concat(block.AllowedPaths, block.ReadablePaths),
		arguments: slices.Concat(block.AllowedPaths, block.ReadablePaths, block.WritablePaths),
		readable:  slices.Concat(block.AllowedPaths, block.ReadablePaths),
		writable:  slices.Concat(block.AllowedPaths, block.WritablePaths),
	}
}

func resolveAll(dir, what string, paths []string) error {
	for i, path := range paths {
		if path == "" {
			return fault.New(fault.Invalid, fmt.Sprintf("%s: an entry is empty; write . for the directory the run starts from", what), nil)
		}
		real, err := resolve(dir, path)
		if err != nil {
			return fault.New(fault.Invalid, fmt.Sprintf("%s: %s can't be resolved: %v", what, quote(path), bare(err)), err)
		}
		paths[i] = real
	}
	return nil
}

// checkPATH refuses entries that mean another directory for each command: a
// file that a tool wrote there would be run.
func checkPATH(block workflow.Sandbox, path string) error {
	if len(block.AllowedCommands) == 0 {
		return nil
	}
	for _, entry := range filepath.SplitList(path) {
		if !filepath.IsAbs(entry) {
			return fault.New(fault.Invalid, fmt.Sprintf("PATH has the entry %s, which means another directory wherever a command runs; "+
				"with the sandbox enabled its entries must be absolute", quote(entry)), nil)
		}
	}
	return nil
}

func copyOf(s workflow.Sandbox) workflow.Sandbox {
	for _, list := range []*[]string{
		&s.AllowedCommands, &s.AllowedPaths, &s.ReadablePaths, &s.WritablePaths, &s.AllowedDomains, &s.AllowedSchemes, &s.DangerOptIn,
	} {
		*list = slices.Clone(*list)
	}
	for _, n := range []**int64{&s.MaxWriteBytes, &s.MaxReadBytes} {
		if *n != nil {
			*n = new(**n)
		}
	}
	return s
}

// Enabled reports whether the checks of commands, files and requests are on.
func (p *Policy) Enabled() bool { return p.block.Enabled }

// Sandbox returns a copy of the block that is in force: its path lists are
// absolute and resolved, and an intersection shows what is left.
func (p *Policy) Sandbox() workflow.Sandbox { return copyOf(p.block) }

// Dir returns the directory the run starts from, absolute and resolved.
func (p *Policy) Dir() string { return p.opts.Dir }

// As returns the same policy for a tool of another name: its refusals read
// "Sandbox violation (tool): …".
func (p *Policy) As(tool string) *Policy {
	own := *p
	own.use = tool
	return &own
}

// Request is what http_request reaches. See RequestNetwork.
func (p *Policy) Request() Network { return p.network(RequestNetwork) }

// Attachment is what attachments are downloaded from. See AttachmentNetwork.
func (p *Policy) Attachment() Network { return p.network(AttachmentNetwork) }

// Webhook is what webhooks reach. See WebhookNetwork.
func (p *Policy) Webhook() Network { return p.network(WebhookNetwork) }

func (p *Policy) network(of func(*workflow.Sandbox) Network) Network {
	block := p.Sandbox()
	n := of(&block)
	if p.use != "" {
		n.Use = p.use
	}
	return n
}

func (p *Policy) refuse(use string, cause error, format string, args ...any) *fault.Error {
	if p.use != "" {
		use = p.use
	}
	return Network{Use: use}.refuse(cause, format, args...)
}
