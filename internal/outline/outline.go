// Package outline says what a file declares: its symbols with their signatures
// and the first sentence of their documentation, what it imports, and digests by
// which two versions of it can be compared without keeping either.
//
//	o, err := outline.Of("api/server.go", content)
//	for _, s := range o.Symbols { ... s.Kind, s.Qualified, s.Signature, s.Doc ... }
//	grade := outline.Grade(before, o)
//
// Read also returns what the file refers to: the names that its imports bind, and those
// that it uses and does not declare.
//
// It is a function of a name and of bytes. It opens no file, and the same bytes
// have the same outline on every machine, so an outline can be kept under the
// content's id; [Version] belongs into that key.
//
// Files are read by real grammars: Go by go/parser, the other languages by the
// tables of their tree-sitter grammars. A file that breaks its grammar has an
// outline of what could be made out, and says so in Partial. A file in no known
// language, or too large or too deep to read, has none: Of returns an error that
// wraps [ErrNone], and a missing outline never grades better than "content".
package outline

import (
	"bytes"
	"errors"
	"fmt"

	"ken/internal/fresh"
	"ken/internal/outline/syntax"
	"ken/internal/repo"
)

// Version changes whenever the same bytes would get another outline.
const Version = 4

// Limits of what is read. Beyond them there is no outline, or a shorter one that
// says so.
const (
	MaxBytes   = 1 << 20 // of a file; beyond it there is no outline
	MaxSymbols = 20000   // listed; all are in the digests
	MaxDepth   = 16      // of symbols within symbols; deeper ones are body
)

// ErrNone is wrapped by every error of Of: there is no outline.
var ErrNone = errors.New("no outline")

// An Outline is what one file declares. It is plain data: as JSON it reads back
// the same.
type Outline struct {
	Language Language `json:"language"`
	Doc      string   `json:"doc,omitempty"`     // first sentence of the package's or module's own comment
	Package  string   `json:"package,omitempty"` // its name, where the file gives one
	Imports  []string `json:"imports,omitempty"` // as they are spelt, each once, in order
	Symbols  []Symbol `json:"symbols,omitempty"` // in the file's order, a symbol before what is inside it
	More     int      `json:"more,omitempty"`    // symbols beyond MaxSymbols

	// Partial says why the outline may miss something, "" when it is whole.
	Partial string `json:"partial,omitempty"`

	// Tokens names the syntax tree with its leaves. White space and plain
	// comments do not change it, except where the language gives a meaning to
	// white space. Doc comments and directives change it. It is zero when the file
	// could not be read well enough to tell.
	Tokens fresh.Digest `json:"tokens,omitzero"`
	// Interface names the signatures and whose they are to use, in whatever
	// order they stand.
	Interface fresh.Digest `json:"interface,omitzero"`
	// Digest names all that the outline says: doc sentences, imports and
	// symbols, in order, but not on which lines. A text made from an outline
	// holds as long as this does.
	Digest fresh.Digest `json:"digest,omitzero"`
}

// A Symbol is something a file declares, at its top or inside another symbol.
// What stands inside the body of a function is no symbol.
type Symbol struct {
	Kind      Kind   `json:"kind"`
	Name      string `json:"name"`
	Qualified string `json:"qualified,omitempty"` // with what it belongs to, as in Type.Method; "" when that is Name
	Signature string `json:"signature"`           // the declaration without its body, on one line
	Doc       string `json:"doc,omitempty"`       // first sentence of its comment
	Exported  bool   `json:"exported,omitempty"`  // others may use it
	Depth     int    `json:"depth,omitempty"`     // of nesting, 0 at the top
	Line      int    `json:"line"`                // first line, its comment included, from 1
	EndLine   int    `json:"end_line"`            // last line

	// What it is made of, its comment included: Text as it is written, line
	// endings apart; Tokens as the file's Tokens; Shape its signature.
	Text   Sum `json:"text"`
	Tokens Sum `json:"tokens,omitzero"`
	Shape  Sum `json:"shape"`
}

// A Kind is what sort of thing a symbol is.
type Kind string

// The kinds. Languages use those of them that they have.
const (
	Func      Kind = "func"
	Method    Kind = "method"
	Type      Kind = "type" // any type that is none of the following
	Class     Kind = "class"
	Struct    Kind = "struct"
	Union     Kind = "union"
	Interface Kind = "interface"
	Trait     Kind = "trait"
	Impl      Kind = "impl"
	Enum      Kind = "enum"
	Member    Kind = "member" // of an enum
	Field     Kind = "field"
	Property  Kind = "property"
	Const     Kind = "const"
	Var       Kind = "var"
	Macro     Kind = "macro"
	Module    Kind = "module" // or namespace
	Heading   Kind = "heading"
)

// FullName is the name by which a symbol is found: Type.Method.
func (s *Symbol) FullName() string {
	if s.Qualified != "" {
		return s.Qualified
	}
	return s.Name
}

// KeepTables has grammars that are loaded from now on keep their tables on a shelf. They
// are large, and taking them from where they are compiled in takes longer than reading
// most files; what they say is the same.
func KeepTables(s syntax.Shelf) { syntax.KeepOn(s) }

// Of returns the outline of a file by its name and content. The content is not
// kept. Every error wraps ErrNone and says why there is no outline; an outline
// that comes back may still be Partial.
func Of(path repo.Path, content []byte) (*Outline, error) {
	o, _, err := parse(path, content, false)
	return o, err
}

// Read parses a file once and returns its outline, as Of does, and what it refers to.
// Both are nil when there is an error.
func Read(path repo.Path, content []byte) (*Outline, *References, error) {
	return parse(path, content, true)
}

func parse(path repo.Path, content []byte, wantRefs bool) (o *Outline, refs *References, err error) {
	lang := LanguageOf(path, content)
	if lang == Unknown {
		return nil, nil, fmt.Errorf("%w of %s: no grammar for it", ErrNone, path)
	}
	if len(content) > MaxBytes {
		return nil, nil, fmt.Errorf("%w of %s: %d bytes, more than %d", ErrNone, path, len(content), MaxBytes)
	}
	if bytes.IndexByte(content, 0) >= 0 {
		return nil, nil, fmt.Errorf("%w of %s: it is not text", ErrNone, path)
	}
	// Line endings, one at the end or none, and a byte order mark are no part of
	// what is written.
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	// To a shell, though, a carriage return is a letter of the word before it.
	if lang != Bash && bytes.IndexByte(content, '\r') >= 0 {
		content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	}
	if len(content) > 0 && content[len(content)-1] != '\n' {
		content = append(bytes.Clone(content), '\n')
	}
	// Grammars run over whatever lies in a repository. One that trips over a
	// file costs that file its outline, and nobody else anything.
	defer func() {
		if r := recover(); r != nil {
			o, refs, err = nil, nil, fmt.Errorf("%w of %s: the %s grammar failed: %v", ErrNone, path, lang, r)
		}
	}()
	f, err := read(lang, path, content, wantRefs)
	if err != nil {
		return nil, nil, fmt.Errorf("%w of %s: %w", ErrNone, path, err)
	}
	o, refs = f.outline(), f.refs
	f.release()
	if wantRefs && refs == nil {
		refs = &References{}
	}
	return o, refs, nil
}
