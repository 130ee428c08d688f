package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

// stateFlag collects -s and --state-json in the order they were given. It takes
// any text: the flag library's own errors quote the value, which may be a
// secret, so what is wrong is told by assignment.parse.
type stateFlag struct {
	list *[]assignment
	json bool
}

func (f stateFlag) String() string { return "" }

func (f stateFlag) Type() string {
	if f.json {
		return "key=JSON"
	}
	return "key=value"
}

// Set keeps one assignment.
func (f stateFlag) Set(text string) error {
	*f.list = append(*f.list, assignment{text: text, json: f.json})
	return nil
}

// assignment is one key=value of the command line.
type assignment struct {
	text string
	json bool // the value is JSON, else plain text
}

// parse reads the assignment. Its errors name the key, never the value.
func (a assignment) parse() (key string, v any, err error) {
	flag := "-s"
	if a.json {
		flag = "--state-json"
	}
	key, text, ok := strings.Cut(a.text, "=")
	if !ok {
		return "", nil, usage("%s takes key=value; there is no = in it", flag)
	}
	if why := workflow.KeyFault(key); why != "" {
		return "", nil, usage("%s: %s is no key: it %s", flag, shortQuote(key), why)
	}
	if !a.json {
		return key, text, nil
	}
	if v, err = value.DecodeJSON([]byte(text)); err != nil {
		return "", nil, usage("--state-json: the value of %q is no JSON (text needs quotes; -s takes it without): %w", key, err)
	}
	return key, v, nil
}

// shortQuote quotes the start of a text.
func shortQuote(s string) string {
	const shown = 60
	if len(s) > shown {
		return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:shown], ""))
	}
	return strconv.Quote(s)
}

// maxStateFile bounds --state-file, in bytes.
const maxStateFile = wfyaml.MaxBytes

// startState returns the state a run starts with: the workflow's own, under
// the keys of the state file, under the assignments in their order. An
// assignment's dots write into objects, as a step's `output` does.
func (p *program) startState(own *value.Map, file string, assigned []assignment) (*value.Map, error) {
	s := state.New(own)
	if file != "" {
		m, err := p.readStateFile(file)
		if err != nil {
			return nil, err
		}
		merged := value.NewMap(own.Len() + m.Len())
		for k, v := range own.All() {
			merged.Put(k, v)
		}
		for k, v := range m.All() {
			merged.Put(k, v)
		}
		s = state.New(merged)
	}
	for _, a := range assigned {
		key, v, err := a.parse()
		if err != nil {
			return nil, err
		}
		if s, err = s.Set(key, v); err != nil {
			return nil, usage("the state can't be set: %w", err)
		}
	}
	return s.Map(), nil
}

func (p *program) readStateFile(name string) (*value.Map, error) {
	src, err := p.readFile(name, maxStateFile)
	if err != nil {
		return nil, usage("--state-file %s: %w", name, err)
	}
	v, ds := wfyaml.DecodeValue(name, src)
	if err := ds.Err(); err != nil {
		return nil, &failure{exitUsage, err}
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, usage("--state-file %s: must hold an object of state keys, as in `customer: Ada`", name)
	}
	return m, nil
}
