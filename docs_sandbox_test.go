package agentloom_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each rule of docs/sandbox.md has a test, and the tests that it names exist.
func TestDocsSandboxTests(t *testing.T) {
	have := map[string]bool{}
	for _, dir := range []string{"sandbox", "internal/confine", "tool/builtin"} {
		files, err := filepath.Glob(dir + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(page(t, file), -1) {
				have[m[1]] = true
			}
		}
	}
	_, rules, found := strings.Cut(page(t, "docs/sandbox.md"), "| Rule | Check | Kernel | Test |\n|---|---|---|---|\n")
	if !found {
		t.Fatal("no table of rules")
	}
	n := 0
	for _, row := range strings.Split(strings.TrimSpace(rules), "\n") {
		cells := strings.Split(row, " | ")
		names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(names) == 0 {
			t.Errorf("no test in %s", row)
		}
		for _, m := range names {
			n++
			if _, err := os.Stat("test/testdata/script/" + m[1]); err != nil && !have[m[1]] {
				t.Errorf("there is no test %s", m[1])
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d tests are named", n)
	}
}
