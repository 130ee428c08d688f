//go:build !linux

package confine

import "os/exec"

// kernel reports nothing: no other system's means are used.
func kernel() Report { return Report{} }

func survey() Report { return kernel() }

// start starts the command as it is, unless the rules require more.
func start(cmd *exec.Cmd, rules Rules, on Report) error {
	if err := check(cmd, rules); err != nil {
		return err
	}
	if err := on.refuse(rules); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if rules.Held != nil {
		rules.Held(cmd.Process.Pid)
	}
	return nil
}
