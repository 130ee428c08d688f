package anthropic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/agentloom/agentloom/model"
)

// messageParams makes the conversation's turns. The results of one turn's tool
// calls, and what the user says after them, are one message of the user's.
func (p *Provider) messageParams(messages []model.Message) ([]sdk.MessageParam, error) {
	var out []sdk.MessageParam
	for _, m := range messages {
		switch m.Role {
		case model.User, model.ToolRole:
			blocks, err := p.userBlocks(&m)
			if err != nil {
				return nil, err
			}
			if n := len(out); n > 0 && out[n-1].OfUser != nil {
				out[n-1].OfUser.Content = append(out[n-1].OfUser.Content, blocks...)
			} else {
				out = append(out, sdk.NewUserMessage(blocks...))
			}
		case model.Assistant:
			// The service refuses a turn without content, and one that said
			// nothing is none.
			if turn, ok := p.assistantParam(&m); ok {
				out = append(out, turn)
			}
		default:
			return nil, p.permanent("a message to %s has the unknown role %q", p.Name(), m.Role)
		}
	}
	return out, nil
}

func (p *Provider) userBlocks(m *model.Message) ([]sdk.ContentBlockParamUnion, error) {
	if m.Role == model.ToolRole {
		return []sdk.ContentBlockParamUnion{toolResult(m)}, nil
	}
	var blocks []sdk.ContentBlockParamUnion
	for i := range m.Attachments {
		block, err := p.attachment(&m.Attachments[i])
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, block)
	}
	if m.Text != "" || len(blocks) == 0 {
		blocks = append(blocks, sdk.NewTextBlock(m.Text))
	}
	return blocks, nil
}

func toolResult(m *model.Message) sdk.ContentBlockParamUnion {
	result := &sdk.ToolResultBlockParam{ToolUseID: identifier(m.CallID)}
	if m.Text != "" { // an empty text is refused, no text is not
		result.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: m.Text}}}
	}
	if m.IsError {
		result.IsError = sdk.Bool(true)
	}
	return sdk.ContentBlockParamUnion{OfToolResult: result}
}

// mediaTypes are those that the service takes as data; none of a type of
// attachment that it does not take.
func mediaTypes(t model.AttachmentType) []string {
	switch t {
	case model.Image:
		return []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
	case model.PDF:
		return []string{"application/pdf"}
	}
	return nil
}

// attachment is a file for the model to read. The service fetches a URL itself.
func (p *Provider) attachment(a *model.Attachment) (block sdk.ContentBlockParamUnion, err error) {
	known := mediaTypes(a.Type)
	switch {
	case known == nil:
		return block, p.permanent("%s takes no attachment of type %q, only images and PDF files", p.Name(), a.Type)
	case a.URL != "" && a.Type == model.Image:
		return sdk.NewImageBlock(sdk.URLImageSourceParam{URL: a.URL}), nil
	case a.URL != "":
		return sdk.NewDocumentBlock(sdk.URLPDFSourceParam{URL: a.URL}), nil
	case len(a.Data) == 0:
		return block, p.permanent("the %s for %s has neither data nor a URL", a.Type, p.Name())
	case !slices.Contains(known, a.MediaType):
		return block, p.permanent("%s takes no %s of media type %q, only %s", p.Name(), a.Type, a.MediaType, strings.Join(known, ", "))
	}
	data := base64.StdEncoding.EncodeToString(a.Data)
	if a.Type == model.PDF {
		return sdk.NewDocumentBlock(sdk.Base64PDFSourceParam{Data: data}), nil
	}
	return sdk.NewImageBlockBase64(a.MediaType, data), nil
}

// assistantParam repeats a turn of the model's: in the service's own form where
// this provider made it, else from the neutral fields.
func (p *Provider) assistantParam(m *model.Message) (turn sdk.MessageParam, ok bool) {
	if n := m.Native; n != nil && n.Provider == p.Name() && isBlockList(n.Data) {
		raw := append(append([]byte(`{"role":"assistant","content":`), n.Data...), '}')
		own := param.Override[sdk.AssistantMessageParam](json.RawMessage(raw))
		return sdk.MessageParam{OfAssistant: &own}, true
	}
	var blocks []sdk.ContentBlockParamUnion
	if strings.TrimSpace(m.Text) != "" {
		blocks = append(blocks, sdk.NewTextBlock(m.Text))
	}
	for _, c := range m.ToolCalls {
		blocks = append(blocks, sdk.NewToolUseBlock(identifier(c.ID), toolInput(c.Arguments), identifier(c.Name)))
	}
	return sdk.NewAssistantMessage(blocks...), len(blocks) > 0
}

// isBlockList reports whether data is a list of content, with anything in it.
func isBlockList(data []byte) bool {
	data = bytes.TrimSpace(data)
	return json.Valid(data) && bytes.HasPrefix(data, []byte("[{"))
}

// toolInput is what the model wrote as a call's arguments. The service takes
// only objects; anything else is handed back inside one, so that the model sees
// its mistake.
func toolInput(arguments string) json.RawMessage {
	text := strings.TrimSpace(arguments)
	if text == "" {
		return json.RawMessage("{}")
	}
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	wrapped, err := json.Marshal(map[string]string{"INVALID_JSON": arguments})
	if err != nil {
		return json.RawMessage("{}")
	}
	return wrapped
}

// identifier makes the id or the name of a tool call fit for the service:
// letters, digits, _ and -. Other providers' ids may hold more.
func identifier(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}
