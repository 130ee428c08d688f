package agentloom_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
	"github.com/agentloom/agentloom/model/mock"
	"github.com/agentloom/agentloom/model/openai"
	"github.com/agentloom/agentloom/model/recorder"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/tool/builtin"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

// The regions of this file are the snippets of docs/go.md and docs/tools.md;
// TestDocsSnippets keeps them the same.

func Example_load() {
	// region: load
	src := []byte(`
name: greet
steps:
  - {id: hello, type: llm_call, prompt: "Greet {state.who}", output: greeting}
`)
	def, diagnostics := wfyaml.Load("greet.yaml", src)
	if err := diagnostics.Err(); err != nil {
		fmt.Println(err) // every error of the file, a line each
		return
	}
	for _, warning := range diagnostics.Warnings() {
		fmt.Println(warning)
	}
	fmt.Println(def.Name, len(def.Steps))
	// end region

	// Output:
	// greet.yaml:4:41: warning: nothing in the file sets state.who, which "{state.who}" reads (steps[0].prompt); set it under state, as the output of a step, or with -s when the workflow is run
	// greet 1
}

func Example_build() {
	// region: build
	def, err := workflow.New("reply").
		Config(func(c *workflow.Config) { c.Model = "gpt-4o-mini" }).
		State("message", "I was charged twice.").
		Add(
			workflow.LLM("classify", "One word, billing or technical: {state.message}",
				workflow.Temperature(0), workflow.Output("category")),
			workflow.Route("route", workflow.After("classify"),
				workflow.When("'billing' in state.category.lower()", "refund"),
				workflow.Otherwise("help")),
			workflow.LLM("refund", "Reply about a refund: {state.message}",
				workflow.After("route"), workflow.Output("reply")),
			workflow.LLM("help", "Ask for details: {state.message}",
				workflow.After("route"), workflow.Output("reply"), workflow.Retries(1)),
		).
		Build()
	// end region
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(def.Name, len(def.Steps))

	// Output: reply 4
}

