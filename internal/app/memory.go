package app

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"ken/internal/git"
)

const (
	// quietHeap is how far the heap may grow before anything is collected: most
	// runs are over by then, and a collection would be all they have in common.
	quietHeap = 64 << 20
	// tightGrowth is how far it may grow between collections from there on, in
	// percent of what is in use. Those runs are large, and should not be twice
	// as large as they have to be.
	tightGrowth = 50
	// smallIndex is the size of an index, of files or of the history, up to which
	// the work fits into the heap that a program begins with: there is nothing to
	// tune, and tuning stops all threads.
	smallIndex = 1 << 20
	// outlineGrowth is how far it may grow between collections while contents are
	// outlined: nearly all of it is garbage a moment later. From outlineHeap on
	// it may not, so that the whole stays within what a survey may take.
	outlineGrowth = 200
	outlineHeap   = 180 << 20
)

var tuned sync.Once

// tuneMemory trades memory that a short run does not need back for the time of
// collecting it, and is strict from the first collection on. It does so once in
// the life of a process, for the first repository that is large.
func tuneMemory(gitDir string) {
	for _, name := range []string{"index", git.HistoryFile} {
		if info, err := os.Stat(filepath.Join(gitDir, name)); err == nil && info.Size() >= smallIndex {
			tuned.Do(beStrictLater)
			return
		}
	}
}

func beStrictLater() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(quietHeap)
	// The first collection finds this garbage, and so tells us that it came.
	runtime.AddCleanup(new([16]byte), func(struct{}) {
		if outlining.Load() == 0 {
			beStrict()
		}
	}, struct{}{})
}

func beStrict() {
	debug.SetGCPercent(tightGrowth)
	debug.SetMemoryLimit(math.MaxInt64)
}

// outlining counts who is making outlines.
var outlining atomic.Int32

// beginOutlines collects less while outlines are made, until the end is called.
func beginOutlines() (end func()) {
	if outlining.Add(1) == 1 {
		debug.SetGCPercent(outlineGrowth)
		debug.SetMemoryLimit(outlineHeap)
	}
	return func() {
		if outlining.Add(-1) == 0 {
			beStrict()
		}
	}
}
