package openai_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/openai"
)

// recordings is the folder of recorded exchanges. They are no part of the
// repository: testdata has fixtures of its own.
func recordings(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("AGENTLOOM_TEST_WIRE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "wire")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recorded exchanges here (%v); set AGENTLOOM_TEST_WIRE to a folder of them", err)
	}
	return dir
}

type recording struct {
	Interactions []struct {
		Request struct {
			URL  string
			Body map[string]any
		}
		Response struct {
			Status      int
			ContentType string `json:"content_type"`
			Body        json.RawMessage
		}
	}
}

// recordedAnswer is read from a recording without the adapter.
type recordedAnswer struct {
	Model   string
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct{ Content *string }
	}
	Usage struct {
		Prompt        int64 `json:"prompt_tokens"`
		Completion    int64 `json:"completion_tokens"`
		Total         int64 `json:"total_tokens"`
		PromptDetails struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionDetails struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
}

func TestRecordedExchanges(t *testing.T) {
	root := recordings(t)
	replayed := 0
	for _, part := range []string{"openai", "compatible", "images"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") {
				return err
			}
			name := strings.TrimSuffix(strings.TrimPrefix(path, root+string(filepath.Separator)), ".json")
			if part == "images" && !strings.HasPrefix(filepath.Base(path), "openai-") {
				return nil
			}
			t.Run(filepath.ToSlash(name), func(t *testing.T) { replayed += replay(t, path) })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if replayed < 10 {
		t.Errorf("only %d exchanges were replayed", replayed)
	}
}

// replay serves each plain answer of a recording, and returns how many it had.
func replay(t *testing.T, path string) (n int) {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rec recording
	if err := json.Unmarshal(src, &rec); err != nil {
		t.Fatal(err)
	}
	for _, i := range rec.Interactions {
		if !strings.HasPrefix(string(i.Response.Body), "{") {
			continue // a stream
		}
		var raw recordedAnswer
		if err := json.Unmarshal(i.Response.Body, &raw); err != nil {
			t.Fatal(err)
		}
		want := &model.Response{
			Model: raw.Model, Provider: "openai", FinishReason: raw.Choices[0].FinishReason,
			Usage: &model.Usage{
				PromptTokens: raw.Usage.Prompt, CompletionTokens: raw.Usage.Completion, TotalTokens: raw.Usage.Total,
				ReasoningTokens: raw.Usage.CompletionDetails.Reasoning, CachedTokens: raw.Usage.PromptDetails.Cached,
			},
		}
		if c := raw.Choices[0].Message.Content; c != nil {
			want.Text = *c
		}
		root, _ := serve(t, string(i.Response.Body))
		got, err := newProvider(t, openai.Config{APIKey: "k", BaseURL: root}).Complete(t.Context(), ask(), nil)
		if err != nil {
			t.Fatal(err)
		}
		got.Raw = nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("response (-want +got):\n%s", diff)
		}
		n++
	}
	if n == 0 {
		t.Skip("it holds streams only")
	}
	return n
}

// TestRequestShape checks that our request for a recorded one is the same, but
// for the name of the token limit, which is the host's.
func TestRequestShape(t *testing.T) {
	root := recordings(t)
	for _, name := range []string{"openai/gpt-4o-mini/simple.json", "compatible/groq-kimi-k2/simple.json", "compatible/llama-cpp-gpt-oss/simple.json"} {
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			var rec recording
			if err := json.Unmarshal(src, &rec); err != nil {
				t.Fatal(err)
			}
			want := rec.Interactions[0].Request.Body
			limit := int64(4000)
			for _, field := range []string{"max_tokens", "max_completion_tokens"} {
				if _, ok := want[field]; ok {
					delete(want, field)
					want["max_tokens"] = float64(limit)
				}
			}
			server, sent := serve(t, string(rec.Interactions[0].Response.Body))
			p := newProvider(t, openai.Config{APIKey: "k", BaseURL: server})
			_, err = p.Complete(t.Context(), &model.Request{
				Model: want["model"].(string), System: "You are a helpful assistant", MaxTokens: &limit,
				Messages: []model.Message{{Role: model.User, Text: "Say hi in Portuguese"}},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, got := sent(); !cmp.Equal(want, got) {
				t.Errorf("request (-recorded +ours):\n%s", cmp.Diff(want, got))
			}
		})
	}
}
