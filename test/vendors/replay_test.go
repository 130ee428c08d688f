//go:build !offline

package vendors

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReplay records a run at each vendor, whole and streamed, and repeats it
// with no service and without the file that its tools read.
func TestReplay(t *testing.T) {
	workflow := everywhere + `
  - { id: vectors, type: embed, inputs: state.who, model: fake-embed, provider: openai, output: vectors }
`
	bothWays(t, func(t *testing.T, d dialect, stream bool) {
		services := []*service{serve(t, d, scripted)}
		if d.name() != "openai" {
			services = append(services, serve(t, openAI{}, scripted))
		}
		files := everyFile()
		files["workflow.yaml"] = workflow
		dir := folder(t, files)
		first := runCommand(t, dir, environment(services...), command(d, stream, "--record", "recording.json", "--record-tools")...)
		first.succeeded(t)
		recording, err := os.ReadFile(filepath.Join(dir, "recording.json"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(recording), canary) {
			t.Errorf("the recording holds the key:\n%s", recording)
		}
		if !strings.Contains(string(recording), `"_version"`) || !strings.Contains(string(recording), needle) {
			t.Errorf("the recording is:\n%s", recording)
		}
		asked := 0
		for _, s := range services {
			asked += len(s.questions()) + s.embeds
			s.server.Close()
		}
		if asked != len(wantQuestions(d))+1 {
			t.Errorf("the services were asked %d times", asked)
		}
		if err := os.Remove(filepath.Join(dir, "one.txt")); err != nil {
			t.Fatal(err)
		}
		args := []string{"replay", "workflow.yaml", "--recording", "recording.json", "--json"}
		if stream {
			args = append(args, "--stream")
		}
		second := runCommand(t, dir, environment(services...), args...)
		second.succeeded(t)
		if got, want := string(second.result.State), string(first.result.State); got != want {
			t.Errorf("the replay ends in\n%s\nnot in\n%s", got, want)
		}
		for id, want := range first.result.Steps {
			got := second.result.Steps[id]
			if got.Reasoning != want.Reasoning || text(got.Finish) != text(want.Finish) || string(got.Output) != string(want.Output) ||
				got.Attempts != want.Attempts || (got.Usage == nil) != (want.Usage == nil) || got.Usage != nil && *got.Usage != *want.Usage {
				t.Errorf("step %s is replayed as %+v, not %+v", id, got, want)
			}
			if (got.CostUSD == nil) != (want.CostUSD == nil) || got.CostUSD != nil && *got.CostUSD != *want.CostUSD {
				t.Errorf("step %s costs %v in the replay, not %v", id, got.CostUSD, want.CostUSD)
			}
		}
		if after, err := os.ReadFile(filepath.Join(dir, "recording.json")); err != nil || string(after) != string(recording) {
			t.Errorf("the replay changed the recording: %v", err)
		}
	})
}

// TestReplayOfRetries records a run whose first answers fail.
func TestReplayOfRetries(t *testing.T) {
	bothWays(t, func(t *testing.T, d dialect, stream bool) {
		s := serve(t, d, func(n int, q question) reaction {
			if n == 0 {
				return func(s *service, w http.ResponseWriter, q question) { s.fail(w, 500, "out of order") }
			}
			return says
		})
		dir := folder(t, map[string]string{"workflow.yaml": greeting})
		first := runCommand(t, dir, environment(s), command(d, stream, "--record", "recording.json")...)
		first.succeeded(t)
		s.server.Close()
		second := runCommand(t, dir, environment(s), "replay", "workflow.yaml", "--recording", "recording.json", "--json")
		second.succeeded(t)
		if got, want := string(second.result.State), string(first.result.State); got != want || first.result.Steps["greet"].Attempts != 2 {
			t.Errorf("the replay ends in\n%s\nnot in\n%s", got, want)
		}
	})
}
