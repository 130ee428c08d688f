package tool_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// raw is a tool that is only a Call.
type raw func(context.Context, *value.Map) (any, error)

func (raw) Spec() tool.Spec { return tool.Spec{Name: "raw"} }

func (r raw) Call(ctx context.Context, args *value.Map) (any, error) { return r(ctx, args) }

func returns(v any, err error) raw {
	return func(context.Context, *value.Map) (any, error) { return v, err }
}

func TestInvokeConvertsResults(t *testing.T) {
	type point struct {
		Y int `json:"y"`
		X int `json:"x"`
	}
	for want, v := range map[string]any{
		`null`:                  nil,
		`"s"`:                   "s",
		`1`:                     1,
		`1.0`:                   1.0,
		`{"y":1,"x":2}`:         point{1, 2},
		`[{"y":1,"x":2}]`:       []*point{{1, 2}},
		`{"a":1,"b":[true]}`:    map[string]any{"b": []bool{true}, "a": uint8(1)},
		`{"z":null,"a":"text"}`: value.MapOf("z", nil, "a", "text"),
	} {
		got, err := tool.Invoke(t.Context(), returns(v, nil), nil)
		if err != nil || show(t, got) != want {
			t.Errorf("got %v, %v; want %s", got, err, want)
		}
	}
}

func TestInvokePassesArguments(t *testing.T) {
	args := value.MapOf("a", int64(1))
	ctx := tool.WithIdempotencyKey(t.Context(), "k")
	echo := raw(func(ctx context.Context, args *value.Map) (any, error) {
		return []any{tool.IdempotencyKey(ctx), args}, nil
	})
	if got, err := tool.Invoke(ctx, echo, args); err != nil || show(t, got) != `["k",{"a":1}]` {
		t.Errorf("got %v, %v", got, err)
	}
}

type badJSON struct{}

func (badJSON) MarshalJSON() ([]byte, error) { panic("in MarshalJSON") }

type badError struct{ text *string }

func (e badError) Error() string { return *e.text }

func TestInvokeClassifiesErrors(t *testing.T) {
	cause := errors.New("disk full")
	cycle := map[string]any{}
	cycle["self"] = cycle
	tests := []struct {
		name string
		tool tool.Tool
		kind fault.Kind
		want string
	}{
		{"plain", returns(nil, cause), fault.Transient, "disk full"},
		{"an error wins over a result", returns("x", cause), fault.Transient, "disk full"},
		{"own kind", returns(nil, fault.New(fault.Refused, "Sandbox violation", nil)), fault.Refused, "Sandbox violation"},
		{"own deadline", returns(nil, context.DeadlineExceeded), fault.Transient, "context deadline exceeded"},
		{"channel", returns(make(chan int), nil), fault.Permanent, "the tool's result is no JSON value: a chan int has no JSON form"},
		{"function inside", returns(map[string]any{"f": func() {}}, nil), fault.Permanent, "the tool's result is no JSON value: at .f: a func() has no JSON form"},
		{"cycle", returns(cycle, nil), fault.Permanent, "the tool's result is no JSON value: nested more than 1000 levels deep"},
		{"panic", raw(func(context.Context, *value.Map) (any, error) { panic("boom") }), fault.Transient, "the tool panicked: boom"},
		{"panic with an error", raw(func(context.Context, *value.Map) (any, error) { panic(cause) }), fault.Transient, "the tool panicked: disk full"},
		{"runtime panic", raw(func(_ context.Context, args *value.Map) (any, error) {
			var list []int
			return list[args.Len()], nil
		}), fault.Transient, "the tool panicked: runtime error: index out of range"},
		{"panic in the result", returns(badJSON{}, nil), fault.Transient, "the tool panicked: in MarshalJSON"},
		{"panic in the error", returns(nil, badError{}), fault.Transient, "the tool panicked: runtime error"},
		{"goexit", raw(func(context.Context, *value.Map) (any, error) {
			runtime.Goexit()
			return nil, nil
		}), fault.Transient, "the tool ended its goroutine instead of returning"},
		{"nil", nil, fault.Transient, "the tool panicked: runtime error"},
		{"broken Func", tool.Func[chan int]("f", "", nil), fault.Permanent, `the tool "f" cannot be made`},
		{"arguments of a Func", tool.Func("f", "", func(context.Context, struct{ A int }) (any, error) { return nil, nil }),
			fault.Transient, `argument "A" is missing`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tool.Invoke(t.Context(), tt.tool, nil)
			if got != nil || err == nil || !strings.HasPrefix(err.Error(), tt.want) || fault.KindOf(err) != tt.kind {
				t.Errorf("got %v and %v error %v; want %v %s", got, fault.KindOf(err), err, tt.kind, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), ".go:") {
				t.Errorf("a stack trace: %v", err)
			}
		})
	}
	if _, err := tool.Invoke(t.Context(), returns(nil, cause), nil); !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	long := raw(func(context.Context, *value.Map) (any, error) { panic(strings.Repeat("x", 1<<20)) })
	if _, err := tool.Invoke(t.Context(), long, nil); len(err.Error()) > 400 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

