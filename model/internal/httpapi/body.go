package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/agentloom/agentloom/fault"
)

// MaxAnswer is the largest answer that is read, in bytes after decompression.
const MaxAnswer = 64 << 20

// Guard bounds an answer's body: reading more than max bytes of it is a
// permanent *fault.Error, so that half an answer is never taken for a whole
// one, and a connection that breaks while it is read a transient one.
func (s Service) Guard(res *http.Response, max int64) {
	res.Body = &guarded{ReadCloser: res.Body, service: s, max: max, left: max}
}

type guarded struct {
	io.ReadCloser
	service   Service
	max, left int64
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
	if err != nil && !errors.Is(err, io.EOF) {
		text := fmt.Sprintf("the connection to %s broke before its answer was whole: %s", g.service.Name, Clean(err.Error(), g.service.Key))
		err = fault.New(fault.Transient, text, err)
	}
	return n, err
}
