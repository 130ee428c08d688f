//go:build !offline

package vendors

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// greeting asks one question, and again soon when that fails.
const greeting = `
name: greeting
config: { model: fake-model }
steps:
  - id: greet
    type: llm_call
    prompt: Greet Ada.
    retry: { max_retries: 2, backoff_max: 0.01, jitter: false }
    output: greeting
`

// trouble is what a service does instead of answering.
type trouble struct {
	react reaction // nil: it hangs
	// final trouble is not worth another attempt.
	final bool
	// words are part of the error.
	words string
	// prompt and completion are the tokens that each attempt reports.
	prompt, completion int64
	// timeouts are the step's, in seconds, for trouble that passes only with
	// time: a short one where it always does, a long one where it then ends.
	timeouts [2]float64
}

func status(code int, words string) reaction {
	return func(s *service, w http.ResponseWriter, _ question) { s.fail(w, code, words) }
}

func troubles() map[string]trouble {
	limited := func(s *service, w http.ResponseWriter, _ question) {
		w.Header().Set("Retry-After", "3600") // but backoff_max is the most
		s.fail(w, http.StatusTooManyRequests, "slow down")
	}
	half := func(s *service, w http.ResponseWriter, q question) {
		q.Stream = false
		body := s.whole(q, model(q))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write([]byte(body[:len(body)/2]))
	}
	return map[string]trouble{
		"limit":        {react: limited, words: "slow down"},
		"server error": {react: status(500, "out of order"), words: "out of order"},
		"rejected key": {react: status(401, "no such key: "+canary), final: true, words: "_API_KEY"},
		"bad request":  {react: status(400, "no such thing"), final: true, words: "no such thing"},
		"reset":        {react: func(_ *service, w http.ResponseWriter, _ question) { reset(w) }, words: "connection"},
		"half a body":  {react: half, words: "broke"},
		"no JSON": {react: func(s *service, w http.ResponseWriter, _ question) { s.send(w, "text/html", "<html>Welcome</html>") },
			words: "_BASE_URL", final: true},
		"no text": {react: func(s *service, w http.ResponseWriter, q question) {
			s.say(w, q, answer{Usage: usage{Prompt: 100, Completion: 7}})
		}, words: "answered nothing", prompt: 100, completion: 7},
		"no choice": {react: func(s *service, w http.ResponseWriter, q question) {
			kind := "application/json"
			if q.Stream {
				kind = s.streamType()
			}
			s.send(w, kind, s.empty(q.Stream))
		}, words: "answer", prompt: 100},
		"hang": {react: nil, words: "timed out", timeouts: [2]float64{0.1, 2}},
	}
}

// TestTrouble checks, at each vendor, what becomes of a step whose service is
// in trouble once, and always.
func TestTrouble(t *testing.T) {
	for name, tr := range troubles() {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, d dialect, stream bool) { tr.check(t, d, stream) })
		})
	}
}

func (tr trouble) check(t *testing.T, d dialect, stream bool) {
	release := make(chan struct{})
	defer close(release)
	react := tr.react
	if react == nil {
		react = func(*service, http.ResponseWriter, question) {
			select {
			case <-release:
			case <-time.After(time.Minute):
			}
		}
	}
	dir, want := tr.folder(t, tr.timeouts[0]), "failed"
	if tr.react == nil {
		want = "timeout"
	}
	always := serve(t, d, func(int, question) reaction { return react })
	got := runCommand(t, dir, environment(always), command(d, stream)...)
	attempts := 3
	if tr.final {
		attempts = 1
	}
	step := got.result.Steps["greet"]
	if got.code != 1 || got.result.Status != "failed" || step.Status != want || step.Attempts != attempts || len(always.questions()) != attempts {
		t.Errorf("exit code %d, run %s, step %s after %d attempts and %d calls; want %s after %d",
			got.code, got.result.Status, step.Status, step.Attempts, len(always.questions()), want, attempts)
	}
	if words := text(step.Error); !strings.Contains(words, tr.words) || !strings.Contains(words, d.name()) && !strings.Contains(words, "the model answered nothing") && tr.react != nil || strings.Contains(words, "goroutine") {
		t.Errorf("the error is: %s", words)
	}
	tr.checkTokens(t, d, step, int64(attempts), 0, 0)
	if tr.final {
		return
	}
	once := serve(t, d, func(n int, _ question) reaction {
		if n == 0 {
			return react
		}
		return says
	})
	got = runCommand(t, tr.folder(t, tr.timeouts[1]), environment(once), command(d, stream)...)
	got.succeeded(t)
	step = got.result.Steps["greet"]
	if step.Attempts != 2 || string(step.Output) != mustJSON(needle) {
		t.Errorf("%d attempts: %s", step.Attempts, step.Output)
	}
	tr.checkTokens(t, d, step, 1, 100, 30)
}

func (tr trouble) folder(t *testing.T, timeout float64) string {
	workflow := greeting
	if timeout > 0 {
		workflow = strings.Replace(greeting, "    prompt:", fmt.Sprintf("    timeout: %v\n    prompt:", timeout), 1)
	}
	return folder(t, map[string]string{"workflow.yaml": workflow, "agentloom.yaml": prices})
}

// checkTokens checks that the tokens of failed attempts are counted too.
func (tr trouble) checkTokens(t *testing.T, d dialect, step stepDoc, failed, prompt, completion int64) {
	t.Helper()
	prompt += failed * tr.prompt
	completion += failed * tr.completion
	var gotPrompt, gotCompletion int64
	if step.Usage != nil {
		gotPrompt, gotCompletion = step.Usage.Prompt, step.Usage.Completion
	}
	if gotPrompt != prompt || gotCompletion != completion {
		t.Errorf("%d and %d tokens are counted, want %d and %d", gotPrompt, gotCompletion, prompt, completion)
	}
	if prompt > 0 && (step.CostUSD == nil || d.name() != "ollama" && *step.CostUSD <= 0) {
		t.Errorf("the cost is %v", step.CostUSD)
	}
}

// TestRetryAfter checks that a service's wish to wait is respected.
func TestRetryAfter(t *testing.T) {
	workflow := strings.Replace(greeting, "backoff_max: 0.01", "backoff_base: 0.5, backoff_max: 2", 1)
	for _, d := range dialects() {
		t.Run(d.name(), func(t *testing.T) {
			t.Parallel()
			s := serve(t, d, func(n int, _ question) reaction {
				if n > 0 {
					return says
				}
				return func(s *service, w http.ResponseWriter, _ question) {
					w.Header().Set("Retry-After", "2")
					s.fail(w, http.StatusTooManyRequests, "slow down")
				}
			})
			got := runCommand(t, folder(t, map[string]string{"workflow.yaml": workflow}), environment(s), command(d, false)...)
			got.succeeded(t)
			if got.took < 2*time.Second || got.result.Steps["greet"].Attempts != 2 {
				t.Errorf("took %v and %d attempts", got.took, got.result.Steps["greet"].Attempts)
			}
		})
	}
}
