package modeltest

import (
	"os"
	"path/filepath"
	"testing"
)

// Recordings returns the folder of recorded exchanges with real services:
// AGENTLOOM_TEST_WIRE, or shared/wire beside the repository. They are no part
// of it, so a test that reads them is skipped where they are not; each adapter
// has fixtures of its own.
func Recordings(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("AGENTLOOM_TEST_WIRE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "wire")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recorded exchanges here (%v); set AGENTLOOM_TEST_WIRE to a folder of them", err)
	}
	return dir
}
