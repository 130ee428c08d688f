package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentloom/agentloom/sandbox"
	"github.com/agentloom/agentloom/workflow"
)

// A tool of your own holds itself to the workflow's sandbox.
func ExamplePolicy() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.Symlink("/etc", filepath.Join(dir, "link")); err != nil {
		fmt.Println(err)
		return
	}
	policy, err := sandbox.New(&workflow.Sandbox{
		Enabled:         true,
		AllowedCommands: []string{"grep"},
		AllowedPaths:    []string{"."},
	}, sandbox.PolicyOptions{Dir: dir, Path: "/usr/bin:/bin"})
	if err != nil {
		fmt.Println(err)
		return
	}
	mine := policy.As("word_count")
	fmt.Println(mine.CheckPath("link/passwd", false))
	fmt.Println(mine.CheckCommand("grep -c root /etc/passwd", ""))
	fmt.Println(mine.CheckCommand("grep -c root notes.txt | sort", ""))
	argv, err := mine.Command("grep -c 'to do' notes.txt", "")
	fmt.Printf("%q %v\n", argv.Args, err)
	// Output:
	// Sandbox violation (word_count): path "link/passwd" is not under allowed_paths or readable_paths
	// Sandbox violation (word_count): argument "/etc/passwd" leads out of allowed_paths, readable_paths and writable_paths
	// Sandbox violation (word_count): shell operator or line break "|"; a call runs one program
	// ["grep" "-c" "to do" "notes.txt"] <nil>
}
