package cli

import (
	"github.com/spf13/cobra"
)

func newRoot(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "agentloom",
		Short: "Run AI workflows written in YAML",
		Long: `AgentLoom runs AI workflows written in YAML: model calls, tools and routers,
with retries, timeouts and parallel steps.

Exit codes: 0 success; 1 the run failed or the file did not load; 2 wrong
flags, arguments or settings; 130 interrupted.`,
		Example: `  agentloom run support.yaml -s message="Where is my order?"
  agentloom run support.yaml --mock-responses canned.json
  agentloom validate support.yaml`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%w; %q lists the flags", err, c.CommandPath()+" --help")
	})
	root.AddCommand(
		newRun(p),
		newReplay(p),
		newValidate(p),
		newTools(p),
		newInfo(p),
		newVersion(p),
		newCompletion(p),
	)
	root.AddCommand(laterVerbs()...)
	return root
}

// checkedArgs makes a usage error of a wrong number of arguments.
func checkedArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usage("%w; usage: %s", err, c.UseLine())
		}
		return nil
	}
}
