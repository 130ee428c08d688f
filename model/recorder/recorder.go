// Package recorder keeps what model services answer, and what tools returned
// to the model, in a file from which the run can be repeated offline.
//
// The file has the mock provider's format (see package mock) with `_version`
// 2. A call is kept under the qualified id of its step; one without a step, or
// whose id begins with "_" (metadata, for the mock provider), under its
// request's hash. A step that makes several calls, such as the turns of a tool
// loop, has a list of responses, in the order in which the calls began. A
// streamed answer is kept as one response. latency_ms is the call's whole
// time.
//
// A call that failed is not kept, even when the service billed it: a replay
// makes no failing calls. Of a step that was tried again only the last attempt
// is kept.
//
// With tools recorded, `_tools` is a list of {step_id, name, arguments, result}
// or {…, error}: what each tool call of the model returned. ToolReplay reads
// them back.
//
// # Merging
//
// What the file has stays, with one exception: the first success that a
// Recorder sees of a step replaces all that the file has of that step, tool
// results included, and later ones are added. So a Recorder is for one run.
//
// # Durability
//
// Each call returns when its record is on disk: the file is written beside its
// place, synced and renamed (mode 0600), under an advisory lock, FILE.lock,
// that exists only meanwhile. Several processes may record into one file. At
// no instant does the file hold half a record. Calls that end while a write is
// going on share the next one, so that many calls at once cost few writes.
package recorder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/mock"
)

// Version is the value of `_version` in the files that are written.
const Version = 2

// DefaultMaxBytes is the default of Config.MaxBytes.
const DefaultMaxBytes = 256 << 20

// Config is what a Recorder needs.
type Config struct {
	// File is the recording's path; required. Its folder must exist; the file
	// may, and is merged with. A link is followed once, when the Recorder is
	// made.
	File string
	// Redact is applied to every text that comes from a model or a tool before
	// it is written, keys of objects included; nil leaves them as they are. It
	// must be safe for concurrent use.
	Redact func(string) string
	// MaxBytes bounds the file; default DefaultMaxBytes.
	MaxBytes int64
	// OnError is told each time that a record could not be written, from the
	// goroutine of the call; nil tells nobody. See Recorder.Flush.
	OnError func(error)
}

// Recorder writes one recording. It is safe for concurrent use, and meant for
// one run.
type Recorder struct {
	path     string
	redact   func(string) string
	onError  func(error)
	maxBytes int64

	// What this run recorded, and the writing of it; see commit.
	mu      sync.Mutex
	seq     uint64
	own     own
	pending *batch
	writing bool
	lost    error // why records are missing for good
	unsaved bool  // the last write failed

	// The file as it was last seen; only whoever writes touches them.
	base     contents
	baseInfo fs.FileInfo // nil: there was none
}

// New opens a recording, and writes it once, so that a file that can't be
// written shows before any call is paid for. Its errors are *fault.Error of
// kind Invalid: a file that is no recording, or can't be read or written.
func New(cfg Config) (*Recorder, error) {
	if cfg.File == "" {
		return nil, fault.New(fault.Invalid, "a recording needs the name of a file", nil)
	}
	r := &Recorder{
		redact:   cfg.Redact,
		onError:  cfg.OnError,
		maxBytes: cmp.Or(cfg.MaxBytes, DefaultMaxBytes),
		own:      own{turns: map[string][]turn{}, fresh: map[string]bool{}},
	}
	if r.redact == nil {
		r.redact = func(s string) string { return s }
	}
	if r.onError == nil {
		r.onError = func(error) {}
	}
	var err error
	if r.path, err = resolve(cfg.File); err != nil {
		return nil, unusable(cfg.File, err)
	}
	if err := r.check(); err != nil {
		return nil, unusable(cfg.File, err)
	}
	if err := r.write(); err != nil {
		return nil, unusable(cfg.File, err)
	}
	return r, nil
}

func unusable(file string, err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind == fault.Invalid {
		return f // it names the file, with line and column
	}
	return fault.New(fault.Invalid, fmt.Sprintf("can't record to %s: %v", file, err), err)
}

