// Package docs checks the prose that people and agents rely on: does what a document
// mentions of its repository still exist?
//
// A mention is a path, a symbol, a command or an anchor of a heading that a document names. It is stale if the
// history proves it: the thing existed at the commit that wrote the mention, and does not
// exist now. A thing that never existed may be an example, a file of the reader or
// of another project. Such a mention is not stale and not listed by default.
//
// The tree decides first. A path holds if it exists from the document's directory, from
// the root or from a directory between them, tracked or not, if a tracked path ends in
// it, or if git ignores it. A symbol holds if its name occurs in a tracked file that is no
// document. A command holds if a file of its tool lists it. The history decides about the
// rest: which commit wrote the mention (the oldest version of the document that has it, in
// the unbroken run back from HEAD), whether the thing existed in that commit, which commit
// removed it, and where it moved. Where the history is cut off, or git lacks a content, the
// verdict is unknown.
//
// [Checker] reads the tree and the history through git.Repo and content.Tree, and caches
// its reports. [Checker.Check] judges documents. [TreeChange] judges which mentions a change
// broke: it compares two trees, and reads neither the history nor documents without a removed name.
package docs

import "ken/internal/repo"

// A Kind is what sort of thing a mention names.
type Kind string

// The kinds.
const (
	Path    Kind = "path"
	Symbol  Kind = "symbol"
	Command Kind = "command"
	Anchor  Kind = "anchor" // of a heading in a document
)

// A Mention is a place in a document that names something of the repository.
type Mention struct {
	File repo.Path // the document
	Line int       // of its first byte, from 1
	Text string    // as the document has it
	Kind Kind

	// Name is what to look for. Of a path it is the path alone, unescaped, with
	// forward slashes, without line numbers and anchors, a "./" at its front and a
	// slash at its end, perhaps with ".." in it; one that begins with a slash is
	// meant from the top of the repository or of a site. Of a symbol it is its name,
	// parts joined by dots; of a command what the tool is asked to run, "test" in
	// make test; of an anchor what follows the "#".
	Name string
	Tool string // of a command: make, npm, yarn, pnpm, bun, just, task, rake, composer
	Dir  bool   // of a path: it is said to be a directory
	Glob bool   // of a path: Name is a pattern in the manner of doublestar
	// In is the directory that Name is said to be in: what the shell changed to, or
	// the root of a drawing. It may as well be the repository's own, under the name
	// it has been cloned to. "" where nothing is said. Of an anchor it is the
	// path of the document that has the heading, "" for the same one.
	In string

	Form Form
	// Hedged is set if the words around it call it removed, planned, an example or the reader's.
	// SaidGone is set if they say that it is not there: then it is no news.
	Hedged, SaidGone bool
	inSentence       bool // the sentence says so, and not a heading above
	// Acked is set if the document says that the mention is right.
	Acked bool
	// Casual is set if it may be no mention at all: a word with a capital, a path in a block of code.
	// It counts only if history has it.
	Casual bool
	// At is the position of Name in the document, if the document has it letter by letter.
	// A mention that moved can be corrected there.
	At Span
}

// A Form is how a document writes a mention. A link is meant more firmly than a word.
type Form string

// The forms, the most deliberate first.
const (
	Link    Form = "link"    // the destination of a link or an image
	Import  Form = "import"  // @path, by which an agent's document reads another
	Code    Form = "code"    // between backticks
	Block   Form = "block"   // in a code block
	Drawing Form = "drawing" // in a drawing of a directory tree
	Word    Form = "word"    // in running text
)

// A Verdict says whether the thing that a mention names exists.
type Verdict string

// The verdicts.
const (
	Holds     Verdict = "holds"
	Moved     Verdict = "moved"     // it exists elsewhere now
	Gone      Verdict = "gone"      // it existed
	Never     Verdict = "never"     // it never existed, as far as the history goes back
	Ambiguous Verdict = "ambiguous" // it may be one of several things, or nothing of this repository
	Unknown   Verdict = "unknown"   // the history does not tell
)

// A Span is a stretch of a document's bytes. The zero one is none.
type Span struct{ Start, End int }
