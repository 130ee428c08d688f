package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/agentloom/agentloom/event"
)

// runLog writes a run's events as lines for people, as they come. It is an
// event.Observer.
type runLog struct {
	w       io.Writer
	st      style
	started map[string]time.Time // of steps that run
	types   map[string]string
	stream  *streamText
}

func newRunLog(w io.Writer, st style) *runLog {
	return &runLog{w: w, st: st, started: map[string]time.Time{}, types: map[string]string{}, stream: &streamText{w: w, st: st}}
}

// Observe writes the event's line. A log that can't be written stops nothing.
func (l *runLog) Observe(e event.Event) {
	if d, ok := e.Data.(event.TextDelta); ok {
		l.stream.piece(e.Address, d.Text)
		return
	}
	text := l.text(e)
	if text == "" {
		return
	}
	var b strings.Builder
	l.stream.end(&b)
	fmt.Fprintf(&b, "%s %s\n", l.st.dim(e.Time.Format("15:04:05")), text)
	_, _ = io.WriteString(l.w, b.String())
}

// text returns the event's line without the time; "" for events that a person
// need not see.
func (l *runLog) text(e event.Event) string {
	at := l.st.bold(shortLine(e.Address)) + ": "
	switch d := e.Data.(type) {
	case event.RunStarted:
		return fmt.Sprintf("run %s of %s started, %s", line(e.RunID), shortLine(d.Workflow), count(d.Steps, "step"))
	case event.StepStarted:
		l.started[e.Address], l.types[e.Address] = e.Time, d.Type
		return at + "started (" + line(d.Type) + ")"
	case event.AttemptStarted:
		return at + fmt.Sprintf("attempt %d started", d.Attempt)
	case event.AttemptFailed:
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
	took := duration(e.Time.Sub(l.started[e.Address]))
	isRouter := l.types[e.Address] == "router"
	delete(l.started, e.Address)
	delete(l.types, e.Address)
	if d.Status != event.Success {
		return l.st.red(failedWord(d.Status)) + " after " + took + ", " + count(d.Attempts, "attempt") + ": " + shortLine(d.Error)
	}
	text := l.st.green("done") + " in " + took
	if d.Attempts > 1 {
		text += ", " + count(d.Attempts, "attempt")
	}
	if u := d.Report.Usage; u != nil {
		text += ", " + count(int(u.TotalTokens), "token")
	}
	if d.Report.CostUSD != nil {
		text += ", " + dollars(*d.Report.CostUSD)
	}
	if chosen, ok := d.Output.(string); ok && isRouter {
		text += ", chose " + shortLine(chosen)
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