func Example_engine() {
	def, _ := wfyaml.Load("greet.yaml", []byte(
		`{name: greet, steps: [{id: hello, type: llm_call, prompt: "Greet {state.who}", output: greeting}]}`))
	provider, err := mock.New(mock.Config{Responses: []byte(`{"hello": {"content": "Good morning, Ada."}}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	// region: engine
	engine, err := agentloom.New(agentloom.Config{
		Providers: []gateway.Entry{{Provider: provider, AnyModel: true}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := engine.Run(ctx, def, agentloom.RunOptions{
		Provider: "mock", // instead of the workflow's own
		State:    value.MapOf("who", "Ada"),
	})
	if err != nil {
		fmt.Println(err) // the run did not start
		return
	}
	greeting, _ := result.FinalState.Get("greeting")
	fmt.Println(result.Status, greeting)
	// end region

	// Output: success Good morning, Ada.
}

func Example_mock() {
	// region: mock
	provider, err := mock.New(mock.Config{
		Responses: []byte(`{"hello": {"content": "Good morning."}}`),
	})
	// end region
	fmt.Println(provider.Name(), err)

	// Output: mock <nil>
}

func Example_openAI() {
	// region: openai
	provider, err := openai.New(openai.Config{APIKey: os.Getenv("OPENAI_API_KEY")})
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := agentloom.New(agentloom.Config{
		Providers: []gateway.Entry{{Provider: provider, AnyModel: provider.TakesAnyModel()}},
	})
	// end region
	_, _ = engine, err
}

// region: own-provider

// parrot is a provider that answers with the prompt, word by word when it is
// asked for a stream. It has no embeddings.
type parrot struct{ model.NoEmbeddings }

func (parrot) Name() string { return "parrot" }

func (parrot) Complete(_ context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	prompt := req.Messages[len(req.Messages)-1].Text
	if stream != nil {
		for _, word := range strings.SplitAfter(prompt, " ") {
			stream(model.Delta{Text: word})
		}
	}
	return &model.Response{Text: prompt, Model: req.Model, FinishReason: model.FinishStop}, nil
}

// end region

func Example_ownProvider() {
	engine, err := agentloom.New(agentloom.Config{
		Providers: []gateway.Entry{{Provider: parrot{}, AnyModel: true}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	def, err := workflow.New("parrot").Add(workflow.LLM("say", "hi", workflow.Output("said"))).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := engine.Run(context.Background(), def, agentloom.RunOptions{Provider: "parrot"})
	if err != nil {
		fmt.Println(err)
		return
	}
	said, _ := result.FinalState.Get("said")
	fmt.Println(said)

	// Output: hi
}

func Example_streaming() {
	engine, err := agentloom.New(agentloom.Config{
		Providers: []gateway.Entry{{Provider: parrot{}, AnyModel: true}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	def, err := workflow.New("parrot").Add(workflow.LLM("say", "well said")).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	// region: streaming
	print := event.ObserverFunc(func(e event.Event) {
		if piece, ok := e.Data.(event.TextDelta); ok {
			fmt.Printf("%s: %q\n", e.Address, piece.Text)
		}
	})
	_, err = engine.Run(ctx, def, agentloom.RunOptions{Provider: "parrot", Stream: true, Observer: print})
	// end region
	if err != nil {
		fmt.Println(err)
	}

	// Output:
	// say/turn[1]: "well "
	// say/turn[1]: "said"
}

func Example_gateway() {
	main, err := mock.New(mock.Config{Name: "main"})
	if err != nil {
		fmt.Println(err)
		return
	}
	spare, err := mock.New(mock.Config{Name: "spare"})
	if err != nil {
		fmt.Println(err)
		return
	}
	// region: gateway
	input, output := 0.15, 0.60 // US dollars per million tokens
	engine, err := agentloom.New(agentloom.Config{
		Providers: []gateway.Entry{
			{Provider: main, AnyModel: true, RPM: 500},
			{Provider: spare, AnyModel: true, Fallback: true},
		},
		Gateway: gateway.Options{
			Prices: map[string]gateway.Price{"my-model": {Input: &input, Output: &output}},
			Warn:   func(message string) { fmt.Println(message) },
			OnBreaker: func(provider, from, to string) {
				fmt.Println(provider, "was", from, "and is", to)
			},
		},
	})
	// end region
	fmt.Println(engine != nil, err)

	// Output: true <nil>
}

func Example_agent() {
	provider, err := mock.New(mock.Config{Responses: []byte(`{"ask": [
		{"tool_calls": [{"name": "now"}], "usage": {"prompt_tokens": 20}, "cost_usd": 0.001},
		{"content": "It is noon.", "usage": {"prompt_tokens": 30}, "cost_usd": 0.001}]}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	// region: agent
	def, diagnostics := wfyaml.Load("clock.yaml", []byte(`
name: clock
agents:
  butler: {system_prompt: You know the time., tools: [now]}
steps:
  - {id: ask, type: agent, agent: butler, prompt: How late is it?, output: answer}
`))
	if err := diagnostics.Err(); err != nil {
		fmt.Println(err)
		return
	}
	tools := tool.NewRegistry(tool.RegistryOptions{})
	now := tool.Func("now", "The time of day.", func(context.Context, struct{}) (any, error) { return "12:00", nil })
	if err := tools.Register(now); err != nil {
		fmt.Println(err)
		return
	}
	engine, err := agentloom.New(agentloom.Config{
		Providers: []gateway.Entry{{Provider: provider, AnyModel: true}},
		Tools:     tools,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	budget := 0.05 // US dollars, instead of the workflow's own
	result, err := engine.Run(ctx, def, agentloom.RunOptions{Provider: "mock", BudgetUSD: &budget})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, _ := result.FinalState.Get("answer")
	fmt.Println(result.Status, answer, *result.TotalCostUSD)
	// end region

	// Output: success It is noon. 0.002
}

func Example_attach() {
	provider, err := mock.New(mock.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	// region: attach
	pictures := map[string][]byte{"cat": []byte("\x89PNG...")}
	engine, err := agentloom.New(agentloom.Config{
		Providers: []gateway.Entry{{Provider: provider, AnyModel: true}},
		Attach: func(_ context.Context, a workflow.Attachment) (model.Attachment, error) {
			data, ok := pictures[a.Source]
			if !ok {
				return model.Attachment{}, fault.New(fault.Permanent, "there is no picture "+a.Source, nil)
			}
			return model.Attachment{Type: model.Image, MediaType: "image/png", Data: data}, nil
		},
	})
	// end region
	if err != nil {
		fmt.Println(err)
		return
	}
	def, err := workflow.New("look").Add(workflow.LLM("look", "What is it?",
		workflow.WithLLM(func(f *workflow.LLMCallFields) {
			f.Attachments = []workflow.Attachment{{Type: "image", Source: "{state.picture}"}}
		}))).State("picture", "cat").Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := engine.Run(ctx, def, agentloom.RunOptions{Provider: "mock"})
	if err != nil {
		fmt.Println(err)
		return
	}
	step, _ := result.Step("look")
	fmt.Println(step.Status, *step.Attachments)

	// Output: success 1
}

func Example_record() {
	provider, err := mock.New(mock.Config{Responses: []byte(`{"hello": {"content": "Good morning."}}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "recording")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := dir + "/monday.json"
	// region: record
	rec, err := recorder.New(recorder.Config{File: file}) // one for each run
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := agentloom.New(agentloom.Config{
		Providers: []gateway.Entry{{Provider: provider, AnyModel: true}},
		Gateway:   gateway.Options{Wrap: rec.Wrap},
		Tape:      recorder.Tape{To: rec}, // what tools returned to models, too
	})
	// end region
	if err != nil {
		fmt.Println(err)
		return
	}
	def, err := workflow.New("greet").Add(workflow.LLM("hello", "hi", workflow.Output("said"))).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := engine.Run(context.Background(), def, agentloom.RunOptions{Provider: "mock"}); err != nil {
		fmt.Println(err)
		return
	}
	src, err := os.ReadFile(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := mock.New(mock.Config{Responses: src})
	fmt.Println(again.Name(), strings.Contains(string(src), "Good morning."), err)

	// Output: mock true <nil>
}

func Example_tools() {
	// region: tools
	tools := tool.NewRegistry(tool.RegistryOptions{})
	if err := builtin.Register(tools, builtin.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	wordCount := tool.Func("word_count", "Count the words in a text.",
		func(_ context.Context, in struct {
			Text string `json:"text" jsonschema:"The text to count in."`
			Min  int    `json:"min,omitempty" jsonschema:"Shortest word that counts, in bytes."`
		}) (any, error) {
			n := 0
			for _, word := range strings.Fields(in.Text) {
				if len(word) >= in.Min {
					n++
				}
			}
			return map[string]any{"words": n}, nil
		})
	if err := tools.Register(wordCount); err != nil {
		fmt.Println(err)
		return
	}
	engine, err := agentloom.New(agentloom.Config{Tools: tools})
	// end region
	if err != nil {
		fmt.Println(err)
		return
	}
	def, err := workflow.New("count").
		State("text", "to be or not to be").
		Add(workflow.Tool("count", "word_count", workflow.Arg("text", "{state.text}"), workflow.Output("counted"))).
		Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := engine.Run(context.Background(), def, agentloom.RunOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := value.EncodeJSON(result.FinalState)
	fmt.Println(string(b), err)

	// Output: {"text":"to be or not to be","counted":{"words":6}} <nil>
}

func Example_toolErrors() {
	// region: tool-errors
	charge := tool.Func("charge", "Charge an order.",
		func(ctx context.Context, in struct {
			Order string `json:"order"`
		}) (any, error) {
			if in.Order == "" {
				return nil, fault.New(fault.Permanent, "the order has no number", nil) // not retried
			}
			key := tool.IdempotencyKey(ctx) // the same for each attempt of this call
			return "charged " + in.Order + " under " + key, nil
		}, tool.WithEffect(tool.Idempotent))
	// end region
	ctx := tool.WithIdempotencyKey(context.Background(), "run-7/charge")
	fmt.Println(tool.Invoke(ctx, charge, value.MapOf("order", "A-1")))
	_, err := tool.Invoke(ctx, charge, value.MapOf("order", ""))
	fmt.Println(fault.KindOf(err), err)
	_, err = tool.Invoke(ctx, charge, value.MapOf("ordr", "A-1"))
	fmt.Println(fault.KindOf(err), err)

	// Output:
	// charged A-1 under run-7/charge <nil>
	// permanent the order has no number
	// transient argument "ordr" is unknown; the known ones are order
}

// region: own-tool

// shout is a tool with a schema written by hand. Its arguments were not
// checked, so it checks them itself.
type shout struct{}

func (shout) Spec() tool.Spec {
	return tool.Spec{
		Name:        "shout",
		Description: "Write a text in capitals.",
		Parameters: value.MapOf(
			"type", "object",
			"properties", value.MapOf("text", value.MapOf("type", "string")),
			"required", []any{"text"},
		),
		Effect: tool.Pure,
	}
}

func (shout) Call(_ context.Context, args *value.Map) (any, error) {
	v, _ := args.Get("text")
	text, ok := v.(string)
	if !ok {
		return nil, errors.New("text must be a string")
	}
	return strings.ToUpper(text), nil
}

// end region

func Example_ownTool() {
	fmt.Println(tool.Invoke(context.Background(), shout{}, value.MapOf("text", "hello")))

	// Output: HELLO <nil>
}

func Example_events() {
	def, err := workflow.New("two").Add(
		workflow.LLM("first", "hi", workflow.Output("a")),
		workflow.LLM("second", "{state.a}", workflow.After("first")),
	).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	provider, err := mock.New(mock.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := agentloom.New(agentloom.Config{Providers: []gateway.Entry{{Provider: provider, AnyModel: true}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	// region: events
	watch := event.ObserverFunc(func(e event.Event) {
		switch d := e.Data.(type) {
		case event.StepFinished:
			fmt.Println(e.Address, d.Status, d.Output)
		case event.RunEnded:
			fmt.Println("run", d.Status)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	result, err := engine.Run(ctx, def, agentloom.RunOptions{Provider: "mock", Observer: watch})
	// end region
	if err != nil || result.Err() != nil {
		fmt.Println(err, result.Err())
	}

	// Output:
	// first success Mock response
	// second success Mock response
	// run success
}

func Example_results() {
	def, err := workflow.New("broken").Add(workflow.Tool("look", "no_such_tool")).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := agentloom.New(agentloom.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	// region: results
	result, err := engine.Run(ctx, def, agentloom.RunOptions{})
	if invalid, ok := errors.AsType[*workflow.InvalidError](err); ok {
		for _, d := range invalid.Diagnostics {
			fmt.Println(d.Path, d.Message)
		}
		return
	}
	if err != nil {
		fmt.Println(err) // such as a run id that is none
		return
	}
	for step := range result.Steps() {
		fmt.Println(step.StepID, step.Status, step.Attempts)
	}
	if err := result.Err(); err != nil {
		fmt.Println(err) // why the run did not succeed
	}
	// end region

	// Output:
	// look failed 1
	// step "look" failed: tool "no_such_tool" is not registered; no tool is
}
