package cli

import (
	"context"
	"math"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/event"
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
	stream        bool
	budget        string // US dollars; "": none
	record        string
	recordTools   bool
	replay        bool // mockResponses is a recording, tool calls included
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
	addStateFlags(f, &o)
	f.StringVar(&o.provider, "provider", "", "the provider of steps that name none, instead of the file's")
	f.StringVar(&o.model, "model", "", "the model of steps that name none, instead of the file's")
	f.StringVar(&o.mockResponses, "mock-responses", "", "answer every model call from a `file` of canned responses, offline")
	f.StringVar(&o.runID, "run-id", "", "the run's `id` (default: a random one)")
	f.BoolVar(&o.json, "json", false, "print the result as one JSON document")
	f.BoolVar(&o.lite, "lite", false, "no telemetry and no history")
	f.StringVar(&o.budget, "budget", "", "stop before the run's model calls cost more than these `dollars`")
	f.BoolVar(&o.stream, "stream", false, "print answers as they come")
	f.StringVar(&o.record, "record", "", "keep every model answer in a `file`, for replay")
	f.BoolVar(&o.recordTools, "record-tools", false, "keep the results of models' tool calls there too")
	addLaterFlags(f)
	return c
}

func addStateFlags(f *pflag.FlagSet, o *runOptions) {
	f.VarP(stateFlag{list: &o.state}, "state", "s", "set a state key to a text (repeatable)")
	f.Var(stateFlag{list: &o.state, json: true}, "state-json", "set a state key to a JSON value (repeatable)")
	f.StringVar(&o.stateFile, "state-file", "", "state keys from a YAML or JSON `file`")
}

// runRun runs a workflow and prints its result.
func runRun(ctx context.Context, p *program, o runOptions) error {
	set, err := p.checkRun(&o)
	if err != nil {
		return err
	}
	l := p.load(o.file, wfyaml.Options{Defaults: set.defaults()})
	p.say("%s", diagnosticsText(l, p.err))
	if err := l.diagnostics.Err(); err != nil {
		return p.notLoaded(o, l, err)
	}
	own, err := p.startState(l.def.State, o.stateFile, o.state)
	if err != nil {
		return err
	}
	opts := agentloom.RunOptions{RunID: o.runID, State: own}
	if err := spending(&opts, o, set); err != nil {
		return err
	}
	choice := chooseProvider(l.def, o, set)
	opts.Provider, opts.Model = choice.provider, choice.model
	rec, err := p.recording(o, set, choice)
	if err != nil {
		return err
	}
	engine, servers, err := p.newEngine(l.def, o, set, choice, rec)
	if err != nil {
		return err
	}
	defer servers.Close()
	err = p.drive(ctx, engine, l.def, o, opts)
	if rec != nil {
		if incomplete := rec.Flush(); incomplete != nil && err == nil {
			return failed("the run ended well, but its recording is not complete: %w", incomplete)
		}
	}
	return err
}

// spending reads the settings that say what the run may cost and whether its
// answers are streamed.
func spending(opts *agentloom.RunOptions, o runOptions, set settings) error {
	if text := firstSet(o.budget, set.variable(settingBudget)); text != "" {
		usd, err := strconv.ParseFloat(text, 64)
		if err != nil || !(usd >= 0) || math.IsInf(usd, 0) {
			return usage("the budget %q is no amount: write US dollars such as 0.50", text)
		}
		opts.BudgetUSD = &usd
	}
	opts.Stream = o.stream
	if text := set.variable(settingStream); text != "" && !o.stream {
		yes, err := strconv.ParseBool(text)
		if err != nil {
			return usage("%s is %q; write true or false", set.env.origin("AGENTLOOM_STREAM"), text)
		}
		opts.Stream = yes
	}
	return nil
}

// checkRun checks what can be checked before the file is read, and returns the
// settings.
func (p *program) checkRun(o *runOptions) (settings, error) {
	if o.mockResponses != "" && o.record != "" {
		return settings{}, usage("--record keeps what services answer: with --mock-responses there is nothing to keep")
	}
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
	replay          bool   // the responses are a recording
}

// chooseProvider applies the settings' order to one workflow, whose config holds
// what agentloom.yaml says already.
func chooseProvider(def *workflow.Definition, o runOptions, set settings) choice {
	c := choice{
		provider: firstSet(o.provider, set.variable(settingProvider)),
		model:    firstSet(o.model, set.variable(settingModel)),
	}
	// A --provider that names a real service overrules the variable.
	if c.responses = o.mockResponses; c.responses == "" && (o.provider == "" || o.provider == mockName) {
		c.responses = set.variable(settingMockResponses)
	}
	if c.responses != "" {
		c.provider, c.offline, c.replay = mockName, true, o.replay
	}
	if c.responses == "" && usesMock(def, c) {
		c.responses = def.Config.ResponsesFile
	}
	return c
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

// drive runs the workflow while the log is written and signals are heard.
func (p *program) drive(ctx context.Context, engine *agentloom.Engine, def *workflow.Definition, o runOptions, opts agentloom.RunOptions) error {
	opts.Observer = newRunLog(p.screen)
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
