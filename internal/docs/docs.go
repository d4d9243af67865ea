// Package docs checks the documents in a repository: do the files, symbols, options and commands that they mention
// still exist?
//
// A mention is a path, a symbol, an option, a command or an anchor of a heading that a document names. It is stale if
// the history proves it: the thing existed at the commit that wrote the mention, and does not exist now. A thing that
// never existed may be an example, a file of the reader or of another project: such a mention is not stale.
//
// The tree decides first. A path holds if it exists from the document's directory, from the root or from a directory
// between them, tracked or not, if a tracked path ends in it, or if git ignores it. A symbol holds if its name occurs
// in the code of a tracked file that is no document, and a qualified name if its owner declares it. An option holds if
// such a file has its words in any spelling. A command holds if a file of its tool lists it. The history decides about
// the rest: which commit wrote the mention (the oldest version of the document that has it, in the unbroken run back
// from HEAD), whether the thing existed in that commit, which commit removed it, and where it moved. Where the history
// is cut off, or git lacks a content, the verdict is unknown.
// [Checker.Check] takes over what did not change since its last check. [TreeChange] compares two trees, without history.
package docs

import "ken/internal/fresh"

// The verdicts about a mention: whether the thing that it names exists.
var (
	Holds     = fresh.Holds.Verdict()
	Moved     = fresh.Moved.Verdict()
	Gone      = fresh.Verdict{State: fresh.Gone} // it existed
	Never     = fresh.Never.Verdict()
	Ambiguous = fresh.Ambiguous.Verdict()
	Unknown   = fresh.Verdict{State: fresh.Unknown} // the history is incomplete
)
