package google

import (
	"mime"
	"net/url"
	"path"
	"strings"

	"google.golang.org/genai"

	"github.com/agentloom/agentloom/model"
)

// attachment makes a part of an attachment. The service fetches images and
// PDFs from the web by itself; audio it takes as data only.
func (p *Provider) attachment(a model.Attachment) (part, error) {
	switch a.Type {
	case model.Image, model.PDF, model.Audio:
	default:
		return part{}, p.refuse("%s takes no attachment of type %q: it takes image, pdf and audio", p.Name(), a.Type)
	}
	media := mediaType(a)
	if media != "" && !fits(a.Type, media) {
		return part{}, p.refuse("an attachment of type %s for %s can't have the media type %q", a.Type, p.Name(), media)
	}
	if a.URL == "" {
		switch {
		case len(a.Data) == 0:
			return part{}, p.refuse("an attachment of type %s for %s is empty", a.Type, p.Name())
		case media == "":
			return part{}, p.refuse("an attachment of type %s for %s has no media type: set media_type", a.Type, p.Name())
		}
		return part{InlineData: &genai.Blob{MIMEType: media, Data: a.Data}}, nil
	}
	u, err := url.Parse(a.URL)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http":
		return part{}, p.refuse("%s fetches attachments by http and https only: use `fetch: local`", p.Name())
	case a.Type == model.Audio:
		return part{}, p.refuse("%s does not fetch an attachment of type %s from a URL: use `fetch: local`", p.Name(), a.Type)
	}
	return part{FileData: &genai.FileData{FileURI: a.URL, MIMEType: media}}, nil
}

// mediaType is the attachment's media type in the service's words; "" when
// nothing says it.
func mediaType(a model.Attachment) string {
	kind := a.MediaType
	if base, _, err := mime.ParseMediaType(kind); err == nil {
		kind = base // without parameters
	}
	kind = strings.ToLower(strings.TrimSpace(kind))
	if kind == "" && a.URL != "" {
		kind = guess(a)
	}
	switch kind {
	case "image/jpg":
		return "image/jpeg"
	case "audio/mpeg", "audio/x-mp3", "audio/mpeg3":
		return "audio/mp3"
	case "audio/x-wav", "audio/wave", "audio/vnd.wave":
		return "audio/wav"
	case "audio/x-aiff":
		return "audio/aiff"
	case "audio/x-flac":
		return "audio/flac"
	}
	return kind
}

// fits reports whether a media type is one of an attachment's type.
func fits(t model.AttachmentType, media string) bool {
	if t == model.PDF {
		return media == "application/pdf"
	}
	return strings.HasPrefix(media, string(t)+"/")
}

// guess is the media type that a URL lets expect.
func guess(a model.Attachment) string {
	if a.Type == model.PDF {
		return "application/pdf"
	}
	u, err := url.Parse(a.URL)
	if err != nil {
		return ""
	}
	switch strings.ToLower(path.Ext(u.Path)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".webp":
		return "image/webp"
	case ".bmp":
		return "image/bmp"
	}
	return ""
}
