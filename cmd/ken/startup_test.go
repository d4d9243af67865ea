package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Hooks start ken on every commit and every tool call, so what it does before
// main is paid all day. These limits are ratios to an empty Go program, measured
// in the same run.
const (
	startupAtMost = 3.5 // wall time of `ken version`
	initAtMost    = 1.6 // package initialisation alone
)

// attempts is how often a machine may try again: medians of so short a run differ
// by a tenth from one moment to the next. A binary that really is too slow fails
// them all.
const attempts = 10

func TestStartup(t *testing.T) {
	ken, empty := build(t)
	t.Run("wall", func(t *testing.T) { testWall(t, ken, empty) })
	t.Run("init", func(t *testing.T) { testInit(t, ken, empty) })
}

// Starting ken costs at most so many times what starting nothing costs.
func testWall(t *testing.T, ken, empty string) {
	t.Helper()
	var ratio float64
	for range attempts {
		a, b := compare(t, 40, ken, empty)
		if ratio = float64(a) / float64(b); ratio <= startupAtMost {
			t.Logf("ken version %v, empty program %v: %.2fx", a, b, ratio)
			return
		}
	}
	t.Errorf("ken version takes %.2fx the time of an empty Go program, at most %.1fx is promised", ratio, startupAtMost)
}

// No package does much before main. A table built in init is paid by every
// command; build it when it is first asked for.
func testInit(t *testing.T, ken, empty string) {
	t.Helper()
	var total time.Duration
	var worst []initCost
	for range attempts {
		_, wall := compare(t, 20, ken, empty)
		total, worst = initTrace(t, ken)
		if float64(total) <= initAtMost*float64(wall) {
			t.Logf("%v of initialisation, an empty program runs %v", total, wall)
			return
		}
	}
	var list strings.Builder
	for _, c := range worst[:min(len(worst), 10)] {
		fmt.Fprintf(&list, "\n\t%8v  %7d bytes  %s", c.clock, c.bytes, c.pkg)
	}
	t.Errorf("initialisation takes %v, more than %.1fx an empty Go program; the worst:%s", total, initAtMost, list.String())
}

// build builds ken as it ships, and an empty program the same way.
func build(t *testing.T) (ken, empty string) {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := func(name, what string) string {
		bin := filepath.Join(dir, name)
		if runtime.GOOS == "windows" {
			bin += ".exe"
		}
		tags, err := os.ReadFile("../../internal/outline/syntax/tags")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", string(tags), "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", bin, what)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if msg, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", what, err, msg)
		}
		return bin
	}
	return out("ken", "."), out("empty", source)
}

// compare returns the median wall times of `ken version` and of the empty
// program, run alternately.
func compare(t *testing.T, runs int, ken, empty string) (kens, empties time.Duration) {
	t.Helper()
	var a, b []time.Duration
	for range runs {
		a = append(a, wall(t, ken, "version"))
		b = append(b, wall(t, empty))
	}
	slices.Sort(a)
	slices.Sort(b)
	return a[runs/2], b[runs/2]
}

func wall(t *testing.T, args ...string) time.Duration {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return time.Since(start)
}

// An initCost is what one package did before main.
type initCost struct {
	pkg   string
	clock time.Duration
	bytes int
}

var initLine = regexp.MustCompile(`^init (\S+) @\S+ ms, (\S+) ms clock, (\d+) bytes`)

// initTrace returns the least of several runs, since a clock that was running
// while another process had the core says nothing about ken, and its packages by
// cost.
func initTrace(t *testing.T, ken string) (least time.Duration, costs []initCost) {
	t.Helper()
	for range 10 {
		cmd := exec.CommandContext(t.Context(), ken, "version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("ken version: %v\n%s", err, stderr.Bytes())
		}
		var total time.Duration
		var run []initCost
		for line := range strings.Lines(stderr.String()) {
			m := initLine.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			ms, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatalf("inittrace %q: %v", line, err)
			}
			size, err := strconv.Atoi(m[3])
			if err != nil {
				t.Fatalf("inittrace %q: %v", line, err)
			}
			c := initCost{pkg: m[1], clock: time.Duration(ms * float64(time.Millisecond)), bytes: size}
			run, total = append(run, c), total+c.clock
		}
		if len(run) == 0 {
			t.Fatalf("no inittrace in the output: %s", stderr.Bytes())
		}
		if costs == nil || total < least {
			least, costs = total, run
		}
	}
	slices.SortFunc(costs, func(a, b initCost) int { return cmp.Compare(b.clock, a.clock) })
	return least, costs
}
