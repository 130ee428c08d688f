package attachment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/agentloom/agentloom/model"
)

// MediaTypes returns the media types that an attachment of a type may have, or
// nil for a type that does not exist. Whether a service takes each of them is
// its adapter's to say. audio/l16 and audio/pcm can't be told from the bytes:
// they need the attachment's media_type.
func MediaTypes(typ model.AttachmentType) []string {
	switch typ {
	case model.Image:
		return []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/heic", "image/heif", "image/avif", "image/bmp", "image/tiff"}
	case model.PDF:
		return []string{"application/pdf"}
	case model.Audio:
		known := []string{"audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/aac", "audio/mp4", "audio/webm", "audio/aiff", "audio/amr"}
		return append(known, headless()...)
	}
	return nil
}

// headless are the types of bare samples.
func headless() []string { return []string{"audio/l16", "audio/pcm"} }

// canonical returns a media type's one name, in lower case and without
// parameters.
func canonical(mediaType string) string {
	base, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		base = strings.ToLower(strings.TrimSpace(mediaType))
	}
	switch base {
	case "image/jpg", "image/pjpeg":
		return "image/jpeg"
	case "image/x-png":
		return "image/png"
	case "image/x-ms-bmp":
		return "image/bmp"
	case "image/tif":
		return "image/tiff"
	case "application/x-pdf":
		return "application/pdf"
	case "audio/x-wav", "audio/wave", "audio/vnd.wave":
		return "audio/wav"
	case "audio/mp3", "audio/x-mp3", "audio/mpeg3", "audio/mpga":
		return "audio/mpeg"
	case "audio/opus", "audio/vorbis", "application/ogg":
		return "audio/ogg"
	case "audio/x-flac":
		return "audio/flac"
	case "audio/aacp", "audio/x-aac":
		return "audio/aac"
	case "audio/m4a", "audio/x-m4a", "video/mp4":
		return "audio/mp4"
	case "video/webm":
		return "audio/webm"
	case "audio/x-aiff":
		return "audio/aiff"
	}
	return base
}

// declaredType checks an attachment's own media_type, which may be "".
func declaredType(typ model.AttachmentType, mediaType string) (string, error) {
	if strings.TrimSpace(mediaType) == "" {
		return "", nil
	}
	declared := canonical(mediaType)
	if known := MediaTypes(typ); !slices.Contains(known, declared) {
		return "", permanent(nil, "media_type %s does not go with an attachment of type %s, which is one of %s",
			quote(mediaType), typ, strings.Join(known, ", "))
	}
	return declared, nil
}

// judge returns the media type of an attachment's bytes: what they are, and
// only for sound without a header what is declared. The error goes on after
// the attachment's name.
func judge(typ model.AttachmentType, declared string, data []byte) (string, error) {
	if len(data) == 0 {
		return "", errors.New("is empty")
	}
	is := sniff(data)
	if slices.Contains(MediaTypes(typ), is) {
		return is, nil
	}
	if is == unknown && slices.Contains(headless(), declared) {
		return declared, nil
	}
	return "", fmt.Errorf("is not %s: its content is %s", described(typ), is)
}

func described(typ model.AttachmentType) string {
	switch typ {
	case model.Image:
		return "an image"
	case model.PDF:
		return "a PDF"
	}
	return "audio"
}

// unknown is the media type of bytes that look like nothing known.
const unknown = "application/octet-stream"

// sniff tells what bytes are, by their signature.
func sniff(data []byte) string {
	has := func(at int, mark string) bool { return len(data) >= at && bytes.HasPrefix(data[at:], []byte(mark)) }
	switch {
	case has(4, "ftyp"):
		return sniffISO(data)
	case has(0, "II*\x00"), has(0, "MM\x00*"):
		return "image/tiff"
	case has(0, "fLaC"):
		return "audio/flac"
	case has(0, "#!AMR"):
		return "audio/amr"
	case has(0, "FORM") && (has(8, "AIFF") || has(8, "AIFC")):
		return "audio/aiff"
	case has(0, "BM") && !has(6, "\x00\x00\x00\x00"): // a text, not a bitmap's reserved bytes
		return "text/plain"
	case bytes.HasPrefix(bytes.TrimLeft(data[:min(len(data), 1024)], "\ufeff \t\r\n"), []byte("%PDF-")):
		return "application/pdf"
	case len(data) > 2 && data[0] == 0xff && data[1]&0xe0 == 0xe0:
		return sniffFrame(data)
	}
	return canonical(http.DetectContentType(data))
}

// sniffFrame tells MPEG audio (layers 2 and 3) from AAC by the header of the
// first frame. Layer 1 begins as a text in UTF-16 does.
func sniffFrame(data []byte) string {
	version, layer, rate := data[1]&0x18, data[1]&0x06, data[2]
	switch {
	case layer == 0 && data[1]&0xf0 == 0xf0:
		return "audio/aac"
	case (layer == 2 || layer == 4) && version != 0x08 && rate&0xf0 != 0xf0 && rate&0x0c != 0x0c: // nothing reserved
		return "audio/mpeg"
	}
	return canonical(http.DetectContentType(data))
}

// sniffISO tells the uses of the ISO base media format by their brands. Those
// of MPEG-4 stand for sound with or without pictures.
func sniffISO(data []byte) string {
	size := int(binary.BigEndian.Uint32(data) & 0xffff)
	brands := map[string]bool{}
	for at := 8; at+4 <= min(len(data), max(size, 12)); at += 4 {
		brands[string(data[at:at+4])] = true
	}
	for _, known := range []struct {
		mediaType string
		brands    []string
	}{
		{"image/avif", []string{"avif", "avis"}},
		{"image/heic", []string{"heic", "heix", "heim", "heis", "hevc", "hevx"}},
		{"image/heif", []string{"mif1", "msf1"}},
		{"audio/mp4", []string{"M4A ", "M4B ", "isom", "iso2", "mp41", "mp42", "dash"}},
	} {
		if slices.ContainsFunc(known.brands, func(b string) bool { return brands[b] }) {
			return known.mediaType
		}
	}
	return "video/mp4"
}

// byExtension returns the media type that a file's name tells, or "" when it
// tells none of the type's.
func byExtension(typ model.AttachmentType, name string) string {
	if typ == model.PDF {
		return "application/pdf"
	}
	kinds := map[string]string{
		".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
		".heic": "image/heic", ".heif": "image/heif", ".avif": "image/avif", ".bmp": "image/bmp", ".tif": "image/tiff", ".tiff": "image/tiff",
		".wav": "audio/wav", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".opus": "audio/ogg", ".flac": "audio/flac", ".aac": "audio/aac",
		".m4a": "audio/mp4", ".webm": "audio/webm", ".aif": "audio/aiff", ".aiff": "audio/aiff",
	}
	if is := kinds[strings.ToLower(path.Ext(name))]; slices.Contains(MediaTypes(typ), is) {
		return is
	}
	return ""
}
