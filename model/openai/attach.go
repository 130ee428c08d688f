package openai

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// parts makes a user's message with attachments: its text, then the files.
func (p *Provider) parts(m *model.Message) ([]part, error) {
	out := make([]part, 0, 1+len(m.Attachments))
	if m.Text != "" {
		out = append(out, part{Type: "text", Text: m.Text})
	}
	for i := range m.Attachments {
		file, err := p.part(&m.Attachments[i])
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	return out, nil
}

func (p *Provider) part(a *model.Attachment) (out part, err error) {
	if (len(a.Data) == 0) == (a.URL == "") {
		return out, p.refuse(a, "has no content: either its data or its URL must be set")
	}
	media, _, err := mime.ParseMediaType(a.MediaType)
	if err != nil && a.URL == "" {
		return out, p.refuse(a, "has no valid media type, such as image/png")
	}
	switch a.Type {
	case model.Image:
		return p.image(a, media)
	case model.PDF:
		if a.URL != "" {
			return out, p.refuse(a, "can't be given by URL, which this service does not fetch: give the file itself")
		}
		if media != "application/pdf" {
			return out, p.refuse(a, "is not of the type application/pdf, but "+media)
		}
		return part{Type: "file", File: &fileData{Filename: "document.pdf", FileData: dataURL(media, a.Data)}}, nil
	case model.Audio:
		return p.audio(a, media)
	}
	return out, p.refuse(a, "is of a type that this service does not take")
}

// takes reports whether OpenAI takes images of a type.
func takes(media string) bool {
	switch media {
	case "image/png", "image/jpeg", "image/webp", "image/gif":
		return true
	}
	return false
}

func (p *Provider) image(a *model.Attachment, media string) (out part, err error) {
	where := a.URL
	if where != "" {
		u, err := url.Parse(where)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "data" {
			return out, p.refuse(a, "has a URL that is neither https:, http: nor data:")
		}
	} else {
		if media == "image/jpg" { // a common mistake
			media = "image/jpeg"
		}
		if !strings.HasPrefix(media, "image/") || p.openAI && !takes(media) {
			return out, p.refuse(a, "is of the type "+media+", which is none of image/png, image/jpeg, image/webp and image/gif")
		}
		where = dataURL(media, a.Data)
	}
	return part{Type: "image_url", ImageURL: &imageURL{URL: where}}, nil
}

// audioFormat is the service's name for an audio type, "" for one that it does
// not take.
func audioFormat(media string) string {
	switch media {
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		return "wav"
	case "audio/mpeg", "audio/mp3":
		return "mp3"
	}
	return ""
}

func (p *Provider) audio(a *model.Attachment, media string) (out part, err error) {
	if a.URL != "" {
		return out, p.refuse(a, "can't be given by URL, which this service does not fetch: give the file itself")
	}
	format := audioFormat(media)
	if format == "" {
		return out, p.refuse(a, "is of the type "+media+", which is neither audio/wav nor audio/mpeg")
	}
	return part{Type: "input_audio", InputAudio: &audio{Data: base64.StdEncoding.EncodeToString(a.Data), Format: format}}, nil
}

func dataURL(media string, data []byte) string {
	return "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(data)
}

func (p *Provider) refuse(a *model.Attachment, why string) error {
	return fault.New(fault.Permanent, fmt.Sprintf("an attachment of the type %q for %s %s", a.Type, p.Name(), why), nil)
}
