package attachment_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/attachment"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/sandbox"
	"github.com/agentloom/agentloom/workflow"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The smallest bytes that are something.
const (
	png  = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06"
	jpeg = "\xff\xd8\xff\xe0\x00\x10JFIF\x00"
	pdf  = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
	wav  = "RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00"
	mp3  = "ID3\x04\x00\x00\x00\x00\x00\x00"
	html = "<!DOCTYPE html><html><title>Not found</title></html>"
	pcm  = "\x00\x01\xff\x02\xfe\x00\x00\x13\x80"
)

func encoded(data string) string { return base64.StdEncoding.EncodeToString([]byte(data)) }

func load(t *testing.T, l *attachment.Loader, typ, source string) (model.Attachment, error) {
	t.Helper()
	return l.Load(t.Context(), workflow.Attachment{Type: typ, Source: source, Fetch: "local"})
}

// mustFail checks an error's kind and a part of its words.
func mustFail(t *testing.T, err error, kind fault.Kind, part string) {
	t.Helper()
	if fault.KindOf(err) != kind || !strings.Contains(err.Error(), part) {
		t.Errorf("got (%v) %v\nwant (%v) … %s …", fault.KindOf(err), err, kind, part)
	}
}

func writeFile(t *testing.T, dir, name, data string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSources(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "cat.png", png)
	writeFile(t, dir, "with space.bin", jpeg)
	writeFile(t, dir, "data/report", pdf)
	writeFile(t, dir, encoded("GIF89a")[:8], png) // a file whose name is base64 too
	l := attachment.New(attachment.Config{Dir: dir})
	raw := base64.RawURLEncoding.EncodeToString([]byte(wav + "\xfb\xff\xfe?"))
	if !strings.ContainsAny(raw, "-_") {
		t.Fatal("the sample needs the other alphabet")
	}
	long := png + strings.Repeat("\x00\xfe", 5000)
	cases := []struct {
		name, typ, source, mediaType, data string
	}{
		{"a relative path", "image", "cat.png", "image/png", png},
		{"a path with white space around it", "image", "\n cat.png\n", "image/png", png},
		{"a path with a space in it", "image", "with space.bin", "image/jpeg", jpeg},
		{"an absolute path", "image", filepath.Join(dir, "cat.png"), "image/png", png},
		{"a path that is base64 text too", "pdf", "data/report", "application/pdf", pdf},
		{"an existing path wins over base64", "image", encoded("GIF89a")[:8], "image/png", png},
		{"base64", "image", encoded(png), "image/png", png},
		{"base64 in the other alphabet, unpadded", "audio", raw, "audio/wav", wav + "\xfb\xff\xfe?"},
		{"base64 in lines", "image", encoded(png)[:20] + "\r\n" + encoded(png)[20:] + "\n", "image/png", png},
		{"long base64", "image", encoded(long), "image/png", long},
		{"a data URL", "image", "data:image/png;base64," + encoded(png), "image/png", png},
		{"a data URL without padding, in capitals", "pdf", "DATA:;charset=x;BASE64," + strings.TrimRight(encoded(pdf), "="), "application/pdf", pdf},
		{"a data URL with percent signs in its base64", "image", "data:image/png;base64," + strings.ReplaceAll(encoded(png), "=", "%3D"), "image/png", png},
		{"a data URL of percent signs", "pdf", "data:application/pdf,%25PDF-1.7+x", "application/pdf", "%PDF-1.7+x"},
		{"a data URL that says something else", "image", "data:text/plain;base64," + encoded(jpeg), "image/jpeg", jpeg},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := load(t, l, c.typ, c.source)
			want := model.Attachment{Type: model.AttachmentType(c.typ), MediaType: c.mediaType, Data: []byte(c.data)}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
}

func TestSourcesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "empty.png", "")
	writeFile(t, dir, "page.png", html)
	writeFile(t, dir, "cat.png", png)
	l := attachment.New(attachment.Config{Dir: dir})
	cases := []struct {
		name, typ, source, want string
	}{
		{"nothing", "image", "", "the source of an attachment (image) is empty"},
		{"white space", "image", " \n\t", "is empty"},
		{"an unknown type", "video", "cat.png", `"video" is no type of attachment; there are image, pdf and audio`},
		{"a missing file", "image", "no/such.png", `attachment "no/such.png": there is no such file in ` + `"` + dir + `", and it is no base64 text of an image`},
		{"a missing file whose name is base64", "image", "data/cat", `"data/cat": there is no such file`},
		{"a missing absolute file", "pdf", "/no/such/file.pdf", `"/no/such/file.pdf": there is no such file, and it is no base64 text of a PDF`},
		{"a file for a directory", "image", "cat.png/x.png", "there is no such file"},
		{"a NUL character", "image", "cat.png\x00.txt", "there is no such file"},
		{"a name that is too long", "image", strings.Repeat("a!", 400), "there is no such file"},
		{"long text that is nothing", "image", strings.Repeat("what? ", 4000), "the source of an attachment (23999 characters) is neither a URL nor a path nor base64 text"},
		{"a directory", "image", ".", `attachment "." is a directory; name a file`},
		{"an empty file", "image", "empty.png", `attachment "empty.png" is empty`},
		{"an empty data URL", "image", "data:image/png;base64,", "the attachment's data URL is empty"},
		{"a page instead of an image", "image", "page.png", `attachment "page.png" is not an image: its content is text/html`},
		{"an image instead of a PDF", "pdf", "cat.png", `attachment "cat.png" is not a PDF: its content is image/png`},
		{"an image instead of audio", "audio", "data:audio/wav;base64," + encoded(png), "the attachment's data URL is not audio: its content is image/png"},
		{"long base64 of text", "image", encoded(strings.Repeat("text ", 1000)), "the attachment's base64 text is not an image: its content is text/plain"},
		{"a data URL without a comma", "image", "data:image/png;base64", "has no comma"},
		{"a data URL of no base64", "image", "data:image/png;base64,?!", "holds no base64 text"},
		{"a data URL with a broken escape", "image", "data:,%zz", "a % without two hexadecimal digits"},
		{"another scheme", "image", "file:///etc/passwd", `an attachment's URL has scheme "file"; it should be http, https or data`},
		{"a cloud's scheme", "image", "gs://bucket/cat.png", `scheme "gs"`},
		{"a URL that can't be read", "image", "http://user:canary@[::1/x.png", "an attachment's URL can't be read"},
		{"a URL without a host", "image", "https:///x.png", "names no host"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := load(t, l, c.typ, c.source)
			mustFail(t, err, fault.Permanent, c.want)
			if strings.Contains(err.Error(), "canary") || len(err.Error()) > 600 {
				t.Errorf("the error tells too much: %v", err)
			}
			if diff := cmp.Diff(model.Attachment{}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMediaTypes(t *testing.T) {
	iso := func(brands string) string {
		return "\x00\x00\x00" + string(rune(8+len(brands))) + "ftyp" + brands + "\x00\x00\x00\x08mdat"
	}
	cases := []struct {
		name, typ, declared, data, want string // want "" is an error
	}{
		{"png", "image", "", png, "image/png"},
		{"jpeg", "image", "", jpeg, "image/jpeg"},
		{"gif", "image", "", "GIF89a\x01\x00\x01\x00", "image/gif"},
		{"webp", "image", "", "RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp"},
		{"bmp", "image", "", "BM\x36\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28", "image/bmp"},
		{"a text that begins like a bitmap", "image", "", "BMW is a maker of cars", ""},
		{"little endian tiff", "image", "", "II*\x00\x08\x00\x00\x00", "image/tiff"},
		{"big endian tiff", "image", "", "MM\x00*\x00\x00\x00\x08", "image/tiff"},
		{"heic", "image", "", iso("heic\x00\x00\x00\x00mif1heic"), "image/heic"},
		{"heif", "image", "", iso("mif1\x00\x00\x00\x00mif1"), "image/heif"},
		{"avif", "image", "", iso("mif1\x00\x00\x00\x00avifmif1"), "image/avif"},
		{"a film", "image", "", iso("isom\x00\x00\x02\x00mp41"), ""},
		{"svg", "image", "", `<svg xmlns="http://www.w3.org/2000/svg"/>`, ""},
		{"an icon", "image", "", "\x00\x00\x01\x00\x01\x00\x10\x10", ""},
		{"text", "image", "", "hello", ""},
		{"unknown bytes", "image", "", pcm, ""},
		{"unknown bytes with a promise", "image", "image/png", pcm, ""},
		{"pdf", "pdf", "", pdf, "application/pdf"},
		{"pdf after a mark and a line", "pdf", "", "\ufeff\r\n" + pdf, "application/pdf"},
		{"a text about pdf", "pdf", "", "A file begins with %PDF-1.7", ""},
		{"wav", "audio", "", wav, "audio/wav"},
		{"mp3 with tags", "audio", "", mp3, "audio/mpeg"},
		{"mp3 without tags", "audio", "", "\xff\xfb\x90\x64\x00\x00", "audio/mpeg"},
		{"a reserved bit rate", "audio", "", "\xff\xfb\xf0\x64\x00\x00", ""},
		{"text in UTF-16", "audio", "", "\xff\xfeh\x00i\x00", ""},
		{"aac", "audio", "", "\xff\xf1\x50\x80\x00\x1f\xfc", "audio/aac"},
		{"ogg", "audio", "", "OggS\x00\x02\x00\x00", "audio/ogg"},
		{"flac", "audio", "", "fLaC\x00\x00\x00\x22", "audio/flac"},
		{"m4a", "audio", "", iso("M4A \x00\x00\x00\x00isom"), "audio/mp4"},
		{"aiff", "audio", "", "FORM\x00\x00\x00\x20AIFFCOMM", "audio/aiff"},
		{"amr", "audio", "", "#!AMR\n\x3c", "audio/amr"},
		{"webm", "audio", "", "\x1a\x45\xdf\xa3\x01\x00\x00\x00", "audio/webm"},
		{"midi", "audio", "", "MThd\x00\x00\x00\x06", ""},
		{"bare samples", "audio", "", pcm, ""},
		{"bare samples, declared", "audio", "audio/L16; rate=16000", pcm, "audio/l16"},
		{"bare samples, declared as what has a header", "audio", "audio/wav", pcm, ""},
		{"text, declared as samples", "audio", "audio/pcm", "hello", ""},
		{"another name of the type", "image", "IMAGE/JPG", jpeg, "image/jpeg"},
		{"another image than declared", "image", "image/png", jpeg, "image/jpeg"},
		{"declared as another type", "image", "application/pdf", png, ""},
		{"declared as nonsense", "image", "png", png, ""},
	}
	l := attachment.New(attachment.Config{})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := workflow.Attachment{Type: c.typ, MediaType: c.declared, Source: "data:;base64," + encoded(c.data)}
			got, err := l.Load(t.Context(), a)
			if c.want == "" {
				mustFail(t, err, fault.Permanent, "")
			} else if err != nil || got.MediaType != c.want {
				t.Errorf("%q, %v; want %q", got.MediaType, err, c.want)
			}
		})
	}
	_, err := l.Load(t.Context(), workflow.Attachment{Type: "pdf", MediaType: "image/png", Source: "x.pdf"})
	mustFail(t, err, fault.Permanent, `media_type "image/png" does not go with an attachment of type pdf, which is one of application/pdf`)
}

