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

// Hooks start ken on every commit and every tool call, so work before main has a price all day. These tests measure
// processor time, because elapsed time depends on the other processes of a machine.
const (
	startupAtMost    = 6 // processor time of `ken version`, as a ratio to an empty Go program
	initAllocsAtMost = 8000
	initBytesAtMost  = 1_200_000
)

func TestStartup(t *testing.T) {
	ken, empty := build(t)
	t.Run("processor time", func(t *testing.T) { testProcessorTime(t, ken, empty) })
	t.Run("init", func(t *testing.T) { testInit(t, ken) })
}

// Starting ken takes at most startupAtMost times the processor time of an empty program. The least of many runs counts,
// since other processes can only make a run more expensive. On a busy machine, more runs are needed to find it.
func testProcessorTime(t *testing.T, ken, empty string) {
	t.Helper()
	kens, empties := time.Hour, time.Hour
	ratio := 0.0
	for n := 1; n <= 600; n++ {
		kens = min(kens, processorTime(t, ken, "version"))
		empties = min(empties, processorTime(t, empty))
		ratio = float64(kens) / float64(empties)
		if n >= 60 && ratio <= startupAtMost {
			break
		}
	}
	t.Logf("ken version %v, empty program %v: %.2fx", kens, empties, ratio)
	if ratio > startupAtMost {
		t.Errorf("ken version takes %.2fx the processor time of an empty Go program, at most %dx is promised", ratio, startupAtMost)
	}
}

// No package does much before main. A table built in init is paid by every
// command; build it when it is first asked for.
func testInit(t *testing.T, ken string) {
	t.Helper()
	costs := initTrace(t, ken)
	allocs, size := 0, 0
	for _, c := range costs {
		allocs += c.allocs
		size += c.bytes
	}
	t.Logf("%d packages make %d allocations of %d bytes before main", len(costs), allocs, size)
	if allocs <= initAllocsAtMost && size <= initBytesAtMost {
		return
	}
	var list strings.Builder
	for _, c := range costs[:min(len(costs), 10)] {
		fmt.Fprintf(&list, "\n\t%7d bytes  %5d allocations  %s", c.bytes, c.allocs, c.pkg)
	}
	t.Errorf("packages make %d allocations of %d bytes before main, want at most %d of %d; the worst:%s",
		allocs, size, initAllocsAtMost, initBytesAtMost, list.String())
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
		cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", strings.TrimSpace(string(tags)), "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", bin, what)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if msg, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", what, err, msg)
		}
		return bin
	}
	return out("ken", "."), out("empty", source)
}

// processorTime runs a program and returns how long processors worked for it.
func processorTime(t *testing.T, args ...string) time.Duration {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("running %s failed with %v", strings.Join(args, " "), err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// An initCost is what one package did before main.
type initCost struct {
	pkg           string
	bytes, allocs int
}

var initLine = regexp.MustCompile(`^init (\S+) @\S+ ms, \S+ ms clock, (\d+) bytes, (\d+) allocs`)

// initTrace returns what packages did before main, the one that took most memory first.
func initTrace(t *testing.T, ken string) []initCost {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), ken, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("ken version: %v\n%s", err, stderr.Bytes())
	}
	var costs []initCost
	for line := range strings.Lines(stderr.String()) {
		m := initLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		size, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatalf("inittrace %q: %v", line, err)
		}
		allocs, err := strconv.Atoi(m[3])
		if err != nil {
			t.Fatalf("inittrace %q: %v", line, err)
		}
		costs = append(costs, initCost{pkg: m[1], bytes: size, allocs: allocs})
	}
	if len(costs) == 0 {
		t.Fatalf("no inittrace in the output: %s", stderr.Bytes())
	}
	slices.SortFunc(costs, func(a, b initCost) int { return cmp.Compare(b.bytes, a.bytes) })
	return costs
}
