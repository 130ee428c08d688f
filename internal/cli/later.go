package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// laterVerbs are the commands that this version knows by name only. They are
// hidden from the help and say so when called, whatever their arguments.
func laterVerbs() []*cobra.Command {
	var out []*cobra.Command
	for _, name := range []string{
		"resume", "runs", "history", "callback-server", "agent", "visualize", "schema", "worker",
	} {
		out = append(out, &cobra.Command{
			Use:                name,
			Hidden:             true,
			DisableFlagParsing: true,
			RunE: func(c *cobra.Command, _ []string) error {
				return usage("%s is not supported yet", c.CommandPath())
			},
		})
	}
	return out
}

// laterRunFlags are the flags of run that this version knows by name only.
func laterRunFlags() []string {
	return []string{"checkpoint", "checkpoint-dir", "store", "temporal"}
}

// addLaterFlags defines flags that only refuseLaterFlags looks at. Each takes
// an optional value, so that any spelling reaches it.
func addLaterFlags(f *pflag.FlagSet) {
	for _, name := range laterRunFlags() {
		f.String(name, "", "")
		f.Lookup(name).NoOptDefVal = "true"
		f.Lookup(name).Hidden = true
	}
}

func refuseLaterFlags(f *pflag.FlagSet) error {
	for _, name := range laterRunFlags() {
		if f.Changed(name) {
			return usage("--%s is not supported yet", name)
		}
	}
	return nil
}
