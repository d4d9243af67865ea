// Package docs judges the prose that people and agents rely on: does what a
// document mentions of its repository still exist?
//
// A mention is a path, a symbol or a command that a document names. It is taken at
// its word only as far as history bears it out: a mention is gone when what it names
// was there at the commit that wrote it into the document, and is there no more.
// What was never there may be an example, a file of the reader's or another
// project's, and is nobody's mistake; so it is told apart, and not reported unless
// it is asked for.
//
// The tree is asked first. A path holds if it is there from the document's directory, from
// the root or from a directory between them, tracked or not, if a tracked path ends in
// it, or if git ignores it; a symbol if its name is anywhere in tracked files that are no
// documents; a command if any file of its tool has it. About the rest history is asked:
// which commit wrote the mention, the oldest version of the document that has it in the
// unbroken run back from HEAD; whether what it names was there in that commit; which
// commit took it away, and where to. Where history is cut off, or what it would take to
// tell cannot be read, nothing is known.
//
// The package reads documents and decides. What the tree holds and what history
// knows come in through interfaces.
package docs

import "ken/internal/repo"

// A Kind is what sort of thing a mention names.
type Kind string

// The kinds.
const (
	Path    Kind = "path"
	Symbol  Kind = "symbol"
	Command Kind = "command"
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
	// make test.
	Name string
	Tool string // of a command: make, npm, yarn, pnpm, bun, just, task, rake, composer
	Dir  bool   // of a path: it is said to be a directory
	Glob bool   // of a path: Name is a pattern in the manner of doublestar
	// In is the directory that Name is said to be in: what the shell changed to, or
	// the root of a drawing. It may as well be the repository's own, under the name
	// it has been cloned to. "" where nothing is said.
	In string

	Form Form
	// Hedged is set where the words around it say that it is not there, or is an
	// example: removed, formerly, e.g.
	Hedged bool
	// Acked is set where the document says itself that the mention is as it should be.
	Acked bool
	// At is where Name stands in the document, where it stands there letter by
	// letter; what merely moved can be put right there.
	At Span
}

// A Form is how a document puts a mention, by which it can be told how much it means it.
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

// A Verdict says whether what a mention names is there.
type Verdict string

// The verdicts.
const (
	Holds     Verdict = "holds"
	Moved     Verdict = "moved"     // it is somewhere else now
	Gone      Verdict = "gone"      // it was there
	Never     Verdict = "never"     // it was not, as far back as there is a history
	Ambiguous Verdict = "ambiguous" // it may be one of several things, or nothing of ours
	Unknown   Verdict = "unknown"   // history does not go back far enough to tell
)

// A Span is a stretch of a document's bytes. The zero one is none.
type Span struct{ Start, End int }
