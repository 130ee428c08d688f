package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentloom/agentloom/workflow"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

type validateOptions struct {
	files  []string
	strict bool
	json   bool
}

func newValidate(p *program) *cobra.Command {
	var o validateOptions
	c := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check workflow files without running them",
		Long: `Check workflow files. All errors and warnings of a file are shown, each with
its place. Nothing is run and nothing is sent anywhere. "-" reads stdin.

Exit code 0 when every file can run, 1 when one can't. Warnings don't count
unless --strict is given.`,
		Example: `  agentloom validate support.yaml
  agentloom validate --strict flows/*.yaml`,
		Args: checkedArgs(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			o.files = args
			return runValidate(p, o)
		},
	}
	c.Flags().BoolVar(&o.strict, "strict", false, "warnings are errors")
	c.Flags().BoolVar(&o.json, "json", false, "print one JSON document")
	return c
}

// validatedFile is one file's part of the JSON document.
type validatedFile struct {
	File        string               `json:"file"`
	Valid       bool                 `json:"valid"`
	Name        string               `json:"name,omitempty"`
	Steps       int                  `json:"steps,omitempty"`
	Diagnostics workflow.Diagnostics `json:"diagnostics"`
}

func runValidate(p *program, o validateOptions) error {
	if err := stdinOnce(o.files); err != nil {
		return err
	}
	out := make([]validatedFile, 0, len(o.files))
	allValid := true
	for _, name := range o.files {
		l := p.load(name, wfyaml.Options{})
		if o.strict {
			l.diagnostics = stricter(l.diagnostics)
		}
		v := validatedFile{File: l.name, Valid: len(l.diagnostics.Errors()) == 0, Diagnostics: l.diagnostics}
		if l.def != nil {
			v.Name, v.Steps = l.def.Name, len(l.def.Steps)
		}
		if v.Diagnostics == nil {
			v.Diagnostics = workflow.Diagnostics{} // [] in JSON, not null
		}
		allValid = allValid && v.Valid
		if !o.json {
			if err := p.print(validatedText(l, v, p.out)); err != nil {
				return err
			}
		}
		out = append(out, v)
	}
	if o.json {
		if err := p.printJSON(struct {
			Files []validatedFile `json:"files"`
		}{out}); err != nil {
			return err
		}
	}
	if !allValid {
		return &failure{code: exitFailed}
	}
	return nil
}

func stdinOnce(files []string) error {
	n := 0
	for _, f := range files {
		if f == "-" {
			n++
		}
	}
	if n > 1 {
		return usage("stdin (-) can be read only once")
	}
	return nil
}

// stricter returns the diagnostics with warnings made errors.
func stricter(ds workflow.Diagnostics) workflow.Diagnostics {
	out := make(workflow.Diagnostics, len(ds))
	for i, d := range ds {
		d.Severity = workflow.SeverityError
		out[i] = d
	}
	return out
}

// validatedText is a file's diagnostics and its summary line. They are what the
// command is for, so they go to stdout.
func validatedText(l *loaded, v validatedFile, st style) string {
	var b strings.Builder
	b.WriteString(diagnosticsText(l, st))
	errs, warnings := len(v.Diagnostics.Errors()), len(v.Diagnostics.Warnings())
	if v.Valid {
		fmt.Fprintf(&b, "%s: %s, %s%s\n", line(v.File), st.green("ok"), count(v.Steps, "step"), and(warnings, "warning"))
	} else {
		fmt.Fprintf(&b, "%s: %s%s\n", line(v.File), st.red(count(errs, "error")), and(warnings, "warning"))
	}
	return b.String()
}

// and is ", N things", or nothing when there are none.
func and(n int, thing string) string {
	if n == 0 {
		return ""
	}
	return ", " + count(n, thing)
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
