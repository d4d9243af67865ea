// Package term writes answers, remarks and progress to the streams of a command.
//
// It does not depend on their content.
package term

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"ken/internal/repo"
)

// An IO has the streams of a command. Answers go to Out, everything else to Err.
type IO struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	failed error // the first error of writing to Out

	JSON  bool // print one document instead of lines
	Color bool // Out is a terminal, and NO_COLOR is unset
	Live  bool // Err is a terminal: progress may be shown

	// Width returns how many columns Err has now, 0 if that is unknown. It may be nil.
	Width func() int
}

// Std returns the process's own streams.
func Std() *IO {
	return &IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(os.Stdout),
		Live:  isTerminal(os.Stderr),
		Width: func() int { return widthOf(os.Stderr) },
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Printf writes to Out. A failure is kept for [IO.Failed].
func (o *IO) Printf(format string, args ...any) {
	if _, err := fmt.Fprintf(o.Out, format, args...); err != nil && o.failed == nil {
		o.failed = err
	}
}

// Buffered buffers the output of f, and writes it at the end.
func (o *IO) Buffered(f func()) {
	out := o.Out
	w := bufio.NewWriterSize(out, 64<<10)
	o.Out = w
	f()
	o.Out = out
	if err := w.Flush(); err != nil && o.failed == nil {
		o.failed = err
	}
}

// Failed returns the first error of writing to Out.
func (o *IO) Failed() error { return o.failed }

// Remarkf writes a line to Err.
func (o *IO) Remarkf(format string, args ...any) { fmt.Fprintf(o.Err, format+"\n", args...) }

// A List is a field of a document with so many elements that their text may not fit into memory.
type List struct {
	Name string
	Len  int
	At   func(i int) any
}

// EncodeList writes one JSON document to Out: the fields of head, then the list, one
// element per line. It encodes one element at a time.
func (o *IO) EncodeList(head any, list List) error {
	w := bufio.NewWriter(o.Out)
	if err := openObject(w, head); err != nil {
		return err
	}
	if err := list.encode(w, "  "); err != nil {
		return err
	}
	fmt.Fprint(w, "\n}\n")
	return w.Flush()
}

// EncodeLists is EncodeList with one more field that is an object of lists.
func (o *IO) EncodeLists(head any, name string, lists ...List) error {
	w := bufio.NewWriter(o.Out)
	if err := openObject(w, head); err != nil {
		return err
	}
	fmt.Fprintf(w, "  %q: {\n", name)
	for i, list := range lists {
		if i > 0 {
			fmt.Fprint(w, ",\n")
		}
		if err := list.encode(w, "    "); err != nil {
			return err
		}
	}
	fmt.Fprint(w, "\n  }\n}\n")
	return w.Flush()
}

// openObject writes an object without its closing brace, so that another field can follow.
func openObject(w *bufio.Writer, head any) error {
	b, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s,\n", bytes.TrimSuffix(repo.EscapeJSON(b), []byte("\n}")))
	return nil
}

func (l List) encode(w *bufio.Writer, indent string) error {
	fmt.Fprintf(w, "%s%q: [", indent, l.Name)
	enc := newEncoder(w)
	for i := range l.Len {
		if i > 0 {
			fmt.Fprint(w, indent, "  ,")
		} else {
			fmt.Fprint(w, "\n", indent, "   ")
		}
		if err := enc.Encode(l.At(i)); err != nil {
			return err
		}
	}
	if l.Len > 0 {
		fmt.Fprint(w, indent)
	}
	fmt.Fprint(w, "]")
	return nil
}

// Encode writes v to Out as one JSON document.
func (o *IO) Encode(v any) error {
	enc := newEncoder(o.Out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// newEncoder returns an encoder whose documents are safe to show in a terminal.
func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(escapeWriter{w})
	enc.SetEscapeHTML(false)
	return enc
}

// An escapeWriter escapes the misleading characters of whole JSON values. An encoder writes
// each value at once.
type escapeWriter struct{ w io.Writer }

func (e escapeWriter) Write(b []byte) (int, error) {
	if _, err := e.w.Write(repo.EscapeJSON(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}
