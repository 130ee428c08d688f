package cli

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/agentloom/agentloom/internal/confine"
	"github.com/agentloom/agentloom/sandbox"
	"github.com/agentloom/agentloom/tool/builtin"
	"github.com/agentloom/agentloom/workflow"
)

// policy returns a workflow's sandbox for one run, and tells once what it does
// not do.
func (p *program) policy(def *workflow.Definition, o runOptions, set settings, c choice) (*sandbox.Policy, error) {
	policy, err := sandbox.New(def.Config.Sandbox, sandbox.PolicyOptions{
		Dir:       p.workingDir(),
		Path:      set.env.vars["PATH"],
		Protected: ownFiles(o, set, c),
	})
	if err != nil {
		return nil, failed("%w", err)
	}
	gaps, err := builtin.KernelGaps(policy)
	if err != nil {
		return nil, failed("%w", err)
	}
	for _, gap := range gaps {
		p.warn("sandbox: " + gap)
	}
	if name := riskyTool(def); name != "" && !policy.Enabled() {
		p.warn(fmt.Sprintf("a model chooses what %s does, and the sandbox is off: it can reach whatever this program can; "+
			"see config.sandbox", name))
	}
	return policy, nil
}

// ownFiles are the files that this run, or a later one, takes its word from: no
// tool may write them.
func ownFiles(o runOptions, set settings, c choice) []string {
	files := []string{"agentloom.yaml", ".env"}
	if o.file != "-" {
		files = append(files, o.file)
	}
	for _, name := range slices.Concat(set.files, []string{o.record, c.responses, set.variable(settingRecord)}) {
		if name != "" {
			files = append(files, name)
		}
	}
	return files
}

// riskyTool returns a tool that changes or sends something and that a model
// may call; "" is none.
func riskyTool(def *workflow.Definition) string {
	var names []string
	for _, agent := range def.Agents {
		names = append(names, agent.Tools...)
	}
	for i := range def.Steps {
		if call := def.Steps[i].LLM; call != nil {
			for _, tool := range call.Tools {
				names = append(names, tool.Name)
			}
		}
	}
	for _, name := range names {
		switch name {
		case "shell_command", "file_write", "http_request":
			return name
		}
	}
	return ""
}

// sandboxInfo is what `agentloom info` shows of the sandbox: what the kernel
// holds the programs of shell_command to.
type sandboxInfo struct {
	System   string   `json:"system"`
	Landlock int      `json:"landlock"` // its version, 0: none
	Enforced []string `json:"enforced"`
	Missing  []string `json:"missing"`
}

func kernelInfo() sandboxInfo {
	r := confine.Kernel()
	in := sandboxInfo{System: runtime.GOOS, Landlock: r.Landlock, Enforced: []string{}, Missing: []string{}}
	for _, part := range []struct {
		has  bool
		text string
	}{
		{r.Landlock > 0, fmt.Sprintf("files (Landlock version %d)", r.Landlock)},
		{r.Landlock >= 4 || r.Seccomp, "allow_network: false and allowed_domains"},
		{r.Seccomp, "a filter of system calls (seccomp)"},
		{r.NoNewPrivs, "no_new_privs"},
		{r.Capabilities, "no capabilities"},
		{r.Hold, "limits from the first instruction on"},
	} {
		if part.has {
			in.Enforced = append(in.Enforced, part.text)
		}
	}
	all := confine.Rules{NoNetwork: true, Strict: true, Limits: confine.Limits{Processes: 1}}
	for _, gap := range r.Missing(all) {
		in.Missing = append(in.Missing, gap.Text)
	}
	return in
}
