//go:build !offline

package vendors

import (
	"net/http"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

const embedding = `
name: vectors
config: { model: fake-model, max_retries: 0 }
state:
  documents: [one, three, "🧵"]
  single: alone
steps:
  - { id: many, type: embed, inputs: state.documents, model: fake-embed, output: vectors }
  - { id: short, type: embed, inputs: "{state.single}", model: fake-embed, dimensions: 2, output: short }
  - id: shown
    type: llm_call
    depends_on: [many, short]
    provider: mock
    prompt: "{steps.many.output}, {steps.short.output}"
`

// TestEmbedEverywhere runs one workflow of vectors at each vendor. Anthropic
// has none, so that its calls go to a fallback.
func TestEmbedEverywhere(t *testing.T) {
	const settings = `
prices: {fake-embed: {input: 2, output: 0}}
providers: {openai: {fallback: true, models: [fake-embed]}}
`
	states := map[string]string{}
	for _, d := range dialects() {
		t.Run(d.name(), func(t *testing.T) {
			services := []*service{serve(t, d, scripted)}
			answers := d.name()
			if answers == "anthropic" {
				services = append(services, serve(t, openAI{}, scripted))
				answers = "openai"
			}
			dir := folder(t, map[string]string{"workflow.yaml": embedding, "agentloom.yaml": settings})
			got := runCommand(t, dir, environment(services...), command(d, false)...)
			got.succeeded(t)
			states[d.name()] = string(got.result.State)
			for id, summary := range map[string]string{"many": `"3 vectors × 5"`, "short": `"1 vector × 2"`} {
				s := got.result.Steps[id]
				if string(s.Output) != summary || text(s.Provider) != answers || s.Attempts != 1 {
					t.Errorf("step %s: %s of %s in %d attempts", id, s.Output, text(s.Provider), s.Attempts)
				}
				if s.Usage == nil || s.Usage.Prompt != 9 || s.Usage.Total != 9 {
					t.Errorf("step %s used %+v", id, s.Usage)
				}
				want := 18e-6
				if answers == "ollama" {
					want = 0
				}
				if s.CostUSD == nil || *s.CostUSD != want {
					t.Errorf("step %s cost %v, want %v", id, s.CostUSD, want)
				}
			}
			for _, s := range services {
				if s.embeds != 2 && s.name() == answers || s.embeds+len(s.asked) != 0 && s.name() != answers {
					t.Errorf("%s was asked for vectors %d times, and %d times for text", s.name(), s.embeds, len(s.asked))
				}
			}
		})
	}
	for name, got := range states {
		if diff := gocmp.Diff(states["openai"], got); diff != "" {
			t.Errorf("%s ends in another state (-openai +this):\n%s", name, diff)
		}
	}
}

// TestManyVectors checks that vectors may be larger than texts.
func TestManyVectors(t *testing.T) {
	for _, d := range []dialect{openAI{}, google{}, ollama{}} {
		t.Run(d.name(), func(t *testing.T) {
			s := serve(t, spacious{d}, scripted)
			got := runCommand(t, folder(t, map[string]string{"workflow.yaml": embedding}), environment(s), command(d, false)...)
			got.succeeded(t)
		})
	}
}

// spacious answers with vectors of 40 MiB, white space for the most part.
type spacious struct{ dialect }

func (s spacious) embed(r *http.Request, body []byte) (string, error) {
	vectors, err := s.dialect.embed(r, body)
	if vectors != "" {
		vectors = strings.Repeat(" ", 40<<20) + vectors
	}
	return vectors, err
}

// TestEmbedNowhere checks what is said when no provider has vectors.
func TestEmbedNowhere(t *testing.T) {
	s := serve(t, anthropic{}, scripted)
	dir := folder(t, map[string]string{"workflow.yaml": embedding})
	got := runCommand(t, dir, environment(s), command(anthropic{}, false)...)
	step := got.result.Steps["many"]
	if got.code != 1 || step.Attempts != 1 || !strings.Contains(text(step.Error), "anthropic") || !strings.Contains(text(step.Error), "no embedding models") {
		t.Errorf("exit code %d after %d attempts: %s", got.code, step.Attempts, text(step.Error))
	}
}
