package confine

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of Landlock's rules. There is none for devices to be made, nor
// for opened devices to be controlled: these are denied everywhere.
const (
	readRights  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	execRights  = readRights | unix.LANDLOCK_ACCESS_FS_EXECUTE
	writeRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	// fileRights are the ones that a rule for a file may have.
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// fileAccess is what Landlock of a version decides about files.
func fileAccess(version int) uint64 {
	all := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1)
	if version >= 2 {
		all |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		all |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 5 {
		all |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return all
}

// settings are files outside System that programs read to start, to find
// hosts and to tell the time.
func settings() []string {
	return []string{
		"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload",
		"/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path", "/etc/alternatives",
		"/etc/localtime", "/etc/timezone", "/etc/locale.alias", "/etc/os-release", "/etc/mime.types", "/etc/terminfo",
		"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/etc/ca-certificates",
		"/etc/nsswitch.conf", "/etc/hosts", "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf",
		"/etc/services", "/etc/protocols",
	}
}

// ruleset makes the Landlock rules of a program and returns their descriptor.
func ruleset(program string, rules Rules, on Report) (fd int, err error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: fileAccess(on.Landlock)}
	if on.Landlock >= 4 && rules.NoNetwork {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if on.Landlock >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		if on.Signals {
			attr.Scoped |= unix.LANDLOCK_SCOPE_SIGNAL
		}
	}
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return 0, fmt.Errorf("the kernel takes no Landlock rules: %w", errno)
	}
	fd = int(n)
	readExec := rules.ReadExec
	if readExec == nil {
		readExec = System()
	}
	for _, group := range []struct {
		rights uint64
		paths  []string
	}{
		{execRights, []string{program}},
		{execRights, readExec},
		{readRights, settings()},
		{readRights, []string{"/dev/random", "/dev/urandom"}},
		{readRights | writeRights, []string{"/dev/null", "/dev/zero", "/dev/full"}},
		{readRights, rules.Read},
		{writeRights, rules.Write},
	} {
		for _, path := range group.paths {
			if err := allow(fd, path, group.rights&attr.Handled_access_fs); err != nil {
				_ = unix.Close(fd) // it was only read from
				return 0, err
			}
		}
	}
	return fd, nil
}

// allow adds a path to the rules. One that can't be reached adds nothing: the
// program can't reach it either.
func allow(ruleset int, path string, rights uint64) error {
	fd, err := open(path)
	if err != nil {
		if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM) {
			return fmt.Errorf("opening a path of the sandbox's lists: %w", err)
		}
		return nil
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return fmt.Errorf("looking at a path of the sandbox's lists: %w", err)
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset),
		unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 && errno != unix.EBADFD { // what has no place in a tree, such as a pipe, can't be listed
		return fmt.Errorf("the kernel refuses a path of the sandbox's lists: %w", errno)
	}
	return nil
}

// open opens a path to name what is there, without touching it.
func open(path string) (fd int, err error) {
	for {
		fd, err = unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// enforce puts the calling thread, and what it starts, under the rules.
func enforce(ruleset int, on Report) error {
	var flags uintptr
	if on.Landlock >= 7 {
		// What the program is refused is worth a line in the audit log; what this
		// thread does before it is not.
		flags = unix.LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF | unix.LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), flags, 0); errno != 0 {
		return fmt.Errorf("the kernel does not enforce the Landlock rules: %w", errno)
	}
	return nil
}
