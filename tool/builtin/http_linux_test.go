//go:build linux

package builtin_test

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentloom/agentloom/tool/builtin"
)

// A listener whose queue is full leaves further connections hanging.
func TestHTTPRequestConnectingStalls(t *testing.T) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := fmt.Sprint("127.0.0.1:", name.(*syscall.SockaddrInet4).Port)
	for {
		conn, err := net.DialTimeout("tcp", addr, 200*time.Millisecond)
		if err != nil {
			break // full
		}
		defer conn.Close()
	}
	_, err = call(t, tools(t, builtin.Options{}), "http_request", "url", "http://"+addr, "timeout", 0.3)
	if err == nil || !strings.HasSuffix(err.Error(), ": connecting timed out after 0.3s") {
		t.Errorf("got error %v", err)
	}
}
