package agentloom_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/mock"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

// The tests of this file hold the documentation to what the program does.

// page reads a documentation file.
func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// pages are all Markdown files of the repository.
func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md", "bench/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// fence is a fenced block of a page.
type fence struct {
	info string // what follows the backquotes, such as "yaml" or "json state"
	text string
	line int    // of its first line of text, from 1
	mark string // of the comment `<!-- mark -->` right before the block, or ""
}

func fences(src string) []fence {
	var all []fence
	lines := strings.Split(src, "\n")
	mark := ""
	for i := 0; i < len(lines); i++ {
		info, opens := strings.CutPrefix(lines[i], "```")
		if !opens {
			if m := comment(lines[i]); m != "" || lines[i] != "" {
				mark = m
			}
			continue
		}
		f := fence{info: info, line: i + 2, mark: mark}
		for i++; i < len(lines) && lines[i] != "```"; i++ {
			f.text += lines[i] + "\n"
		}
		all, mark = append(all, f), ""
	}
	return all
}

func comment(line string) string {
	inner, opens := strings.CutPrefix(line, "<!-- ")
	inner, closes := strings.CutSuffix(inner, " -->")
	if !opens || !closes {
		return ""
	}
	return inner
}

// one returns the only block of a page with an info or a mark.
func one(t *testing.T, src, what string) string {
	t.Helper()
	var found []string
	for _, f := range fences(src) {
		if f.info == what || f.mark == what {
			found = append(found, f.text)
		}
	}
	if len(found) != 1 {
		t.Fatalf("there are %d blocks %q, want one", len(found), what)
	}
	return found[0]
}

// section is the part of a page below a heading, up to the next of its level
// or above.
func section(t *testing.T, src, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(src, "\n"+heading+"\n")
	if !found {
		t.Fatalf("no heading %q", heading)
	}
	level := strings.Count(strings.SplitN(heading, " ", 2)[0], "#")
	end := regexp.MustCompile(fmt.Sprintf(`(?m)^#{1,%d} `, level)).FindStringIndex(rest)
	if end != nil {
		rest = rest[:end[0]]
	}
	return rest
}

// Blocks marked yaml are whole workflow files, unless a word follows.
func TestDocsWorkflowsLoad(t *testing.T) {
	n := 0
	for _, name := range pages(t) {
		for _, f := range fences(page(t, name)) {
			if f.info != "yaml" {
				continue
			}
			n++
			_, ds := wfyaml.Load(fmt.Sprintf("%s:%d", name, f.line), []byte(f.text))
			for _, d := range ds {
				t.Error(d)
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d workflows found", n)
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestDocsLinks(t *testing.T) {
	for _, name := range pages(t) {
		text := page(t, name)
		for _, f := range fences(text) {
			text = strings.Replace(text, f.text, "", 1)
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := name
			if file != "" {
				target = filepath.Join(filepath.Dir(name), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			} else if anchor != "" && !slices.Contains(anchors(page(t, target)), anchor) {
				t.Errorf("%s links to %s, which is no heading there", name, m[1])
			}
		}
	}
}

// anchors are the names under which a page's headings can be linked to.
func anchors(src string) []string {
	var all []string
	drop := regexp.MustCompile(`[^a-z0-9 _-]`)
	for _, line := range strings.Split(src, "\n") {
		if title := strings.TrimLeft(line, "#"); title != line {
			title = drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			all = append(all, strings.ReplaceAll(title, " ", "-"))
		}
	}
	return all
}

// snippets are the regions of docs_example_test.go, without the indentation of
// the function they stand in.
func snippets(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	name, text := "", ""
	for _, line := range strings.Split(page(t, "docs_example_test.go"), "\n") {
		trimmed := strings.TrimSpace(line)
		start, opens := strings.CutPrefix(trimmed, "// region: ")
		switch {
		case opens:
			name, text = start, ""
		case trimmed == "// end region":
			all[name], name = dedent(text), ""
		case name != "":
			text += line + "\n"
		}
	}
	return all
}

func dedent(text string) string {
	text = strings.Trim(text, "\n") + "\n"
	if !strings.HasPrefix(text, "\t") {
		return text
	}
	return strings.ReplaceAll(text[1:], "\n\t", "\n")
}

// Go code in the documentation is compiled and run: each block is a region of
// docs_example_test.go.
func TestDocsSnippets(t *testing.T) {
	compiled := snippets(t)
	used := map[string]bool{}
	for _, name := range pages(t) {
		for _, f := range fences(page(t, name)) {
			if f.info != "go" {
				continue
			}
			region, ok := strings.CutPrefix(f.mark, "from docs_example_test.go: ")
			if !ok {
				t.Errorf("%s:%d: Go code that no test compiles", name, f.line)
				continue
			}
			used[region] = true
			if d := cmp.Diff(compiled[region], f.text); d != "" {
				t.Errorf("%s:%d: region %s is (-), the page has (+):\n%s", name, f.line, region, d)
			}
		}
	}
	for region := range compiled {
		if !used[region] {
			t.Errorf("no page shows region %s", region)
		}
	}
}

func TestDocsMock(t *testing.T) {
	src := page(t, "docs/mock.md")
	for _, f := range fences(src) {
		if f.info != "json" {
			continue
		}
		if _, err := mock.New(mock.Config{Responses: []byte(f.text), File: fmt.Sprintf("docs/mock.md:%d", f.line)}); err != nil {
			t.Error(err)
		}
	}
	request := &model.Request{Model: "gpt-4o-mini", Messages: []model.Message{{Role: model.User, Text: "Hi"}}}
	if h := mock.Hash(request); !strings.Contains(src, h) {
		t.Errorf("docs/mock.md does not show the hash %s", h)
	}
}
