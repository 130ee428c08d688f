package builtin

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// body reads a response's body to its end, as text.
func (c *client) body(resp *http.Response) (string, error) {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return "", nil // what follows is no body
	}
	r, err := decompressed(resp)
	if err != nil {
		return "", err
	}
	if c.max > 0 {
		r = io.LimitReader(r, c.max+1)
	}
	b, err := io.ReadAll(stoppable{resp.Request.Context(), r})
	if err != nil {
		return "", err
	}
	if c.max > 0 && int64(len(b)) > c.max {
		return "", tooLarge("the response body", c.max)
	}
	text, _ := charset(resp.Header.Get("Content-Type")).decode(b)
	return text, nil
}

// stoppable ends with its context, also while a few compressed bytes, long
// received, go on expanding.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.r.Read(p)
}

// charset is the encoding that a Content-Type names, utf-8 where it names none
// or one that is not known.
func charset(contentType string) codec {
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		if c, ok := codecFor(params["charset"]); ok {
			return c
		}
	}
	c, _ := codecFor("utf-8")
	return c
}

// decompressed undoes the response's content encodings. One that is not known
// is left as it is, with those beneath it.
func decompressed(resp *http.Response) (io.Reader, error) {
	const most = 5 // a hostile server may list thousands
	codings := strings.Split(strings.Join(resp.Header.Values("Content-Encoding"), ","), ",")
	if len(codings) > most {
		return nil, fmt.Errorf("the response has %d content encodings; at most %d are read", len(codings), most)
	}
	var r io.Reader = resp.Body
	for i := len(codings) - 1; i >= 0; i-- {
		var open func(*bufio.Reader) (io.Reader, error)
		switch strings.ToLower(strings.TrimSpace(codings[i])) {
		case "gzip", "x-gzip":
			open = openGzip
		case "deflate":
			open = openDeflate
		case "", "identity":
			continue
		default:
			return r, nil
		}
		b := bufio.NewReader(r)
		if _, err := b.Peek(1); errors.Is(err, io.EOF) {
			return b, nil // an empty body is not compressed
		}
		z, err := open(b)
		if err != nil {
			return nil, badCoding(codings[i], err)
		}
		r = &codingReader{r: z, coding: codings[i]}
	}
	return r, nil
}

func openGzip(b *bufio.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipMembers{b, z}, nil
}

// gzipMembers reads one member after the other. What follows the last and is
// no member, such as padding, is left alone, as browsers do.
type gzipMembers struct {
	in *bufio.Reader
	z  *gzip.Reader
}

func (g *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		switch {
		case !errors.Is(err, io.EOF):
			return n, err
		case n > 0:
			return n, nil // the end is found again
		}
		if head, _ := g.in.Peek(2); string(head) != "\x1f\x8b" {
			return 0, io.EOF
		}
		if err := g.z.Reset(g.in); err != nil {
			return 0, err
		}
		g.z.Multistream(false)
	}
}

// openDeflate reads the zlib format that HTTP means by deflate, or the bare
// one that some servers send.
func openDeflate(b *bufio.Reader) (io.Reader, error) {
	const method = 8
	if head, err := b.Peek(2); err == nil && head[0]&0x0f == method && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}

// codingReader says which encoding a body breaks.
type codingReader struct {
	r      io.Reader
	coding string
}

func (c *codingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = badCoding(c.coding, err)
	}
	return n, err
}

func badCoding(coding string, err error) error {
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) {
		return fmt.Errorf("the response body is no valid %s: %w", strings.TrimSpace(coding), err)
	}
	return err
}
