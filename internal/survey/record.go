package survey

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
)

// A Basis is what a directory's text was written from. The directory's own name is no
// part of it: a rename carries the text along.
type Basis struct {
	Files    []FileBasis  `json:"files,omitempty"`    // its own files, by name
	Children []ChildBasis `json:"children,omitempty"` // by name
}

// A FileBasis is a file as it was: its content, and what the grammar saw in it, so
// that a later content can be compared without this one.
type FileBasis struct {
	Name  []byte  `json:"name"`
	ID    repo.ID `json:"id"`
	Shape Shape   `json:"shape,omitzero"`
}

// A Shape is of an outline what two contents are compared by. The zero Shape is that of
// a content that no grammar is for.
type Shape struct {
	Language  outline.Language `json:"language"`
	Partial   bool             `json:"partial,omitempty"`
	Tokens    fresh.Digest     `json:"tokens,omitzero"`
	Interface fresh.Digest     `json:"interface,omitzero"`
	Digest    fresh.Digest     `json:"digest,omitzero"`
}

// shapeOf returns the shape of an outline.
func shapeOf(o *outline.Outline) Shape {
	if o == nil {
		return Shape{}
	}
	return Shape{o.Language, o.Partial != "", o.Tokens, o.Interface, o.Digest}
}

// outline returns as much of the outline as the shape has, nil for none.
func (s Shape) outline() *outline.Outline {
	if s.Language == "" {
		return nil
	}
	o := &outline.Outline{Language: s.Language, Tokens: s.Tokens, Interface: s.Interface, Digest: s.Digest}
	if s.Partial {
		o.Partial = "it was"
	}
	return o
}

// A ChildBasis is what was known of a child.
type ChildBasis struct {
	Name []byte       `json:"name"`
	Text fresh.Digest `json:"text,omitzero"` // zero when it had no text yet
}

// Digest names the basis by contents and texts alone: what a grammar saw follows from
// them.
func (b Basis) Digest() fresh.Digest {
	out := make([]byte, 0, 64+128*(len(b.Files)+len(b.Children)))
	out = append(out, `["ken directory basis 1",[`...)
	for i, f := range b.Files {
		out = append(out, separator(i)...)
		out = appendBase64(append(out, `{"Name":`...), f.Name)
		out = appendHex(append(out, `,"ID":`...), f.ID.Bytes())
		out = append(out, '}')
	}
	out = append(out, ']', ',')
	if b.Children == nil {
		return sha256.Sum256(append(out, "null]"...))
	}
	out = append(out, '[')
	for i, c := range b.Children {
		out = append(out, separator(i)...)
		out = appendBase64(append(out, `{"name":`...), c.Name)
		if !c.Text.IsZero() {
			out = appendHex(append(out, `,"text":`...), c.Text[:])
		}
		out = append(out, '}')
	}
	return sha256.Sum256(append(out, "]]"...))
}

// Missing is how many children had no text.
func (b Basis) Missing() int {
	n := 0
	for _, c := range b.Children {
		if c.Text.IsZero() {
			n++
		}
	}
	return n
}

// A Record is a directory's text with everything that says where it came from.
// Records are immutable: a new text is a new record.
type Record struct {
	Path      repo.Path // where it was written; a help for readers, and no part of its name
	Basis     Basis
	Text      string
	Author    string
	Recipe    string    // prompt and model version
	At        time.Time // UTC, to the microsecond
	Confirmer string    // who said that an older text holds for this basis, "" for a text of its own
	Partial   bool      // the author could not finish; it is to be tried again
	Flags     []Flag    // what the author wants people to look at
	// Dated says that the id of an outline holds its author and its time, as it did before
	// the same outline was the same record everywhere.
	Dated bool
}

// A Flag is something an author came upon.
type Flag struct {
	Path     repo.Path `json:"path"`
	Severity string    `json:"severity"` // info, concern or critical
	Finding  string    `json:"finding"`
}

