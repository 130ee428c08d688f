package process

import (
	"bytes"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killTime bounds how long killTree looks for what is still there.
const killTime = 2 * time.Second

// killTree kills the process group of a command and every process that the
// command started outside it, such as daemons with a session of their own.
// Found are all descendants whose parents still live, the sessions and groups
// these lead, and, wherever they went, processes that have the command's mark,
// in the environment they were started with or as a limit. The leader must not
// have been waited for, so that its number still is its own.
func killTree(leader int, mark string) {
	known := map[int]string{leader: ""} // start times by number
	if p, ok := processOf(leader); ok {
		known[leader] = p.start
	}
	first := true
	for since := time.Now(); time.Since(since) < killTime; {
		found := members(processes(), known, mark)
		if first {
			killGroup(leader)
			first = false
		}
		if len(found) == 0 {
			return
		}
		for _, p := range found {
			known[p.pid] = p.start
			p.kill()
		}
		time.Sleep(time.Millisecond) // the kernel ends them on its own time
	}
}

// setMark gives a command that was just started its mark as a limit too, which
// stays with every process it starts, daemons with a cleared environment
// included: the limit on file locks, which Linux keeps and does not apply. For a
// command that is not held, it may come too late for what that starts in its
// first microseconds.
func setMark(pid int, mark string) {
	var limit unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &limit) == nil {
		limit.Cur = lockLimit(mark)
		_ = unix.Prlimit(pid, unix.RLIMIT_LOCKS, &limit, nil) // a help, not a must
	}
}

// lockLimit makes a number of a mark that no administrator sets.
func lockLimit(mark string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(mark)) // never fails
	return h.Sum64()>>2 | 1<<61
}

// process is a line of the process table. The start time tells it from a later
// process with the same number.
type process struct {
	pid, parent, group, session int
	start                       string
}

// members returns the processes of a table that belong to the known ones.
func members(table []process, known map[int]string, mark string) []process {
	belongs := map[int]bool{}
	for pid := range known {
		belongs[pid] = true
	}
	for _, p := range table {
		if start, ok := known[p.pid]; ok && start != p.start {
			delete(belongs, p.pid) // the number has a new owner
		}
	}
	var found []process
	for again := true; again; {
		again = false
		var rest []process
		for _, p := range table {
			if belongs[p.pid] || belongs[p.parent] || belongs[p.group] || belongs[p.session] || p.has(mark) {
				belongs[p.pid] = true
				found = append(found, p)
				again = true
			} else {
				rest = append(rest, p)
			}
		}
		table, mark = rest, "" // marks were looked up in the first pass
	}
	return found
}

// processes reads the process table, without the ones that have ended.
func processes() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var table []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := processOf(pid); ok {
			table = append(table, p)
		}
	}
	return table
}

func processOf(pid int) (process, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	// The name, in brackets, may hold anything; the fields start after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const state, parent, group, session, start = 0, 1, 2, 3, 19
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return process{}, false
	}
	p := process{pid: pid, start: fields[start]}
	p.parent, _ = strconv.Atoi(fields[parent])
	p.group, _ = strconv.Atoi(fields[group])
	p.session, _ = strconv.Atoi(fields[session])
	return p, true
}

// has says whether the process carries the mark.
func (p process) has(mark string) bool {
	if mark == "" {
		return false
	}
	dir := "/proc/" + strconv.Itoa(p.pid)
	if env, err := os.ReadFile(dir + "/environ"); err == nil && bytes.Contains(env, []byte(mark)) {
		return true
	}
	limits, err := os.ReadFile(dir + "/limits")
	return err == nil && bytes.Contains(limits, strconv.AppendUint([]byte(" "), lockLimit(mark), 10))
}

// kill holds on to the process before it looks whether it is still the one
// that was found.
func (p process) kill() {
	handle, err := os.FindProcess(p.pid)
	if err != nil {
		return
	}
	defer handle.Release()
	if now, ok := processOf(p.pid); ok && now.start == p.start {
		_ = handle.Signal(syscall.SIGKILL) // an error means that it has ended
	}
}
