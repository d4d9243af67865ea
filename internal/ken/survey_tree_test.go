package ken_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"ken/internal/ken"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/testrepo"
	"ken/internal/tree"
	"ken/internal/workspace"
)

// The tree reports the files that changed since they were listed, and no others: no files without a grammar, large
// files, files that git stores in another form, or files that are not checked out.
func TestSurveyTreeReportsChangedFiles(t *testing.T) {
	t.Parallel()
	w := &surveyWorld{Repo: testrepo.New(t), t: t}
	const code = "package p\n"
	w.Write(".gitattributes", "ident.go ident\n")
	w.Write("same.go", code)
	w.Write("edited.go", code)
	w.Write("lost.go", code)
	w.Write("grown.go", code)
	w.Write("large.go", code+strings.Repeat("// and so on\n", outline.MaxBytes/8))
	w.Write("plain.xyz", "no language\n")
	w.Write("ident.go", code+"\n// $Id$\n")
	w.Write("away.go", code)
	w.Commit("begin")
	w.Remove("ident.go")
	w.Git("checkout", "ident.go") // as git writes it, which is not as git stores it
	w.Git("update-index", "--skip-worktree", "away.go")
	w.Remove("away.go")
	w.within(func(ws *ken.Repository) error {
		work := tree.NewWorkTree(ws.TreeSources())
		files, err := work.Files(t.Context())
		if err != nil {
			return err
		}
		w.Write("edited.go", "package q\n")
		w.Write("grown.go", w.Read("large.go"))
		w.Remove("lost.go")
		list := make([]*repo.File, len(files))
		for i := range files {
			list[i] = &files[i]
		}
		seen, err := work.Outlines(t.Context(), list)
		if err != nil {
			return err
		}
		moved := map[string]bool{"edited.go": true, "lost.go": true, "grown.go": true}
		for i, f := range files {
			name := string(f.Path)
			if got := errors.Is(seen[i].Err, workspace.ErrChanged); got != moved[name] {
				t.Errorf("%s: outlined with %v", name, seen[i].Err)
			}
			if got := seen[i].Outline != nil; got != (name == "same.go") {
				t.Errorf("%s: outlined as %+v", name, seen[i].Outline)
			}
			if _, err := work.Read(t.Context(), list[i], 1<<20); errors.Is(err, workspace.ErrChanged) != moved[name] {
				t.Errorf("%s: read with %v", name, err)
			}
		}
		if len(files) != 9 {
			t.Errorf("the tree has %d files; want 9", len(files))
		}
		return nil
	})
	if _, err := os.Stat(w.Path("away.go")); err == nil {
		t.Error("away.go is there")
	}
}

// A file of a commit that cannot be read completely is an error, not a part of its content.
func TestCommitTreeReadsWholeFiles(t *testing.T) {
	t.Parallel()
	w := &surveyWorld{Repo: testrepo.New(t), t: t}
	w.Write("small.txt", "small\n")
	w.Write("large.txt", strings.Repeat("large\n", 1<<20))
	w.Commit("begin")
	w.within(func(ws *ken.Repository) error {
		head, _, err := ws.Git.Resolve(t.Context(), "HEAD")
		if err != nil {
			return err
		}
		work := tree.NewCommitTree(ws.TreeSources(), head)
		files, err := work.Files(t.Context())
		if err != nil {
			return err
		}
		for i, f := range files {
			b, err := work.Read(t.Context(), &files[i], 16<<20)
			if (err == nil) != (f.Path == "small.txt") || err == nil && string(b) != "small\n" {
				t.Errorf("Read(%q) returned %d bytes, %v; want only small.txt read", f.Path, len(b), err)
			}
		}
		return nil
	})
}
