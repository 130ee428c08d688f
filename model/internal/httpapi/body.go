package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/agentloom/agentloom/fault"
)

// The largest answers that are read, in bytes after decompression.
const (
	// MaxAnswer is that of a model's answer, many times what the largest
	// models write.
	MaxAnswer = 32 << 20
	// MaxVectors is that of an embedding call's: 2,048 vectors of 1,536 numbers
	// are some 40 MB.
	MaxVectors = 64 << 20
)

// What is still read of an answer that its reader leaves, so that the
// connection can carry the next call.
const (
	drainSize = 64 << 10
	drainTime = 50 * time.Millisecond
)

// Guard bounds an answer's body: reading more than max bytes of it is a
// permanent *fault.Error, so that half an answer is never taken for a whole
// one, and a connection that breaks while it is read a transient one. Closing
// the body first reads the little that may be left, such as the end of a stream
// after its end marker: without that, the connection would be closed too.
func (s Service) Guard(res *http.Response, max int64) {
	res.Body = &guarded{ReadCloser: res.Body, service: s, max: max, left: max}
}

type guarded struct {
	io.ReadCloser
	service   Service
	max, left int64
	ended     bool // there is nothing more to read
}

func (g *guarded) Read(p []byte) (int, error) {
	// One byte more than is left tells an answer of the limit's size from a
	// longer one.
	if int64(len(p)) > g.left+1 {
		p = p[:g.left+1]
	}
	n, err := g.ReadCloser.Read(p)
	if int64(n) > g.left {
		text := fmt.Sprintf("%s answered more than %d bytes, which is more than is read of an answer", g.service.Name, g.max)
		return 0, fault.New(fault.Permanent, text, nil)
	}
	g.left -= int64(n)
	g.ended = err != nil
	if err != nil && !errors.Is(err, io.EOF) {
		text := fmt.Sprintf("the connection to %s broke before its answer was whole: %s", g.service.Name, Clean(err.Error(), g.service.Key))
		err = fault.New(fault.Transient, text, err)
	}
	return n, err
}

// Close takes no more than a moment, even when the service keeps the answer
// open.
func (g *guarded) Close() error {
	if g.ended {
		return g.ReadCloser.Close()
	}
	late := time.AfterFunc(drainTime, func() { _ = g.ReadCloser.Close() })
	defer late.Stop()
	// It makes no difference why reading ends.
	_, _ = io.Copy(io.Discard, io.LimitReader(g.ReadCloser, drainSize))
	return g.ReadCloser.Close()
}
