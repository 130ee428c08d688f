package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

type runOptions struct {
	file          string
	state         []assignment
	stateFile     string
	provider      string
	model         string
	mockResponses string
	runID         string
	json          bool
	lite          bool
}

func newRun(p *program) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a workflow",
		Long: `Run a workflow file, or the workflow on stdin for "-". What happens is logged
on stderr as it happens; the result is printed on stdout at the end.

The state starts as the file's own state, over it the keys of --state-file, over
them -s and --state-json in the order they are given. A dot in their key writes
into an object, as a step's output does: -s user.name=Ada.

Ctrl-C stops the run: running steps are cancelled and the result is printed. A
second Ctrl-C leaves at once.

` + settingHelp(),
		Example: `  agentloom run support.yaml -s message="Where is my order?"
  agentloom run support.yaml --state-json 'order={"id": 7}' --json
  agentloom run support.yaml --mock-responses canned.json`,
		Args: func(c *cobra.Command, args []string) error {
			if err := refuseLaterFlags(c.Flags()); err != nil {
				return err
			}
			return checkedArgs(cobra.ExactArgs(1))(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.file = args[0]
			return runRun(c.Context(), p, o)
		},
	}
	f := c.Flags()
	f.VarP(stateFlag{list: &o.state}, "state", "s", "set a state key to a text (repeatable)")
	f.Var(stateFlag{list: &o.state, json: true}, "state-json", "set a state key to a JSON value (repeatable)")
	f.StringVar(&o.stateFile, "state-file", "", "state keys from a YAML or JSON `file`")
	f.StringVar(&o.provider, "provider", "", "the provider of steps that name none, instead of the file's")
	f.StringVar(&o.model, "model", "", "the model of steps that name none, instead of the file's")
	f.StringVar(&o.mockResponses, "mock-responses", "", "answer every model call from a `file` of canned responses, offline")
	f.StringVar(&o.runID, "run-id", "", "the run's `id` (default: a random one)")
	f.BoolVar(&o.json, "json", false, "print the result as one JSON document")
	f.BoolVar(&o.lite, "lite", false, "no telemetry and no history")
	addLaterFlags(f)
	return c
}

// runRun runs a workflow and prints its result.
func runRun(ctx context.Context, p *program, o runOptions) error {
	set, err := p.checkRun(&o)
	if err != nil {
		return err
	}
	l := p.load(o.file)
	p.say("%s", diagnosticsText(l, p.err))
	if err := l.diagnostics.Err(); err != nil {
		return p.notLoaded(o, l, err)
	}
	own, err := p.startState(l.def.State, o.stateFile, o.state)
	if err != nil {
		return err
	}
	choice, err := chooseProvider(l, o, set)
	if err != nil {
		return err
	}
	engine, err := p.newEngine(l.def, set, choice)
	if err != nil {
		return err
	}
	return p.drive(ctx, engine, l.def, o, agentloom.RunOptions{
		RunID:    o.runID,
		State:    own,
		Provider: choice.provider,
		Model:    choice.model,
	})
}

// checkRun checks what can be checked before the file is read, and returns the
// settings.
func (p *program) checkRun(o *runOptions) (settings, error) {
	if o.mockResponses != "" && o.provider != "" && o.provider != mockName {
		return settings{}, usage("--mock-responses answers every call itself: leave --provider %s out", o.provider)
	}
	set, err := p.settings()
	if err != nil {
		return settings{}, err
	}
	warnings, err := set.unsupported()
	if err != nil {
		return settings{}, err
	}
	for _, w := range warnings {
		p.warn(w)
	}
	return set, nil
}

func (p *program) warn(message string) {
	p.say("%s %s\n", p.err.yellow("warning:"), line(message))
}

