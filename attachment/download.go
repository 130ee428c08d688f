package attachment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/sandbox"
)

const (
	// maxRedirects is how many redirects in a row are followed.
	maxRedirects = 5
	// downloadTime bounds a download in all, redirects included: the guard's
	// own limits hold for each wait only, and a server may send a byte at a
	// time.
	downloadTime = 5 * time.Minute
)

var errDownloadTime = errors.New("the download took longer than 5 minutes")

// download fetches a URL through the guard. Each redirect is a request of its
// own: checked anew, without what came with the one before it.
func (l *Loader) download(ctx context.Context, u *url.URL) ([]byte, error) {
	timed, cancel := context.WithTimeoutCause(ctx, downloadTime, errDownloadTime)
	defer cancel()
	for range maxRedirects + 1 {
		data, next, err := l.get(timed, u)
		if err != nil {
			return nil, l.failure(ctx, timed, u, err)
		}
		if next == nil {
			return data, nil
		}
		u = next
	}
	return nil, permanent(nil, "attachment %s comes after more than %d redirects; name the place itself", shown(u), maxRedirects)
}

// get sends one request. next is where a redirect leads.
func (l *Loader) get(ctx context.Context, u *url.URL) (data []byte, next *url.URL, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, nil, err
	}
	if l.userAgent != "" {
		req.Header.Set("User-Agent", l.userAgent)
	}
	if u.User != nil {
		password, _ := u.User.Password()
		req.SetBasicAuth(u.User.Username(), password)
	}
	res, err := l.guard.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	if isRedirect(res.StatusCode) {
		next, err := location(u, res)
		return nil, next, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, nil, statusError(u, res.StatusCode)
	}
	if encoding := res.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, nil, permanent(nil, "attachment %s comes in the encoding %s, which nobody asked for", shown(u), quote(encoding))
	}
	if res.ContentLength > l.max {
		return nil, nil, sandbox.ErrTooLarge
	}
	data, err = io.ReadAll(res.Body)
	return data, nil, err
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// location returns where a redirect leads, without a user or a password: a
// server shall not choose what is sent to another.
func location(from *url.URL, res *http.Response) (*url.URL, error) {
	text := res.Header.Get("Location")
	next, err := from.Parse(text)
	if err != nil || text == "" {
		return nil, permanent(nil, "attachment %s is a redirect (%d) that leads nowhere", shown(from), res.StatusCode)
	}
	next.User, next.Fragment, next.RawFragment = nil, "", ""
	return next, nil
}

func statusError(u *url.URL, status int) *fault.Error {
	text := fmt.Sprintf("attachment %s could not be downloaded: the server answered %d", shown(u), status)
	if t := http.StatusText(status); t != "" {
		text += " " + t
	}
	kind := fault.Permanent
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		kind = fault.Transient
	}
	if status >= 500 {
		kind = fault.Transient
	}
	return &fault.Error{Kind: kind, Message: text, Status: status}
}

// failure gives the error of a request its kind and its words. A refusal keeps
// its words and is Transient here: a refused attachment is tried again.
func (l *Loader) failure(ctx, timed context.Context, u *url.URL, err error) error {
	name := "attachment " + shown(u)
	if ctx.Err() != nil {
		return ended(ctx, "downloading "+name)
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if f.Kind == fault.Refused {
			return fault.New(fault.Transient, f.Message, f)
		}
		return f
	}
	if errors.Is(err, sandbox.ErrTooLarge) {
		return l.tooLarge(name)
	}
	if timed.Err() != nil {
		err = context.Cause(timed)
	}
	return fault.New(fault.Transient, fmt.Sprintf("%s could not be downloaded: %s", name, err), err)
}

// ended is the error of work that ctx stopped: of the kind its cause has;
// without one, Timeout for a deadline and Cancelled for anything else.
func ended(ctx context.Context, work string) *fault.Error {
	cause := context.Cause(ctx)
	kind := fault.KindOf(cause)
	switch {
	case kind != 0:
	case errors.Is(cause, context.DeadlineExceeded):
		kind = fault.Timeout
	default:
		kind = fault.Cancelled
	}
	return fault.New(kind, fmt.Sprintf("%s was stopped: %s", work, cause), cause)
}
