package find

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// A memoryTree is a tree of files in memory.
type memoryTree struct {
	Tree    // nil: the other methods are not called
	files   map[repo.Path]string
	notes   map[repo.Path]string
	commits []repo.Commit // newest first
	reads   int           // files whose facts were read
	lists   int           // how often the files were listed
	unnamed bool          // it has no state
	again   int           // files whose references were read
}

func (t *memoryTree) State(context.Context) (string, error) {
	if t.unnamed {
		return "", nil
	}
	sum := sha1.New()
	for _, p := range slices.Sorted(maps.Keys(t.files)) {
		fmt.Fprintf(sum, "%q %q %q\n", p, t.files[p], t.notes[p])
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func idOf(content string) repo.ID {
	sum := sha1.Sum([]byte(content))
	return repo.IDFromBytes(sum[:])
}

func kindOf(p repo.Path) repo.Kind {
	switch {
	case strings.Contains(string(p), "_test.") || strings.HasPrefix(p.Base(), "test_"):
		return repo.KindTest
	case strings.HasSuffix(string(p), ".md"):
		return repo.KindDoc
	case strings.HasPrefix(string(p), "vendor/"):
		return repo.KindVendored
	}
	return repo.KindSource
}

func (t *memoryTree) Files(context.Context) ([]repo.File, error) {
	t.lists++
	var list []repo.File
	for _, p := range slices.Sorted(maps.Keys(t.files)) {
		content := t.files[p]
		list = append(list, repo.File{Path: p, ID: idOf(content), Kind: kindOf(p), Size: int64(len(content))})
	}
	return list, nil
}

func (t *memoryTree) Unread() []repo.File { return nil }

func (t *memoryTree) Summary(p repo.Path) string { return t.notes[p] }

func (t *memoryTree) Facts(_ context.Context, files []repo.File, see func(repo.File, Facts, []byte) error) error {
	for _, f := range files {
		t.reads++
		content := []byte(t.files[f.Path])
		o, refs, err := outline.ParseWithReferences(f.Path, content)
		if err != nil {
			o, refs = nil, nil
		}
		if err := see(f, Facts{o, refs}, content); err != nil {
			return err
		}
	}
	return nil
}

func (t *memoryTree) References(ctx context.Context, files []repo.File, see func(repo.File, *outline.References) error) error {
	t.again += len(files)
	before := t.reads
	defer func() { t.reads = before }()
	return t.Facts(ctx, files, func(f repo.File, facts Facts, _ []byte) error { return see(f, facts.References) })
}

func (t *memoryTree) Commit() repo.ID {
	if len(t.commits) == 0 {
		return repo.ID{}
	}
	return t.commits[0].ID
}

func (t *memoryTree) Recent(_ context.Context, _ repo.ID, limit int) ([]repo.ID, bool, error) {
	var ids []repo.ID
	for _, c := range t.commits[:min(limit, len(t.commits))] {
		ids = append(ids, c.ID)
	}
	return ids, false, nil
}

func (t *memoryTree) Commits(_ context.Context, ids []repo.ID, f func(repo.Commit) error) error {
	for _, c := range t.commits {
		if slices.Contains(ids, c.ID) {
			if err := f(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *memoryTree) Read(_ context.Context, p repo.Path) []byte {
	if content, ok := t.files[p]; ok {
		return []byte(content)
	}
	return nil
}

// commit adds a commit that touched some files.
func (t *memoryTree) commit(subject string, paths ...repo.Path) {
	c := repo.Commit{ID: idOf(subject), Subject: subject, Date: "2026-01-02T03:04:05Z"}
	for _, p := range paths {
		c.Changes = append(c.Changes, repo.Change{Path: p})
	}
	t.commits = append([]repo.Commit{c}, t.commits...)
}

func newIndex(tb testing.TB) *searchindex.Index {
	tb.Helper()
	x, err := searchindex.Open(tb.Context(), filepath.Join(tb.TempDir(), "search.db"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { x.Close() })
	return x
}

func update(tb testing.TB, x *searchindex.Index, t *memoryTree) {
	tb.Helper()
	err := x.Update(tb.Context(), func(w *searchindex.Writer) error {
		_, err := Update(tb.Context(), w, t)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

func search(tb testing.TB, x *searchindex.Index, t *memoryTree, words string) *Answer {
	tb.Helper()
	a, err := Search(tb.Context(), x, t, Query{Words: []string{words}})
	if err != nil {
		tb.Fatal(err)
	}
	return a
}