// TestSizes: the limit itself is taken, a byte more is not, whatever the way.
func TestSizes(t *testing.T) {
	const max = 1 << 20
	dir := t.TempDir()
	exact := png + strings.Repeat("\x00", max-len(png))
	writeFile(t, dir, "exact.png", exact)
	writeFile(t, dir, "more.png", exact+"\x00")
	sparse, err := os.Create(filepath.Join(dir, "sparse.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer sparse.Close()
	if err := sparse.Truncate(1 << 40); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	l := attachment.New(attachment.Config{Dir: dir, MaxBytes: max})
	for _, source := range []string{"exact.png", encoded(exact), "data:;base64," + encoded(exact)} {
		if a, err := load(t, l, "image", source); err != nil || len(a.Data) != max {
			t.Errorf("%.20s: %d bytes, %v", source, len(a.Data), err)
		}
	}
	escaped := strings.ReplaceAll(exact+"\x00", "%", "%25")
	for _, source := range []string{"more.png", "sparse.png", encoded(exact + "\x00"), "data:;base64," + encoded(exact+"\x00"), "data:," + escaped} {
		_, err := load(t, l, "image", source)
		mustFail(t, err, fault.Permanent, "is larger than 1 MiB, the most that an attachment may have")
	}
	full := attachment.New(attachment.Config{Dir: dir})
	whole := bytes.Repeat([]byte{0}, attachment.DefaultMaxBytes+1)
	copy(whole, png)
	writeFile(t, dir, "whole.png", string(whole[1:]))
	writeFile(t, dir, "over.png", string(whole))
	_, err = load(t, full, "image", "over.png")
	mustFail(t, err, fault.Permanent, "is larger than 20 MiB")
	_, err = load(t, full, "image", "whole.png") // its size is right; it has lost its first byte
	mustFail(t, err, fault.Permanent, "is not an image")
}

// TestFileEndsWithContext: reading stops when the step does, as its cause says.
func TestFileEndsWithContext(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "cat.png", png)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fault.New(fault.Timeout, "the step took too long", nil))
	_, err := attachment.New(attachment.Config{Dir: dir}).Load(ctx, workflow.Attachment{Type: "image", Source: "cat.png"})
	mustFail(t, err, fault.Timeout, `reading attachment "cat.png" was stopped: the step took too long`)
}

