package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloom/agentloom/fault"
)

const (
	grace         = time.Second // that a program has to end, each time it is told
	maxNoise      = 100         // lines on standard output that are no messages
	maxStderrLine = 4 << 10
	maxStderr     = 1 << 20
	maxTail       = 1 << 10 // of standard error, in the error of a program that ended
)

// process is a server that runs as a program.
type process struct {
	server *server
	cmd    *exec.Cmd
	stdin  *os.File
	out    *bufio.Reader

	read   chan struct{} // closed when nothing more is read from its output
	heard  chan struct{} // closed when its standard error has ended
	exited chan struct{} // closed when it has ended and was waited for
	ended  string        // how it did; set before exited is closed
	killed atomic.Bool   // it did not end by itself

	writing  sync.Mutex
	reading  sync.Once
	stopping sync.Once

	mu    sync.Mutex
	tail  string // the last that it printed to standard error
	noise string // the first line on standard output that was no message
}

// run starts the program, in a process group of its own.
func (s *server) run() (*process, error) {
	opts := s.all.opts
	path, err := lookPath(s.def.Command, opts.Dir, opts.Environ)
	if err != nil {
		return nil, s.fault(fault.Permanent, fmt.Sprintf("command %q can't be started", s.def.Command), err)
	}
	p := &process{server: s, read: make(chan struct{}), heard: make(chan struct{}), exited: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: path, Args: append([]string{s.def.Command}, s.def.Args...), Dir: opts.Dir, Env: s.env}
	ownGroup(p.cmd)
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, s.fault(fault.Transient, "it can't be started", err)
	}
	defer in.Close()
	p.cmd.Stdin, p.stdin = in, stdin
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		var stderr io.ReadCloser
		if stderr, err = p.cmd.StderrPipe(); err == nil {
			if err = opts.Start(s.def, p.cmd); err == nil {
				p.out = bufio.NewReaderSize(stdout, 64<<10)
				s.background(func() { p.hear(stderr) })
				s.background(p.wait)
				return p, nil
			}
		} else {
			_ = stdout.Close()
		}
	}
	_ = stdin.Close()
	if fault.KindOf(err) == fault.Refused {
		return nil, err
	}
	return nil, s.fault(fault.Permanent, fmt.Sprintf("command %q can't be started", s.def.Command), pathless(err))
}

// pathless takes the path off an operating system's error; the message names
// the command as it was written.
func pathless(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

// wait waits until the program has ended, then ends what it left behind in its
// group. What it printed last is still read.
func (p *process) wait() {
	state := awaitExit(p.cmd.Process)
	killGroup(p.cmd.Process.Pid)
	drained := time.NewTimer(grace)
	defer drained.Stop()
	for _, done := range []chan struct{}{p.read, p.heard} {
		select {
		case <-done:
		case <-drained.C: // a process out of the group keeps the pipes open
			drained.Reset(0)
		}
	}
	_ = p.cmd.Wait() // closes the pipes; how it ended is in its state
	if state == nil {
		state = p.cmd.ProcessState
	}
	p.ended = state.String()
	close(p.exited)
}

// Connect returns the process itself, which is running already.
func (p *process) Connect(context.Context) (sdk.Connection, error) { return p, nil }

// SessionID is "": a program serves one session.
func (p *process) SessionID() string { return "" }

// Read returns the next message. Lines that are none, such as a banner, are
// passed over, a few of them.
func (p *process) Read(context.Context) (jsonrpc.Message, error) {
	msg, err := p.next()
	if err != nil {
		p.reading.Do(func() { close(p.read) })
		if !errors.Is(err, io.EOF) {
			p.kill() // it broke the protocol
		}
	}
	return msg, err
}

func (p *process) next() (jsonrpc.Message, error) {
	for noise := 0; ; {
		line, err := p.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			continue
		}
		if line[0] == '{' {
			msg, err := decode(line)
			if err != nil {
				p.keepNoise(line)
				return nil, err
			}
			if msg != nil {
				return msg, nil
			}
		}
		p.keepNoise(line)
		if noise++; noise > maxNoise {
			return nil, fault.New(fault.Permanent, "it does not speak MCP: it printed a hundred lines that are no messages", nil)
		}
	}
}

