package main

import (
	"bytes"
	"fmt"
	"os"
	"time"
)

// watchMemory samples the memory of a process; stop returns the peak. The kernel's own figure is of no use here,
// because it includes child processes, such as a git that maps a whole pack.
func watchMemory(pid int) (stop func() int64) {
	done, most := make(chan struct{}), make(chan int64)
	go func() {
		var peak int64
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			peak = max(peak, highWater(pid))
			select {
			case <-tick.C:
			case <-done:
				most <- peak
				return
			}
		}
	}()
	return func() int64 {
		close(done)
		return <-most
	}
}

// highWater returns the most that a running process has held so far.
func highWater(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kb int64
	if _, err := fmt.Sscanf(string(rest), "%d kB", &kb); err != nil {
		return 0
	}
	return kb * 1024
}
