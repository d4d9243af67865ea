// Package change says what a change removes: files, symbols and signatures. It compares a commit with a later one or
// with the work tree, and outlines each changed content once.
//
// Package usage finds what still uses a removed thing, package docs which documents mention it.
package change

import (
	"context"
	"strings"

	"ken/internal/find"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// A Change is the difference between two trees.
type Change struct {
	Files      []File                  // the changed files, sorted by path
	Renamed    map[repo.Path]repo.Path // new paths by old ones
	Removed    []Symbol                // symbols that their files no longer declare
	Signatures []Signature             // symbols that their files declare with another signature
	Skipped    int                     // changed files above MaxCompared
	// Read returns the content of a file before or after the change, nil if it cannot be read.
	Read func(p repo.Path, before bool) []byte
}

// A File is a changed file with the outlines of both versions.
type File struct {
	repo.FileChange
	FileKind      repo.Kind
	Before, After *outline.Outline // nil if ken has none, or did not compare the file
	Imports       []outline.Import // of the old content
	Untracked     bool             // the new content is not in the index
	NewImports    []outline.Import // of the new content, if it is untracked
}

// IsNew reports whether the old tree had nothing at the path.
func (f *File) IsNew() bool { return f.Kind == repo.Added || f.From != "" }

// LeftPath reports whether the old path no longer leads to the symbols of the file: it was deleted, or renamed so that
// users must name it otherwise. In Go a file is part of a package, regardless of its name.
func (f *File) LeftPath() bool {
	switch {
	case f.Before == nil:
		return false
	case f.From == "":
		return f.Kind == repo.Deleted
	default:
		return f.Before.Language != outline.Go || f.From.Dir() != f.Path.Dir()
	}
}

// A Symbol is a symbol with the file that declares it.
type Symbol struct {
	Path    repo.Path // before the change, if it removed the symbol
	Package string
	Symbol  outline.Symbol
	// MayInherit is set for a removed member that its type may have from another type.
	MayInherit bool
}

// Owner returns the name of the type that the symbol belongs to; false if it belongs to none.
func (s *Symbol) Owner() (name string, isMember bool) {
	full := s.Symbol.FullName()
	end := len(full) - len(s.Symbol.Name)
	if end <= 0 {
		return "", false
	}
	return strings.TrimRight(full[:end], ".:#"), true
}

// A Signature is a symbol whose signature changed.
type Signature struct {
	File          *File
	Before, After *outline.Symbol
}

// A Range selects a change.
type Range struct {
	From repo.ID // a commit
	To   repo.ID // a commit, or zero for the work tree
}

// MaxCompared limits the changed files whose symbols are compared.
const MaxCompared = 2000

// Between compares two trees. The index and the tree are of the tree after the change.
func Between(ctx context.Context, x *searchindex.Index, t *find.IndexedTree, r Range) (*Change, error) {
	list, err := compare(ctx, t, r)
	if err != nil {
		return nil, err
	}
	c := &Change{Renamed: make(map[repo.Path]repo.Path)}
	old := make(map[repo.Path]repo.ID)
	for _, f := range list {
		c.Files = append(c.Files, File{FileChange: f})
		if f.OldMode != 0 {
			old[f.OldPath()] = f.Old
		}
		if f.From != "" {
			c.Renamed[f.From] = f.Path
		}
	}
	c.Read = func(p repo.Path, before bool) []byte {
		if id, ok := old[p]; before && ok {
			return readBlob(ctx, t.Workspace.Git, id)
		}
		return t.Read(ctx, p)
	}
	if err := c.readOutlines(ctx, t); err != nil {
		return nil, err
	}
	c.compareSymbols()
	return c, c.markInherited(ctx, x)
}
