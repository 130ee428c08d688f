//go:build unix

package sandbox

import (
	"strings"
	"syscall"
	"testing"
)

// BenchmarkCommand checks commands against 20 µs. The processor's time is told
// too: it does not count that the machine is busy with something else.
func BenchmarkCommand(b *testing.B) {
	_, p := commandTree(b)
	for _, command := range []string{"ls -l", "grep -n --color=never 'some pattern' d/f ../read/f --file=d/f"} {
		b.Run(strings.Fields(command)[0], func(b *testing.B) {
			start := processorTime(b)
			for b.Loop() {
				if err := p.CheckCommand(command, "work"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(processorTime(b)-start)/float64(b.N), "cpu-ns/op")
		})
	}
}

// processorTime is what the process has used, in nanoseconds.
func processorTime(b *testing.B) int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}
