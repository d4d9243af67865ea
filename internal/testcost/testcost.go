// Package testcost measures the cost of work, for tests that run on busy machines: in processor
// time, because a clock on the wall also counts the time of other processes.
package testcost

import (
	"runtime"
	"testing"
	"time"
)

// Linear fails the test if work on eight times the input costs far more than eight times as
// much. Work that grows with the square of its input does.
func Linear(t *testing.T, name string, small int, work func(n int)) {
	t.Helper()
	const tries = 3
	var short, long time.Duration
	for range tries {
		short = cost(func() { work(small) })
		long = cost(func() { work(8 * small) })
		if long < 250*time.Millisecond || long < 20*short {
			return
		}
	}
	t.Errorf("%s: %v of processor time for %d, but %v for %d; want about eight times as much", name, short, small, long, 8*small)
}

// cost returns the processor time of do, which must not start a goroutine.
func cost(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadTime()
	do()
	return threadTime() - start
}
