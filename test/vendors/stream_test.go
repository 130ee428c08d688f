//go:build !offline

package vendors

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// eachVendor runs a test of each vendor.
func eachVendor(t *testing.T, test func(t *testing.T, d dialect)) {
	for _, d := range dialects() {
		t.Run(d.name(), func(t *testing.T) {
			t.Parallel()
			test(t, d)
		})
	}
}

// sends answers a stream of these events; cut is true for a connection that
// breaks after them.
func sends(cut bool, events func(d dialect, q question) string) reaction {
	return func(s *service, w http.ResponseWriter, q question) {
		w.Header().Set("Content-Type", s.streamType())
		s.drip(w, events(s.dialect, q))
		if cut {
			panic(http.ErrAbortHandler)
		}
	}
}

func whole(d dialect, q question) string { return join(d.events(q, model(q))) }

// TestCutStreams cuts streams where it hurts: each cut fails its attempt with
// the tokens that were reported, and the answer of the next attempt is whole.
func TestCutStreams(t *testing.T) {
	cuts := map[string]func(d dialect, q question) string{
		"in a letter": func(d dialect, q question) string {
			all := whole(d, q)
			return all[:strings.Index(all, "🧵")+2]
		},
		"in an event": func(d dialect, q question) string {
			all := whole(d, q)
			return all[:strings.Index(all, "🧵")-12]
		},
		"between events": func(d dialect, q question) string {
			events := d.events(q, model(q))
			return join(events[:len(events)/2])
		},
		"before its end": func(d dialect, q question) string {
			events := d.events(q, model(q))
			return join(events[:len(events)-d.tail()])
		},
	}
	for name, cut := range cuts {
		for _, breaks := range []bool{false, true} {
			if breaks {
				name += ", connection broken"
			}
			t.Run(name, func(t *testing.T) {
				eachVendor(t, func(t *testing.T, d dialect) { checkCut(t, d, sends(breaks, cut)) })
			})
		}
	}
}

func checkCut(t *testing.T, d dialect, react reaction) {
	dir := folder(t, map[string]string{"workflow.yaml": greeting, "agentloom.yaml": prices})
	early := d.early(model(question{Turns: []turn{{Role: "user", Text: "Greet Ada."}}}).Usage)
	always := serve(t, d, func(int, question) reaction { return react })
	got := runCommand(t, dir, environment(always), command(d, true)...)
	step := got.result.Steps["greet"]
	if got.code != 1 || step.Status != "failed" || step.Attempts != 3 || got.took > 10*time.Second {
		t.Errorf("exit code %d, step %s after %d attempts in %v", got.code, step.Status, step.Attempts, got.took)
	}
	if words := text(step.Error); !strings.Contains(words, d.name()) || !strings.Contains(words, "the stream broke off after text was sent") {
		t.Errorf("the error is: %s", words)
	}
	prompt := func(s stepDoc) int64 {
		if s.Usage == nil {
			return 0
		}
		return s.Usage.Prompt
	}
	if n := prompt(step); n != 3*early {
		t.Errorf("%d prompt tokens are counted, want %d", n, 3*early)
	}
	once := serve(t, d, func(n int, _ question) reaction {
		if n == 0 {
			return react
		}
		return says
	})
	got = runCommand(t, dir, environment(once), command(d, true)...)
	got.succeeded(t)
	step = got.result.Steps["greet"]
	if step.Attempts != 2 || string(step.Output) != mustJSON(needle) {
		t.Errorf("%d attempts: %s", step.Attempts, step.Output)
	}
	if n := prompt(step); n != 100+early {
		t.Errorf("%d prompt tokens are counted, want %d", n, 100+early)
	}
	if !strings.Contains(got.stderr, "broke off after text was sent") {
		t.Errorf("nothing says that the answer starts anew:\n%s", got.stderr)
	}
}

// TestUnknownEvents checks that events, and parts of them, which nobody knows
// yet change nothing.
func TestUnknownEvents(t *testing.T) {
	eachVendor(t, func(t *testing.T, d dialect) {
		odd := sends(false, func(d dialect, q question) string {
			events := d.events(q, model(q))
			out := ""
			for i, e := range events {
				out += e
				if i < len(events)-1 {
					out += join(d.unknown())
				}
			}
			return out
		})
		s := serve(t, d, func(int, question) reaction { return odd })
		got := runCommand(t, folder(t, map[string]string{"workflow.yaml": greeting}), environment(s), command(d, true)...)
		got.succeeded(t)
		if step := got.result.Steps["greet"]; step.Attempts != 1 || string(step.Output) != mustJSON(needle) || step.Usage == nil || step.Usage.Total != 130 {
			t.Errorf("%d attempts: %s for %+v", step.Attempts, step.Output, step.Usage)
		}
	})
}

