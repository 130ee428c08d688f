package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/agentloom/agentloom/workflow"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

// loaded is a workflow file as it was read.
type loaded struct {
	name        string // as the user wrote it; "stdin" for "-"
	src         []byte
	def         *workflow.Definition // nil when it did not load
	diagnostics workflow.Diagnostics
}

// load reads and checks a workflow file, or stdin for "-". What goes wrong is
// in the diagnostics.
func (p *program) load(name string, opts wfyaml.Options) *loaded {
	l := &loaded{name: name}
	var err error
	if name == "-" {
		l.name = "stdin"
		l.src, err = readWorkflow(p.Stdin)
	} else {
		var f *os.File
		if f, err = p.open(name); err == nil {
			defer func() { _ = f.Close() }()
			l.src, err = readWorkflow(f)
		}
	}
	if err != nil {
		l.diagnostics = workflow.Diagnostics{unreadable(l.name, err)}
		return l
	}
	l.def, l.diagnostics = wfyaml.LoadWith(l.name, l.src, opts)
	return l
}

// readWorkflow reads one byte more than the loader accepts, whose error then
// says what the limit is.
func readWorkflow(r io.Reader) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, wfyaml.MaxBytes+1))
	if err != nil {
		return nil, plainReason(err)
	}
	return src, nil
}

func unreadable(name string, err error) workflow.Diagnostic {
	d := workflow.Diagnostic{
		Severity: workflow.SeverityError,
		Code:     "unreadable",
		Message:  fmt.Sprintf("the file can't be read: %v", err),
		File:     name,
	}
	if errors.Is(err, fs.ErrNotExist) {
		d.Message = "there is no such file"
	}
	return d
}