// resolve follows links, so that the file they lead to is replaced and not the
// link.
func resolve(file string) (string, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	switch real, err := filepath.EvalSymlinks(abs); {
	case err == nil:
		return real, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if _, err := os.Lstat(abs); err == nil {
		return "", errors.New("it is a link that leads nowhere")
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}

// check refuses to merge into what is no recording.
func (r *Recorder) check() error {
	src, _, err := readFile(r.path, r.maxBytes)
	if err != nil || src == nil {
		return err
	}
	_, err = mock.New(mock.Config{Responses: src, File: r.path})
	return err
}

// Wrap returns a provider that makes its calls through p and records their
// successes. A success that can't be recorded is returned all the same, so that
// no answer is lost or paid for twice; see Config.OnError and Flush. To record
// costs, wrap what computes them.
func (r *Recorder) Wrap(p model.Provider) model.Provider {
	return &provider{recorder: r, inner: p}
}

type provider struct {
	recorder *Recorder
	inner    model.Provider
}

func (p *provider) Name() string { return p.inner.Name() }

// Close closes the wrapped provider, when it can be closed.
func (p *provider) Close() error {
	if c, ok := p.inner.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// TakesAnyModel reports whether the wrapped provider says so of itself.
func (p *provider) TakesAnyModel() bool {
	t, ok := p.inner.(interface{ TakesAnyModel() bool })
	return ok && t.TakesAnyModel()
}

func (p *provider) Complete(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	r := p.recorder
	key, attempt := keyOf(req.StepID, req.Attempt, func() string { return mock.Hash(req) })
	n, start := r.begin(), time.Now()
	res, err := p.inner.Complete(ctx, req, stream)
	if err != nil || res == nil {
		return res, err
	}
	r.add(key, turn{seq: n, attempt: attempt}, r.completion(res, time.Since(start)))
	return res, nil
}

func (p *provider) Embed(ctx context.Context, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	r := p.recorder
	key, attempt := keyOf(req.StepID, req.Attempt, func() string { return mock.HashEmbed(req) })
	n, start := r.begin(), time.Now()
	res, err := p.inner.Embed(ctx, req)
	if err != nil || res == nil {
		return res, err
	}
	r.add(key, turn{seq: n, attempt: attempt}, r.embedding(res, time.Since(start)))
	return res, nil
}

// keyOf is where a call's response goes. Under a hash, which several steps may
// share, there are no attempts.
func keyOf(stepID string, attempt int, hash func() string) (key string, ofAttempt int) {
	if stepID == "" || strings.HasPrefix(stepID, "_") {
		return hash(), 0
	}
	return stepID, attempt
}

// begin numbers a call, so that a step's responses stand in the order of its
// calls and not of their ends.
func (r *Recorder) begin() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	return r.seq
}

// add records one response and returns when it is on disk.
func (r *Recorder) add(key string, t turn, e entry) {
	raw, err := encode(e)
	if err != nil {
		err = r.lose(err)
	} else {
		t.raw = raw
		err = r.commit(len(raw), func() { r.own.addTurn(key, t) })
	}
	if err != nil {
		r.onError(err)
	}
}

// lose remembers that a record is missing for good.
func (r *Recorder) lose(err error) error {
	err = r.failed(err)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost == nil {
		r.lost = err
	}
	return err
}

// failed is the error of a record that could not be written.
func (r *Recorder) failed(err error) error {
	return fault.New(fault.Permanent, fmt.Sprintf("can't record to %s: %v", r.path, err), err)
}

// Flush writes the records that could not be written before; every later call
// tries that too. It returns nil when the file holds everything that was
// recorded, else a permanent fault. It is for the end of a run.
func (r *Recorder) Flush() error {
	r.mu.Lock()
	lost, unsaved := r.lost, r.unsaved
	r.mu.Unlock()
	if unsaved {
		if err := r.commit(0, func() {}); err != nil {
			return err
		}
	}
	return lost
}
