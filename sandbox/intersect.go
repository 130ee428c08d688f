package sandbox

import (
	"slices"
	"strings"

	"github.com/agentloom/agentloom/workflow"
)

// Child returns the Policy of a subworkflow whose file has this block, nil for
// none: the parent's when the child's sandbox is disabled, the child's own when
// the parent's is, and what both allow when both are enabled. protected are
// further files that the child's tools may not write, such as its own file. It
// fails as New does.
func (p *Policy) Child(block *workflow.Sandbox, protected ...string) (*Policy, error) {
	opts := p.opts
	protected = slices.Clone(protected)
	if p.block.Enabled {
		if err := resolveAll(opts.Dir, "the protected files", protected); err != nil {
			return nil, err
		}
	}
	opts.Protected = slices.Concat(p.opts.Protected, protected)
	if p.block.Enabled && (block == nil || !block.Enabled) {
		return build(p.Sandbox(), opts).As(p.use), nil
	}
	child, err := New(block, opts)
	if err != nil {
		return nil, err
	}
	if p.block.Enabled {
		// Whatever became of the parent's paths since, they are what they were.
		child = build(intersect(p.Sandbox(), child.Sandbox()), opts)
	}
	return child.As(p.use), nil
}

// Intersect returns the block that a subworkflow runs under, by the blocks of
// its parent and of its own; nil is a disabled one. When both are enabled the
// result's path lists are absolute and resolved from dir, "" being the
// process's working directory, and an entry "" in allowed_domains or
// allowed_schemes stands for a list that admits nothing. Links are resolved at
// the time of the call: Child keeps the parent's as they were.
func Intersect(parent, child *workflow.Sandbox, dir string) (workflow.Sandbox, error) {
	none := &workflow.Sandbox{AllowNetwork: true}
	if parent == nil {
		parent = none
	}
	if child == nil {
		child = none
	}
	switch {
	case !parent.Enabled:
		return copyOf(*child), nil
	case !child.Enabled:
		return copyOf(*parent), nil
	}
	p, err := New(parent, PolicyOptions{Dir: dir})
	if err != nil {
		return workflow.Sandbox{}, err
	}
	both, err := p.Child(child)
	if err != nil {
		return workflow.Sandbox{}, err
	}
	return both.Sandbox(), nil
}

// intersect returns what two enabled blocks allow whose paths are resolved.
func intersect(p, c workflow.Sandbox) workflow.Sandbox {
	both := workflow.Sandbox{
		Enabled:                     true,
		AllowedCommands:             shared(p.AllowedCommands, c.AllowedCommands),
		DangerOptIn:                 shared(p.DangerOptIn, c.DangerOptIn),
		AllowNetwork:                p.AllowNetwork && c.AllowNetwork,
		AllowedDomains:              narrower(p.AllowedDomains, c.AllowedDomains, sameHost),
		AllowedSchemes:              narrower(p.AllowedSchemes, c.AllowedSchemes, strings.EqualFold),
		MaxWriteBytes:               smaller(p.MaxWriteBytes, c.MaxWriteBytes),
		MaxReadBytes:                smaller(p.MaxReadBytes, c.MaxReadBytes),
		AllowInternalWebhookTargets: p.AllowInternalWebhookTargets && c.AllowInternalWebhookTargets,
		// Without a list of hosts a block refuses internal addresses, which the
		// other block's list can't open.
		DenyInternalHosts: p.DenyInternalHosts || c.DenyInternalHosts ||
			(len(p.AllowedDomains) == 0) != (len(c.AllowedDomains) == 0),
		Kernel: stricter(p.Kernel, c.Kernel),
	}
	readable := deeper(slices.Concat(p.AllowedPaths, p.ReadablePaths), slices.Concat(c.AllowedPaths, c.ReadablePaths))
	writable := deeper(slices.Concat(p.AllowedPaths, p.WritablePaths), slices.Concat(c.AllowedPaths, c.WritablePaths))
	for _, dir := range readable {
		if slices.Contains(writable, dir) {
			both.AllowedPaths = append(both.AllowedPaths, dir)
		} else {
			both.ReadablePaths = append(both.ReadablePaths, dir)
		}
	}
	for _, dir := range writable {
		if !slices.Contains(readable, dir) {
			both.WritablePaths = append(both.WritablePaths, dir)
		}
	}
	return both
}

func shared(p, c []string) []string {
	var both []string
	for _, entry := range c {
		if slices.Contains(p, entry) && !slices.Contains(both, entry) {
			both = append(both, entry)
		}
	}
	return both
}

// narrower returns what two lists share of which an empty one sets no limit.
// Two that share nothing give a list that no host and no scheme is on.
func narrower(p, c []string, same func(a, b string) bool) []string {
	switch {
	case len(p) == 0:
		return c
	case len(c) == 0:
		return p
	}
	var both []string
	for _, entry := range c {
		if slices.ContainsFunc(p, func(other string) bool { return same(entry, other) }) {
			both = append(both, entry)
		}
	}
	if both == nil {
		return []string{""}
	}
	return both
}

// sameHost compares two entries of allowed_domains as they admit hosts.
func sameHost(a, b string) bool {
	a, failedA := listedName(a)
	b, failedB := listedName(b)
	return failedA == nil && failedB == nil && a == b
}

func smaller(p, c *int64) *int64 {
	if p == nil || c != nil && *c < *p {
		return c
	}
	return p
}

// stricter compares the values of kernel; "" is auto.
func stricter(p, c string) string {
	order := []string{"off", "", "auto", "require", "strict"}
	if slices.Index(order, c) > slices.Index(order, p) {
		return c
	}
	return p
}

// deeper returns the directories that lie under one of each list.
func deeper(p, c []string) []string {
	var both []string
	for _, a := range p {
		for _, b := range c {
			dir := ""
			switch {
			case isUnder(b, a):
				dir = b
			case isUnder(a, b):
				dir = a
			}
			if dir != "" && !slices.Contains(both, dir) {
				both = append(both, dir)
			}
		}
	}
	return both
}
