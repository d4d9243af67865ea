package brief

import (
	"fmt"

	"ken/internal/fault"
	"ken/internal/outline"
	"ken/internal/project"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/usage"
)

// FileFacts are the facts about a file.
type FileFacts struct {
	Path    repo.Path
	Kind    repo.Kind
	Words   []Section        // its summary or its own words, the specs that govern it, and summaries of directories above
	Outline *outline.Outline // nil if no grammar reads it
	Unread  string           // why ken could not read it, "" if it could
	Content []byte           // nil if it is too large or cannot be read
	Kinds   func(repo.Path) repo.Kind
	Project *project.Project
	Users   []searchindex.Edge
	Uses    []searchindex.Edge
	// Unresolved are mentions that may be uses, and NotRead the files that may have more. They are looked up only if ken
	// knows no user except tests.
	Unresolved usage.Unresolved
	NotRead    []fault.Unknown
	History    History
	// Documents name the path of the file.
	Documents []Mention
	Copies    []repo.Path // other paths with the same bytes
}

// A Mention is a line of a document.
type Mention struct {
	Path repo.Path
	Line int
}

// File returns the brief of a file.
func File(f FileFacts, budget int) *Brief {
	j := f.Path.JSON()
	b := &Brief{Path: j.Path, PathB64: j.B64, Kind: KindFile, Unknown: f.History.unknown()}
	var blocks []*block
	for _, s := range f.Words {
		blocks = append(blocks, &block{Section: s})
	}
	tests, command := f.tests()
	blocks = append(blocks, command, instructions(f.Project.Instructions(f.Path), false), f.symbols(), f.usedBy(), tests, f.uses())
	blocks = append(blocks, f.History.blocks("this file")...)
	blocks = append(blocks, f.documents(), f.copies())
	b.Unknown = append(b.Unknown, unread(f.Project, f.Path)...)
	b.fit(blocks, budget)
	return b
}

// These are the numbers of items that a block lists before the blocks that follow it.
const (
	fileSymbols  = 10
	fileUsers    = 8
	fileUses     = 5
	fileTests    = 6
	fileTogether = 5
	fileCopies   = 3
	fileMentions = 3
)

// documents lists documents that name the file.
func (f *FileFacts) documents() *block {
	items := make([]Item, len(f.Documents))
	for i, m := range f.Documents {
		items[i] = Item{Line: m.Line, show: fmt.Sprintf("%s:%d", name(m.Path), m.Line)}.at(m.Path)
	}
	return factBlock("named in", fileMentions, items...)
}

// copies lists the other paths with the same bytes.
func (f *FileFacts) copies() *block {
	items := make([]Item, len(f.Copies))
	for i, p := range f.Copies {
		items[i] = Item{show: name(p)}.at(p)
	}
	return factBlock("same bytes as", fileCopies, items...)
}
