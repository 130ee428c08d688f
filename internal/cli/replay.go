package cli

import (
	"github.com/spf13/cobra"
)

func newReplay(p *program) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "replay FILE --recording RECORDING",
		Short: "Run a workflow again, offline, from a recording",
		Long: `Run a workflow with the answers that "agentloom run --record RECORDING" kept:
nothing is sent to a model, and the final state is the same, byte for byte.

Tool calls of models that were recorded too (--record-tools) are answered from
the recording; others, and tool steps, run again.`,
		Example: `  agentloom run support.yaml --record monday.json
  agentloom replay support.yaml --recording monday.json`,
		Args: checkedArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			o.file = args[0]
			if o.mockResponses == "" {
				return usage("name the recording: --recording FILE")
			}
			o.replay = true
			return runRun(c.Context(), p, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.mockResponses, "recording", "", "the recording `file`")
	addStateFlags(f, &o)
	f.StringVar(&o.runID, "run-id", "", "the run's `id` (default: a random one)")
	f.BoolVar(&o.json, "json", false, "print the result as one JSON document")
	f.BoolVar(&o.stream, "stream", false, "print answers in pieces, as a stream would")
	return c
}