// TestErrorInAStream checks that a service's own report of trouble ends a
// stream with the service's words.
func TestErrorInAStream(t *testing.T) {
	eachVendor(t, func(t *testing.T, d dialect) {
		trouble := sends(false, func(d dialect, q question) string {
			events := d.events(q, model(q))
			return join(events[:len(events)/2]) + d.broken("the engine is on fire: "+canary)
		})
		s := serve(t, d, func(n int, _ question) reaction {
			if n < 3 {
				return trouble
			}
			return says
		})
		dir := folder(t, map[string]string{"workflow.yaml": greeting})
		got := runCommand(t, dir, environment(s), command(d, true)...)
		step := got.result.Steps["greet"]
		if words := text(step.Error); got.code != 1 || step.Attempts != 3 || !strings.Contains(words, "the engine is on fire") || !strings.Contains(words, d.name()) {
			t.Errorf("exit code %d after %d attempts: %s", got.code, step.Attempts, words)
		}
	})
}

// TestSilentStream checks that a stream which falls silent ends with the step's
// timeout.
func TestSilentStream(t *testing.T) {
	workflow := strings.Replace(greeting, "    prompt:", "    timeout: 0.2\n    prompt:", 1)
	eachVendor(t, func(t *testing.T, d dialect) {
		release := make(chan struct{})
		defer close(release)
		s := serve(t, d, func(int, question) reaction {
			return func(s *service, w http.ResponseWriter, q question) {
				w.Header().Set("Content-Type", s.streamType())
				events := s.events(q, model(q))
				s.drip(w, join(events[:len(events)/2]))
				<-release
			}
		})
		got := runCommand(t, folder(t, map[string]string{"workflow.yaml": workflow}), environment(s), command(d, true)...)
		step := got.result.Steps["greet"]
		if got.code != 1 || step.Status != "timeout" || step.Attempts != 3 || got.took > 10*time.Second {
			t.Errorf("exit code %d, step %s after %d attempts in %v: %s", got.code, step.Status, step.Attempts, got.took, text(step.Error))
		}
	})
}

// TestHugeAnswers checks that answers of 50 MB are refused, once, with the
// limit: whole ones, streams of many pieces and streams of one.
func TestHugeAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("it sends 600 MB")
	}
	const size = 50_000_000
	piece := strings.Repeat("All work and no play. ", 5000)
	huge := map[string]reaction{
		"whole": func(s *service, w http.ResponseWriter, q question) {
			s.send(w, "application/json", s.whole(q, answer{Text: strings.Repeat(piece, size/len(piece)+1)}))
		},
		"one event": func(s *service, w http.ResponseWriter, q question) {
			q.Model = strings.Repeat(piece, size/len(piece)+1) // some field of an event
			s.send(w, s.streamType(), s.events(q, answer{Text: "x"})[0])
		},
		"many events": func(s *service, w http.ResponseWriter, q question) {
			events := s.events(q, answer{Text: "0123456789"})
			text := 0
			for !strings.Contains(events[text], "01234") {
				text++
			}
			s.send(w, s.streamType(), join(events[:text]))
			more := strings.Replace(events[text], "01234", piece, 1)
			for range size/len(more) + 1 {
				s.send(w, s.streamType(), more)
			}
			s.send(w, s.streamType(), join(events[text+1:]))
		},
	}
	for name, react := range huge {
		t.Run(name, func(t *testing.T) {
			for _, d := range dialects() { // one after the other, for the memory
				t.Run(d.name(), func(t *testing.T) {
					s := serve(t, d, func(int, question) reaction { return react })
					got := runCommand(t, folder(t, map[string]string{"workflow.yaml": greeting}), environment(s), command(d, name != "whole")...)
					step := got.result.Steps["greet"]
					if words := text(step.Error); got.code != 1 || step.Attempts != 1 || !strings.Contains(words, "more than") || !strings.Contains(words, d.name()) || len(words) > 1000 {
						t.Errorf("exit code %d after %d attempts: %.1000s", got.code, step.Attempts, words)
					}
				})
			}
		})
	}
}
