package gateway

import (
	"fmt"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/nearest"
)

// vendor is what is known of a provider without its being registered.
type vendor struct {
	set      string // what to set to have it
	anyModel bool
}

// known returns what is known of a provider's name.
func known(name string) (vendor, bool) {
	switch name {
	case "openai":
		return vendor{set: "set OPENAI_API_KEY"}, true
	case "anthropic":
		return vendor{set: "set ANTHROPIC_API_KEY"}, true
	case "google":
		return vendor{set: "set GOOGLE_API_KEY or GEMINI_API_KEY"}, true
	case "ollama":
		return vendor{set: "set OLLAMA_BASE_URL or OLLAMA_HOST", anyModel: true}, true
	case "mock":
		return vendor{set: "give it responses with --mock-responses or config.responses_file", anyModel: true}, true
	}
	return vendor{}, false
}

// family returns the vendor whose family a model's name belongs to, or "".
// Upper and lower case are the same.
func family(modelName string) string {
	name := strings.ToLower(modelName)
	for _, prefix := range []string{"gpt-", "chatgpt-", "text-embedding-"} {
		if strings.HasPrefix(name, prefix) {
			return "openai"
		}
	}
	for _, whole := range []string{"o1", "o3", "o4"} {
		// These two letters may begin any name, so a word must end there.
		if rest, ok := strings.CutPrefix(name, whole); ok && (rest == "" || !isAlphanumeric(rest[0])) {
			return "openai"
		}
	}
	switch {
	case strings.HasPrefix(name, "claude"):
		return "anthropic"
	case strings.HasPrefix(name, "gemini"):
		return "google"
	}
	return ""
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}

// missing is the error for a provider that is not registered.
func (g *Gateway) missing(name, why string) error {
	if v, ok := known(name); ok {
		return refuse(fmt.Sprintf("provider %s is not set up: %s (%s)", name, v.set, why))
	}
	advice := "none is set up"
	if meant := nearest.Of(name, g.names); meant != "" {
		advice = fmt.Sprintf("did you mean %q?", meant)
	} else if len(g.names) > 0 {
		advice = "set up are " + strings.Join(g.names, ", ")
	}
	return refuse(fmt.Sprintf("there is no provider %q (%s); %s", name, why, advice))
}

func refuse(message string) error {
	return fault.New(fault.Permanent, message, nil)
}
