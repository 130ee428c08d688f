package test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits CODE PROGRAM ARG... runs a program and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	checkExit(ts, args[0], ts.Exec(args[1], args[2:]...))
}

func checkExit(ts *testscript.TestScript, want string, err error) {
	code := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

// interrupt CODE PATTERN PROGRAM ARG... starts a program, sends it SIGINT when
// a line of its stderr matches, and checks its exit code.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupt CODE PATTERN PROGRAM ARG...")
	}
	pattern := regexp.MustCompile(args[1])
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Stdout = ts.Stdout()
	stderr, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	lines, sent := bufio.NewScanner(stderr), false
	for lines.Scan() {
		fmt.Fprintln(ts.Stderr(), lines.Text())
		if !sent && pattern.MatchString(lines.Text()) {
			ts.Check(cmd.Process.Signal(os.Interrupt))
			sent = true
		}
	}
	if !sent {
		ts.Fatalf("no line of stderr matched %s", pattern)
	}
	checkExit(ts, args[0], cmd.Wait())
}

// json FILE PATH VALUE checks that a file, or stdout, is exactly one JSON
// document and that the dotted path in it ("" for all of it) holds a JSON
// value.
func jsonAt(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH VALUE")
	}
	got, found := lookUp(ts, args[0], args[1])
	var want any
	if err := json.Unmarshal([]byte(args[2]), &want); err != nil {
		ts.Fatalf("%s is no JSON: %v", args[2], err)
	}
	if equal := found && reflect.DeepEqual(got, want); equal == neg {
		text, _ := json.Marshal(got)
		ts.Fatalf("%s is %s (there: %v)", args[1], text, found)
	}
}

// jsonmatch FILE PATH REGEXP checks that a text at a path matches.
func jsonMatches(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: jsonmatch FILE PATH REGEXP")
	}
	got, _ := lookUp(ts, args[0], args[1])
	text, isText := got.(string)
	if !isText || !regexp.MustCompile(args[2]).MatchString(text) {
		ts.Fatalf("%s is %v", args[1], got)
	}
}

// nojson FILE PATH checks that there is nothing at a path.
func jsonMissing(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: nojson FILE PATH")
	}
	if got, found := lookUp(ts, args[0], args[1]); found {
		ts.Fatalf("%s is there: %v", args[1], got)
	}
}

// samestate A B checks that the final_state of two results is the same, byte
// for byte.
func sameState(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: samestate A B")
	}
	var texts [2]string
	for i, file := range args {
		var doc struct {
			State json.RawMessage `json:"final_state"`
		}
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &doc))
		texts[i] = string(doc.State)
	}
	if texts[0] == "" || texts[0] != texts[1] {
		ts.Fatalf("%s\n%s", texts[0], texts[1])
	}
}

func lookUp(ts *testscript.TestScript, file, path string) (any, bool) {
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	var v any
	if err := d.Decode(&v); err != nil {
		ts.Fatalf("%s is no JSON: %v", file, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("%s holds more than one JSON document", file)
	}
	if path == "" {
		return v, true
	}
	for part := range strings.SplitSeq(path, ".") {
		switch inner := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = inner[part]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(inner) {
				return nil, false
			}
			v = inner[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// raw FILE TEXT writes a file of any bytes; TEXT is the inside of a Go string
// literal.
func raw(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: raw FILE TEXT")
	}
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	writeFile(ts, args[0], []byte(text))
}

// utf16 FROM TO copies a text file as UTF-16 with a byte order mark.
func utf16File(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: utf16 FROM TO")
	}
	var b bytes.Buffer
	units := append([]uint16{0xfeff}, utf16.Encode([]rune(ts.ReadFile(args[0])))...)
	ts.Check(binary.Write(&b, binary.LittleEndian, units))
	writeFile(ts, args[1], b.Bytes())
}

// steps N FILE writes a workflow of N model calls: a first one, then layers of
// a hundred that each depend on the first of the layer before.
func stepsFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: steps N FILE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var b strings.Builder
	b.WriteString("name: many\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {id: s%d, type: llm_call, prompt: hi", i)
		if i >= 100 {
			fmt.Fprintf(&b, ", depends_on: [s%d]", i/100*100-100)
		}
		b.WriteString("}\n")
	}
	writeFile(ts, args[1], []byte(b.String()))
}

func writeFile(ts *testscript.TestScript, name string, content []byte) {
	ts.Check(os.WriteFile(ts.MkAbs(name), content, 0o600))
}
