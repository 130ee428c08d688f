package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/agentloom/agentloom"
)

func newVersion(p *program) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  checkedArgs(cobra.NoArgs),
		RunE:  func(*cobra.Command, []string) error { return runVersion(p, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

// build is what is known of how the program was built; "" is unknown.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Date    string `json:"date,omitempty"` // of the commit, RFC 3339
	Changed bool   `json:"changed,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func thisBuild() build {
	b := build{Version: agentloom.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	return b
}

// String is one line, such as `agentloom 0.1.0 (commit 0123456789ab, built …)`.
func (b build) String() string {
	s := "agentloom " + b.Version + " ("
	if b.Commit != "" {
		s += "commit " + b.Commit[:min(12, len(b.Commit))]
		if b.Changed {
			s += " with changes"
		}
		s += ", "
	}
	if b.Date != "" {
		s += b.Date + ", "
	}
	return s + fmt.Sprintf("%s, %s/%s)", b.Go, b.OS, b.Arch)
}

func runVersion(p *program, asJSON bool) error {
	if asJSON {
		return p.printJSON(thisBuild())
	}
	return p.print(thisBuild().String() + "\n")
}
