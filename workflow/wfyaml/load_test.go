package wfyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

const small = "name: w\nsteps:\n  - {id: a, type: llm_call, prompt: hi}\n"

func wide(s string, little bool) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if little {
			out = append(out, byte(u), byte(u>>8))
		} else {
			out = append(out, byte(u>>8), byte(u))
		}
	}
	return out
}

func TestBytesThatAreNoText(t *testing.T) {
	tests := []struct {
		name string
		src  []byte
		want string
	}{
		{"utf-16 le", wide("\ufeff"+small, true), "f:1:1: error: is UTF-16; save it as UTF-8"},
		{"utf-16 be", wide("\ufeff"+small, false), "f:1:1: error: is UTF-16; save it as UTF-8"},
		{"utf-16 without mark", wide(small, true), "f:1:1: error: is UTF-16; save it as UTF-8"},
		{"utf-16 be without mark", wide(small, false), "f:1:1: error: is UTF-16; save it as UTF-8"},
		{"utf-32", []byte("\xff\xfe\x00\x00n\x00\x00\x00"), "f:1:1: error: is UTF-32; save it as UTF-8"},
		{"latin-1", []byte("name: w\ndescription: é caf\xe9\n"),
			"f:2:19: error: byte 0xE9 is no UTF-8; save it as plain UTF-8 text"},
		{"nul", []byte("name: w\x00\n"), "f:1:8: error: control character U+0000; save it as plain UTF-8 text"},
		{"bell", []byte("name: w\n\x07"), "f:2:1: error: control character U+0007; save it as plain UTF-8 text"},
		{"surrogate", []byte("name: \xed\xa0\x80"), "f:1:7: error: byte 0xED is no UTF-8; save it as plain UTF-8 text"},
		{"no character", []byte("name: \uffff"), "f:1:7: error: U+FFFF is no character; save it as plain UTF-8 text"},
		{"empty", nil, "f: error: the file is empty"},
		{"spaces", []byte(" \n\n  \n"), "f: error: the file is empty"},
		{"binary", []byte("\x7fELF\x02\x01\x01\x00"), "f:1:5: error: control character U+0002; save it as plain UTF-8 text"},
	}
	for _, tt := range tests {
		def, ds := Load("f", tt.src)
		if def != nil || len(ds) != 1 || ds[0].String() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, ds, tt.want)
		}
	}
}

func TestTextThatIsFine(t *testing.T) {
	for name, src := range map[string]string{
		"byte order mark": "\xef\xbb\xbf" + small,
		"crlf":            strings.ReplaceAll(small, "\n", "\r\n"),
		"no last newline": strings.TrimSpace(small),
		"end marker":      "---\n" + small + "...\n",
		"of YAML 1.1":     "%YAML 1.1\n---\n" + small,
		"of YAML 1.2":     "# first\n\n%TAG !e! tag:example,2000:\n%YAML 1.2 # the core schema\r\n---\n" + small,
		"json":            `{"name": "w", "steps": [{"id": "a", "type": "llm_call", "prompt": "h\/i"}]}`,
		"json with tabs":  "{\n\t\"name\": \"w\",\n\t\"steps\": [\n\t\t{\"id\": \"a\", \"type\": \"llm_call\", \"prompt\": \"hi\"}\n\t]\n}\n",
	} {
		if def, ds := Load("f", []byte(src)); def == nil || len(ds) > 0 {
			t.Errorf("%s: %v", name, ds)
		}
	}
}

func TestColumnsCountCharacters(t *testing.T) {
	_, ds := Load("f", []byte("\xef\xbb\xbf{\"é😀\": 1, name: w, \"x-ü\": 1, naem: 2}"))
	var columns []int
	for _, d := range ds {
		if d.Code == "unknown_key" {
			columns = append(columns, d.Column)
		}
	}
	if diff := cmp.Diff([]int{2, 30}, columns); diff != "" {
		t.Errorf("%v\n%s", ds, diff)
	}
}

// within fails a test that takes too long: a limit that is missing shows as
// minutes or as an exhausted memory, not as a few seconds.
func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	start := time.Now()
	f()
	if d := time.Since(start); d > limit {
		t.Errorf("took %v", d)
	}
}

