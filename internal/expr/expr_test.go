package expr_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/expr"
	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
)

func TestRefusedAreNamed(t *testing.T) {
	for src, want := range map[string]string{
		"eval('1')":                             "eval",
		"open('/etc/passwd')":                   "open",
		"type(state.a)":                         "type",
		"getattr(state, 'x')":                   "getattr",
		"list(state.items)":                     "list",
		"sorted(state.items)":                   "sorted",
		"state()":                               "state",
		"__import__('os').system('id')":         "__import__",
		"__builtins__":                          "__builtins__",
		"len":                                   "len",
		"state.x == len":                        "len",
		"isinstance(1, int) or int":             "int",
		"isinstance(int, int)":                  "int",
		"max(state.items, key=len)":             "key",
		"min(state.items, key=None)":            "key",
		"state.__class__":                       "__class__",
		"state._private":                        "_private",
		"state.a._b.c":                          "_b",
		"'a'.__len__()":                         "__len__",
		"state.a\uFF3Fb":                        "a\uFF3Fb",
		"state.a.\uFF46ormat('x')":              "ormat",
		"'{}'.format(1)":                        "format",
		"state.fmt.format(state)":               "format",
		"'{a}'.format_map(state)":               "format_map",
		"'a'.encode()":                          "encode",
		"'a'.translate({})":                     "translate",
		"state.items.append(1)":                 "append",
		"state.items.sort()":                    "sort",
		"state.user.pop('a')":                   "pop",
		"state.user.update({})":                 "update",
		"state.user.copy()":                     "copy",
		"(1).to_bytes(1, 'big')":                "to_bytes",
		"state.items[state.i]":                  "Subscript",
		"state.items[1 + 1]":                    "Subscript",
		"state.items[len(state.items) - 1]":     "Subscript",
		"state.items[state.i:]":                 "Subscript",
		"state['a']()":                          "Call",
		"(1)(2)":                                "Call",
		"state.items[0](2)":                     "Call",
		"...":                                   "Ellipsis",
		"b'x'":                                  "bytes",
		"2j":                                    "complex",
		`'\N{BULLET}'`:                          "\\N{",
		`'\ud800'`:                              "surrogate",
		"state.a if True else state.b * 2":      "Mult",
		"True or [x for x in state.a]":          "ListComp",
		"False and eval('1')":                   "eval",
		"(lambda: state.a * 2)()":               "Lambda",
		"1 * 2 + len([i for i in state.items])": "ListComp",
		"try: pass\nexcept E: pass":             "Try",
		"match x:\n case 1: pass":               "Match",
		"match {}:\n case _: pass":              "Match",
		"match [x]:\n case _: pass":             "Match",
		"match (x):\n case 1: pass":             "Match",
		"import os; os.system('id')":            "Import",
		"1\n2":                                  "Expr",
		"async for x in y: pass":                "AsyncFor",
		"@d\ndef f(): pass":                     "FunctionDef",
		"state.a = 1":                           "Assign",
		"{1, 2}":                                "Set",
	} {
		_, err := expr.Compile(src)
		if err == nil || !strings.HasPrefix(err.Error(), "SecurityError: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want a SecurityError that names %s", src, err, want)
		}
	}
}

