package httpapi_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/model/internal/httpapi"
)

func TestEvents(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	tests := map[string]struct {
		stream string
		want   []string
	}{
		"nothing":            {"", nil},
		"one":                {"data: a\n\n", []string{"a"}},
		"no space":           {"data:a\n\n", []string{"a"}},
		"two spaces":         {"data:  a\n\n", []string{" a"}},
		"carriage returns":   {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		"several lines":      {"data: a\ndata: b\ndata\n\n", []string{"a\nb\n"}},
		"other fields":       {"event: x\nid: 1\nretry: 5\ndata: a\ndatum: b\n\n", []string{"a"}},
		"comments":           {": hi\n\n: ho\ndata: a\n: he\n\n", []string{"a"}},
		"empty lines":        {"\n\ndata: a\n\n\n\ndata: b\n\n", []string{"a", "b"}},
		"no data":            {"event: ping\n\ndata: a\n\n", []string{"a"}},
		"empty data":         {"data:\n\n", []string{""}},
		"colons":             {"data: a: b:c\n\n", []string{"a: b:c"}},
		"no end":             {"data: a\n\ndata: b\n", []string{"a"}},
		"no end of the line": {"data: a\n\ndata: b", []string{"a"}},
		"long lines":         {"data: " + long + "\ndata: " + long + "\n\ndata: a\n\n", []string{long + "\n" + long, "a"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, events := range []*httpapi.Events{
				httpapi.ReadEvents(strings.NewReader(test.stream)),
				httpapi.ReadEvents(iotest.OneByteReader(strings.NewReader(test.stream))),
			} {
				var got []string
				for events.Next() {
					got = append(got, string(events.Data()))
				}
				if diff := cmp.Diff(test.want, got); diff != "" || events.Err() != nil || events.Next() {
					t.Errorf("error %v, events (-want +got):\n%s", events.Err(), diff)
				}
			}
		})
	}
}

func TestEventsThatBreakOff(t *testing.T) {
	broken := errors.New("broken")
	events := httpapi.ReadEvents(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("data: a\n\n"))))
	if events.Next() || !errors.Is(events.Err(), iotest.ErrTimeout) {
		t.Errorf("got %q, %v", events.Data(), events.Err())
	}
	events = httpapi.ReadEvents(iotest.ErrReader(broken))
	if events.Next() || !errors.Is(events.Err(), broken) {
		t.Errorf("got %q, %v", events.Data(), events.Err())
	}
}