// decode reads a line that begins as a message does. It returns nothing for one
// that is valid but no message, such as a log line.
func decode(line []byte) (jsonrpc.Message, error) {
	if !json.Valid(line) { // which bounds the depth too
		return nil, fault.New(fault.Permanent, "it sent what is no valid JSON", nil)
	}
	msg, err := jsonrpc.DecodeMessage(line)
	switch {
	case err == nil:
		return msg, nil
	case bytes.Contains(line, []byte(`"jsonrpc"`)):
		return nil, fault.New(fault.Permanent, "it sent a message that can't be read: "+err.Error(), err)
	}
	return nil, nil
}

func (p *process) keepNoise(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.noise == "" {
		p.noise = printable(line[:min(len(line), 200)])
	}
}

// line reads a line, without its end and the space around it.
func (p *process) line() ([]byte, error) {
	var line []byte
	most := p.server.all.maxMessage()
	for {
		part, err := p.out.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, fault.New(fault.Permanent, fmt.Sprintf("it sent a message of more than %d bytes", most), nil)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSpace(line), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, io.EOF // a line that is cut is no message
		}
	}
}

// Write sends a message. A program that does not read can't hold it up for
// longer than ctx; the message is then cut, which ends the connection.
func (p *process) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = p.stdin.SetWriteDeadline(time.Unix(1, 0))
		close(fired)
	})
	n, err := p.stdin.Write(append(data, '\n'))
	if !stop() {
		<-fired
		_ = p.stdin.SetWriteDeadline(time.Time{})
		if err != nil && n > 0 {
			p.kill()
		}
	}
	if err == nil {
		exchangeOf(ctx).note(func(e *exchange) { e.sent = true })
	}
	return err
}

// Close ends the program: its input is closed, then it is told to end, then it
// is killed. It returns when the program has ended.
func (p *process) Close() error {
	p.stopping.Do(func() {
		_ = p.stdin.Close()
		for _, then := range []func(int){terminateGroup, killGroup} {
			patience := time.NewTimer(grace)
			defer patience.Stop()
			select {
			case <-p.exited:
				return
			case <-patience.C:
				p.killed.Store(true)
				then(p.cmd.Process.Pid)
			}
		}
	})
	<-p.exited
	return nil
}

func (p *process) close(hangUp func()) {
	_ = p.Close()
	hangUp()
}

// kill ends the program at once.
func (p *process) kill() {
	select {
	case <-p.exited: // its number may be another's by now
	default:
		p.killed.Store(true)
		killGroup(p.cmd.Process.Pid)
	}
}

// hear reads standard error to its end.
func (p *process) hear(from io.Reader) {
	defer close(p.heard)
	lines := bufio.NewReaderSize(from, maxStderrLine)
	total := 0
	cut := false // the rest of a line that was cut follows
	for {
		line, err := lines.ReadSlice('\n')
		if text := p.server.secrets.Replace(printable(line)); !cut && strings.TrimSpace(text) != "" {
			p.mu.Lock()
			p.tail = lastBytes(p.tail+text+"\n", maxTail)
			p.mu.Unlock()
			if total += len(text); total <= maxStderr && p.server.all.opts.Stderr != nil {
				p.server.all.opts.Stderr(p.server.def.Name, text)
			}
		}
		cut = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !cut {
			return
		}
	}
}

// printable is a line without its end and without control characters.
func printable(line []byte) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ', r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x2028, r == 0x2029:
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(line), "\uFFFD"))
}

func lastBytes(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return text
}

// lastWords says how the program ended and what it printed last.
func (p *process) lastWords() string {
	patience := time.NewTimer(grace) // it ends as its output did
	defer patience.Stop()
	var words []string
	select {
	case <-p.exited:
		if !p.killed.Load() {
			words = append(words, "the program ended ("+p.ended+")")
		}
	case <-patience.C:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.noise != "" {
		words = append(words, fmt.Sprintf("it printed what is no message: %q", p.noise))
	}
	if tail := strings.TrimSpace(p.tail); tail != "" {
		words = append(words, "its last words: "+strings.ReplaceAll(tail, "\n", " | "))
	}
	return strings.Join(words, "; ")
}