func TestHostileFilesAreRefused(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 40 {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 10))
	}
	var merges strings.Builder
	merges.WriteString("a0: &a0 {k: 1}\n")
	for i := range 40 {
		fmt.Fprintf(&merges, "a%d: &a%d {<<: [%s]}\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 10))
	}
	var tower strings.Builder
	tower.WriteString("- &a0 [x]\n")
	for i := range 300 {
		fmt.Fprintf(&tower, "- &a%d [*a%d]\n", i+1, i)
	}
	long := "x-a: &a " + strings.Repeat("x", 1<<20) + "\nx-b: [" + strings.Repeat("*a,", 120) + "]\n"
	product := "state: {b: &b {" + keys(1000) + "}}\nx-l:\n" + strings.Repeat("- {<<: *b}\n", 100_000)
	tests := []struct{ name, src, code string }{
		{"keys times merges", product, "alias_expansion"},
		{"too large", strings.Repeat("# comment\n", MaxBytes/10+1), "too_large"},
		{"billion laughs", laughs.String(), "alias_expansion"},
		{"billion merges", merges.String(), "alias_expansion"},
		{"a long text, often", long + small, "alias_expansion"},
		{"tower of aliases", tower.String(), "too_deep"},
		{"flow lists", strings.Repeat("[", 100_000), "too_deep"},
		{"flow mappings", strings.Repeat("{a: ", 100_000), "too_deep"},
		{"block lists", strings.Repeat("- ", 100_000), "too_deep"},
		{"complex keys", strings.Repeat("? ", 100_000), "too_deep"},
		{"indented", indented(2000), "too_deep"},
		{"values", "[" + strings.Repeat("a,", 4<<20) + "]", "too_large"},
		{"empty values", strings.Repeat("-\n", 4<<20), "too_large"},
		{"steps", "name: w\nsteps:\n" + strings.Repeat("- {}\n", 200_000), "too_large"},
		{"recursive", "a: &a {b: *a}", "recursive_alias"},
	}
	for _, tt := range tests {
		within(t, 10*time.Second, func() {
			def, ds := Load("f", []byte(tt.src))
			if def != nil || !hasCode(ds, tt.code) {
				t.Errorf("%s: got %.300v, want %s", tt.name, ds, tt.code)
			}
		})
	}
}

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1, ", i)
	}
	return b.String()
}

func indented(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func hasCode(ds workflow.Diagnostics, code string) bool {
	for _, d := range ds {
		if d.Code == code {
			return true
		}
	}
	return false
}

func TestAliasesBelowTheLimitLoad(t *testing.T) {
	src := "x-a: &a " + strings.Repeat("x", 1<<20) + "\nstate: {b: [" + strings.Repeat("*a,", 90) + "]}\n" + small
	def, ds := Load("f", []byte(src))
	if def == nil {
		t.Fatal(ds)
	}
	b, _ := def.State.Get("b")
	if n := len(b.([]any)); n != 90 {
		t.Errorf("%d items", n)
	}
}

func TestNestingUpToTheLimitLoads(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	if _, ds := DecodeValue("f", []byte("- "+deep(MaxDepth-2))); len(ds) > 0 {
		t.Error(ds)
	}
	if _, ds := DecodeValue("f", []byte("- "+deep(MaxDepth+1))); !hasCode(ds, "too_deep") {
		t.Error(ds)
	}
}

func TestManyErrorsAreCounted(t *testing.T) {
	var b strings.Builder
	b.WriteString(small)
	for i := range 200_000 {
		fmt.Fprintf(&b, "promp%d: yes\n", i)
	}
	within(t, 10*time.Second, func() {
		_, ds := Load("f", []byte(b.String()))
		if len(ds) != MaxListed+1 || ds[MaxListed].Message != "199000 more like these are not listed" {
			t.Errorf("%d diagnostics, the last %v", len(ds), ds[len(ds)-1])
		}
	})
}

// Each of these is a file of about 100 KB whose aliases repeat a list of
// mistakes, or of what is costly to look at, for a million items. The
// memory that is asked for tells whether each was worded, which takes gigabytes.
func TestRepeatedMistakesCostNoWording(t *testing.T) {
	repeated := func(list string, item func(i int) string, times int) string {
		var b strings.Builder
		b.WriteString("name: w\nx-all: &all " + list + "\nsteps:\n")
		for i := range times {
			b.WriteString("- " + item(i) + "\n")
		}
		return b.String()
	}
	list := func(of string, n int) string { return "[" + strings.Repeat(of+",", n) + "]" }
	depends := func(i int) string { return fmt.Sprintf("{id: s%d, type: llm_call, prompt: p, depends_on: *all}", i) }
	routes := func(i int) string { return fmt.Sprintf("{id: s%d, type: router, conditions: *all}", i) }
	args := func(i int) string {
		return fmt.Sprintf("{id: s%d, type: tool, tool_name: file_read, tool_args: {a: *all}}", i)
	}
	for _, tt := range []struct {
		name, src string
		want      string // the code of every diagnostic, too_many aside
	}{
		{"unknown dependencies", repeated(list("nobody_here", 1900), depends, 600), "unknown_dependency duplicate_dependency"},
		{"one dependency again and again", repeated(list("s0", 1900), depends, 600), "duplicate_dependency self_dependency"},
		{"integers for strings", repeated(list("1", 1900), depends, 600), "wrong_type"},
		{"few integers for strings", repeated(list("1", 400), depends, 2800), "wrong_type"},
		{"booleans of YAML 1.1", repeated(list("yes", 1900), depends, 600), "yaml11_boolean unknown_dependency duplicate_dependency"},
		{"unknown keys", repeated(list("{k: 1}", 1900), func(i int) string {
			return fmt.Sprintf("{id: s%d, type: llm_call, prompt: p, attachments: *all}", i)
		}, 300), "unknown_key unknown_value missing_key not_supported"},
		{"keys twice", repeated(list("{k: 1, k: 2}", 1900), args, 400), "duplicate_key"},
		{"expressions that don't parse", repeated(list("{expression: '((', target: s0}", 700), routes, 1000), "bad_expression ungated_target"},
		{"templates that don't parse", repeated(list("'{state.a} {'", 1900), args, 1000), "bad_template"},
		{"templates without fault", repeated(list("'{a} {{'", 1900), args, 1000), ""},
		{"fields that nothing sets", repeated(list("'{state.a} {state.b}'", 1900), args, 900), "unset_state"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, ds := Load("f", []byte(tt.src))
			runtime.ReadMemStats(&after)
			if asked := (after.TotalAlloc - before.TotalAlloc) >> 20; asked > 480 {
				t.Errorf("%d MiB", asked)
			}
			if len(ds) > 2*MaxListed+2 || (len(ds) == 0) != (tt.want == "") {
				t.Errorf("%d diagnostics", len(ds))
			}
			for _, d := range ds {
				if d.Code != tooMany && !strings.Contains(" "+tt.want+" ", " "+d.Code+" ") {
					t.Fatal(d)
				}
			}
		})
	}
}

