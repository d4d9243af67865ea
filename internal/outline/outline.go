// Package outline extracts the declarations of a source file: its symbols with their signatures and the
// first sentence of their documentation, its imports, and digests that compare two versions without their
// content.
//
//	o, err := outline.Parse("api/server.go", content)
//	for _, s := range o.Symbols { ... s.Kind, s.Qualified, s.Signature, s.Doc ... }
//	grade := outline.Grade(before, o)
//
// ParseWithReferences also returns the references of the file: the names that its imports bind, and the names that it uses
// but does not declare.
//
// An outline depends only on the file's name and content. The package opens no file, and the same content
// has the same outline on every machine. A cache can use the content's id together with [Version] as its
// key.
//
// Go files are parsed by go/parser, other languages by the tables of their tree-sitter grammars. If a file
// has syntax errors, its outline lists the declarations that were found and Partial gives the reason. A file
// in an unknown language, or one that is too large or too deeply nested, has no outline: Parse returns an error
// that wraps [ErrNone]. A missing outline never grades better than "content".
package outline

import (
	"bytes"
	"errors"
	"fmt"

	"ken/internal/fresh"
	"ken/internal/outline/syntax"
	"ken/internal/repo"
)

// Version changes whenever the same content would get another outline.
const Version = 6

// Limits of an outline.
const (
	MaxBytes   = 1 << 20 // of a file; a larger one has no outline
	MaxSymbols = 20000   // listed; the digests include all symbols
	MaxDepth   = 16      // of nested symbols; deeper ones count as body
)

// ErrNone is wrapped by every error of Parse. It means that the file has no outline.
var ErrNone = errors.New("no outline")

// An Outline lists the declarations of one file. Its JSON form decodes to an equal value.
type Outline struct {
	Language Language `json:"language"`
	Doc      string   `json:"doc,omitempty"`     // first sentence of the package's or module's own comment
	Package  string   `json:"package,omitempty"` // package name, if the file declares one
	Imports  []string `json:"imports,omitempty"` // as written, without duplicates, in order
	Symbols  []Symbol `json:"symbols,omitempty"` // in file order; a symbol precedes its members
	More     int      `json:"more,omitempty"`    // number of symbols beyond MaxSymbols

	// Partial is the reason why the outline may be incomplete, or "" if it is complete.
	Partial string `json:"partial,omitempty"`

	// Tokens is a digest of the syntax tree. Doc comments and directives change it. White space and other
	// comments do not, except where white space is significant in the language. It is zero if the file has
	// syntax errors.
	Tokens fresh.Digest `json:"tokens,omitzero"`
	// Interface is a digest of the signatures and of their visibility, regardless of their order.
	Interface fresh.Digest `json:"interface,omitzero"`
	// Digest is a digest of the whole outline without line numbers: doc sentences, imports and symbols in
	// order. A text made from an outline stays valid while Digest is the same.
	Digest fresh.Digest `json:"digest,omitzero"`
}

// A Symbol is a declaration at the top level or inside another symbol. Declarations in function bodies are
// not symbols.
type Symbol struct {
	Kind      Kind   `json:"kind"`
	Name      string `json:"name"`
	Qualified string `json:"qualified,omitempty"` // with its owner, as in Type.Method; "" if equal to Name
	Signature string `json:"signature"`           // the declaration without its body, on one line
	Doc       string `json:"doc,omitempty"`       // first sentence of its comment
	Exported  bool   `json:"exported,omitempty"`  // visible outside of its file, package or type
	Depth     int    `json:"depth,omitempty"`     // nesting depth, 0 at the top level
	Line      int    `json:"line"`                // first line, including its comment, from 1
	EndLine   int    `json:"end_line"`            // last line

	// Digests of the declaration with its comment. Text is of the source text, except for line endings.
	// Tokens is like Outline.Tokens. Shape is of the signature.
	Text   Sum `json:"text"`
	Tokens Sum `json:"tokens,omitzero"`
	Shape  Sum `json:"shape"`
}

// A Kind is the kind of a symbol.
type Kind string

// The kinds. No language uses all of them.
const (
	Func      Kind = "func"
	Method    Kind = "method"
	Type      Kind = "type" // any type without a more specific kind
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

// FullName returns the symbol's qualified name, as in Type.Method.
func (s *Symbol) FullName() string {
	if s.Qualified != "" {
		return s.Qualified
	}
	return s.Name
}

// UseTables makes grammars that are loaded from now on take their tables from s, and save missing ones
// there. The tables are large, and converting the compiled-in ones takes longer than parsing most files. It
// does not change any outline.
func UseTables(s syntax.TableStore) { syntax.UseTables(s) }

// Parse returns the outline of a file. Every error wraps ErrNone and gives the reason. The outline may be
// Partial.
func Parse(path repo.Path, content []byte) (*Outline, error) {
	o, _, err := parse(path, content, false)
	return o, err
}

// ParseWithReferences parses a file once and returns both its outline, as Parse does, and its references. Both are nil if
// there is an error.
func ParseWithReferences(path repo.Path, content []byte) (*Outline, *References, error) {
	return parse(path, content, true)
}

// largeBytes is the size above which only as many files are parsed at once as large has room for: the tree of a file of
// 1 MB can take 250 MB.
const largeBytes = 256 << 10

var large = make(chan struct{}, 2)

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
	// A byte order mark, the kind of line endings and a missing final line break do not change the outline.
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	// In a shell script, a carriage return is a character of the preceding word.
	if lang != Bash && bytes.IndexByte(content, '\r') >= 0 {
		content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	}
	if len(content) > 0 && content[len(content)-1] != '\n' {
		content = append(bytes.Clone(content), '\n')
	}
	// A repository can contain any input. If a grammar panics, only this file has no outline.
	defer func() {
		if r := recover(); r != nil {
			o = nil
			refs = nil
			err = fmt.Errorf("%w of %s: the %s grammar failed: %v", ErrNone, path, lang, r)
		}
	}()
	if len(content) > largeBytes {
		large <- struct{}{}
		defer func() { <-large }()
	}
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
