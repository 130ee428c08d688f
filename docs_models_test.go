package agentloom_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentloom/agentloom/internal/cli"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/anthropic"
	"github.com/agentloom/agentloom/model/google"
	"github.com/agentloom/agentloom/model/ollama"
	"github.com/agentloom/agentloom/model/openai"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

// docs/models.md is compared with what `agentloom info` finds and what the
// providers send.

// Blocks marked "yaml settings" are whole agentloom.yaml files.
func TestDocsSettings(t *testing.T) {
	n := 0
	for _, name := range pages(t) {
		for _, f := range fences(page(t, name)) {
			if f.info != "yaml settings" {
				continue
			}
			n++
			_, ds := wfyaml.LoadSettings(fmt.Sprintf("%s:%d", name, f.line), []byte(f.text))
			for _, d := range ds {
				t.Error(d)
			}
		}
	}
	if n == 0 {
		t.Error("there are none")
	}
}

// found runs `agentloom info` with some variables.
func found(t *testing.T, environ ...string) *value.Map {
	t.Helper()
	var out, errs bytes.Buffer
	dir := t.TempDir()
	code := cli.Main(t.Context(), cli.Process{
		Args: []string{"info", "--json"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Dir: dir, Environ: append(environ, "HOME="+dir),
	})
	doc, err := value.DecodeJSON(out.Bytes())
	if code != 0 || err != nil {
		t.Fatal(code, errs.String(), err)
	}
	return doc.(*value.Map)
}

func readyIn(info *value.Map) map[string]bool {
	all := map[string]bool{}
	list, _ := info.Get("providers")
	for _, e := range list.([]any) {
		name, _ := e.(*value.Map).Get("name")
		is, _ := e.(*value.Map).Get("ready")
		all[name.(string)] = is.(bool)
	}
	return all
}

// Each variable of the table of providers is one that the program knows, and a
// key makes its provider ready.
func TestDocsProviders(t *testing.T) {
	part := section(t, page(t, "docs/models.md"), "## Providers")
	plain := found(t)
	if built, _ := plain.Get("vendor_sdks"); built != true {
		t.Skip("built with -tags offline")
	}
	bare := readyIn(plain)
	variable := regexp.MustCompile("`([A-Z]+_[A-Z_]+)`")
	told := map[string]bool{}
	for _, line := range strings.Split(part, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		name := strings.Trim(cells[1], " `")
		told[name] = true
		if _, known := bare[name]; !known {
			t.Errorf("there is no provider %s", name)
		}
		for i, cell := range cells[3:5] {
			for _, m := range variable.FindAllStringSubmatch(cell, -1) {
				info := found(t, m[1]+"=http://127.0.0.1:1")
				set, _ := info.Get("variables_set")
				if !slices.Contains(set.([]any), any(m[1])) {
					t.Errorf("info does not know %s", m[1])
				}
				if i == 0 && !readyIn(info)[name] {
					t.Errorf("%s does not make %s ready", m[1], name)
				}
			}
		}
	}
	list, _ := plain.Get("providers")
	for _, e := range list.([]any) {
		name, _ := e.(*value.Map).Get("name")
		if !told[name.(string)] {
			t.Errorf("docs/models.md does not have %s", name)
		}
		note, _ := e.(*value.Map).Get("note")
		for _, m := range regexp.MustCompile(`[A-Z]+_[A-Z_]+`).FindAllString(fmt.Sprint(note), -1) {
			if !strings.Contains(part, "`"+m+"`") {
				t.Errorf("docs/models.md does not have %s", m)
			}
		}
	}
}

// wire is a service that refuses every request and keeps the last one.
type wire struct {
	url string
	mu  sync.Mutex
	got string
}

func newWire(t *testing.T) *wire {
	w := &wire{}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.got = string(b)
		w.mu.Unlock()
		rw.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(s.Close)
	w.url = s.URL
	return w
}

func (w *wire) providers(t *testing.T) map[string]model.Provider {
	t.Helper()
	all := map[string]model.Provider{}
	add := func(p model.Provider, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all[p.Name()] = p
	}
	o, err := openai.New(openai.Config{APIKey: "k", BaseURL: w.url + "/v1"})
	add(o, err)
	a, err := anthropic.New(anthropic.Config{APIKey: "k", BaseURL: w.url})
	add(a, err)
	g, err := google.New(google.Config{APIKey: "k", BaseURL: w.url})
	add(g, err)
	l, err := ollama.New(ollama.Config{BaseURL: w.url})
	add(l, err)
	return all
}

// sent returns the request that a call makes, "" when it is refused before.
func (w *wire) sent(t *testing.T, p model.Provider, req *model.Request) string {
	t.Helper()
	w.mu.Lock()
	w.got = ""
	w.mu.Unlock()
	if _, err := p.Complete(t.Context(), req, nil); err == nil {
		t.Fatal("there is an answer")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.NewReplacer(" ", "", "\n", "").Replace(w.got)
}

func TestDocsThinking(t *testing.T) {
	w := newWire(t)
	providers := w.providers(t)
	rows := regexp.MustCompile("(?m)^\\| `([a-z]+)` `([^`]+)` \\| `([^`]+)` \\| `([^`]+)` \\|$").
		FindAllStringSubmatch(section(t, page(t, "docs/models.md"), "## Thinking"), -1)
	if len(rows) < 10 {
		t.Fatalf("only %d rows can be read", len(rows))
	}
	for _, r := range rows {
		def, ds := wfyaml.Load("row", fmt.Appendf(nil,
			"name: x\nsteps: [{id: a, type: llm_call, prompt: p, thinking: %s}]", r[3]))
		if def == nil {
			t.Fatal(ds)
		}
		said := def.Steps[0].LLM.Thinking
		got := w.sent(t, providers[r[1]], &model.Request{
			Model: r[2], Messages: []model.Message{{Role: model.User, Text: "Hi"}},
			Thinking: &model.Thinking{Enabled: said.Enabled, BudgetTokens: said.BudgetTokens, Level: said.Level},
		})
		if !strings.Contains(got, r[4]) {
			t.Errorf("%s with %s sends %s", r[2], r[3], got)
		}
	}
}

func TestDocsAttachments(t *testing.T) {
	w := newWire(t)
	providers := w.providers(t)
	files := map[string]model.Attachment{
		"image": {Type: model.Image, MediaType: "image/png", Data: []byte("\x89PNG")},
		"pdf":   {Type: model.PDF, MediaType: "application/pdf", Data: []byte("%PDF-1.7")},
		"audio": {Type: model.Audio, MediaType: "audio/wav", Data: []byte("RIFF")},
	}
	_, part, _ := strings.Cut(page(t, "docs/models.md"), "<!-- test: attachments -->")
	rows := regexp.MustCompile("(?m)^\\| `?([A-Za-z]+)`? \\| (.*) \\|$").FindAllStringSubmatch(part, -1)
	if len(rows) != 4 {
		t.Fatalf("%d rows", len(rows))
	}
	names := strings.Split(rows[0][2], " | ")
	for _, r := range rows[1:] {
		for i, cell := range strings.Split(r[2], " | ") {
			p, file := providers[strings.Trim(names[i], "`")], files[r[1]]
			asURL := model.Attachment{Type: file.Type, MediaType: file.MediaType, URL: "https://example.com/file"}
			for form, a := range map[string]model.Attachment{"data": file, "URL": asURL} {
				got := w.sent(t, p, &model.Request{Model: "m", Messages: []model.Message{
					{Role: model.User, Text: "Hi", Attachments: []model.Attachment{a}},
				}})
				if told := strings.Contains(cell, form); told != (got != "") {
					t.Errorf("%s as %s for %s: told %v, sent %q", r[1], form, p.Name(), told, got)
				}
			}
		}
	}
}
