package mock

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/value"
)

// Hash returns the SHA-256 of a request, as the package's doc defines it. The
// step's id is no part of it.
func Hash(req *model.Request) string {
	sum := digest(req)
	return hex.EncodeToString(sum[:])
}

func digest(req *model.Request) [sha256.Size]byte {
	return sha256.Sum256(canonical(req))
}

// canonical is the JSON that is hashed. Keys are put in sorted order.
func canonical(req *model.Request) []byte {
	m := value.NewMap(5)
	if req.MaxTokens != nil {
		m.Put("max_tokens", *req.MaxTokens)
	}
	messages := make([]any, len(req.Messages))
	for i, msg := range req.Messages {
		messages[i] = value.MapOf("role", string(msg.Role), "text", msg.Text)
	}
	m.Put("messages", messages)
	m.Put("model", req.Model)
	if req.System != "" {
		m.Put("system", req.System)
	}
	if req.Temperature != nil {
		m.Put("temperature", *req.Temperature)
	}
	b, _ := value.EncodeJSON(m) // it fails on what is no value only
	return b
}
