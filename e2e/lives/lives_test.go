// Package lives tests ken on random lives of repositories.
//
// A life is a seed. The seed decides a list of operations: edits, commits, merges, stashes,
// changed attributes, summaries, acks and so on. Every operation is a piece of shell with
// concrete arguments, so a life can be printed, pasted and replayed. After an operation the
// package compares what ken says about files, directories and specs with plain git and with
// three small models (files_test.go, dirs_test.go, specs_test.go). The models are written
// from the design and share no code with ken. What ken says about uses is compared with what
// it says without its caches (uses_test.go).
//
// A difference ends the life. The package then cuts the list of operations to a short one
// that still shows the difference and prints it as a shell script.
//
//	go test ./e2e/lives                                   # the fixed seeds, half a minute
//	go test ./e2e/lives -lives.seed 17                    # replay one seed
//	go test ./e2e/lives -timeout 0 -lives.ops 10000       # a long run: make fuzz
package lives

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	seedFlag   = flag.Int64("lives.seed", 0, "replay this seed alone")
	opsFlag    = flag.Int("lives.ops", 0, "run lives until they have this many operations together")
	lengthFlag = flag.Int("lives.length", 60, "operations in one life")
	firstFlag  = flag.Int64("lives.first", 1, "the first seed of a run")
	kindFlag   = flag.String("lives.kind", "", "only lives of this kind: files, agents, outlines, specs or uses")
	shrinkFlag = flag.Int("lives.shrink", 150, "replay a failing life at most this often to shorten it")
	wholeFlag  = flag.Bool("lives.continue", false, "go on after a difference and list all")
)

// shortSeeds is the number of seeds, from 1, that run without a flag.
const shortSeeds = 8

// program is the ken that was built for this run.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ken-lives-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "ken") // operations call it by this name
	if built := os.Getenv("LIVES_KEN"); built != "" {
		if err := os.Symlink(built, program); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	} else {
		build := exec.CommandContext(context.Background(), "go", "build", "-o", program, "ken/cmd/ken")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build ken: %v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}

// The verdicts of ken agree with plain git and with the models after any sequence of operations.
func TestLives(t *testing.T) {
	if *seedFlag != 0 {
		report(t, live(t, *seedFlag, *lengthFlag))
		return
	}
	count := shortSeeds
	if *opsFlag > 0 {
		count = (*opsFlag + *lengthFlag - 1) / *lengthFlag
	}
	var (
		next  atomic.Int64
		ops   atomic.Int64
		looks atomic.Int64
		fails atomic.Int64
		wait  sync.WaitGroup
		began = time.Now()
	)
	for range 2 { // two lives at a time: the processes that they start keep two cores busy
		wait.Go(func() {
			for {
				n := next.Add(1) - 1
				stop := fails.Load() > 0 && !*wholeFlag
				if n >= int64(count) || stop || t.Context().Err() != nil {
					return
				}
				l := live(t, *firstFlag+n, *lengthFlag)
				ops.Add(int64(len(l.ops)))
				looks.Add(int64(l.compared))
				if l.failure != "" {
					fails.Add(1)
				}
				report(t, l)
			}
		})
	}
	wait.Wait()
	took := time.Since(began)
	t.Logf("%d operations, %d verdicts compared, %d lives differ, %.1f operations per second",
		ops.Load(), looks.Load(), fails.Load(), float64(ops.Load())/took.Seconds())
}

// report shortens a life that differs and fails the test with it.
func report(t *testing.T, l *life) {
	t.Helper()
	if l.failure == "" {
		return
	}
	short := shrink(t, l)
	t.Errorf("seed %d (%s) differs; replay with: go test ./e2e/lives -lives.seed %d -lives.length %d\n\n%s\n%s",
		l.seed, l.kind, l.seed, *lengthFlag, short.script(), short.failure)
}
