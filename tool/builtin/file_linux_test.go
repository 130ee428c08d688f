package builtin_test

import (
	"os"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/tool/builtin"
)

// Where no file can be made beside it, a writable file is written over.
func TestFileWriteOntoAFileOfProc(t *testing.T) {
	const path = "/proc/self/comm"
	old, err := os.ReadFile(path)
	if err != nil {
		t.Skip(err)
	}
	defer os.WriteFile(path, old, 0)
	r := tools(t, builtin.Options{})
	if _, err := call(t, r, "file_write", "path", path, "content", "renamed"); err != nil {
		t.Fatal(err)
	}
	if got, err := call(t, r, "file_read", "path", path); err != nil || strings.TrimSpace(got.(string)) != "renamed" {
		t.Errorf("got %q, %v", got, err)
	}
}
