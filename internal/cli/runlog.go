package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agentloom/agentloom/event"
)

// runLog writes a run's events as lines for people, as they come. It is an
// event.Observer.
type runLog struct {
	screen *screen
	st     style
	steps  map[string]*stepLog // those that run, by address
}

// stepLog is what is known of a step that runs.
type stepLog struct {
	started time.Time
	typ     string
	tokens  int64
	cost    float64 // US dollars

	counted, priced, unpriced bool // tokens are known; a cost is; one is not
}

func newRunLog(s *screen) *runLog {
	return &runLog{screen: s, st: s.st, steps: map[string]*stepLog{}}
}

// Observe writes the event's line. A log that can't be written stops nothing.
func (l *runLog) Observe(e event.Event) {
	if d, ok := e.Data.(event.TextDelta); ok {
		l.screen.piece(e.Address, d.Text)
		return
	}
	text := l.text(e)
	if text == "" {
		return
	}
	_, _ = fmt.Fprintf(l.screen, "%s %s\n", l.st.dim(e.Time.Format("15:04:05")), text)
}

// text returns the event's line without the time; "" for events that a person
// need not see.
func (l *runLog) text(e event.Event) string {
	at := l.st.bold(shortLine(e.Address)) + ": "
	switch d := e.Data.(type) {
	case event.RunStarted:
		return fmt.Sprintf("run %s of %s started, %s", line(e.RunID), shortLine(d.Workflow), count(d.Steps, "step"))
	case event.StepStarted:
		l.steps[e.Address] = &stepLog{started: e.Time, typ: d.Type}
		return at + "started (" + line(d.Type) + ")"
	case event.AttemptStarted:
		return at + fmt.Sprintf("attempt %d started", d.Attempt)
	case event.AttemptFailed:
		if s := l.steps[e.Address]; s != nil {
			s.spend(d.Report)
		}
		return at + l.st.yellow(fmt.Sprintf("attempt %d %s", d.Attempt, failedWord(d.Status))) +
			": " + shortLine(d.Error) + "; trying again in " + duration(d.RetryIn)
	case event.ToolStarted:
		if strings.Contains(e.Address, "/") { // a model's call; a step's own is plain from its type
			return at + "calls " + shortLine(d.Tool)
		}
	case event.ToolFinished:
		if strings.Contains(e.Address, "/") && d.Error != "" {
			return at + shortLine(d.Tool) + " failed: " + shortLine(d.Error)
		}
	case event.StepFinished:
		return at + l.finished(e, d)
	case event.StepSkipped:
		return at + l.st.dim("skipped") + ": " + shortLine(d.Reason)
	case event.Warning:
		if e.Address == "" {
			at = ""
		}
		return at + l.st.yellow("warning") + ": " + shortLine(d.Message)
	case event.RunEnded:
		return l.ended(e, d)
	}
	return ""
}

func (l *runLog) finished(e event.Event, d event.StepFinished) string {
	s := l.steps[e.Address]
	if s == nil {
		s = &stepLog{started: e.Time}
	}
	delete(l.steps, e.Address)
	s.spend(d.Report)
	took := duration(e.Time.Sub(s.started))
	if d.Status != event.Success {
		return l.st.red(failedWord(d.Status)) + " after " + took + ", " + count(d.Attempts, "attempt") + s.spent() + ": " + shortLine(d.Error)
	}
	text := l.st.green("done") + " in " + took
	if d.Attempts > 1 {
		text += ", " + count(d.Attempts, "attempt")
	}
	text += s.spent()
	if chosen, ok := d.Output.(string); ok && s.typ == "router" {
		text += ", chose " + shortLine(chosen)
	}
	return text
}

// spend adds what one attempt used.
func (s *stepLog) spend(r event.Report) {
	if r.Usage != nil {
		s.counted = true
		s.tokens += r.Usage.TotalTokens
	}
	if r.CostUSD != nil {
		s.priced = true
		s.cost += *r.CostUSD
	}
	s.unpriced = s.unpriced || r.Unpriced || r.Usage != nil && r.CostUSD == nil
}

// spent is what all attempts used, as the result has it; "" for nothing.
func (s *stepLog) spent() string {
	text := ""
	if s.counted {
		text = ", " + count(int(s.tokens), "token")
	}
	if s.priced && !s.unpriced {
		text += ", " + dollars(s.cost)
	}
	return text
}

func (l *runLog) ended(_ event.Event, d event.RunEnded) string {
	if d.Status == event.Success || d.Status == event.Paused {
		return "run ended: " + l.st.green(string(d.Status))
	}
	text := "run ended: " + l.st.red(string(d.Status))
	if d.Error != "" {
		text += ": " + shortLine(d.Error)
	}
	return text
}

func failedWord(s event.Status) string {
	if s == event.Timeout {
		return "timed out"
	}
	return string(s)
}

// duration prints a time span short: 0ms, 12ms, 1.23s, 2m05s.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10) + "ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + "s"
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}

// dollars prints an amount with at least cents and at most millionths.
func dollars(usd float64) string {
	text := strconv.FormatFloat(usd, 'f', 6, 64)
	whole, cents, _ := strings.Cut(text, ".")
	cents = strings.TrimRight(cents, "0")
	for len(cents) < 2 {
		cents += "0"
	}
	return "$" + whole + "." + cents
}
