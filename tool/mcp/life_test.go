package mcp_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/tool/mcp"
)

func TestADeadServerStartsAgain(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	opts := mcp.Options{Stderr: func(server, line string) { mu.Lock(); lines = append(lines, server+": "+line); mu.Unlock() }}
	s := open(t, opts, def(t, "ok"))
	die, echo := resolve(t, s, "x__die"), resolve(t, s, "x__echo")
	for range 2 * 3 { // more often than a server that only dies is started
		_, err := tool.Invoke(t.Context(), die, nil)
		wantError(t, err, fault.Transient, "exit status 4", "out of memory")
		if got, err := tool.Invoke(t.Context(), echo, nil); err != nil || got != "{}" {
			t.Fatalf("the next call: %v, %v", got, err)
		}
	}
	for range 1 + 3 { // the first one runs already
		_, err := tool.Invoke(t.Context(), die, nil)
		wantError(t, err, fault.Transient, "exit status 4")
	}
	_, err := tool.Invoke(t.Context(), die, nil)
	wantError(t, err, fault.Permanent, "started 3 times")
	s.Close()
	if len(lines) != 10 || lines[0] != "x: out of memory" {
		t.Errorf("standard error was %q", lines)
	}
}

func TestBadServersDuringACall(t *testing.T) {
	tests := []struct {
		tool string
		kind fault.Kind
		want string
	}{
		{"slow", fault.Timeout, `did not answer the call of "slow" within 1s`},
		{"hang", fault.Timeout, `did not answer the call of "hang" within 1s`},
		{"huge", fault.Permanent, "message of more than"},
		{"deep", fault.Permanent, "no valid JSON"},
		{"deepish", fault.Permanent, "can't be read"},
		{"broken", fault.Permanent, "no valid JSON"},
		{"flood", fault.Permanent, "asks too much"},
	}
	for _, tt := range tests {
		t.Run(tt.tool, func(t *testing.T) {
			s := open(t, mcp.Options{MaxResult: 1 << 16}, within(def(t, "ok"), time.Second))
			_, err := call(t, s, "x__"+tt.tool)
			wantError(t, err, tt.kind, tt.want)
		})
	}
}

// TestAHangingServerIsKilled waits for what happens after the call: a server
// that answers no ping either makes room for a new one.
func TestAHangingServerIsKilled(t *testing.T) {
	s := open(t, mcp.Options{}, within(def(t, "ok"), time.Second))
	hang, echo := resolve(t, s, "x__hang"), resolve(t, s, "x__echo")
	_, err := tool.Invoke(t.Context(), hang, nil)
	wantError(t, err, fault.Timeout)
	for late := time.Now().Add(soon); ; {
		got, err := tool.Invoke(t.Context(), echo, nil)
		if err == nil && got == "{}" {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("the server is not started again: %v", err)
		}
	}
}

func TestCallsRunAtTheSameTime(t *testing.T) {
	s := open(t, mcp.Options{}, within(def(t, "ok"), soon))
	slow := resolve(t, s, "x__slow")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() {
		_, err := tool.Invoke(ctx, slow, nil)
		wantError(t, err, fault.Cancelled)
	})
	for i := range 50 {
		all.Go(func() {
			if got, err := call(t, s, "x__echo", "n", int64(i)); err != nil || got != fmt.Sprintf(`{"n":%d}`, i) {
				t.Errorf("call %d: %v, %v", i, got, err)
			}
			if i == 49 {
				cancel()
			}
		})
	}
	all.Wait()
}

func TestCloseEndsEverything(t *testing.T) {
	for _, mode := range []string{"ok", "stubborn"} {
		t.Run(mode, func(t *testing.T) {
			s := open(t, mcp.Options{Environ: []string{"PATH=/usr/bin:/bin"}}, def(t, mode))
			got, err := call(t, s, "x__leave")
			if err != nil {
				t.Fatal(err)
			}
			child, err := strconv.Atoi(got.(string))
			if err != nil {
				t.Fatal(err)
			}
			slow := resolve(t, s, "x__slow")
			failed := make(chan error, 1)
			go func() {
				_, err := slow.Call(context.Background(), nil)
				failed <- err
			}()
			since := time.Now()
			s.Close()
			wantError(t, <-failed, fault.Cancelled)
			if d := time.Since(since); d > soon/2 {
				t.Errorf("closing took %v", d)
			}
			for late := time.Now().Add(soon); alive(child); time.Sleep(time.Millisecond) {
				if time.Now().After(late) {
					t.Fatal("a process that the server left behind still runs")
				}
			}
			_, err = slow.Call(t.Context(), nil)
			wantError(t, err, fault.Cancelled, "stopped with the run")
			if _, err := s.Tools(t.Context()); fault.KindOf(err) != fault.Cancelled {
				t.Errorf("after Close: %v", err)
			}
		})
	}
}

// alive says whether a process runs; one that ended and that nobody waited for
// does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !os.IsNotExist(err)
	}
	return !strings.Contains(string(stat), ") Z ")
}
