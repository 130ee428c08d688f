// Package attachment fetches what a model step attaches to its prompt: from a
// URL, from a file, or out of the workflow itself.
package attachment

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/sandbox"
	"github.com/agentloom/agentloom/workflow"
)

// DefaultMaxBytes is the largest attachment that is taken: 20 MiB, counted
// after decompression and decoding.
const DefaultMaxBytes = 20 << 20

// Config says how attachments are loaded.
type Config struct {
	// Dir is where relative paths start; "" is the process's directory.
	Dir string
	// Network is what may be downloaded from: sandbox.AttachmentNetwork of the
	// workflow's sandbox. The zero value allows no downloads.
	Network sandbox.Network
	// Sandbox, when it is enabled, says which files may be attached; nil: any.
	Sandbox *sandbox.Policy
	// Options say how the network is reached. MaxBody is set by New.
	Options sandbox.Options
	// UserAgent goes with each download; "" is the name of Go's client.
	UserAgent string
	// MaxBytes is the largest attachment; 0 is DefaultMaxBytes.
	MaxBytes int64
}

// Loader loads attachments. It may be used by many goroutines.
type Loader struct {
	dir       string
	userAgent string
	max       int64
	guard     *sandbox.Guard
	policy    *sandbox.Policy // nil: any file
}

// New returns a Loader.
func New(cfg Config) *Loader {
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	cfg.Options.MaxBody = cfg.MaxBytes
	guard := sandbox.NewGuard(cfg.Network, cfg.Options)
	l := &Loader{dir: cfg.Dir, userAgent: cfg.UserAgent, max: cfg.MaxBytes, guard: guard}
	if cfg.Sandbox != nil && cfg.Sandbox.Enabled() {
		l.policy, l.dir = cfg.Sandbox.As("attachment"), cfg.Sandbox.Dir()
	}
	return l
}

// Load fetches an attachment whose source is rendered already. The source is
// taken as the first of these that it can be:
//
//  1. a data: URL;
//  2. an http or https URL, which is downloaded through the sandbox's guard, or
//     handed on for the service to fetch with `fetch: provider`;
//  3. the path of a file that exists, relative to Dir: a regular one only;
//  4. base64 text, in either alphabet, with or without padding and line breaks.
//
// What the bytes are decides the media type, whatever a server, a data URL, a
// file's name or media_type says, and it must be one of the attachment's type
// (see MediaTypes). media_type must be one of them too; it is used where the
// bytes can't tell, and for a URL that the service fetches.
//
// Errors are *fault.Error. A refusal of the sandbox is Transient, since a
// refused attachment is tried again, and so are network faults and the
// statuses that may pass (408, 409, 425, 429, 5xx). A missing file, an empty
// or too large attachment and one of another type are Permanent. The end of
// ctx has the kind of its cause.
func (l *Loader) Load(ctx context.Context, a workflow.Attachment) (model.Attachment, error) {
	typ := model.AttachmentType(a.Type)
	if len(MediaTypes(typ)) == 0 {
		return model.Attachment{}, permanent(nil, "%q is no type of attachment; there are image, pdf and audio", a.Type)
	}
	declared, err := declaredType(typ, a.MediaType)
	if err != nil {
		return model.Attachment{}, err
	}
	source := strings.TrimSpace(a.Source)
	if source == "" {
		return model.Attachment{}, permanent(nil, "the source of an attachment (%s) is empty; it should be a URL, a path or base64 text", typ)
	}
	if hasPrefixFold(source, "data:") {
		data, err := l.decodeDataURL(source)
		return finish(typ, declared, "the attachment's data URL", data, err)
	}
	if isURL(source) {
		return l.loadURL(ctx, typ, declared, source, a.Fetch)
	}
	return l.loadText(ctx, typ, declared, source)
}

func (l *Loader) loadURL(ctx context.Context, typ model.AttachmentType, declared, source, fetch string) (model.Attachment, error) {
	u, err := parseURL(source)
	if err != nil {
		return model.Attachment{}, err
	}
	if fetch == "provider" {
		if declared == "" {
			declared = byExtension(typ, u.Path)
		}
		return model.Attachment{Type: typ, MediaType: declared, URL: source}, nil
	}
	data, err := l.download(ctx, u)
	return finish(typ, declared, "attachment "+shown(u), data, err)
}

// loadText takes the source for a path, and where there is no such file for
// base64. What decodes and is nothing of the type is as likely a misspelled
// path, unless it is too long for one.
func (l *Loader) loadText(ctx context.Context, typ model.AttachmentType, declared, source string) (model.Attachment, error) {
	name := "attachment " + quote(source)
	data, fileErr := l.readFile(ctx, source)
	refused := fileErr != nil && errors.Is(fileErr, errRefused)
	if fileErr == nil || !isMissing(fileErr) && !refused {
		return finish(typ, declared, name, data, fileErr)
	}
	data, err := l.decodeBase64(source)
	if err != nil && !isNoBase64(err) {
		return model.Attachment{}, err
	}
	if err == nil {
		a, err := finish(typ, declared, "the attachment's base64 text", data, nil)
		if err == nil || len(source) > longestPath {
			return a, err
		}
	}
	if refused { // what is no path, such as base64, is refused as one too
		return model.Attachment{}, fileErr
	}
	if len(source) > longestPath {
		return model.Attachment{}, permanent(nil, "the source of an attachment (%d characters) is neither a URL nor a path nor base64 text", len(source))
	}
	return model.Attachment{}, permanent(fileErr, "%s: there is no such file%s, and it is no base64 text of %s",
		name, l.inDir(source), described(typ))
}

// inDir says where a relative path was looked for.
func (l *Loader) inDir(path string) string {
	if l.dir == "" || filepath.IsAbs(path) {
		return ""
	}
	return " in " + quote(l.dir)
}

// finish judges what was loaded. name begins the errors.
func finish(typ model.AttachmentType, declared, name string, data []byte, err error) (model.Attachment, error) {
	if err != nil {
		return model.Attachment{}, err
	}
	mediaType, err := judge(typ, declared, data)
	if err != nil {
		return model.Attachment{}, permanent(err, "%s %s", name, err)
	}
	return model.Attachment{Type: typ, MediaType: mediaType, Data: data}, nil
}

func permanent(cause error, format string, args ...any) *fault.Error {
	return fault.New(fault.Permanent, fmt.Sprintf(format, args...), cause)
}

func (l *Loader) tooLarge(name string) *fault.Error {
	return permanent(sandbox.ErrTooLarge, "%s is larger than %s, the most that an attachment may have", name, size(l.max))
}

func size(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// shown is what an error says of a URL: neither user nor query, which may hold
// secrets.
func shown(u *url.URL) string {
	return quote((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String())
}
