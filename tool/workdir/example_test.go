package workdir_test

import (
	"context"
	"fmt"
	"os"

	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/tool/workdir"
	"github.com/agentloom/agentloom/value"
)

func ExampleFilesystem() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	r := tool.NewRegistry(tool.RegistryOptions{})
	for _, t := range append(workdir.Filesystem(dir), workdir.Bash(dir, workdir.BashOptions{})) {
		if err := r.Register(t); err != nil {
			fmt.Println(err)
			return
		}
	}
	call := func(name string, args ...any) {
		t, _ := r.Get(name)
		result, err := t.Call(context.Background(), value.MapOf(args...))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(result)
	}
	call("write", "path", "greet.sh", "content", "#!/bin/sh\necho hello\n")
	call("edit", "path", "greet.sh", "old_string", "hello", "new_string", "hello, world")
	call("read", "path", "greet.sh")
	call("bash", "command", "sh greet.sh")
	call("read", "path", "../../etc/passwd")
	// Output:
	// Wrote 21 byte(s) to greet.sh
	// Replaced 1 occurrence(s) in greet.sh
	//      1	#!/bin/sh
	//      2	echo hello, world
	// $ sh greet.sh
	// [exit=0]
	// --- stdout ---
	// hello, world
	// ERROR: cannot read "../../etc/passwd": it is outside the working directory
}

func ExampleGuard() {
	readAny := tool.Func("read_any", "Read a file.", func(_ context.Context, in struct {
		Path string `json:"path"`
	}) (any, error) {
		b, err := os.ReadFile(in.Path)
		return string(b), err
	})
	guarded := workdir.Guard([]tool.Tool{readAny}, "testdata")[0]
	result, _ := guarded.Call(context.Background(), value.MapOf("path", "/etc/passwd"))
	fmt.Println(result)
	// Output:
	// ERROR: argument "path": "/etc/passwd" is outside the directories that are allowed
}
