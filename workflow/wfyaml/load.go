// Package wfyaml reads workflow files: from YAML to a *workflow.Definition,
// with every error and warning of a file at once, each with its line, column,
// key path and a suggestion.
//
// Scalars are read by the core schema of YAML 1.2: yes, no, on and off are
// strings (with a warning, since YAML 1.1 took them for booleans), 0777 is a
// decimal number, dates are strings. Merge keys (<<) work as in PyYAML. In
// free data, such as `state`, a key that is no string counts as its text, so
// that `1: x` has the key "1"; in the sections of a workflow it is an error.
package wfyaml

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"go.yaml.in/yaml/v4"

	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// Limits of what is read. They keep even a file made to hurt within a few
// seconds and a gigabyte.
const (
	// MaxBytes is the size of the largest file that is read, 10 MiB.
	MaxBytes = 10 << 20
	// MaxExpandedBytes bounds the text of a file with every alias written out.
	MaxExpandedBytes = 10 * MaxBytes
	// MaxDepth is how deep lists and mappings may nest, aliases written out.
	MaxDepth = 200
	// MaxSteps is the largest number of steps in a file.
	MaxSteps = 100_000
	// MaxListed is how many errors, and how many warnings, are listed.
	MaxListed = 1000

	maxExpandedNodes = 4_000_000
	maxWeight        = 3_000_000 // see source.weigh
)

// Options say how LoadWith reads a file.
type Options struct {
	// Defaults is the config of a file that says nothing; a file's own keys go
	// over it. The zero Config stands for workflow.DefaultConfig.
	Defaults workflow.Config
}

// Load reads a workflow from src. The diagnostics are all errors and warnings
// of the file, in file order, those of workflow.Validate and workflow.Lint
// included; file is the name they carry. The definition is nil when there is
// an error among them.
func Load(file string, src []byte) (*workflow.Definition, workflow.Diagnostics) {
	return LoadWith(file, src, Options{})
}

// LoadWith is Load with options.
func LoadWith(file string, src []byte, opts Options) (*workflow.Definition, workflow.Diagnostics) {
	if opts.Defaults == (workflow.Config{}) {
		opts.Defaults = workflow.DefaultConfig()
	}
	d := &decoder{file: file}
	root, ok := d.parse(src)
	if !ok {
		return nil, d.diagnostics()
	}
	def := d.workflow(root, opts.Defaults)
	if def != nil {
		d.adopt(root, workflow.Check(def))
	}
	out := d.diagnostics()
	if d.failed() {
		return nil, out
	}
	return def, out
}

// LoadReader is Load from a reader, of which no more than MaxBytes and one
// byte are read. A reader that fails is an error among the diagnostics.
func LoadReader(file string, r io.Reader) (*workflow.Definition, workflow.Diagnostics) {
	src, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		d := &decoder{file: file}
		d.fail("unreadable", position{}, fmt.Sprintf("cannot be read: %v", readCause(err)), "")
		return nil, d.diagnostics()
	}
	return Load(file, src)
}

// readCause leaves the path out of a file system's error: the diagnostic
// carries the file's name already.
func readCause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// DecodeValue reads any YAML or JSON document, such as a file of state, into a
// value of package value. Keys keep their order, 1.0 stays a float and two
// equal keys are an error. The value is nil when there is an error among the
// diagnostics.
func DecodeValue(file string, src []byte) (any, workflow.Diagnostics) {
	if v, ok := decodeJSON(src); ok {
		return v, nil
	}
	d := &decoder{file: file}
	root, ok := d.parse(src)
	if !ok {
		return nil, d.diagnostics()
	}
	v := d.free(item{node: root})
	out := d.diagnostics()
	if d.failed() {
		return nil, out
	}
	return v, out
}

// decodeJSON reads documents that are plain JSON, which YAML is not quite a
// superset of: JSON writes characters beyond 16 bits as two escapes. Whatever
// is doubtful is left to the YAML reader, which can say where.
func decodeJSON(src []byte) (any, bool) {
	if len(src) > MaxBytes || !startsJSON(src) || hasEqualKeys(src) {
		return nil, false
	}
	v, err := value.DecodeJSON(src)
	return v, err == nil
}

// parse checks the bytes, parses them and measures the tree. It returns the
// document's root.
func (d *decoder) parse(src []byte) (*yaml.Node, bool) {
	text, ok := d.checkSource(src)
	if !ok {
		return nil, false
	}
	root, ok := d.parseYAML(text)
	if !ok {
		return nil, false
	}
	return root, d.measure(root)
}
