package app

import (
	"math"
	"runtime"
	"runtime/debug"
)

const (
	// quietHeap is how far the heap may grow before anything is collected: most
	// runs are over by then, and a collection would be all they have in common.
	quietHeap = 64 << 20
	// tightGrowth is how far it may grow between collections from there on, in
	// percent of what is in use. Those runs are large, and should not be twice
	// as large as they have to be.
	tightGrowth = 50
)

// tuneMemory trades memory that a short run does not need back for the time of
// collecting it, and is strict from the first collection on.
func tuneMemory() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(quietHeap)
	// The first collection finds this garbage, and so tells us that it came.
	runtime.AddCleanup(new([16]byte), func(struct{}) {
		debug.SetGCPercent(tightGrowth)
		debug.SetMemoryLimit(math.MaxInt64)
	}, struct{}{})
}
