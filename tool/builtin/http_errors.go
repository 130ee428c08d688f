package builtin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"syscall"

	"github.com/agentloom/agentloom/fault"
)

// explain turns the failure of a request into an error that says which phase
// failed and why. Of the URL it names scheme, host and path only.
func (w *watcher) explain(req *http.Request, err error) error {
	w.mu.Lock()
	p := w.phase
	w.mu.Unlock()
	if fault.KindOf(err) == fault.Refused {
		return err
	}
	target := short(req.Method + " " + req.URL.Scheme + "://" + req.URL.Host + req.URL.EscapedPath())
	switch cause := context.Cause(w.ctx); {
	case errors.Is(cause, errStalled), cause == nil && w.guarded && isTimeout(err):
		seconds := strconv.FormatFloat(w.timeout.Seconds(), 'f', -1, 64)
		return fmt.Errorf("%s: %s %w after %ss", target, p, errStalled, seconds)
	case cause != nil:
		return fmt.Errorf("%s: stopped while %s: %w", target, p, cause)
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("%s: %w", target, err)
	}
	doing := p.String()
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		doing += " to the proxy"
	}
	return fmt.Errorf("%s: %s failed: %w", target, doing, plainer(err))
}

// isTimeout says that a guard's time limit is what ended a request.
func isTimeout(err error) bool {
	timed, ok := errors.AsType[net.Error](err)
	return ok && timed.Timeout()
}

// plainer replaces the wordings of net and net/http that say little to
// somebody who does not know Go.
func plainer(err error) error {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return fmt.Errorf("the host name %q does not resolve", short(dns.Name))
		}
		return fmt.Errorf("the host name %q could not be looked up: %s", short(dns.Name), dns.Err)
	}
	if record, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fmt.Errorf("the server does not speak TLS (%s); is it an http:// URL?", record.Msg)
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("the connection was refused")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errors.New("the server reset the connection")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the server closed the connection too early")
	}
	why, broken := strings.CutPrefix(err.Error(), "net/http: HTTP/1.x transport connection broken: ")
	if _, trailer := errors.AsType[textproto.ProtocolError](err); broken || trailer {
		return notHTTP(why)
	}
	return err
}

// notHTTP says why an answer is no HTTP. What it quotes of the answer is left
// out: it may be long, and a header that should be a secret.
func notHTTP(why string) error {
	if strings.Contains(why, "headers exceeded") {
		return fmt.Errorf("the answer has more than %d bytes of headers", maxHeaderBytes)
	}
	why = strings.TrimPrefix(why, "http: ")
	if end := strings.IndexAny(why, "\";:"); end >= 0 {
		why = strings.TrimSpace(why[:end])
	}
	if why == "malformed HTTP response" {
		return errors.New("the server does not speak HTTP; is it an https:// URL?")
	}
	return fmt.Errorf("the answer is no valid HTTP: %s", why)
}
