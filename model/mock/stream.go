package mock

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/agentloom/agentloom/model"
)

// stream hands the answer's reasoning and text to the sink, word by word, with
// the call's time spread evenly over the words.
func (p *Provider) stream(ctx context.Context, whole *model.Response, total time.Duration, sink func(model.Delta)) (*model.Response, error) {
	pieces := words(whole.Reasoning)
	reasoning := len(pieces)
	pieces = append(pieces, words(whole.Text)...)
	if len(pieces) == 0 {
		if err := wait(ctx, p.name, total); err != nil {
			return nil, err
		}
		return whole, nil
	}
	start := time.Now()
	for i, piece := range pieces {
		due := time.Duration(float64(total) * (float64(i+1) / float64(len(pieces))))
		if err := wait(ctx, p.name, due-time.Since(start)); err != nil {
			return partial(whole, pieces[:i], reasoning), err
		}
		if i == 0 {
			whole.FirstToken = max(1, time.Since(start)) // 0 would mean that nothing came
		}
		if i < reasoning {
			sink(model.Delta{Reasoning: piece})
		} else {
			sink(model.Delta{Text: piece})
		}
	}
	return whole, nil
}

// partial is the response of a stream that broke off after some pieces, the
// first of which are reasoning; nil after none.
func partial(whole *model.Response, pieces []string, reasoning int) *model.Response {
	if len(pieces) == 0 {
		return nil
	}
	reasoning = min(reasoning, len(pieces))
	return &model.Response{
		Reasoning:  strings.Join(pieces[:reasoning], ""),
		Text:       strings.Join(pieces[reasoning:], ""),
		Model:      whole.Model,
		Provider:   whole.Provider,
		FirstToken: whole.FirstToken,
	}
}

// words cuts a text after each run of white space. The pieces joined are the
// text.
func words(text string) []string {
	var out []string
	for text != "" {
		space := strings.IndexFunc(text, unicode.IsSpace)
		if space < 0 {
			return append(out, text)
		}
		next := strings.IndexFunc(text[space:], func(r rune) bool { return !unicode.IsSpace(r) })
		if next < 0 {
			return append(out, text)
		}
		out = append(out, text[:space+next])
		text = text[space+next:]
	}
	return out
}
