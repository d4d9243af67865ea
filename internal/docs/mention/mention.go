// Package mention reads documents: it finds the paths, symbols, commands and anchors of headings that a document
// mentions.
//
// [Read] goes through the blocks of package markup. It decides by the text alone: is a word a path, do the
// words around it call it removed or an example, does a comment acknowledge it? Whether the repository has the thing
// is up to package docs.
package mention

import "ken/internal/repo"

// A Kind is the kind of thing that a mention names.
type Kind string

// The kinds.
const (
	Path    Kind = "path"
	Symbol  Kind = "symbol"
	Command Kind = "command"
	Anchor  Kind = "anchor" // of a heading in a document
	Option  Kind = "option" // of a program, or a key of a configuration: --name, max-retries
)

// A Mention is a place in a document that names something of the repository.
type Mention struct {
	File repo.Path // the document
	Line int       // of its first byte, from 1
	Text string    // as written in the document
	Kind Kind

	// Name is the name to look up. For a path, it is the unescaped path with forward slashes, without line
	// numbers, anchors, a leading "./" and a trailing slash; it may contain "..". A leading slash means the top of
	// the repository or of a site. For a symbol, it is the name, with dots between its parts. For a command, it is
	// the argument of the tool, such as "test" in make test. For an anchor, it is the text after the "#". For an option,
	// it is the name without the dashes and the value.
	Name string
	Tool string // of a command: make, npm, yarn, pnpm, bun, just, task, rake, composer
	Dir  bool   // of a path: the document says that it is a directory
	Glob bool   // of a path: Name is a doublestar pattern
	// In is the directory of Name according to the document: that of a cd command, or the root of a drawing. It
	// may be the repository itself, under the name of its clone. "" if the document names none. For an anchor, it
	// is the path of the document with the heading, "" for the same document. For a symbol in a block of code, it is
	// the module that the block imports it from.
	In string

	Form Form
	// Hedged is set if the words around the mention call it removed, planned, an example or the reader's. SaidGone
	// is set if they say that it does not exist.
	Hedged, SaidGone bool
	// Acked is set if the document acknowledges the mention.
	Acked bool
	// Declared is set if the document itself declares the symbol, in a block of code or a heading.
	Declared bool
	// Casual is set if the text may not be a mention: a capitalised word, a path in a code block. It counts only
	// if the history has it.
	Casual bool
	// At is the position of Name in the document, if the document has it unchanged. A moved mention can be
	// corrected there.
	At Span
}

// A Form is the way in which a document writes a mention. A link is more deliberate than a word.
type Form string

// The forms, the most deliberate first.
const (
	Link    Form = "link"    // the destination of a link or an image
	Import  Form = "import"  // @path, which includes another document in one for an agent
	Code    Form = "code"    // between backticks
	Block   Form = "block"   // in a code block
	Drawing Form = "drawing" // in a drawing of a directory tree
	Word    Form = "word"    // in running text
)

// A Span is a range of bytes in a document. The zero Span is none.
type Span struct{ Start, End int }
