package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/model/gateway"
	"github.com/agentloom/agentloom/model/openai"
	"github.com/agentloom/agentloom/workflow"
)

const (
	callTime  = 50 * time.Millisecond
	completed = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`
	firstPart = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}` + "\n\n"
	lastParts = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
)

// service is a model service that takes callTime for an answer, and streams
// its first word at once.
func service(b *testing.B) *httptest.Server {
	b.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"stream":true`)) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, firstPart)
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, lastParts)
			return
		}
		time.Sleep(callTime)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, completed)
	}))
	b.Cleanup(s.Close)
	return s
}

// tuned is what a careful Go programmer would use.
func tuned() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		MaxIdleConnsPerHost: 1024, MaxIdleConns: 1024, IdleConnTimeout: time.Minute,
	}}
}

func bareCall(client *http.Client, url string, stream bool) (*http.Response, error) {
	body, err := json.Marshal(map[string]any{
		"model": "m", "stream": stream, "messages": []map[string]string{{"role": "user", "content": "Hi"}},
	})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer k")
	return client.Do(req)
}

func loom(b *testing.B, url string) *agentloom.Engine {
	b.Helper()
	p, err := openai.New(openai.Config{APIKey: "k", BaseURL: url})
	if err != nil {
		b.Fatal(err)
	}
	e, err := agentloom.New(agentloom.Config{Providers: []gateway.Entry{{Provider: p, AnyModel: true}}})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

func callsDefinition(n int) *workflow.Definition {
	def := &workflow.Definition{Name: "calls", Config: workflow.DefaultConfig()}
	def.Config.MaxConcurrentSteps = 1024
	for i := range n {
		def.Steps = append(def.Steps, workflow.Step{
			ID: fmt.Sprintf("s%d", i), Type: workflow.LLMCall, Output: fmt.Sprintf("o%d", i),
			Retry: workflow.DefaultRetry(0), LLM: &workflow.LLMCallFields{Prompt: "Hi"},
		})
	}
	return def
}

// BenchmarkParallel200 makes 200 calls of 50 ms at once: a bare program, and a
// workflow of 200 steps. Target: at most 1.1 times the bare one's time.
func BenchmarkParallel200(b *testing.B) {
	const n = 200
	b.Run("bare", func(b *testing.B) {
		url, client := service(b).URL, tuned()
		for b.Loop() {
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() {
					resp, err := bareCall(client, url, false)
					if err != nil {
						b.Error(err)
						return
					}
					defer resp.Body.Close()
					var answer struct {
						Choices []struct{ Message struct{ Content string } }
					}
					if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || len(answer.Choices) != 1 {
						b.Error("no answer", err)
					}
				})
			}
			wg.Wait()
		}
	})
	b.Run("agentloom", func(b *testing.B) {
		e, def := loom(b, service(b).URL), callsDefinition(n)
		for b.Loop() {
			mustRun(b, e, def)
		}
	})
}

// BenchmarkFirstToken is the time from the start to the first word of a
// streamed answer, one call at a time. Target: at most 1.3 times the bare one's.
func BenchmarkFirstToken(b *testing.B) { benchmarkFirstToken(b, 1) }

// BenchmarkFirstToken50 starts 50 such calls at once: 50 goroutines, and a
// workflow of 50 steps. It is the mean time to the first words of the 50.
func BenchmarkFirstToken50(b *testing.B) { benchmarkFirstToken(b, 50) }

func benchmarkFirstToken(b *testing.B, n int) {
	report := func(b *testing.B, total int64) {
		if total == 0 {
			b.Fatal("nothing was streamed")
		}
		b.ReportMetric(float64(total)/1e3/float64(b.N*n), "µs/first-token")
	}
	b.Run("bare", func(b *testing.B) {
		url, client := service(b).URL, tuned()
		var total atomic.Int64
		for b.Loop() {
			start := time.Now()
			first := func() { total.Add(int64(time.Since(start))) }
			if n == 1 {
				bareStream(b, client, url, first)
				continue
			}
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() { bareStream(b, client, url, first) })
			}
			wg.Wait()
		}
		report(b, total.Load())
	})
	b.Run("agentloom", func(b *testing.B) {
		e, def := loom(b, service(b).URL), callsDefinition(n)
		var total int64
		for b.Loop() {
			start := time.Now()
			first := event.ObserverFunc(func(ev event.Event) {
				if _, ok := ev.Data.(event.TextDelta); ok {
					total += int64(time.Since(start))
				}
			})
			res, err := e.Run(context.Background(), def, agentloom.RunOptions{Stream: true, Observer: first})
			if err != nil || res.Status != event.Success {
				b.Fatal(err, res)
			}
		}
		report(b, total)
	})
}

// bareStream reads a streamed answer to its end and calls first at its word.
func bareStream(b *testing.B, client *http.Client, url string, first func()) {
	resp, err := bareCall(client, url, true)
	if err != nil {
		b.Error(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if json.Unmarshal([]byte(data), &chunk) == nil && len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			first()
		}
	}
}
