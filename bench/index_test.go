package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestInstant(t *testing.T) {
	for files, want := range map[int]time.Duration{10: 50, 1_000: 50, 16_000: 125, 31_000: 200} {
		if got := instant(files); got != want*time.Millisecond {
			t.Errorf("%d files: %v, want %d ms", files, got, want)
		}
	}
}

func TestDiskUsage(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "sub/b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("12345"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := diskUsage(dir); err != nil || got != 10 {
		t.Errorf("%d bytes, %v, want 10", got, err)
	}
	if _, err := diskUsage(filepath.Join(dir, "gone")); err == nil {
		t.Error("a missing directory should be an error, not 0 bytes")
	}
}

func TestMemoryRowNamesTheOtherSide(t *testing.T) {
	cells := row{work: "w", memory: 50e6, memoryBudget: 100e6, against: "x", otherMemory: 200e6}.cells()
	if want := strings.Split("w||50 MB|x|200 MB|0.25|100 MB|ok", "|"); !slices.Equal(cells, want) {
		t.Errorf("cells %q, want %q", cells, want)
	}
}
