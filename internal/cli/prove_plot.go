package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ken/internal/atomicfile"
	"ken/internal/fault"
	"ken/internal/prove"
)

// checkPlot returns an error if the plot cannot be written, before the work starts.
func checkPlot(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return &fault.Error{
			Kind: fault.Usage, Hint: "name a file: ken prove --plot " + fault.Quote(filepath.Join(name, "prove.svg")),
			Err: fmt.Errorf("plot: %s is not a file", name),
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".ken-plot-*")
	if err != nil {
		why := err
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			why = e.Err
		}
		return &fault.Error{
			Hint: "name a file where you may write: ken prove --plot " + fault.Quote(filepath.Join(os.TempDir(), "prove.svg")),
			Err:  fmt.Errorf("plot: write into %s: %w", filepath.Dir(name), why),
		}
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func writePlot(name string, r *prove.Report) error {
	var plot bytes.Buffer
	err := prove.Plot(&plot, r)
	if err == nil {
		err = atomicfile.Write(name, plot.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("plot: write %s: %w", name, err)
	}
	return nil
}
