// Package term is the screen: where answers go, where remarks go, and whether a
// person is watching.
//
// It knows nothing of what is said on it.
package term

import (
	"bufio"
	"bytes"
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

	failed error // the first write to Out that did not work

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

// Printf writes to Out. A failure is kept for [IO.Failed].
func (o *IO) Printf(format string, args ...any) {
	if _, err := fmt.Fprintf(o.Out, format, args...); err != nil && o.failed == nil {
		o.failed = err
	}
}

// Failed returns the first error of Printf: an answer that was not written whole
// is no answer.
func (o *IO) Failed() error { return o.failed }

// Remarkf writes a line to Err.
func (o *IO) Remarkf(format string, args ...any) { fmt.Fprintf(o.Err, format+"\n", args...) }

// EncodeList writes one JSON document to Out: the fields of head, and behind
// them one more, a list, each element on a line of its own. The list is never
// held as text, however long it is.
func (o *IO) EncodeList(head any, name string, n int, at func(i int) any) error {
	b, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return err
	}
	w := bufio.NewWriter(o.Out)
	fmt.Fprintf(w, "%s,\n  %q: [", bytes.TrimSuffix(b, []byte("\n}")), name)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range n {
		if i > 0 {
			fmt.Fprint(w, "    ,")
		} else {
			fmt.Fprint(w, "\n     ")
		}
		if err := enc.Encode(at(i)); err != nil {
			return err
		}
	}
	if n > 0 {
		fmt.Fprint(w, "  ")
	}
	fmt.Fprint(w, "]\n}\n")
	return w.Flush()
}

// Encode writes v to Out as one JSON document.
func (o *IO) Encode(v any) error {
	enc := json.NewEncoder(o.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
