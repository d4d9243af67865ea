package cli

import (
	"os"
	"path/filepath"
	"testing"

	"ken/internal/prove"
)

// A plot replaces the one before. If it cannot be written, ken says so before any work and leaves nothing behind.
func TestPlotFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "plot.svg")
	for range 2 {
		if err := checkPlot(name); err != nil {
			t.Fatal(err)
		}
		if err := writePlot(name, &prove.Report{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{dir, filepath.Join(dir, "none", "plot.svg"), filepath.Join(name, "plot.svg")} {
		if err := checkPlot(bad); err == nil {
			t.Errorf("checkPlot(%s) found no problem; a plot cannot be written there", bad)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name() != "plot.svg" {
		t.Errorf("the directory has %v, want only plot.svg", left)
	}
}
