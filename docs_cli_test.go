package agentloom_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/internal/cli"
	"github.com/agentloom/agentloom/value"
)

// docs/cli.md and docs/tools.md are compared with the program's own help.

// agentloomIn runs the command line in a directory and returns what it wrote.
func agentloomIn(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Main(t.Context(), cli.Process{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: dir,
		Environ: []string{"HOME=" + dir},
	})
	return code, out.String(), errs.String()
}

// commands are the command line's, from its own help.
func commands(t *testing.T) []string {
	t.Helper()
	_, help, _ := agentloomIn(t, t.TempDir(), "--help")
	_, list, found := strings.Cut(help, "Available Commands:\n")
	if !found {
		t.Fatalf("no commands in\n%s", help)
	}
	var all []string
	for _, line := range strings.Split(list, "\n") {
		name, _, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			break
		}
		if name != "help" {
			all = append(all, name)
		}
	}
	return all
}

var (
	helpFlag = regexp.MustCompile(`(?m)^ +(?:-(\w), +|     +)?--([a-z-]+)`)
	docFlag  = regexp.MustCompile("(?m)^\\| `(?:-(\\w)`, `)?--([a-z-]+)")
)

func flagSet(text string, pattern *regexp.Regexp) map[string]string {
	all := map[string]string{}
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		all[m[2]] = m[1]
	}
	delete(all, "help")
	return all
}

// Each command has a section of its name in docs/cli.md, whose tables name its
// flags, all of them and no others.
func TestDocsFlags(t *testing.T) {
	src := page(t, "docs/cli.md")
	var told []string
	for _, m := range regexp.MustCompile("(?m)^## `agentloom ([a-z-]+)").FindAllStringSubmatch(src, -1) {
		told = append(told, m[1])
	}
	slices.Sort(told)
	if d := cmp.Diff(commands(t), told); d != "" {
		t.Fatalf("commands there are (-) and told (+):\n%s", d)
	}
	known := map[string]bool{"help": true}
	for _, name := range told {
		_, help, _ := agentloomIn(t, t.TempDir(), name, "--help")
		_, help, _ = strings.Cut(help, "\nFlags:\n")
		heading := regexp.MustCompile("(?m)^## `agentloom " + name + "\\b.*$").FindString(src)
		have := flagSet(help, helpFlag)
		if d := cmp.Diff(have, flagSet(section(t, src, heading), docFlag)); d != "" {
			t.Errorf("flags of %s there are (-) and told (+):\n%s", name, d)
		}
		for flag := range have {
			known[flag] = true
		}
	}
	later := section(t, src, "## Not supported yet")
	for _, m := range regexp.MustCompile("`(--[a-z-]+)`").FindAllStringSubmatch(later, -1) {
		if _, _, stderr := agentloomIn(t, t.TempDir(), "run", "x.yaml", m[1], "x"); !strings.Contains(stderr, m[1]+" is not supported yet") {
			t.Errorf("%s: %s", m[1], stderr)
		}
	}
	for _, m := range regexp.MustCompile("`([a-z][a-z-]*)`").FindAllStringSubmatch(later, -1) {
		if _, _, stderr := agentloomIn(t, t.TempDir(), m[1]); !strings.Contains(stderr, m[1]+" is not supported yet") {
			t.Errorf("%s: %s", m[1], stderr)
		}
	}
	for _, m := range regexp.MustCompile(`--([a-z][a-z-]*)`).FindAllStringSubmatch(strings.Replace(src, later, "", 1), -1) {
		if !known[m[1]] {
			t.Errorf("docs/cli.md speaks of --%s, which no command has", m[1])
		}
	}
}

var (
	times = regexp.MustCompile(`"((?:total_)?duration_ms)": [0-9.e-]+`)
	took  = regexp.MustCompile(`\b\d+(\.\d+)?m?s\b`)
	clock = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d `)
)

// The samples of docs/cli.md are what the program prints, but for the time it
// took.
func TestDocsSamples(t *testing.T) {
	src := page(t, "docs/cli.md")
	dir := t.TempDir()
	for file, block := range map[string]string{"sort.yaml": "file: sort.yaml", "canned.json": "file: canned.json", "broken.yaml": "file: broken.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(one(t, src, block)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plain := func(s string) string {
		s = times.ReplaceAllString(s, `"$1": 0.0`)
		s = clock.ReplaceAllString(s, "00:00:00 ")
		return strings.Join(strings.Fields(took.ReplaceAllString(s, "0ms")), " ")
	}
	run := []string{"run", "sort.yaml", "--mock-responses", "canned.json", "--run-id", "sample-1"}
	for _, sample := range []struct {
		block string
		args  []string
		code  int
		log   bool
	}{
		{"output: run", run, 0, false},
		{"output: run log", run, 0, true},
		{"output: run --json", append(run, "--json"), 0, false},
		{"output: validate", []string{"validate", "broken.yaml"}, 1, false},
	} {
		code, got, stderr := agentloomIn(t, dir, sample.args...)
		if sample.log {
			got = stderr
		}
		if code != sample.code {
			t.Errorf("%s: exit code %d: %s", sample.block, code, stderr)
		}
		if want := one(t, src, sample.block); plain(got) != plain(want) {
			t.Errorf("%s: the program prints\n%s", sample.block, got)
		}
	}
}

func TestDocsVariables(t *testing.T) {
	src := page(t, "docs/cli.md")
	_, help, _ := agentloomIn(t, t.TempDir(), "run", "--help")
	names := regexp.MustCompile(`AGENTLOOM_[A-Z_]+`).FindAllString(help, -1)
	if len(names) == 0 {
		t.Fatal("no variables in the help of run")
	}
	for _, name := range names {
		if !strings.Contains(section(t, src, "## Settings"), "| `"+name+"` |") {
			t.Errorf("docs/cli.md has no %s in its table of settings", name)
		}
	}
	for _, m := range regexp.MustCompile("`(AGENTLOOM_[A-Z_]+)`").FindAllStringSubmatch(section(t, src, "## Not supported yet"), -1) {
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), cli.Process{
			Args: []string{"run", "x.yaml"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			Dir: t.TempDir(), Environ: []string{m[1] + "=x"},
		})
		if code != 2 || !strings.Contains(errs.String(), m[1]+" is not supported yet") {
			t.Errorf("%s: exit code %d, %s", m[1], code, errs.String())
		}
	}
}

// The built-in tools have the arguments that docs/tools.md lists.
func TestDocsTools(t *testing.T) {
	src := page(t, "docs/tools.md")
	_, text, _ := agentloomIn(t, t.TempDir(), "tools", "--json")
	v, err := value.DecodeJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	list, _ := v.(*value.Map).Get("tools")
	for _, e := range list.([]any) {
		name, _ := e.(*value.Map).Get("name")
		parameters, _ := e.(*value.Map).Get("parameters")
		properties, _ := parameters.(*value.Map).Get("properties")
		var told []string
		for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|").FindAllStringSubmatch(section(t, src, "### `"+name.(string)+"`"), -1) {
			told = append(told, m[1])
		}
		if d := cmp.Diff(properties.(*value.Map).Keys(), told); d != "" {
			t.Errorf("arguments of %s there are (-) and told (+):\n%s", name, d)
		}
	}
}
