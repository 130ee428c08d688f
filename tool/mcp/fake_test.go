package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeMode is the variable that makes of this test's program an MCP server. Its
// value says how the server starts.
const fakeMode = "AGENTLOOM_FAKE_MCP"

func TestMain(m *testing.M) {
	if mode := os.Getenv(fakeMode); mode != "" {
		(&fake{in: bufio.NewReader(os.Stdin), mode: mode}).serve()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake is a server that does what its tools' names say.
type fake struct {
	in    *bufio.Reader
	mode  string
	extra bool
	lists int
}

type object = map[string]any

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Cursor    string          `json:"cursor"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
	Error json.RawMessage `json:"error"`
}

func (f *fake) serve() {
	switch f.mode {
	case "dies":
		fmt.Fprintln(os.Stderr, "no configuration: token canary-secret is wrong\x1b[31m")
		os.Exit(3)
	case "hangs":
		time.Sleep(time.Hour)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "garbage":
		fmt.Println("{]")
		time.Sleep(time.Hour)
	case "chatters":
		for {
			fmt.Println("this is no message")
		}
	case "endless":
		for {
			fmt.Print(strings.Repeat("{", 1<<16))
		}
	case "banner":
		fmt.Print("Welcome to the fake server\n\n{\"level\":\"info\"}\n")
	}
	for {
		m, ok := f.next()
		if !ok {
			break
		}
		f.handle(m)
	}
	if f.mode == "stubborn" {
		time.Sleep(time.Hour) // the input is closed, and it stays all the same
	}
}

func (f *fake) next() (message, bool) {
	line, err := f.in.ReadBytes('\n')
	if err != nil {
		return message{}, false
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		panic(err)
	}
	return m, true
}

func (f *fake) send(v any) {
	src, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", src)
}

func (f *fake) answer(m message, result any) {
	f.send(object{"jsonrpc": "2.0", "id": m.ID, "result": result})
}

func (f *fake) refuse(m message, code int, text string) {
	f.send(object{"jsonrpc": "2.0", "id": m.ID, "error": object{"code": code, "message": text}})
}

func (f *fake) text(m message, text string) {
	f.answer(m, object{"content": []any{object{"type": "text", "text": text}}})
}

func (f *fake) handle(m message) {
	switch m.Method {
	case "initialize":
		if f.mode == "modern" {
			f.send(object{"jsonrpc": "2.0", "id": m.ID, "error": object{"code": -32022, "message": "too old", "data": object{"supported": []string{"2026-07-28"}}}})
			return
		}
		f.answer(m, object{"protocolVersion": "2025-06-18", "capabilities": object{"tools": object{"listChanged": true}},
			"serverInfo": object{"name": "fake", "version": "1"}})
	case "server/discover":
		if f.mode != "modern" {
			os.Exit(9) // as some servers do
		}
		f.answer(m, object{"supportedVersions": []string{"2026-07-28"}, "capabilities": object{"tools": object{}}, "resultType": "complete"})
	case "ping":
		f.answer(m, object{})
	case "tools/list":
		f.list(m)
	case "tools/call":
		f.call(m)
	}
}

func (f *fake) list(m message) {
	f.lists++
	var names []string
	next := ""
	switch f.mode {
	case "pages":
		names = []string{"tool" + m.Params.Cursor}
		if len(m.Params.Cursor) < 3 {
			next = m.Params.Cursor + "x"
		}
	case "loops":
		names, next = []string{"a"}, "again"
	case "twice":
		names = []string{"a", "b", "a"}
	case "collides":
		names = []string{"a.b", "a/b", "c"}
	case "odd":
		names = []string{"admin.list", strings.Repeat("long", 20), "größe", ""}
	case "many":
		for i := range 2000 {
			names = append(names, fmt.Sprint("t", i))
		}
	default:
		names = []string{"echo", "env", "whole", "fail", "rpcerror", "invalid", "die", "slow", "hang", "broken", "huge", "big",
			"media", "ask", "change", "leave", "flood", "deep", "deepish", "input"}
		if f.extra {
			names = append(names, "extra")
		}
	}
	tools := []any{}
	for _, name := range names {
		tools = append(tools, object{"name": name, "description": "does " + name,
			"annotations": object{"readOnlyHint": name == "echo"},
			"inputSchema": object{"type": "object", "properties": object{"n": object{"type": "integer", "default": 5}}}})
	}
	result := object{"tools": tools, "resultType": "complete"}
	if next != "" {
		result["nextCursor"] = next
	}
	f.answer(m, result)
}

func (f *fake) call(m message) {
	switch m.Params.Name {
	case "echo":
		f.send(object{"jsonrpc": "2.0", "method": "notifications/progress", "params": object{"progressToken": 1, "progress": 1}})
		f.text(m, string(m.Params.Arguments))
	case "env":
		env := os.Environ()
		slices.Sort(env)
		f.text(m, strings.Join(env, "\n"))
	case "whole":
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"t"}],"structuredContent":{"z":9007199254740993,"a":1.0}}}`+"\n", m.ID)
	case "fail":
		f.answer(m, object{"isError": true, "content": []any{object{"type": "text", "text": "no such file; token canary-secret"}}})
	case "rpcerror":
		f.refuse(m, -32000, "busy")
	case "invalid":
		f.refuse(m, -32602, "n is missing")
	case "die":
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(4)
	case "slow": // it answers everything but this
	case "hang":
		time.Sleep(time.Hour)
	case "broken":
		fmt.Println(`{"jsonrpc":"2.0","id":`)
	case "huge":
		for {
			if _, err := fmt.Print(strings.Repeat("x", 1<<20)); err != nil {
				os.Exit(1)
			}
		}
	case "big":
		f.text(m, strings.Repeat("x", 2000))
	case "media":
		f.answer(m, object{"content": []any{
			object{"type": "text", "text": "one"},
			object{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
			object{"type": "resource_link", "uri": "file:///a", "name": "a"},
			object{"type": "resource", "resource": object{"uri": "file:///b", "text": "the text of b"}},
			object{"type": "resource", "resource": object{"uri": "file:///c", "mimeType": "x/y", "blob": "aGVsbG8h"}},
			object{"type": "hologram"}}})
	case "ask":
		f.ask(m)
	case "change":
		f.extra = true
		f.send(object{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
		f.text(m, fmt.Sprint(f.lists))
	case "leave":
		child := exec.Command("sleep", "600")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			panic(err)
		}
		f.text(m, fmt.Sprint(child.Process.Pid))
	case "flood":
		for i := 0; ; i++ {
			f.send(object{"jsonrpc": "2.0", "id": i, "method": "ping"})
		}
	case "deep":
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s%s}`+"\n", m.ID, strings.Repeat("[", 100_000), strings.Repeat("]", 100_000))
	case "deepish":
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s%s}`+"\n", m.ID, strings.Repeat("[", 5000), strings.Repeat("]", 5000))
	case "input":
		f.answer(m, object{"resultType": "input_required", "inputRequests": object{}, "content": []any{}})
	case "extra":
		f.text(m, "extra")
	default:
		f.text(m, m.Params.Name)
	}
}

// ask asks the client for everything it might offer, and tells its answers.
func (f *fake) ask(m message) {
	var answers []string
	for i, method := range []string{"ping", "roots/list", "sampling/createMessage", "elicitation/create", "nonsense"} {
		f.send(object{"jsonrpc": "2.0", "id": fmt.Sprint("ask", i), "method": method, "params": object{"messages": []any{}, "maxTokens": 1, "message": "?", "requestedSchema": object{}}})
		reply, ok := f.next()
		if !ok {
			return
		}
		answers = append(answers, fmt.Sprintf("%s refused: %v", method, len(reply.Error) > 0))
	}
	f.text(m, strings.Join(answers, "\n"))
}

// soon is a time that a test's server has to do what takes no time.
const soon = 20 * time.Second
