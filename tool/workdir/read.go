package workdir

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agentloom/agentloom/tool"
)

// ReadOptions configure Read.
type ReadOptions struct {
	Name      string // what the model calls it; default "read"
	LineLimit int    // the most lines a call; default 2000
}

const (
	lineLimit = 2000
	// A line and an answer of read, in bytes, beyond which they are cut.
	maxReadLine   = 64 << 10
	maxReadAnswer = 4 << 20
	// How much is read past the shown part, to count the lines that are left.
	maxCounted = 256 << 20
	// A NUL byte in this many first bytes makes a file binary.
	binaryHead = 8 << 10
)

// Read returns the tool that shows a text file's lines with their numbers, from
// 1: read(path, offset=0, limit=2000). offset is how many lines are left out
// before the first; limit is at most LineLimit. What is not shown is counted in
// the last line. Of a line only the first 64 KiB are shown, and an answer holds
// at most 4 MiB. dir is the directory it works in; "" is DefaultWorkdir.
func Read(dir string, opts ReadOptions) tool.Tool { return newSpace(dir).reader(opts) }

type readArgs struct {
	Path   string `json:"path" jsonschema:"The file to read."`
	Offset int    `json:"offset,omitempty" jsonschema:"How many lines to leave out before the first; 0 when left out."`
	Limit  *int   `json:"limit,omitempty" jsonschema:"The most lines to show; 2000 when left out."`
}

func (s *space) reader(opts ReadOptions) tool.Tool {
	opts.LineLimit = orDefault(opts.LineLimit, lineLimit)
	opts.Name = orDefault(opts.Name, "read")
	return newTool(opts.Name, "", "Read a text file. Each line comes with its number, from 1, and a tab before it.",
		func(ctx context.Context, in readArgs) (string, error) {
			limit := opts.LineLimit
			if in.Limit != nil {
				limit = min(limit, *in.Limit)
			}
			if in.Offset < 0 || limit < 1 {
				return "", errors.New("offset must be 0 or more and limit 1 or more")
			}
			var shown string
			err := s.within(in.Path, func(root *os.Root, name string) error {
				f, _, done, err := openFile(ctx, root, name)
				if err != nil {
					return err
				}
				defer done()
				p := page{in: bufio.NewReaderSize(f, maxReadLine), ctx: ctx, offset: in.Offset, limit: limit, again: opts.Name}
				shown, err = p.read()
				return err
			})
			return shown, pathError("read", in.Path, err)
		}, tool.WithEffect(tool.Pure))
}

// page is the part of a file that one call shows.
type page struct {
	in            *bufio.Reader
	ctx           context.Context
	offset, limit int
	again         string // the tool to call for more
	out           strings.Builder
}

func (p *page) read() (string, error) {
	head, err := p.in.Peek(binaryHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", p.stopped(err)
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return "", errBinary
	}
	at := 0 // lines that are behind
	for ; at < p.offset+p.limit && p.out.Len() < maxReadAnswer; at++ {
		line, cut, err := p.line()
		if errors.Is(err, io.EOF) {
			if at < p.offset || at == p.offset && at > 0 {
				return "", fmt.Errorf("offset %d is past its end: it has %d line(s)", p.offset, at)
			}
			return p.out.String(), nil
		}
		if err != nil {
			return "", err
		}
		if at >= p.offset {
			p.put(at+1, line, cut)
		}
	}
	left, all, err := p.count()
	if err != nil {
		return "", err
	}
	if left > 0 {
		more := ""
		if !all {
			more = "at least "
		}
		fmt.Fprintf(&p.out, "\n... (%s%d more line(s); call %s() again with offset=%d)", more, left, p.again, at)
	}
	return p.out.String(), nil
}

func (p *page) put(number int, line []byte, cut int64) {
	if p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
	fmt.Fprintf(&p.out, "%6d\t%s", number, text(line))
	if cut > 0 {
		fmt.Fprintf(&p.out, "... (line cut, %d more bytes)", cut)
	}
}

// line returns the next line without its break, as far as the buffer holds it,
// and how many bytes were cut. It is valid until the next read.
func (p *page) line() (line []byte, cut int64, err error) {
	line, err = p.in.ReadSlice('\n')
	switch {
	case err == nil:
		return line[:len(line)-1], 0, nil
	case errors.Is(err, io.EOF) && len(line) > 0:
		return line, 0, nil
	case !errors.Is(err, bufio.ErrBufferFull):
		return nil, 0, p.stopped(err)
	}
	line = bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		if p.ctx.Err() != nil {
			return nil, 0, context.Cause(p.ctx)
		}
		var rest []byte
		rest, err = p.in.ReadSlice('\n')
		cut += int64(len(bytes.TrimSuffix(rest, []byte("\n"))))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, p.stopped(err)
	}
	return line, cut, nil
}

// count counts the lines that are left, and says whether these are all.
func (p *page) count() (lines int, all bool, err error) {
	open := false // inside a line
	for seen := 0; seen < maxCounted; {
		if p.ctx.Err() != nil {
			return 0, false, context.Cause(p.ctx)
		}
		if _, err := p.in.Peek(1); errors.Is(err, io.EOF) {
			if open {
				lines++
			}
			return lines, true, nil
		} else if err != nil {
			return 0, false, p.stopped(err)
		}
		chunk, _ := p.in.Peek(p.in.Buffered())
		lines += bytes.Count(chunk, []byte("\n"))
		open = chunk[len(chunk)-1] != '\n'
		seen += len(chunk)
		_, _ = p.in.Discard(len(chunk)) // they are buffered
	}
	return max(lines, 1), false, nil
}

// stopped is the reason of a read that failed.
func (p *page) stopped(err error) error {
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	return err
}