func TestRefusedWhenReached(t *testing.T) {
	st := state.New(value.MapOf("s", "text", "l", []any{int64(1)}, "n", int64(1), "d", value.MapOf("format", "pdf")))
	for src, want := range map[string]string{
		"state.s.upper":                    "SecurityError: upper is a method: it can only be called",
		"state.s.format":                   "SecurityError: format is a method: it can only be called",
		"state.l.append":                   "SecurityError: append is a method: it can only be called",
		"state.n.to_bytes":                 "SecurityError: to_bytes is a method: it can only be called",
		"state.d.keys() - state.d.keys()":  "SecurityError: Set is not allowed in an expression: views are not subtracted",
		"state.d.format.strip.x":           "SecurityError: strip is a method: it can only be called",
		"state.d.format.nothing":           "AttributeError: 'str' object has no attribute 'nothing'",
		"state.d.strip()":                  "AttributeError: 'dict' object has no attribute 'strip'",
		"state.d.nothing.strip()":          "AttributeError: 'NoneType' object has no attribute 'strip'",
		"state.l.index('x' + 'y')":         "ValueError: 'xy' is not in list",
		"category == 'billing'":            "NameError: name 'category' is not defined",
		"True or category":                 "NameError: name 'category' is not defined",
		"state.d.format == 'pdf' and x.y":  "NameError: name 'x' is not defined",
		"state.s[1:'a']":                   "TypeError: slice indices must be integers or None or have an __index__ method",
		"steps.never.output.text":          "AttributeError: 'NoneType' object has no attribute 'text'",
		"{'count': 1}.count(1)":            "TypeError: 'int' object is not callable",
		"state.d.keys().isdisjoint('abc')": "SecurityError: isdisjoint is not a method that expressions have",
	} {
		v, err := eval(src, st)
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, %v, want %s", src, v, err, want)
		}
	}
}

func TestKeysAndMethods(t *testing.T) {
	st := state.New(value.MapOf(
		"order", value.MapOf("items", "mine", "get", int64(1)), "plain", value.MapOf("a", int64(1)),
		"format", "pdf", "keys", int64(7)))
	for src, want := range map[string]string{
		"state.order.items":                       "'mine'",
		"state.order.items()":                     "dict_items([('items', 'mine'), ('get', 1)])",
		"state.plain.items":                       "None",
		"state.plain.items()":                     "dict_items([('a', 1)])",
		"state.order.get('get')":                  "1",
		"state.keys":                              "7",
		"state.format == 'pdf'":                   "True",
		"state.values":                            "None",
		"state.get('keys')":                       "7",
		"(state.missing or {}).name":              "None",
		"state.plain.missing":                     "None",
		"state.plain['missing']":                  "None",
		"steps.x":                                 "None",
		"steps.x.output":                          "None",
		"steps.x.status":                          "None",
		"steps['x']['status']":                    "None",
		"(5).is_integer()":                        "True",
		"steps.x.status == 'success' or 'failed'": "'failed'",
	} {
		v, err := eval(src, st)
		if err != nil || python.Repr(v) != want {
			t.Errorf("%s: got %v, %v, want %s", src, python.Repr(v), err, want)
		}
	}
}

