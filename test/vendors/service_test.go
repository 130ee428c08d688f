//go:build !offline

package vendors

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// canary is every service's key. It must stand nowhere but in requests.
const canary = "canary-7f3a9c1b5d2e-0123456789"

// dialect is one vendor's way to put questions and answers. Its formats are
// written from the vendor's published reference.
type dialect interface {
	name() string
	// environ are the variables that lead the program to the service.
	environ(url string) []string
	// read checks a request and reads it.
	read(r *http.Request, body []byte) (question, error)
	// whole is an answer in one piece.
	whole(q question, a answer) string
	// events are the pieces of a streamed answer, ready to be sent.
	events(q question, a answer) []string
	streamType() string
	// unknown are pieces that no version of the format has yet; they may stand
	// anywhere between the events.
	unknown() []string
	// empty is an answer, whole or streamed, that holds no choice at all but
	// reports 100 prompt tokens.
	empty(stream bool) string
	// failure is the body of an error status.
	failure(status int, words string) string
	// broken is the report of an error in the middle of a stream.
	broken(words string) string
	// tail is how many of the last events say that the answer is whole.
	tail() int
	// early is what a stream that breaks off after some text has reported of
	// its prompt's tokens.
	early(u usage) int64
	// embed answers a request for vectors, or says that there are none.
	embed(r *http.Request, body []byte) (vectors string, err error)
}

func dialects() []dialect {
	return []dialect{openAI{}, anthropic{}, google{}, ollama{}}
}

// reaction is what a service does with a question.
type reaction func(s *service, w http.ResponseWriter, q question)

// service is a fake of one vendor.
type service struct {
	dialect
	server *httptest.Server
	react  func(n int, q question) reaction // n: requests before this one

	mu     sync.Mutex
	asked  []question
	faults []string
	embeds int
}

// serve starts a service. What it finds wrong with a request fails the test.
func serve(t *testing.T, d dialect, react func(n int, q question) reaction) *service {
	s := &service{dialect: d, react: react}
	s.server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.server.CloseClientConnections()
		s.server.Close()
		for _, f := range s.faults {
			t.Errorf("%s: %s", d.name(), f)
		}
	})
	return s
}

// scripted answers as the script says.
func scripted(int, question) reaction { return says }

func says(s *service, w http.ResponseWriter, q question) { s.say(w, q, model(q)) }

// environment are the variables for all services.
func environment(services ...*service) []string {
	var out []string
	for _, s := range services {
		out = append(out, s.environ(s.server.URL)...)
	}
	return out
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	if vectors, err := s.embed(r, body); vectors != "" || err != nil {
		s.mu.Lock()
		s.embeds++
		s.mu.Unlock()
		s.sendVectors(w, vectors, err)
		return
	}
	q, err := s.read(r, body)
	if err == nil {
		err = q.check()
	}
	s.mu.Lock()
	n := len(s.asked)
	s.asked = append(s.asked, q)
	if err != nil {
		s.faults = append(s.faults, fmt.Sprintf("%v in %s %s", err, r.URL, body))
	}
	s.mu.Unlock()
	if err != nil {
		s.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	s.react(n, q)(s, w, q)
}

func (s *service) sendVectors(w http.ResponseWriter, vectors string, err error) {
	if err != nil {
		s.mu.Lock()
		s.faults = append(s.faults, err.Error())
		s.mu.Unlock()
		s.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	s.send(w, "application/json", vectors)
}

func (s *service) questions() []question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]question(nil), s.asked...)
}

func (s *service) send(w http.ResponseWriter, kind, body string) {
	w.Header().Set("Content-Type", kind)
	_, _ = io.WriteString(w, body)
}

func (s *service) fail(w http.ResponseWriter, status int, words string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, s.failure(status, words))
}

// say sends an answer, as a stream where one is asked for.
func (s *service) say(w http.ResponseWriter, q question, a answer) {
	if !q.Stream {
		s.send(w, "application/json", s.whole(q, a))
		return
	}
	w.Header().Set("Content-Type", s.streamType())
	s.drip(w, join(s.events(q, a)))
}

// drip sends a text in small chunks that respect neither events nor letters.
func (s *service) drip(w http.ResponseWriter, text string) {
	for len(text) > 0 {
		n := min(97, len(text))
		_, _ = io.WriteString(w, text[:n])
		w.(http.Flusher).Flush()
		text = text[n:]
	}
}

// reset ends a connection with a reset.
func reset(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

func join(events []string) (all string) {
	for _, e := range events {
		all += e
	}
	return all
}

// split cuts a text into pieces of about n bytes, between letters.
func split(text string, n int) (pieces []string) {
	start := 0
	for i := range text {
		if i-start >= n {
			pieces = append(pieces, text[start:i])
			start = i
		}
	}
	return append(pieces, text[start:])
}

type object = map[string]any

func decode(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}

func sse(event string, data any) string {
	head := ""
	if event != "" {
		head = "event: " + event + "\n"
	}
	return head + "data: " + mustJSON(data) + "\n\n"
}

func needs(r *http.Request, path, header, value string) error {
	switch {
	case r.Method != http.MethodPost || r.URL.Path != path:
		return fmt.Errorf("%s %s, not POST %s", r.Method, r.URL.Path, path)
	case r.Header.Get(header) != value:
		return fmt.Errorf("the header %s is %q", header, r.Header.Get(header))
	case r.Header.Get("Content-Type") != "application/json":
		return fmt.Errorf("the content type is %q", r.Header.Get("Content-Type"))
	}
	return nil
}