func TestFetchByProvider(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "cat.png", png)
	l := attachment.New(attachment.Config{Dir: dir}) // no network at all
	cases := []struct {
		name string
		a    workflow.Attachment
		want model.Attachment
	}{
		{"a URL is handed on as it is", workflow.Attachment{Type: "image", Source: " https://example.com/cat.JPG?size=1 "},
			model.Attachment{Type: model.Image, MediaType: "image/jpeg", URL: "https://example.com/cat.JPG?size=1"}},
		{"its own media type wins", workflow.Attachment{Type: "audio", Source: "http://example.com/a.mp3", MediaType: "audio/x-wav"},
			model.Attachment{Type: model.Audio, MediaType: "audio/wav", URL: "http://example.com/a.mp3"}},
		{"an extension of another type tells nothing", workflow.Attachment{Type: "image", Source: "https://example.com/cat.mp3"},
			model.Attachment{Type: model.Image, URL: "https://example.com/cat.mp3"}},
		{"a PDF has one type", workflow.Attachment{Type: "pdf", Source: "https://example.com/report"},
			model.Attachment{Type: model.PDF, MediaType: "application/pdf", URL: "https://example.com/report"}},
		{"what is no URL comes from here", workflow.Attachment{Type: "image", Source: "cat.png"},
			model.Attachment{Type: model.Image, MediaType: "image/png", Data: []byte(png)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.a.Fetch = "provider"
			got, err := l.Load(t.Context(), c.a)
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
	_, err := l.Load(t.Context(), workflow.Attachment{Type: "image", Source: "ftp://example.com/cat.png", Fetch: "provider"})
	mustFail(t, err, fault.Permanent, `scheme "ftp"`)
}

// FuzzLoad: no source panics, reads the network or gets past its type.
func FuzzLoad(f *testing.F) {
	for _, source := range []string{"cat.png", encoded(png), "data:;base64," + encoded(jpeg), "data:,%zz", "http://127.0.0.1/", "a://b", "data:"} {
		f.Add("image", source)
	}
	dir := f.TempDir()
	l := attachment.New(attachment.Config{Dir: dir, Network: sandbox.Network{Use: "attachment"}})
	f.Fuzz(func(t *testing.T, typ, source string) {
		if strings.HasPrefix(strings.TrimSpace(source), "/") || strings.Contains(source, "..") {
			return // files outside of the test
		}
		a, err := l.Load(context.Background(), workflow.Attachment{Type: typ, Source: source})
		if err != nil {
			if k := fault.KindOf(err); k != fault.Permanent && k != fault.Transient {
				t.Fatalf("kind %v: %v", k, err)
			}
			return
		}
		known := false
		for _, m := range attachment.MediaTypes(a.Type) {
			known = known || m == a.MediaType
		}
		if !known || len(a.Data) == 0 || a.URL != "" {
			t.Fatalf("%q gives %+v", source, a)
		}
	})
}
