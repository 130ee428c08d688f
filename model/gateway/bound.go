package gateway

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/value"
)

// How much a call may cost has to be known before it is made. A token is at
// least one byte of text, so that the bytes of all that is sent bound the
// tokens of the input. On top come what services add around it, and files,
// whose tokens have little to do with their bytes:
const (
	callTokens    = 64   // what frames a call
	messageTokens = 16   // what frames a message, a tool call, a tool or an input
	toolsTokens   = 1024 // the instructions that services add to tools
	// An image is scaled down by every service before it is counted.
	imageTokens = 8_000
	// gpt-4o-mini counts more tokens for an image, at a lower price each: up to
	// 2,833 and 8 times 5,667.
	miniImageTokens = 50_000
	// A PDF is counted by the pages, as text and as images, and its text is
	// compressed; audio by the second. Both are bounded by their size, and the
	// whole input by the model's context window, where that is known.
	pdfTokensPerByte   = 4
	audioTokensPerByte = 1
	// A file that the service fetches has a size that is not known here.
	fetchedTokens = 1_000_000
)

// inputBound returns a number of tokens that the input of a call can't exceed.
func inputBound(req *model.Request) int64 {
	n := plus(callTokens, textBound(req.System))
	for i := range req.Messages {
		m := &req.Messages[i]
		n = plus(n, messageTokens, textBound(m.Text), textBound(m.CallID), textBound(m.ToolName))
		for _, c := range m.ToolCalls {
			n = plus(n, messageTokens, textBound(c.ID), textBound(c.Name), textBound(c.Arguments))
		}
		if m.Native != nil {
			n = plus(n, int64(len(m.Native.Data)))
		}
		for _, a := range m.Attachments {
			n = plus(n, messageTokens, attachmentBound(req.Model, a))
		}
	}
	if len(req.Tools) > 0 {
		n = plus(n, toolsTokens)
	}
	for _, t := range req.Tools {
		n = plus(n, messageTokens, textBound(t.Name), textBound(t.Description), jsonSize(t.Parameters))
	}
	return plus(n, jsonSize(req.Schema))
}

func embedBound(req *model.EmbedRequest) int64 {
	var n int64 = callTokens
	for _, s := range req.Inputs {
		n = plus(n, messageTokens, textBound(s))
	}
	return n
}

// textBound bounds the tokens of a text: its bytes, and three for each when
// some are no UTF-8, since what is sent for such a byte has three.
func textBound(s string) int64 {
	if !utf8.ValidString(s) {
		return 3 * int64(len(s))
	}
	return int64(len(s))
}

func attachmentBound(modelName string, a model.Attachment) int64 {
	size := int64(len(a.Data))
	switch {
	case a.Type == model.Image && strings.Contains(modelName, "4o-mini"):
		return miniImageTokens
	case a.Type == model.Image:
		return imageTokens
	case a.URL != "":
		return fetchedTokens
	case a.Type == model.Audio:
		return audioTokensPerByte * size
	}
	return pdfTokensPerByte * size
}

// inputSize is the size of a call's input in bytes, with an image as many as
// its tokens stand for: a base for estimates, not a bound.
func inputSize(req *model.Request) int64 {
	n := int64(len(req.System)) + jsonSize(req.Schema)
	for i := range req.Messages {
		m := &req.Messages[i]
		n = plus(n, int64(len(m.Text)))
		for _, c := range m.ToolCalls {
			n = plus(n, int64(len(c.Arguments)))
		}
		for _, a := range m.Attachments {
			n = plus(n, bytesPerToken*imageEstimate, int64(len(a.Data)/100))
		}
	}
	for _, t := range req.Tools {
		n = plus(n, int64(len(t.Description)), jsonSize(t.Parameters))
	}
	return n
}

// imageEstimate is a usual image's number of tokens.
const imageEstimate = 1000

func embedSize(req *model.EmbedRequest) int64 {
	var n int64
	for _, s := range req.Inputs {
		n = plus(n, int64(len(s)))
	}
	return n
}

// jsonSize is the size of a schema as JSON; 0 for nil and for what is no JSON,
// which no adapter could send.
func jsonSize(schema *value.Map) int64 {
	if schema == nil {
		return 0
	}
	b, err := value.EncodeJSON(schema)
	if err != nil {
		return 0
	}
	return int64(len(b))
}

// plus adds numbers that are not negative, and stops at the largest.
func plus(sum int64, more ...int64) int64 {
	for _, n := range more {
		n = max(n, 0)
		if sum > math.MaxInt64-n {
			return math.MaxInt64
		}
		sum += n
	}
	return sum
}
