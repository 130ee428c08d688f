package workdir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"unicode/utf8"
)

// firstRead is how much of a file is read at once, in bytes; more only where a
// line is longer.
const firstRead = 64 << 10

// maxShown is how many characters of a line are shown, around the match.
const maxShown = 400

// A searcher looks for a pattern in one file after the other. It belongs to one
// goroutine.
type searcher struct {
	ctx    context.Context
	space  *space
	find   *finder
	buf    []byte
	most   int // lines of a file
	unread func()
}

// search appends the lines of a file that match, as "path:line: text". A binary
// file has none.
func (s *searcher) search(to []string, f file) []string {
	file, size, err := s.open(f)
	if err != nil {
		s.unread()
		return to
	}
	defer file.Close()
	had := len(to)
	to, err = s.scan(to, file, size, f)
	switch {
	case errors.Is(err, errBinary):
		return to[:had]
	case err != nil:
		s.unread()
	}
	return to
}

func (s *searcher) open(f file) (file *os.File, size int64, err error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if f.link {
		err = s.space.within(f.path(), func(root *os.Root, name string) (err error) {
			file, err = root.OpenFile(name, flags, 0)
			return err
		})
	} else {
		file, err = f.in.root.OpenFile(f.name, flags, 0)
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat() // something else may be there by now
	if err := regular(info, err); err != nil {
		_ = file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// scan reads a file piece by piece. Of a line longer than the pattern allows,
// only the start is searched.
func (s *searcher) scan(to []string, from io.Reader, size int64, f file) ([]string, error) {
	most := len(to) + s.most
	line := 1      // number of the first line in buf
	held := 0      // bytes of buf that are not searched yet
	skip := false  // the rest of a line that was too long
	var read int64 // of the file
	for end := false; !end; {
		if s.ctx.Err() != nil {
			return to, context.Cause(s.ctx)
		}
		n, err := from.Read(s.buf[held:])
		fresh := s.buf[held : held+n]
		read += int64(n)
		// A file that was read to its known end is not asked again.
		end = errors.Is(err, io.EOF) || read == size && held+n < len(s.buf)
		if err != nil && !end {
			return to, err
		}
		if bytes.IndexByte(fresh, 0) >= 0 {
			return to, errBinary
		}
		held += n
		piece, whole := s.buf[:held], bytes.LastIndexByte(fresh, '\n')
		switch {
		case end:
		case whole >= 0:
			piece = s.buf[:held-n+whole+1]
		case held < len(s.buf):
			continue
		case held < s.find.longest && !skip:
			s.buf = append(s.buf, make([]byte, min(len(s.buf), s.find.longest-held))...)
			continue
		}
		body := piece
		if skip {
			if at := bytes.IndexByte(body, '\n'); at >= 0 {
				body, skip = body[at+1:], false
				line++
			} else {
				body = nil
			}
		}
		to = s.lines(to, body, line, most, f)
		if len(to) >= most {
			return to, nil
		}
		if !end {
			skip = skip || whole < 0
			line += bytes.Count(body, []byte("\n"))
		}
		held = copy(s.buf, s.buf[len(piece):held])
	}
	return to, nil
}

// lines searches a piece of whole lines.
func (s *searcher) lines(to []string, piece []byte, line, most int, f file) []string {
	if len(piece) == 0 {
		return to
	}
	s.find.start(piece)
	stop := func() bool { return s.ctx.Err() != nil }
	counted := 0 // line is the number of the line that starts here
	for at := 0; len(to) < most; {
		start, end, ok := s.find.line(at, stop)
		if !ok {
			break
		}
		line += bytes.Count(piece[counted:start], []byte("\n"))
		counted = start
		to = append(to, fmt.Sprintf("%s:%d: %s", shown(f.path()), line, s.excerpt(withoutCR(piece[start:end]))))
		at = end + 1
	}
	return to
}

// excerpt is a line, or of a long one the part around the match.
func (s *searcher) excerpt(line []byte) string {
	if len(line) <= maxShown {
		return text(line)
	}
	from, dots := 0, ""
	if at := s.find.re.FindIndex(line); at != nil && at[0] > maxShown/2 {
		from, dots = at[0]-maxShown/4, "..."
		for from > 0 && !utf8.RuneStart(line[from]) {
			from--
		}
	}
	part := line[from:]
	if len(part) <= maxShown {
		return dots + text(part)
	}
	cut := maxShown
	for cut > 0 && !utf8.RuneStart(part[cut]) {
		cut--
	}
	return dots + text(part[:cut]) + "..."
}
