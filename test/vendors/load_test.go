//go:build !offline

package vendors

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/event"
	vendoranthropic "github.com/agentloom/agentloom/model/anthropic"
	"github.com/agentloom/agentloom/model/gateway"
	vendoropenai "github.com/agentloom/agentloom/model/openai"
	"github.com/agentloom/agentloom/workflow"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

const twoSteps = `
name: load
config: { model: fake-model }
steps:
  - id: greet
    type: llm_call
    prompt: Greet Ada.
    retry: { max_retries: 2, backoff_max: 0.01 }
    output: greeting
  - id: think
    type: llm_call
    depends_on: [greet]
    prompt: Think.
    retry: { max_retries: 2, backoff_max: 0.01 }
    output: thought
`

func define(t *testing.T, source string) *workflow.Definition {
	t.Helper()
	def, diagnostics := wfyaml.Load("workflow.yaml", []byte(source))
	if err := diagnostics.Err(); err != nil {
		t.Fatal(err)
	}
	return def
}

// primaryAndFallback returns an engine whose calls go to the fake OpenAI, and
// to the fake Anthropic when that fails.
func primaryAndFallback(t *testing.T, primary, fallback *service, told func(provider, from, to string)) *agentloom.Engine {
	t.Helper()
	first, err := vendoropenai.New(vendoropenai.Config{BaseURL: primary.server.URL + "/v1", APIKey: canary})
	if err != nil {
		t.Fatal(err)
	}
	second, err := vendoranthropic.New(vendoranthropic.Config{BaseURL: fallback.server.URL, APIKey: canary})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := agentloom.New(agentloom.Config{
		Providers: []gateway.Entry{
			{Provider: first, AnyModel: true},
			{Provider: second, Fallback: true, Models: []string{"fake-model"}},
		},
		Gateway: gateway.Options{OnBreaker: told},
	})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// TestPrimaryDies kills the primary provider in a load of 200 runs: each ends
// in success, and the breaker's state is to be seen.
func TestPrimaryDies(t *testing.T) {
	const (
		runs     = 200
		parallel = 40
		until    = 90 // answers before the primary dies
	)
	var answered atomic.Int64
	dead := make(chan struct{})
	primary := serve(t, openAI{}, func(int, question) reaction {
		return func(s *service, w http.ResponseWriter, q question) {
			if answered.Add(1) == until {
				close(dead)
			}
			says(s, w, q)
		}
	})
	go func() { // from here on connections are refused, and those that live are reset
		<-dead
		_ = primary.server.Listener.Close()
		primary.server.CloseClientConnections()
	}()
	var mu sync.Mutex
	var changes []string
	engine := primaryAndFallback(t, primary, serve(t, anthropic{}, scripted), func(provider, from, to string) {
		mu.Lock()
		defer mu.Unlock()
		changes = append(changes, fmt.Sprintf("%s %s %s", provider, from, to))
	})
	def := define(t, twoSteps)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	slots := make(chan struct{}, parallel)
	answers := map[string]int{}
	var wg sync.WaitGroup
	for i := range runs {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			r, err := engine.Run(ctx, def, agentloom.RunOptions{Stream: i%2 == 0})
			if err != nil || r.Status != event.Success {
				t.Errorf("run %d: %v %v", i, err, r)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for s := range r.Steps() {
				answers[s.Provider]++
			}
			if v, _ := r.FinalState.Get("greeting"); v != needle {
				t.Errorf("run %d ends with %v", i, v)
			}
		})
	}
	wg.Wait()
	mu.Lock()
	defer mu.Unlock()
	if answers["openai"] == 0 || answers["anthropic"] == 0 || answers["openai"]+answers["anthropic"] != 2*runs {
		t.Errorf("answers came from %v", answers)
	}
	if len(changes) != 1 || changes[0] != "openai closed open" {
		t.Errorf("the breakers changed: %q", changes)
	}
	for _, s := range engine.ProviderStatus() {
		open := s.Name == "openai"
		if open != (s.Breaker == gateway.BreakerOpen) || open != (s.Failures >= 5) || open != s.RetryAt.After(time.Now()) {
			t.Errorf("provider %s is %+v", s.Name, s)
		}
	}
}

// TestPrimaryIsDown checks the same through the command line, where a word on
// stderr says that the circuit is open.
func TestPrimaryIsDown(t *testing.T) {
	var steps strings.Builder
	for i := range 8 {
		fmt.Fprintf(&steps, "  - { id: s%d, type: llm_call, prompt: Greet Ada., output: o%d }\n", i, i)
	}
	files := map[string]string{
		"workflow.yaml":  "name: down\nconfig: { model: fake-model, max_retries: 0, max_concurrent_steps: 1 }\nsteps:\n" + steps.String(),
		"agentloom.yaml": "providers: { google: { fallback: true, models: [fake-model] } }\n",
	}
	down, up := serve(t, openAI{}, scripted), serve(t, google{}, scripted)
	down.server.Close()
	got := runCommand(t, folder(t, files), environment(down, up), command(openAI{}, false)...)
	got.succeeded(t)
	if n := len(up.questions()); n != 8 {
		t.Errorf("the fallback was asked %d times", n)
	}
	if n := strings.Count(got.stderr, "the circuit of provider openai is open (it was closed)"); n != 1 {
		t.Errorf("it is said %d times that the circuit is open:\n%s", n, got.stderr)
	}
}
