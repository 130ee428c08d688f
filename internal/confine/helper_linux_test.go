package confine_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentloom/agentloom/internal/confine"
)

// TestMain is also the program that tries what it may not: it is run as
// "try:ACTION ARGUMENT…" and prints "ok" or the error of each attempt.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "try:") {
		try(strings.TrimPrefix(os.Args[1], "try:"), os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

func try(action string, args []string) {
	switch action {
	case "files":
		for len(args) > 1 {
			fmt.Println(word(file(args[0], args[1])))
			args = args[2:]
		}
	case "net":
		for len(args) > 1 {
			fmt.Println(word(network(args[0], args[1])))
			args = args[2:]
		}
	case "process":
		pid, _ := strconv.Atoi(args[0])
		_, err := os.ReadFile("/proc/" + args[0] + "/environ")
		fmt.Println(word(err))
		fmt.Println(word(unix.Kill(pid, 0)))
		fmt.Println(word(unix.Prlimit(pid, unix.RLIMIT_CORE, nil, &unix.Rlimit{})))
		fmt.Println(word(unix.PtraceAttach(pid)))
	case "descriptors":
		for fd := range 4096 {
			// The Go runtime's own are closed when a program is executed.
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
				fmt.Print(fd, " ")
			}
		}
	case "bomb":
		bomb()
	case "calls":
		calls()
	case "starts":
		starts(args[0])
	}
}

func word(err error) string {
	if err == nil {
		return "ok"
	}
	text := err.Error()
	return text[strings.LastIndex(text, ": ")+1:]
}

func file(how, path string) error {
	switch how {
	case "read":
		_, err := os.ReadFile(path)
		return err
	case "list":
		_, err := os.ReadDir(path)
		return err
	case "write":
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			f.Close()
		}
		return err
	case "make":
		return os.WriteFile(path, []byte("new"), 0o644)
	case "truncate":
		return os.Truncate(path, 0)
	case "remove":
		return os.Remove(path)
	case "mkdir":
		return os.Mkdir(path, 0o755)
	case "chmod":
		return os.Chmod(path, 0o600)
	case "touch":
		return os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0))
	case "device":
		return unix.Mknod(path, unix.S_IFCHR|0o600, 1<<8|3)
	case "rename", "link", "symlink":
		from, to, _ := strings.Cut(path, ",")
		return map[string]func(string, string) error{"rename": os.Rename, "link": os.Link, "symlink": os.Symlink}[how](from, to)
	case "run":
		return exec.Command(path).Run()
	}
	return unix.ENOSYS
}

func network(how, address string) error {
	switch how {
	case "dns":
		r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", address)
		}}
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		_, err := r.LookupHost(ctx, "canary.test.")
		return err
	case "listen":
		config := net.ListenConfig{}
		config.SetMultipathTCP(false) // which is another protocol to Landlock
		l, err := config.Listen(context.Background(), "tcp", address)
		if err == nil {
			l.Close()
		}
		return err
	case "netlink", "packet", "vsock", "alg":
		family := map[string]int{"netlink": unix.AF_NETLINK, "packet": unix.AF_PACKET, "vsock": unix.AF_VSOCK, "alg": unix.AF_ALG}[how]
		fd, err := unix.Socket(family, unix.SOCK_RAW, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	case "pair":
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return err
	}
	conn, err := net.Dial(how, address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if how == "udp" {
		_, err = conn.Write([]byte("hello"))
	}
	return err
}

// bomb runs a program that starts others without waiting, up to a number that
// ends the test if nothing else does, and prints the first that it says.
func bomb() {
	cmd := exec.Command("/bin/sh", "-c", "i=0; while [ $i -lt 3000 ]; do sleep 9 & i=$((i+1)); done; echo all started >&2")
	says, err := cmd.StderrPipe()
	if err == nil {
		err = confine.Start(cmd, confine.Rules{Limits: confine.Limits{Processes: 20}})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	time.AfterFunc(20*time.Second, func() { unix.Kill(-cmd.Process.Pid, unix.SIGKILL) })
	first, _ := bufio.NewReader(says).ReadString('\n')
	unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
	cmd.Wait()
	fmt.Println(first)
}

// starts starts a program again and again from the first thread, and prints
// which threads it has then and whether one is confined.
func starts(times string) {
	n, _ := strconv.Atoi(times)
	before := threads()
	for range n {
		cmd := exec.Command("/bin/true")
		if err := confine.Start(cmd, confine.Rules{NoNetwork: true}); err != nil {
			fmt.Println(err)
			return
		}
		if err := cmd.Wait(); err != nil {
			fmt.Println(err)
			return
		}
		runtime.Gosched()
	}
	after := threads()
	if after > before+20 {
		fmt.Println("from", before, "to", after, "threads")
	}
	// The runtime ends a thread some time after its goroutine.
	for range 1000 {
		if len(confinedThreads()) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, path := range confinedThreads() {
		fmt.Println("a confined thread stayed behind:", path)
	}
	fmt.Println("done")
}

func confinedThreads() []string {
	var confined []string
	statuses, _ := filepath.Glob("/proc/self/task/*/status")
	for _, path := range statuses {
		text, err := os.ReadFile(path)
		if err == nil && (!strings.Contains(string(text), "NoNewPrivs:\t0") || !strings.Contains(string(text), "Seccomp:\t0")) {
			confined = append(confined, path)
		}
	}
	return confined
}

func threads() int {
	tasks, _ := os.ReadDir("/proc/self/task")
	return len(tasks)
}
