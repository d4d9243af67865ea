// Package term is the screen: where answers go, where remarks go, and whether a
// person is watching.
//
// It knows nothing of what is said on it.
package term

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// An IO is one run's streams. Answers go to Out, everything else to Err.
type IO struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	JSON  bool // print one document instead of lines
	Color bool // Out is a terminal whose user minds no colour
	Live  bool // Err is a terminal: progress may be shown
}

// Std returns the process's own streams.
func Std() *IO {
	return &IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(os.Stdout),
		Live:  isTerminal(os.Stderr),
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Printf writes to Out.
func (o *IO) Printf(format string, args ...any) { fmt.Fprintf(o.Out, format, args...) }

// Remarkf writes a line to Err.
func (o *IO) Remarkf(format string, args ...any) { fmt.Fprintf(o.Err, format+"\n", args...) }

// Encode writes v to Out as one JSON document.
func (o *IO) Encode(v any) error {
	enc := json.NewEncoder(o.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
