package describe

import (
	"context"
	"errors"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/workspace"
)

// An Item is a directory to describe, with all input of its summary.
type Item struct {
	Path     repo.Path
	Shallow  bool // describe it with less input
	Basis    store.DirBasis
	Files    []ItemFile
	Own      SelfDescription
	Children []Child
	Old      *store.DirRecord // its previous summary, nil without one
	Changes  []string         // reasons why Old is stale
	Patches  []FilePatch      // changes of its own files since Old

	AbsentFiles int // number of files whose content is not in this clone
}

// An ItemFile is an own file of the directory.
type ItemFile struct {
	*repo.File
	Outline *outline.Outline // nil without a grammar for the file
	Summary workspace.Summary
}

// A ChildStatus is the status of a child for a prompt.
type ChildStatus string

// The statuses of a child.
const (
	ChildSummary  ChildStatus = "summary"  // it has a fresh text
	ChildStale    ChildStatus = "stale"    // it has a text that may be stale
	ChildPending  ChildStatus = "pending"  // it has no summary yet
	ChildFailed   ChildStatus = "failed"   // a writer failed to describe it
	ChildExcluded ChildStatus = "excluded" // policy leaves it out
)

// A Child is a subdirectory in the prompt of its parent.
type Child struct {
	Path   repo.Path
	Status ChildStatus
	Reason string // why it has no fresh summary
	Text   string // its text, fresh or stale
}

// A FilePatch is the change of a file since the summary of its directory was written.
type FilePatch struct {
	Name    string
	Text    string // "" if there is no patch to show
	Missing string // why there is none
}

// ReadFiles adds the own files of the directory to the item and to its basis, with their outlines and summaries, and reads
// the directory's description of itself. staleMentions are the stale mentions of documents, which no outline quotes. It
// returns [workspace.ErrChanged] if a file has changed since the tree listed it.
func (it *Item) ReadFiles(ctx context.Context, tree workspace.Tree, files []*repo.File, staleMentions map[repo.Path][]string) error {
	if len(files) == 0 {
		return nil
	}
	outlines, err := tree.Outlines(ctx, files)
	if err != nil {
		return err
	}
	summaries, err := tree.Summaries(ctx, files)
	if err != nil {
		return err
	}
	it.Basis.Files = nil
	for i, f := range files {
		switch err := outlines[i].Err; {
		case errors.Is(err, workspace.ErrAbsent):
			it.AbsentFiles++
		case err != nil:
			return err
		}
		it.Files = append(it.Files, ItemFile{f, outlines[i].Outline, summaries[i]})
		it.Basis.Files = append(it.Basis.Files, store.BasisFile{Name: []byte(f.Path.Base()), ID: f.ID, Shape: store.ShapeOf(outlines[i].Outline)})
	}
	it.Own, err = readSelfDescription(ctx, tree, it, staleMentions)
	return err
}

// CheckUnchanged returns [workspace.ErrChanged] if a file of the item has changed. The writer may have read the file
// itself, later than the item.
func (it *Item) CheckUnchanged(ctx context.Context, tree workspace.Tree) error {
	for _, f := range it.Files {
		if _, err := tree.Read(ctx, f.File, maxRead); errors.Is(err, workspace.ErrChanged) {
			return err
		}
	}
	return nil
}