// notLoaded ends a run whose file did not load. The diagnostics are on stderr
// already.
func (p *program) notLoaded(o runOptions, l *loaded, err error) error {
	n := count(len(l.diagnostics.Errors()), "error")
	p.say("%s: %s; the workflow was not run\n", line(l.name), p.err.red(n))
	if o.json {
		if err := p.printJSON(struct {
			Status      event.Status         `json:"status"`
			Error       string               `json:"error"`
			Diagnostics workflow.Diagnostics `json:"diagnostics"`
		}{event.Failed, err.Error(), l.diagnostics}); err != nil {
			return err
		}
	}
	return &failure{code: exitFailed}
}

// choice is which provider and model a run uses instead of the workflow's, and
// where the mock provider's responses are.
type choice struct {
	provider, model string // "": the workflow's own
	responses       string // "": none
	offline         bool   // every model call goes to the mock provider
}

// chooseProvider applies the settings' order to one workflow.
func chooseProvider(l *loaded, o runOptions, set settings) (choice, error) {
	c := choice{
		provider: firstSet(o.provider, set.variable(settingProvider)),
		model:    firstSet(o.model, set.variable(settingModel)),
	}
	// A --provider that names a real service overrules the variable.
	if c.responses = o.mockResponses; c.responses == "" && (o.provider == "" || o.provider == mockName) {
		c.responses = set.variable(settingMockResponses)
	}
	if c.responses != "" {
		c.provider, c.offline = mockName, true
	}
	if len(set.keys) > 0 {
		own, err := ownConfig(l)
		if err != nil {
			return choice{}, err
		}
		if _, says := own.Get("provider"); c.provider == "" && !says {
			c.provider = set.fromFile(settingProvider)
		}
		if _, says := own.Get("model"); c.model == "" && !says {
			c.model = set.fromFile(settingModel)
		}
	}
	if c.responses == "" && usesMock(l.def, c) {
		c.responses = l.def.Config.ResponsesFile
	}
	return c, nil
}

// ownConfig returns the config section as the file has it: the definition has
// the defaults filled in.
func ownConfig(l *loaded) (*value.Map, error) {
	v, ds := wfyaml.DecodeValue(l.name, l.src)
	if err := ds.Err(); err != nil {
		return nil, &failure{exitFailed, err}
	}
	file, _ := v.(*value.Map)
	config, _ := file.Get("config")
	own, _ := config.(*value.Map)
	return own, nil
}

// usesMock reports whether any step's provider is the mock one.
func usesMock(def *workflow.Definition, c choice) bool {
	if firstSet(c.provider, def.Config.Provider) == mockName {
		return true
	}
	for _, name := range stepProviders(def) {
		if name == mockName {
			return true
		}
	}
	return false
}

func firstSet(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// newEngine wires providers and tools for one workflow.
func (p *program) newEngine(def *workflow.Definition, set settings, c choice) (*agentloom.Engine, error) {
	providers, err := p.providers(def, set.env, c)
	if err != nil {
		return nil, err
	}
	tools, err := p.tools(set.env)
	if err != nil {
		return nil, err
	}
	engine, err := agentloom.New(agentloom.Config{Providers: providers, Tools: tools})
	if err != nil {
		return nil, failed("%w", err)
	}
	return engine, nil
}

// drive runs the workflow while the log is written and signals are heard.
func (p *program) drive(ctx context.Context, engine *agentloom.Engine, def *workflow.Definition, o runOptions, opts agentloom.RunOptions) error {
	opts.Observer = newRunLog(p.Stderr, p.err)
	ended, interrupted, err := untilInterrupted(ctx, p, func(ctx context.Context) (*agentloom.Result, error) {
		return engine.Run(ctx, def, opts)
	})
	if err != nil {
		return err
	}
	if o.json {
		err = p.printJSON(ended)
	} else {
		err = p.print(resultText(ended, def, p.out))
	}
	switch {
	case err != nil:
		return err
	case ended.Err() == nil:
		return nil
	case interrupted:
		return &failure{code: exitInterrupted}
	}
	return &failure{code: exitFailed}
}
