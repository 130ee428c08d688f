package openai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/openai"
)

// mockLLM starts the server of the npm package @dwmkerr/mock-llm and returns
// its address.
func mockLLM(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "test", "mockllm"))
	if err != nil {
		t.Fatal(err)
	}
	node := installMockLLM(t, dir)
	port := freePort(t)
	cmd := exec.Command(node, filepath.Join(dir, "node_modules", "@dwmkerr", "mock-llm", "dist", "main.js"),
		"--config", filepath.Join(dir, "rules.yaml"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOST=127.0.0.1", "PORT="+port)
	var out syncBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // it is killed below
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-exited
	})
	root := "http://127.0.0.1:" + port
	ready := func() bool {
		res, err := http.Get(root + "/ready")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	}
	deadline := time.After(time.Minute)
	for !ready() {
		select {
		case <-exited:
			t.Fatalf("the server ended:\n%s", out.String())
		case <-deadline:
			t.Fatalf("the server is not ready after a minute:\n%s", out.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return root
}

// installMockLLM makes sure that the package is there, and returns Node.js's
// path. It reaches for the network only when the environment says that the
// tests may use services; a test that may then never skips.
func installMockLLM(t *testing.T, dir string) string {
	t.Helper()
	must := os.Getenv("AGENTLOOM_TEST_SERVICES") == "1"
	node, err := exec.LookPath("node")
	if err != nil {
		if must {
			t.Fatalf("Node.js is missing: %v", err)
		}
		t.Skipf("Node.js is missing (%v); install it and set AGENTLOOM_TEST_SERVICES=1", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@dwmkerr", "mock-llm", "dist", "main.js")); err == nil {
		return node
	}
	if !must {
		t.Skip("the server is not installed; set AGENTLOOM_TEST_SERVICES=1, which runs `npm ci` in test/mockllm and needs the network")
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	return node
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// TestMockLLM runs the adapter against an OpenAI-compatible server that others
// wrote.
func TestMockLLM(t *testing.T) {
	const key = "sk-mock-llm-0123456789"
	p := newProvider(t, openai.Config{APIKey: key, BaseURL: mockLLM(t) + "/v1"})
	say := func(ctx context.Context, system, text string) (*model.Response, error) {
		return p.Complete(ctx, &model.Request{Model: "gpt-5.2", System: system, Messages: []model.Message{{Role: model.User, Text: text}}}, nil)
	}
	t.Run("echo", func(t *testing.T) {
		r, err := say(t.Context(), "", "repeat after me")
		if err != nil {
			t.Fatal(err)
		}
		if r.Text != "repeat after me" || r.Model != "gpt-5.2" || r.FinishReason != model.FinishStop || r.Usage != nil || r.CostUSD != nil {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("what was sent", func(t *testing.T) {
		r, err := say(t.Context(), "Be brief.", "show-request")
		if err != nil {
			t.Fatal(err)
		}
		if want := "system: Be brief. auth: Bearer " + key; r.Text != want || r.Usage == nil || r.Usage.TotalTokens != 18 {
			t.Errorf("got %q and %+v, want %q and 18 tokens", r.Text, r.Usage, want)
		}
	})
	for status, kind := range map[int]fault.Kind{401: fault.Permanent, 429: fault.Transient, 500: fault.Transient} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			_, err := say(t.Context(), "", fmt.Sprintf("error-%d", status))
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || f.Kind != kind || f.Status != status || strings.Contains(f.Message, key) {
				t.Errorf("got %v, want kind %v, status %d and no key", err, kind, status)
			}
		})
	}
	t.Run("streamed", func(t *testing.T) {
		req := &model.Request{Model: "gpt-5.2", Messages: []model.Message{{Role: model.User, Text: "a text of some fifty characters, 世界, in several pieces"}}}
		var text string
		r, err := p.Complete(t.Context(), req, func(d model.Delta) { text += d.Text })
		if err != nil {
			t.Fatal(err)
		}
		if r.Text != req.Messages[0].Text || text != r.Text || r.FinishReason != model.FinishStop || r.FirstToken <= 0 {
			t.Errorf("got %+v, pieces %q", r, text)
		}
	})
	t.Run("fifty at once", func(t *testing.T) {
		var g errgroup.Group
		for i := range 50 {
			g.Go(func() error {
				text := fmt.Sprintf("number %d", i)
				r, err := say(t.Context(), "", text)
				if err == nil && r.Text != text {
					err = fmt.Errorf("got %q, want %q", r.Text, text)
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
}