func TestInvokeWhenTheContextEnds(t *testing.T) {
	waits := raw(func(ctx context.Context, _ *value.Map) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ownWords := raw(func(ctx context.Context, _ *value.Map) (any, error) {
		<-ctx.Done()
		return nil, errors.New("interrupted")
	})
	wrapped := raw(func(ctx context.Context, _ *value.Map) (any, error) {
		<-ctx.Done()
		return nil, fault.New(fault.Transient, "request failed", context.Cause(ctx))
	})
	ownKind := raw(func(ctx context.Context, _ *value.Map) (any, error) {
		<-ctx.Done()
		return nil, fault.New(fault.Permanent, "no such account", nil)
	})
	finished := raw(func(ctx context.Context, _ *value.Map) (any, error) {
		<-ctx.Done()
		return "done", nil
	})
	stepTimeout := fault.New(fault.Timeout, "step fetch ran out of its 5s", nil)
	tests := []struct {
		name  string
		tool  tool.Tool
		cause error // nil: a deadline
		kind  fault.Kind
		want  string
	}{
		{"deadline", waits, nil, fault.Timeout, "the tool was stopped: context deadline exceeded"},
		{"cancelled", waits, context.Canceled, fault.Cancelled, "the tool was stopped: context canceled"},
		{"a cause with a kind", waits, stepTimeout, fault.Timeout, "step fetch ran out of its 5s"},
		{"a cause without", waits, errors.New("ctrl-c"), fault.Cancelled, "the tool was stopped: ctrl-c"},
		{"an error in the tool's own words", ownWords, stepTimeout, fault.Timeout, "step fetch ran out of its 5s"},
		{"the cause inside another kind", wrapped, stepTimeout, fault.Timeout, "step fetch ran out of its 5s"},
		{"an error with a kind of its own", ownKind, stepTimeout, fault.Permanent, "no such account"},
		{"a result all the same", finished, stepTimeout, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			if tt.cause == nil {
				var stop context.CancelFunc
				ctx, stop = context.WithTimeout(ctx, time.Millisecond)
				defer stop()
			} else {
				time.AfterFunc(time.Millisecond, func() { cancel(tt.cause) })
			}
			got, err := tool.Invoke(ctx, tt.tool, nil)
			cancel(nil)
			if tt.kind == 0 {
				if err != nil || got != "done" {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			if err == nil || err.Error() != tt.want || fault.KindOf(err) != tt.kind {
				t.Errorf("got %v error %v; want %v %s", fault.KindOf(err), err, tt.kind, tt.want)
			}
			if tt.cause != nil && tt.kind != fault.Permanent && !errors.Is(err, tt.cause) {
				t.Error("the cause is lost")
			}
		})
	}
}

func TestInvokeDoesNotStartAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := tool.Invoke(ctx, raw(func(context.Context, *value.Map) (any, error) {
		t.Error("the tool was called")
		return nil, nil
	}), nil)
	if fault.KindOf(err) != fault.Cancelled {
		t.Errorf("got error %v", err)
	}
}

func BenchmarkInvoke(b *testing.B) {
	f := tool.Func("f", "", func(_ context.Context, in struct{ A int }) (any, error) { return in.A, nil })
	args := value.MapOf("A", int64(1))
	for b.Loop() {
		if _, err := tool.Invoke(b.Context(), f, args); err != nil {
			b.Fatal(err)
		}
	}
}