// What an anchored value is wrong for is said once, and the rules say nothing
// more about it wherever it stands.
func TestAliasesOfBrokenValues(t *testing.T) {
	src := "name: w\nsteps:\n- {id: a, type: llm_call, prompt: p}\n" +
		"- {id: b, type: llm_call, prompt: p, depends_on: &list [a, 7]}\n" +
		"- {id: c, type: llm_call, prompt: p, depends_on: *list}\n" +
		"- &step {id: d, tpye: llm_call}\n- *step\n"
	_, ds := Load("f", []byte(src))
	var got []string
	for _, d := range ds {
		got = append(got, d.Code+" "+d.Path)
	}
	want := []string{"wrong_type steps[1].depends_on[1]", "duplicate_id steps[4].id", "unknown_key steps[3].tpye"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDefaultsOfTheCaller(t *testing.T) {
	defaults := workflow.DefaultConfig()
	defaults.Provider, defaults.Model, defaults.MaxRetries = "mock", "base", 7
	src := "name: w\nconfig: {model: own, provider: }\nsteps:\n  - {id: a, type: llm_call, prompt: hi}\n"
	def, ds := LoadWith("f", []byte(src), Options{Defaults: defaults})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	got := []any{def.Config.Provider, def.Config.Model, def.Config.MaxRetries, def.Steps[0].Retry.MaxRetries}
	if diff := cmp.Diff([]any{"mock", "own", 7, 7}, got); diff != "" {
		t.Error(diff)
	}
	plain, _ := Load("f", []byte(small))
	if plain.Config != workflow.DefaultConfig() {
		t.Errorf("%+v", plain.Config)
	}
}

func TestJSONColumnsAreThoseOfTheFile(t *testing.T) {
	for src, want := range map[string]string{
		`{"name": "w", "naem": 1}`:        "f:1:15:",
		"{\"name\": \"w\",\n\"naem\": 1}": "f:2:1:",
		`{"name": "w}`:                    "f:1:10:",
		`{"name": @}`:                     "f:1:10:",
		`[1]`:                             "f:1:1:",
	} {
		_, ds := Load("f", []byte(src))
		found := false
		for _, d := range ds {
			found = found || strings.HasPrefix(d.String(), want)
		}
		if !found {
			t.Errorf("%s: got %v, want %s", src, ds, want)
		}
	}
}

func TestLargeJSONLoads(t *testing.T) {
	src := `{"name": "w", "steps": [` + strings.Repeat(`{"id": "x", "type": "llm_call", "prompt": "hello there"},`, 50_000) + `]}`
	within(t, 10*time.Second, func() {
		if _, ds := Load("f", []byte(src)); !hasCode(ds, "duplicate_id") {
			t.Errorf("%.300v", ds)
		}
	})
}

func TestLoadReader(t *testing.T) {
	if def, ds := LoadReader("f", strings.NewReader(small)); def == nil || len(ds) > 0 {
		t.Errorf("small: %v", ds)
	}
	if _, ds := LoadReader("f", strings.NewReader("")); !hasCode(ds, "empty_file") {
		t.Errorf("empty: %v", ds)
	}
	if _, ds := LoadReader("f", zeros{}); !hasCode(ds, "too_large") {
		t.Errorf("endless: %v", ds)
	}
	broken := iotest.ErrReader(&fs.PathError{Op: "read", Path: "/secret/place", Err: errors.New("is a directory")})
	_, ds := LoadReader("f", broken)
	if want := "f: error: cannot be read: is a directory"; len(ds) != 1 || ds[0].String() != want {
		t.Errorf("got %v, want %s", ds, want)
	}
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestDecodeValue(t *testing.T) {
	tests := []struct{ src, want string }{
		{`{"b": 1.0, "a": 1, "c": [1e2, -0.5, 12345678901234567890]}`, `{"b":1.0,"a":1,"c":[100.0,-0.5,12345678901234567890]}`},
		{`{"smile": "\ud83d\ude00", "nul": "\u0000", "slash": "\/"}`, `{"smile":"😀","nul":"\u0000","slash":"/"}`},
		{"b: 1.0\na: 1\n1: x\nyes: yes\n", `{"b":1.0,"a":1,"1":"x","yes":"yes"}`},
		{"a: &x {k: 1, l: 2}\nb: {<<: *x, k: 3, m: 4}\n", `{"a":{"k":1,"l":2},"b":{"k":3,"l":2,"m":4}}`},
		{"a: &x {k: 1}\nb: &y {k: 2, l: 2}\nc: {m: 3, <<: [*x, *y]}\n",
			`{"a":{"k":1},"b":{"k":2,"l":2},"c":{"k":1,"l":2,"m":3}}`},
		{"a: &x {k: 1}\nb: {<<: *x, <<: {l: 2}}\n", `{"a":{"k":1},"b":{"l":2,"k":1}}`},
		{"'<<': 1\n", `{"<<":1}`},
		{"- a\n- [b, {c: ~}]\n", `["a",["b",{"c":null}]]`},
		{"text", `"text"`},
		{"null", "null"},
		{"[]", "[]"},
		{"\xef\xbb\xbf{\"a\": 1}", `{"a":1}`},
	}
	for _, tt := range tests {
		v, ds := DecodeValue("f", []byte(tt.src))
		if err := ds.Err(); err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		got, err := value.EncodeJSON(v)
		if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", tt.src, err, diff)
		}
	}
}

func TestDecodeValueSaysWhatIsWrong(t *testing.T) {
	tests := []struct{ src, want string }{
		{`{"a": 1, "b": {"c": 1, "c": 2}}`, `f:1:24: error: the key "c" is already on line 1 (b.c); remove one of them`},
		{`{"a": 1, `, `f:2:1: error: a value or a closing bracket is missing here`},
		{`{"a": 1} {`, `f:1:10: error: text after the end of the document`},
		{"a: !x 1", `f:1:4: error: the tag "!x" is not supported (a)`},
		{"a: yes", `f:1:4: warning: "yes" is a string here, though YAML 1.1 reads it as true (a); write true, or put quotes around it`},
		{"", "f: error: the file is empty"},
	}
	for _, tt := range tests {
		v, ds := DecodeValue("f", []byte(tt.src))
		if len(ds) != 1 || ds[0].String() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.src, ds, tt.want)
		}
		if (v == nil) != (len(ds.Errors()) > 0) {
			t.Errorf("%s: the value is %v beside %v", tt.src, v, ds)
		}
	}
}

func TestSharedDataIsReadOnce(t *testing.T) {
	v, ds := DecodeValue("f", []byte("a: &x [1, 2]\nb: *x\n"))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	m := v.(*value.Map)
	a, _ := m.Get("a")
	b, _ := m.Get("b")
	if &a.([]any)[0] != &b.([]any)[0] {
		t.Error("the alias was expanded")
	}
}

func TestDiagnosticsDoNotDependOnTheReader(t *testing.T) {
	src := fullFile(t)
	def, direct := Load("f", src)
	other, read := LoadReader("f", iotest.HalfReader(bytes.NewReader(src)))
	if diff := cmp.Diff(direct, read); diff != "" || (def == nil) != (other == nil) {
		t.Error(diff)
	}
}
