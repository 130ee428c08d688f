package recorder_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/model/mock"
	"github.com/agentloom/agentloom/model/recorder"
)

// The variables that turn this test program into one that records.
const childFile, childName = "RECORDER_TEST_FILE", "RECORDER_TEST_NAME"

func TestMain(m *testing.M) {
	if file := os.Getenv(childFile); file != "" {
		if err := record(file, os.Getenv(childName)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// childCalls is how many calls a child makes.
const childCalls = 200

// record makes calls and prints the number of each when it has returned.
func record(file, name string) error {
	r, err := recorder.New(recorder.Config{File: file})
	if err != nil {
		return err
	}
	p := r.Wrap(echo())
	for i := range childCalls {
		step := fmt.Sprintf("%s%d", name, i)
		if _, err := p.Complete(context.Background(), ask(step, strings.Repeat("x", 5000)+step), nil); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return nil
}

func child(t *testing.T, file, name string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childFile+"="+file, childName+"="+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// TestKilled checks that a process that is killed while it records leaves a
// file that can be read, with every call that had returned, and that the next
// one can go on.
func TestKilled(t *testing.T) {
	file := newFile(t, `{"before": {"content": "kept"}}`)
	for round := range 8 {
		name := fmt.Sprintf("r%d_", round)
		cmd, lines := child(t, file, name)
		last, kill := -1, 5+rand.IntN(20)
		for lines.Scan() {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatal(err)
			}
			if last = n; n == kill {
				time.AfterFunc(time.Duration(rand.IntN(3000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait() // killed
		q := replay(t, file)
		for i := range last + 1 {
			if step := fmt.Sprintf("%s%d", name, i); !strings.HasSuffix(call(t, q, step, "").Text, "x"+step) {
				t.Fatalf("%s had returned and is lost", step)
			}
		}
		if got := call(t, q, "before", "").Text; got != "kept" {
			t.Fatalf("what was there is lost: %q", got)
		}
	}
	call(t, open(t, recorder.Config{File: file}).Wrap(echo()), "after", "x")
	only(t, file)
}

// TestTwoProcesses checks that processes that record into one file lose
// nothing of each other's.
func TestTwoProcesses(t *testing.T) {
	switch runtime.GOOS {
	case "darwin", "dragonfly", "freebsd", "linux", "netbsd", "openbsd":
	default:
		t.Skip("there is no lock on " + runtime.GOOS)
	}
	file := newFile(t, "")
	cmds := map[string]*exec.Cmd{}
	for _, name := range []string{"a", "b"} {
		cmd, lines := child(t, file, name)
		cmds[name] = cmd
		go func() {
			for lines.Scan() { // or it would stop at a full pipe
			}
		}()
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	q := replay(t, file)
	for name := range cmds {
		for i := range childCalls {
			if step := fmt.Sprintf("%s%d", name, i); !strings.HasSuffix(call(t, q, step, "").Text, "x"+step) {
				t.Fatalf("%s is lost", step)
			}
		}
	}
	only(t, file)
}

// TestMerge checks what stays of a file and what is replaced.
func TestMerge(t *testing.T) {
	file := newFile(t, `{
  "_note": {"by": "hand",   "n": 1.50},
  "kept": [ {"content": "k1"}, {"content": "k2"} ],
  "again": [{"content": "old 1"}, {"content": "old 2"}, {"content": "old 3"}],
  "_tools": [{"step_id": "kept", "name": "f", "arguments": {}, "result": 1.50}, {"step_id": "again", "name": "f", "arguments": {}, "result": "old"}],
  "last": {"content": "l"}
}`)
	r := open(t, recorder.Config{File: file})
	p := r.Wrap(echo())
	call(t, p, "new", "n")
	call(t, p, "again", "new 1")
	if err := r.RecordTool("again", "f", nil, "new", ""); err != nil {
		t.Fatal(err)
	}
	call(t, p, "again", "new 2")
	one := func(text string) string {
		return fmt.Sprintf(`{"content":%q,"model":"m","cost_usd":0,"latency_ms":0}`, text)
	}
	want := `{
  "_version": 2,
  "_note": {"by": "hand",   "n": 1.50},
  "kept": [ {"content": "k1"}, {"content": "k2"} ],
  "again": [
    ` + one("new 1") + `,
    ` + one("new 2") + `
  ],
  "last": {"content": "l"},
  "new": ` + one("n") + `,
  "_tools": [
    {"step_id": "kept", "name": "f", "arguments": {}, "result": 1.50},
    {"step_id":"again","name":"f","arguments":{},"result":"new"}
  ]
}
`
	if diff := cmp.Diff(want, withoutLatency(read(t, file))); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	// A second run replaces again, without tools this time.
	call(t, open(t, recorder.Config{File: file}).Wrap(echo()), "again", "third")
	if got := read(t, file); strings.Contains(got, "new 1") || strings.Contains(got, `"new"}`) || !strings.Contains(got, "third") || !strings.Contains(got, "k2") {
		t.Errorf("after a second run:\n%s", got)
	}
}

// withoutLatency puts 0 for each latency.
func withoutLatency(s string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, `"latency_ms":`)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		b.WriteString(`"latency_ms":0`)
		s = strings.TrimLeft(after, "0123456789.")
	}
}

// TestOthersWritesAreSeen checks recorders that take turns in one process.
func TestOthersWritesAreSeen(t *testing.T) {
	file := newFile(t, "")
	a, b := open(t, recorder.Config{File: file}).Wrap(echo()), open(t, recorder.Config{File: file}).Wrap(echo())
	for i := range 5 {
		call(t, a, fmt.Sprint("a", i), "x")
		call(t, b, fmt.Sprint("b", i), "y")
	}
	call(t, a, "s", "1")
	call(t, a, "s", "2")
	var got map[string]json.RawMessage
	if err := json.Unmarshal([]byte(read(t, file)), &got); err != nil || len(got) != 12 {
		t.Errorf("%d keys, %v", len(got), err)
	}
}

// BenchmarkRecord measures calls one after another into a file that has 2,000
// others of 1 KB.
func BenchmarkRecord(b *testing.B) {
	var src strings.Builder
	src.WriteString(`{"_version": 2`)
	for i := range 2000 {
		fmt.Fprintf(&src, ",\n"+`"old%d": {"content": "%s"}`, i, strings.Repeat("x", 1000))
	}
	file := newFile(b, src.String()+"}")
	p := open(b, recorder.Config{File: file}).Wrap(echo())
	i := 0
	for b.Loop() {
		i++
		call(b, p, fmt.Sprint("new", i), "x")
	}
}

// BenchmarkRecordParallel measures 10,000 calls of 1 KB, 200 at once.
func BenchmarkRecordParallel(b *testing.B) {
	for b.Loop() {
		p := open(b, recorder.Config{File: newFile(b, "")}).Wrap(echo())
		text := strings.Repeat("x", 1000)
		steps := make(chan int)
		done := make(chan bool)
		for range 200 {
			go func() {
				for i := range steps {
					call(b, p, fmt.Sprint("s", i), text)
				}
				done <- true
			}()
		}
		for i := range 10_000 {
			steps <- i
		}
		close(steps)
		for range 200 {
			<-done
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add(`{"_version": 1, "s": [{"content": "a"}], "t": {}, "_tools": [{"step_id": "s", "name": "f"}], "_x": [1]}`)
	f.Add(`{"s": {"content": "\ud800"}, "ü\u0000": {}}`)
	f.Fuzz(func(t *testing.T, content string) {
		if content == "" {
			return
		}
		file := newFile(t, content)
		r, err := recorder.New(recorder.Config{File: file})
		if err != nil {
			if read(t, file) != content {
				t.Errorf("refused (%v), but changed", err)
			}
			return
		}
		call(t, r.Wrap(echo()), "s", "new")
		if q, err := mock.New(mock.Config{Responses: []byte(read(t, file))}); err != nil {
			t.Errorf("no recording any more: %v", err)
		} else if got := call(t, q, "s", "").Text; got != "new" {
			t.Errorf("got %q", got)
		}
		if _, err := recorder.New(recorder.Config{File: file}); err != nil {
			t.Errorf("can't be recorded to again: %v", err)
		}
	})
}
