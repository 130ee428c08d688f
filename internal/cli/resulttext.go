package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// resultText is a run's result for people: how it ended, a line a step, why
// steps did not succeed, and what the steps wrote to the state.
func resultText(r *agentloom.Result, def *workflow.Definition, st style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s in %s", st.bold(line(r.WorkflowName)), coloured(st, r.Status), duration(r.Duration))
	if r.TotalTokens != nil && *r.TotalTokens > 0 {
		b.WriteString(", " + count(int(*r.TotalTokens), "token"))
	}
	if r.TotalCostUSD != nil && *r.TotalCostUSD > 0 {
		b.WriteString(", " + dollars(*r.TotalCostUSD))
	}
	fmt.Fprintf(&b, " (run %s)\n", line(r.RunID))
	if r.Error != "" {
		fmt.Fprintf(&b, "%s %s\n", st.red("error:"), block(r.Error))
	}
	b.WriteByte('\n')
	writeSteps(&b, r, def, st)
	writeReasons(&b, r, st)
	writeAnswers(&b, r, def, st)
	return b.String()
}

func coloured(st style, s event.Status) string {
	switch s {
	case event.Success:
		return st.green(string(s))
	case event.Skipped, event.Paused:
		return st.yellow(string(s))
	}
	return st.red(string(s))
}

// writeSteps writes the table of steps.
func writeSteps(b *strings.Builder, r *agentloom.Result, def *workflow.Definition, st style) {
	types := make(map[string]workflow.StepType, len(def.Steps))
	for i := range def.Steps {
		types[def.Steps[i].ID] = def.Steps[i].Type
	}
	rows := [][]string{{"STEP", "TYPE", "STATUS", "ATTEMPTS", "TIME", "TOKENS", "COST"}}
	for s := range r.Steps() {
		row := []string{line(s.StepID), string(types[s.StepID]), string(s.Status), "-", "-", "-", "-"}
		if s.Attempts > 0 {
			row[3], row[4] = strconv.Itoa(s.Attempts), duration(s.Duration)
		}
		if s.Usage != nil {
			row[5] = strconv.FormatInt(s.Usage.TotalTokens, 10)
		}
		if s.CostUSD != nil {
			row[6] = dollars(*s.CostUSD)
		}
		rows = append(rows, row)
	}
	writeTable(b, rows, func(row, col int, text string) string {
		switch {
		case row == 0:
			return st.dim(text)
		case col == 2:
			return strings.Replace(text, rows[row][2], coloured(st, event.Status(rows[row][2])), 1)
		}
		return text
	})
}

// writeTable aligns columns; paint colours a cell that is already padded.
func writeTable(b *strings.Builder, rows [][]string, paint func(row, col int, text string) string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], displayWidth(cell))
		}
	}
	for n, row := range rows {
		for i, cell := range row {
			if i == len(row)-1 {
				b.WriteString(paint(n, i, cell))
				break
			}
			b.WriteString(paint(n, i, pad(cell, widths[i])) + "  ")
		}
		b.WriteByte('\n')
	}
}

// writeReasons tells why steps failed or were skipped, unless the run's own
// error has said it.
func writeReasons(b *strings.Builder, r *agentloom.Result, st style) {
	first := true
	for s := range r.Steps() {
		told := s.Status != event.Skipped && strings.Contains(r.Error, s.Error)
		if s.Error == "" || told {
			continue
		}
		if first {
			b.WriteByte('\n')
			first = false
		}
		fmt.Fprintf(b, "%s %s: %s\n", line(s.StepID), coloured(st, s.Status), shortLine(s.Error))
	}
}

// writeAnswers writes each state key that a step wrote, once, in the steps'
// order. A text of several lines stands below its key, moved right so that no
// text can pass for a line of this program.
func writeAnswers(b *strings.Builder, r *agentloom.Result, def *workflow.Definition, st style) {
	seen := map[string]bool{}
	for i := range def.Steps {
		s, ran := r.Step(def.Steps[i].ID)
		path := def.Steps[i].Output
		if path == "" || !ran || s.Status != event.Success || seen[path] {
			continue
		}
		seen[path] = true
		v, found := at(r.FinalState, path)
		if !found {
			continue
		}
		text := block(valueText(v))
		if strings.Contains(text, "\n") {
			text = "\n" + indent(strings.TrimRight(text, "\n"))
		} else {
			text = " " + text
		}
		fmt.Fprintf(b, "\n%s%s\n", st.cyan(line(path)+":"), text)
	}
}

// indent moves every line that is not empty two columns right.
func indent(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = "  " + l
		}
	}
	return strings.Join(lines, "\n")
}

// at returns what stands at a dotted path.
func at(m *value.Map, path string) (any, bool) {
	head, rest, nested := strings.Cut(path, ".")
	v, ok := m.Get(head)
	if !ok || !nested {
		return v, ok
	}
	inner, isMap := v.(*value.Map)
	if !isMap {
		return nil, false
	}
	return at(inner, rest)
}

// valueText prints texts as they are and everything else as JSON.
func valueText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	compact, err := value.EncodeJSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const fitsOneLine = 60
	if len(compact) <= fitsOneLine {
		return string(compact)
	}
	var b bytes.Buffer
	if json.Indent(&b, compact, "", "  ") != nil {
		return string(compact)
	}
	return b.String()
}
