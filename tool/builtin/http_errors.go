package builtin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
)

// explain turns the failure of a request into an error that says which phase
// failed and why. Of the URL it names scheme, host and path only.
func (w *watcher) explain(req *http.Request, err error) error {
	w.mu.Lock()
	p := w.phase
	w.mu.Unlock()
	shown := url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path, RawPath: req.URL.RawPath}
	target := req.Method + " " + shown.String()
	switch cause := context.Cause(w.ctx); {
	case errors.Is(cause, errStalled):
		seconds := strconv.FormatFloat(w.timeout.Seconds(), 'f', -1, 64)
		return fmt.Errorf("%s: %s %w after %ss", target, p, errStalled, seconds)
	case cause != nil:
		return fmt.Errorf("%s: stopped while %s: %w", target, p, cause)
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("%s: %w", target, err)
	}
	return fmt.Errorf("%s: %s failed: %w", target, p, plainer(err))
}

// plainer replaces the wordings of net and net/http that say little to
// somebody who does not know Go.
func plainer(err error) error {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return fmt.Errorf("the host name %q does not resolve", dns.Name)
		}
		return fmt.Errorf("the host name %q could not be looked up: %s", dns.Name, dns.Err)
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
	return err
}