// flagsFor returns what was flagged of files that a later basis has as they were: it
// holds as long as its text is kept.
func (r *Record) flagsFor(now Basis) []Flag {
	same := make(map[string]bool)
	for _, f := range now.Files {
		same[string(f.Name)+"\x00"+f.ID.String()] = true
	}
	var list []Flag
	for _, flag := range r.Flags {
		if slices.ContainsFunc(r.Basis.Files, func(f FileBasis) bool {
			return string(f.Name) == flag.Path.Base() && flag.Path.Dir() == r.Path && same[string(f.Name)+"\x00"+f.ID.String()]
		}) {
			list = append(list, flag)
		}
	}
	return list
}

// outlineRecipe is what the recipes of texts begin with that no mind wrote.
const outlineRecipe = "outline/"

// Outlined reports whether the text was made of outlines alone.
func (r *Record) Outlined() bool { return strings.HasPrefix(r.Recipe, outlineRecipe) }

// TextID names the words alone.
func (r *Record) TextID() fresh.Digest { return fresh.Record{Text: r.Text}.TextID() }

// ID names the record. An outline is named by what it says and what it was made from
// alone: it is the same record in every clone, whenever it was made.
func (r *Record) ID() fresh.Digest {
	undated := r.Outlined() && !r.Dated
	basis := r.Basis.Digest()
	out := make([]byte, 0, 256+2*len(r.Text))
	if undated {
		out = append(out, `["ken directory record 2",`...)
	} else {
		out = append(out, `["ken directory record 1",`...)
	}
	out = append(appendBase64(out, []byte(r.Text)), ',')
	out = append(appendHex(out, basis[:]), ',')
	if !undated {
		out = append(appendBase64(out, []byte(r.Author)), ',')
	}
	out = append(appendBase64(out, []byte(r.Recipe)), ',')
	if !undated {
		out = r.At.UTC().Truncate(time.Microsecond).AppendFormat(append(out, '"'), time.RFC3339Nano)
		out = append(out, '"', ',')
	}
	out = append(appendBase64(out, []byte(r.Confirmer)), ',')
	out = append(strconv.AppendBool(out, r.Partial), ',')
	if r.Flags == nil {
		return sha256.Sum256(append(out, "null]"...))
	}
	flags, err := json.Marshal(r.Flags)
	if err != nil {
		panic(err) // plain data always encodes
	}
	return sha256.Sum256(append(append(out, flags...), ']'))
}

// Compare orders records by age: by their time and, where that is the same, by their id
// and the place that they were written at, so that every clone and every store takes the
// same one for the newest.
func (r *Record) Compare(o *Record) int {
	if c := r.At.Compare(o.At); c != 0 {
		return c
	}
	a, b := r.ID(), o.ID()
	return cmp.Or(bytes.Compare(a[:], b[:]), cmp.Compare(r.Path, o.Path))
}

// Identify makes r the record that an id names, as it was read from where it is kept, and
// reports whether it is: what was kept of it is not damaged. An id may have been made when
// outlines were dated, or of a list of no flags, which is kept as none.
func (r *Record) Identify(id fresh.Digest) bool {
	if r.ID() == id {
		return true
	}
	as := *r
	if len(r.Flags) == 0 {
		as.Flags = []Flag{}
	}
	if r.Outlined() {
		as.Flags, as.Dated = r.Flags, true
	}
	if as.ID() != id {
		return false
	}
	*r = as
	return true
}

// repeats reports whether a record says what another one does, from the same and no
// better.
func (r *Record) repeats(old *Record) bool {
	return old != nil && r.Text == old.Text && r.Recipe == old.Recipe && r.Partial == old.Partial && r.Basis.Digest() == old.Basis.Digest()
}

// Ids are digests of JSON. It is spelled here and not by encoding/json, which takes four
// times as long: the id of a record is made anew whenever the record is read.

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

func appendBase64(out, b []byte) []byte {
	if b == nil {
		return append(out, "null"...)
	}
	return append(base64.StdEncoding.AppendEncode(append(out, '"'), b), '"')
}

func appendHex(out, b []byte) []byte {
	if len(b) == 0 {
		return append(out, "null"...)
	}
	return append(hex.AppendEncode(append(out, '"'), b), '"')
}

func digestOf(fields ...any) fresh.Digest {
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err) // plain data always encodes
	}
	return sha256.Sum256(b)
}
