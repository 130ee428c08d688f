package openai

import "strings"

// quirks are where a compatible service departs from OpenAI's own.
type quirks struct {
	noSchema        bool // refuses a JSON Schema for its answers
	noStreamOptions bool // refuses to be asked for a stream's usage, which it sends anyway
	thinkingSwitch  bool // turns its reasoning on and off by a field of its own
}

// quirksOf knows the hosts that refuse what others take, from their published
// references.
func quirksOf(host string) quirks {
	switch host = strings.ToLower(host); {
	case host == "api.deepseek.com":
		return quirks{noSchema: true, thinkingSwitch: true}
	case host == "mistral.ai" || strings.HasSuffix(host, ".mistral.ai"):
		return quirks{noStreamOptions: true}
	}
	return quirks{}
}
