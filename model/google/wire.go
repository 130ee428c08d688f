package google

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// wire stands between the SDK and the connection. It sends what the SDK
// wrote, and hands the answer to the call's own reader, which travels in the
// request's context; the SDK gets an empty one.
type wire struct {
	next    http.RoundTripper
	service httpapi.Service
}

// reader reads the answer to a call, whose status is 2xx. It need not close
// the body.
type reader func(*http.Response) error

type readerKey struct{}

// send makes one call through the SDK and reads its answer. Errors are
// classified.
func (p *Provider) send(ctx context.Context, read reader, call func(context.Context) error) error {
	if err := call(context.WithValue(ctx, readerKey{}, read)); err != nil {
		return p.service.Failure(ctx, err)
	}
	return nil
}

// RoundTrip sends a request of the SDK's. The errors of what it reads are
// *fault.Error or the connection's own.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	read, ok := req.Context().Value(readerKey{}).(reader)
	if !ok {
		return nil, errors.New("a request without a reader for its answer")
	}
	req = req.Clone(req.Context())
	req.Header.Del("X-Goog-Api-Key")
	if w.service.Key != "" {
		req.Header.Set("X-Goog-Api-Key", w.service.Key)
	}
	// The SDK tells the service our deadline, and the service refuses one that
	// is under 10 seconds as a bad request.
	req.Header.Del("X-Server-Timeout")
	next := w.next
	if next == nil {
		next = http.DefaultTransport
	}
	res, err := next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if err := w.check(res); err != nil {
		return nil, err
	}
	if err := w.service.NotJSON(res); err != nil {
		return nil, err
	}
	if err := read(res); err != nil {
		// Classified here, so that it is not taken for a fault of the network.
		return nil, w.service.Failure(req.Context(), err)
	}
	return &http.Response{
		Status: res.Status, StatusCode: res.StatusCode, Header: http.Header{}, Request: req,
		Proto: res.Proto, ProtoMajor: res.ProtoMajor, ProtoMinor: res.ProtoMinor, Body: http.NoBody,
	}, nil
}

// apiError is the service's report of trouble, as the body of an error status
// or in the middle of an answer.
type apiError struct {
	Code    json.Number `json:"code"`
	Status  string      `json:"status"` // such as RESOURCE_EXHAUSTED
	Details []struct {
		Reason     string `json:"reason"`
		RetryDelay string `json:"retryDelay"` // such as 34.5s
	} `json:"details"`
}

// maxErrorBody is how much of an error's body is read.
const maxErrorBody = 1 << 20

// check turns an answer whose status is not 2xx into a *fault.Error. Google
// says in the body what others say in a header or by the status: how long to
// wait, and that it does not know the key.
func (w *wire) check(res *http.Response) error {
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return nil
	}
	// What can't be read of an error's body is done without: the status says
	// the main thing.
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	body = soleItem(body)
	res.Body = io.NopCloser(bytes.NewReader(body))
	err := w.service.Check(res)
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	var failed struct {
		Error apiError `json:"error"`
	}
	// What does not fit this form has nothing to add.
	_ = json.Unmarshal(body, &failed)
	if f.RetryAfter == 0 {
		f.RetryAfter = failed.Error.retryAfter()
	}
	if failed.Error.badKey() && w.service.KeyVar != "" && f.Status == http.StatusBadRequest {
		f.Message += " (check the key in " + w.service.KeyVar + ")"
	}
	return f
}

// soleItem unwraps [x], as which some errors of streams come, to x.
func soleItem(body []byte) []byte {
	var items []json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[{")) && json.Unmarshal(body, &items) == nil && len(items) == 1 {
		return items[0]
	}
	return body
}

// reported is the error for trouble that the service reported under a status
// of success: trouble is the field "error" of the object whole, and there is
// none where it is empty or null.
func reported(s httpapi.Service, trouble json.RawMessage, whole []byte) error {
	if len(trouble) == 0 || string(trouble) == "null" {
		return nil
	}
	var e apiError
	// What does not fit is a report all the same.
	_ = json.Unmarshal(trouble, &e)
	status := httpapi.StatusOfType(e.Status)
	if n, err := e.Code.Int64(); err == nil && n >= 400 && n <= 599 {
		status = int(n)
	}
	f := s.Status(status, httpapi.Message(whole))
	f.RetryAfter = e.retryAfter()
	return f
}

// retryAfter is how long the service asks to wait, at most a day; 0 when it
// does not ask.
func (e apiError) retryAfter() time.Duration {
	for _, d := range e.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			return min(wait, 24*time.Hour)
		}
	}
	return 0
}

func (e apiError) badKey() bool {
	for _, d := range e.Details {
		if strings.HasPrefix(d.Reason, "API_KEY_") {
			return true
		}
	}
	return false
}
