//go:build !offline

package vendors

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentloom/agentloom/internal/cli"
)

// ran is one call of the command line.
type ran struct {
	code           int
	stdout, stderr string
	took           time.Duration
	result         document
}

// document is what --json prints.
type document struct {
	Status  string             `json:"status"`
	Error   *string            `json:"error"`
	State   json.RawMessage    `json:"final_state"` // byte by byte as it was printed
	Tokens  *int64             `json:"total_tokens"`
	CostUSD *float64           `json:"total_cost_usd"`
	Steps   map[string]stepDoc `json:"step_results"`
}

type stepDoc struct {
	Status   string          `json:"status"`
	Output   json.RawMessage `json:"output"`
	Error    *string         `json:"error"`
	Attempts int             `json:"attempts"`
	Usage    *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Total      int64 `json:"total_tokens"`
		Reasoning  int64 `json:"reasoning_tokens"`
	} `json:"token_usage"`
	CostUSD    *float64 `json:"cost_usd"`
	Model      *string  `json:"model"`
	Provider   *string  `json:"provider"`
	FirstToken *float64 `json:"time_to_first_token_ms"`
	Finish     *string  `json:"finish_reason"`
	Reasoning  string   `json:"reasoning"`
}

// text is a text that may be null.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// folder makes a working directory of files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runCommand runs the command line, with nothing in its environment but what is
// given and an empty home.
func runCommand(t *testing.T, dir string, environ []string, args ...string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	start := time.Now()
	code := cli.Main(ctx, cli.Process{
		Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Environ: append([]string{"HOME=" + t.TempDir(), "NO_COLOR=1"}, environ...), Dir: dir,
	})
	r := ran{code: code, stdout: stdout.String(), stderr: stderr.String(), took: time.Since(start)}
	if ctx.Err() != nil {
		t.Fatalf("%v hung:\n%s", args, r.stderr)
	}
	if strings.Contains(r.stdout, canary) || strings.Contains(r.stderr, canary) {
		t.Errorf("%v prints the key:\n%s\n%s", args, r.stdout, r.stderr)
	}
	if err := json.Unmarshal(stdout.Bytes(), &r.result); err != nil {
		t.Fatalf("%v printed no JSON document: %v\n%s\n%s", args, err, r.stdout, r.stderr)
	}
	return r
}

// succeeded fails the test unless the run did.
func (r ran) succeeded(t *testing.T) {
	t.Helper()
	if r.code != 0 || r.result.Status != "success" {
		t.Fatalf("exit code %d, status %q: %s\n%s", r.code, r.result.Status, text(r.result.Error), r.stderr)
	}
}

// bothWays runs a test of each vendor, whole answers and streams.
func bothWays(t *testing.T, test func(t *testing.T, d dialect, stream bool)) {
	for _, d := range dialects() {
		for _, stream := range []bool{false, true} {
			name := d.name() + "/whole"
			if stream {
				name = d.name() + "/stream"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, d, stream)
			})
		}
	}
}

// command is the arguments of a run.
func command(d dialect, stream bool, more ...string) []string {
	args := append([]string{"run", "workflow.yaml", "--json", "--provider", d.name()}, more...)
	if stream {
		args = append(args, "--stream")
	}
	return args
}
