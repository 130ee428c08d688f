package confine

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// kept says which of the superuser's capabilities a program keeps: those about
// files, which Landlock holds, and about users, which give no more than it has.
// With others it could look into processes, and past the other defences.
func kept(capability uintptr) bool {
	switch capability {
	case unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID,
		unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_NET_BIND_SERVICE:
		return true
	}
	return false
}

// canDrop says whether a program's capabilities can be taken away. Only the
// superuser's programs get any, besides those that dropCapabilities clears.
func canDrop() bool { return os.Geteuid() != 0 || mayDrop() }

// mayDrop says whether this process may lower the bound of capabilities.
func mayDrop() bool {
	data, err := capabilities()
	return err == nil && data[0].Effective&(1<<unix.CAP_SETPCAP) != 0
}

// dropCapabilities takes from what the calling thread executes the capabilities
// that are not kept. The thread itself has them until then.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && err != unix.EINVAL {
		return fmt.Errorf("capabilities could not be cleared: %w", err) // EINVAL: a kernel without these
	}
	data, err := capabilities()
	if err != nil {
		return err
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("capabilities could not be cleared: %w", err)
	}
	if !mayDrop() {
		return nil
	}
	for capability := uintptr(0); capability < 64; capability++ {
		if kept(capability) {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if err == unix.EINVAL {
			return nil // past the last that the kernel knows
		}
		if err != nil {
			return fmt.Errorf("capabilities could not be dropped: %w", err)
		}
	}
	return nil
}

// capabilities returns those of the calling thread.
func capabilities() (data [2]unix.CapUserData, err error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&header, &data[0]); err != nil {
		return data, fmt.Errorf("capabilities can't be read: %w", err)
	}
	return data, nil
}