func TestDepth(t *testing.T) {
	nested := func(n int, open, inner, end string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	for _, src := range []string{
		nested(expr.MaxDepth, "(", "1", ")"), nested(expr.MaxDepth, "[", "", "]"), nested(expr.MaxDepth, "-", "1", ""),
		nested(expr.MaxDepth, "not ", "1", ""), nested(expr.MaxDepth, "{1: ", "1", "}"),
		"1" + strings.Repeat(" + 1", 2500), "state" + strings.Repeat(".a", 5) + strings.Repeat(".b", 0),
		"True" + strings.Repeat(" and True", 1000), strings.Repeat("'a' ", 2500), "'a'" + strings.Repeat(".strip()", 1000),
		"1" + strings.Repeat("<2>1", 2000),
	} {
		if _, err := expr.Compile(src); err != nil {
			t.Errorf("%.20s…: %v", src, err)
		}
	}
	for _, src := range []string{
		nested(expr.MaxDepth+1, "(", "1", ")"), nested(5000, "(", "1", ")"), nested(5000, "[", "", "]"),
		nested(5000, "{", "", "}"), strings.Repeat("(", 10000), strings.Repeat("a(", 5000), strings.Repeat("a[", 5000),
		nested(5000, "-", "1", ""), nested(2500, "not ", "1", ""), strings.Repeat("lambda:", 1400) + "1",
		strings.Repeat("1 if 1 else ", 800) + "1", strings.Repeat("1**", 3000) + "1", strings.Repeat("{1:", 3000),
	} {
		_, err := expr.Compile(src)
		want := "SecurityError: the expression nests more than 100 levels deep"
		if err == nil || err.Error() != want {
			t.Errorf("%.20s…: got %v, want %s", src, err, want)
		}
	}
	if _, err := expr.Compile("1" + strings.Repeat(" ", 10*1024-1)); err != nil {
		t.Errorf("10 KB of source: got %v", err)
	}
	if _, err := expr.Compile(strings.Repeat(" ", expr.MaxSource+1)); err == nil ||
		!strings.HasPrefix(err.Error(), "SecurityError: the expression is 10241 bytes long") {
		t.Errorf("too long a source: got %v", err)
	}
}

func TestLimits(t *testing.T) {
	text := strings.Repeat("ab", 1<<20) // 2 MiB
	list := make([]any, 300_000)
	for i := range list {
		list[i] = int64(i)
	}
	st := state.New(value.MapOf("text", text, "list", list, "sep", strings.Repeat("-", 1<<20)))
	for src, name := range map[string]string{
		"'a'.ljust(10**9)":                                     "SecurityError", // ** is refused already
		"'a'.ljust(1000000000)":                                "MemoryError",
		"'a'.rjust(1000000000000)":                             "MemoryError",
		"'a'.center(4611686018427387904)":                      "MemoryError",
		"'1'.zfill(9223372036854775807)":                       "MemoryError",
		"'a'.ljust(1000000000, 'é')":                           "MemoryError",
		"'\\t'.expandtabs(1000000000)":                         "MemoryError",
		"state.text.replace('a', state.text)":                  "MemoryError",
		"state.text.replace('', 'xxx')":                        "MemoryError",
		"state.text.join('abc')":                               "MemoryError",
		"state.sep.join(state.text)":                           "TimeoutError",
		"str([state.text, state.text, state.text])":            "MemoryError",
		"state.text + state.text + state.text":                 "MemoryError",
		"state.text.split('a')":                                "MemoryError",
		"[" + strings.Repeat("state.list[1:],", 50) + "]":      "MemoryError",
		"state.list" + strings.Repeat("+state.list", 30):       "MemoryError",
		strings.Repeat("state.text.upper() == ", 60) + "1":     "TimeoutError",
		strings.Repeat("state.text.isalpha() and ", 60) + "1":  "TimeoutError",
		strings.Repeat("state.list.count(-1) or ", 60) + "1":   "TimeoutError",
		strings.Repeat("-1 in state.list or ", 60) + "1":       "TimeoutError",
		strings.Repeat("'c' in state.text or ", 200) + "1":     "TimeoutError",
		strings.Repeat("not len(state.text) or ", 200) + "1":   "TimeoutError",
		strings.Repeat("float(state.text[::2]) or ", 60) + "1": "ValueError",
		"int(state.text, 10)":                                  "ValueError",
		"int(" + strings.Repeat("9", 4301) + ")":               "SyntaxError",
		"str(int('" + strings.Repeat("f", 4000) + "', 16))":    "ValueError",
		"'é'.center(100) and state.text.ljust(4194305)":        "MemoryError",
		strings.Repeat("state.text.removeprefix('a').partition('b')[2] and ", 180) + "state.text.title() * 2": "SecurityError",
	} {
		v, err := eval(src, st)
		e, ok := errors.AsType[*expr.Error](err)
		if !ok || e.Name != name {
			t.Errorf("%.60s: got %.40q, %v, want a %s", src, python.TypeName(v), err, name)
		}
	}
	for _, src := range []string{
		"len(state.text.upper()) == 2097152", "len('a'.ljust(4194304)) == 4194304", "299999 in state.list",
		"len(state.text + state.text) == 4194304", "len(state.list[::-1]) == 300000", "state.list == state.list",
		"'zz' not in state.text", "max(state.list) == 299999", "state.text.strip().endswith('ab')",
	} {
		if v, err := eval(src, st); v != true {
			t.Errorf("%s: got %v, %v", src, v, err)
		}
	}
}

func TestReferences(t *testing.T) {
	type ref = expr.Reference
	for src, want := range map[string][]ref{
		"1":                                    nil,
		"state.category == 'x'":                {{Root: "state", Path: []string{"category"}}},
		"state['user'].name[0].first":          {{Root: "state", Path: []string{"user", "name"}}},
		"steps.a.output or steps['b'].status":  {{Root: "steps", Path: []string{"a", "output"}}, {Root: "steps", Path: []string{"b", "status"}, Offset: 18}},
		"state.name.strip().lower()":           {{Root: "state", Path: []string{"name"}}},
		"state.get('a').b":                     {{Root: "state", Path: []string{"a", "b"}}},
		"state.user.get('a', state.b)":         {{Root: "state", Path: []string{"user"}}, {Root: "state", Path: []string{"b"}, Offset: 20}},
		"len(state) if state.x[1:] else steps": {{Root: "state", Path: []string{"x"}, Offset: 14}, {Root: "state", Offset: 4}, {Root: "steps", Offset: 31}},
		"{'a': state.x, state.y: 1}":           {{Root: "state", Path: []string{"x"}, Offset: 6}, {Root: "state", Path: []string{"y"}, Offset: 15}},
		"state.items[-1].name":                 {{Root: "state", Path: []string{"items"}}},
	} {
		p, err := expr.Compile(src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if d := cmp.Diff(want, p.References()); d != "" {
			t.Errorf("%s (-want +got):\n%s", src, d)
		}
	}
}

func TestErrorsSayWhereAndHow(t *testing.T) {
	for src, want := range map[string]struct {
		offset int
		kind   fault.Kind
	}{
		"state.a and state.b * 2":  {20, fault.Invalid},
		"state.a and )":            {12, fault.Invalid},
		"1 if state.a else x":      {18, fault.Invalid},
		"'a' == 'b' or 1 < 'a'":    {16, fault.Permanent},
		"state.a is None.x":        {16, fault.Permanent},
		"len(state.a) if 1 else 2": {3, fault.Permanent},
	} {
		_, err := eval(src, state.State{})
		e, ok := errors.AsType[*expr.Error](err)
		if !ok || e.Offset != want.offset || fault.KindOf(err) != want.kind {
			t.Errorf("%s: got %#v, %v, want offset %d, %v", src, e, fault.KindOf(err), want.offset, want.kind)
		}
	}
}

func TestTruth(t *testing.T) {
	for src, want := range map[string]bool{
		"None": false, "0": false, "0.0": false, "''": false, "[]": false, "()": false, "{}": false, "{}.keys()": false,
		"1": true, "-0.5": true, "' '": true, "[None]": true, "(0,)": true, "{'a': 0}": true, "{1: 2}.items()": true,
		"float('nan')": true, "99999999999999999999": true,
	} {
		v, err := eval(src, state.State{})
		if err != nil || expr.Truth(v) != want {
			t.Errorf("%s: got %v, %v, want %v", src, expr.Truth(v), err, want)
		}
	}
}

// A program may be evaluated by many goroutines at once.
func TestConcurrentEvaluation(t *testing.T) {
	p, err := expr.Compile("state.user.items() and {'a': [1, state.n]} == {'a': [1, 2.0]} and 'x'.ljust(3)")
	if err != nil {
		t.Fatal(err)
	}
	st := state.New(value.MapOf("user", value.MapOf("a", "b"), "n", int64(2)))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if v, err := p.Eval(st); v != "x  " || err != nil {
				t.Errorf("got %v, %v", v, err)
			}
		})
	}
	wg.Wait()
}
