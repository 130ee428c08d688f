package ollama_test

import (
	"strings"
	"testing"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model/ollama"
)

func TestParseHost(t *testing.T) {
	tests := map[string]string{
		"":                              "http://localhost:11434",
		"  ":                            "http://localhost:11434",
		"myhost":                        "http://myhost:11434",
		"myhost:8080":                   "http://myhost:8080",
		":8080":                         "http://localhost:8080",
		" 192.168.1.5 ":                 "http://192.168.1.5:11434",
		"0.0.0.0":                       "http://127.0.0.1:11434",
		"0.0.0.0:5000":                  "http://127.0.0.1:5000",
		"http://0.0.0.0:5000":           "http://127.0.0.1:5000",
		"::":                            "http://[::1]:11434",
		"[::]:5000":                     "http://[::1]:5000",
		"::1":                           "http://[::1]:11434",
		"[fe80::1]":                     "http://[fe80::1]:11434",
		"http://[fe80::1]":              "http://[fe80::1]",
		`"myhost:1234"`:                 "http://myhost:1234",
		"'myhost'":                      "http://myhost:11434",
		"http://myhost":                 "http://myhost",
		"HTTP://myhost:1/":              "http://myhost:1",
		"https://myhost":                "https://myhost",
		"https://myhost/a/b/":           "https://myhost/a/b",
		"myhost/a":                      "http://myhost:11434/a",
		"http://localhost:11434/v1":     "http://localhost:11434",
		"http://localhost:11434/v1/":    "http://localhost:11434",
		"http://localhost:11434/api":    "http://localhost:11434",
		"http://localhost:11434/x/v1":   "http://localhost:11434/x",
		"ollama.com":                    "https://ollama.com",
		"https://ollama.com/api":        "https://ollama.com",
		"http://localhost:11434/apiary": "http://localhost:11434/apiary",
	}
	for text, want := range tests {
		got, err := ollama.ParseHost(text)
		if err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
		if again, err := ollama.ParseHost(got); err != nil || again != got {
			t.Errorf("%q: %q becomes %q, %v", text, got, again, err)
		}
	}
}

func TestBadHost(t *testing.T) {
	for text, want := range map[string]string{
		"ftp://h":                   "http:// or https://",
		"h:port":                    "port",
		"h:0":                       "port",
		"h:65536":                   "port",
		"h:-1":                      "port",
		"http://secret:pw@h":        "no user",
		"http://h?key=secret":       "query",
		"h#secret":                  "fragment",
		"a b":                       "no host",
		"http://h\x00secret":        "no host",
		"http://[::1":               "no host",
		"[]0":                       "no host",
		"http://%zz":                "no host",
		"unix:///var/secret.socket": "http:// or https://",
	} {
		got, err := ollama.ParseHost(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %q, %v; want an error with %q and no secret", text, got, err, want)
		}
		_, err = ollama.New(ollama.Config{BaseURL: text, BaseVar: "OLLAMA_HOST"})
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "OLLAMA_HOST") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func FuzzParseHost(f *testing.F) {
	f.Add("http://h:1/v1/api/")
	f.Add("[::]:5")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ollama.ParseHost(text)
		if err != nil {
			return
		}
		if again, err := ollama.ParseHost(got); err != nil || again != got {
			t.Errorf("%q becomes %q, and that %q, %v", text, got, again, err)
		}
	})
}
