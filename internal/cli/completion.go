package cli

import (
	"github.com/spf13/cobra"
)

func newCompletion(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a shell's completion script",
		Long: `Print a script that completes commands, flags and files in a shell.

bash (needs the bash-completion package):
  agentloom completion bash > ~/.local/share/bash-completion/completions/agentloom

zsh (needs "autoload -U compinit; compinit" in ~/.zshrc):
  agentloom completion zsh > "${fpath[1]}/_agentloom"

fish:
  agentloom completion fish > ~/.config/fish/completions/agentloom.fish

powershell (add the line to your profile to keep it):
  agentloom completion powershell | Out-String | Invoke-Expression

A new shell has it.`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      checkedArgs(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)),
		RunE: func(c *cobra.Command, args []string) error {
			return runCompletion(p, c.Root(), args[0])
		},
	}
}

func runCompletion(p *program, root *cobra.Command, shell string) error {
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(p.Stdout, true)
	case "zsh":
		err = root.GenZshCompletion(p.Stdout)
	case "fish":
		err = root.GenFishCompletion(p.Stdout, true)
	case "powershell":
		err = root.GenPowerShellCompletionWithDesc(p.Stdout)
	}
	if err != nil {
		return failed("writing the script: %w", err)
	}
	return nil
}
