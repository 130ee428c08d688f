package workdir_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain puts the default working directory, which is never removed, into a
// directory that is.
func TestMain(m *testing.M) {
	temp, err := os.MkdirTemp("", "workdir-test-")
	if err == nil {
		err = os.Setenv("TMPDIR", temp)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(temp)
	os.Exit(code)
}
