// Package workspace is one open repository: git, the files of its work tree, their outlines, and the cache of answers.
//
// Its types are concrete, and all features share them. The package reads facts and judges nothing; verdicts belong to
// the features.
package workspace

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"ken/internal/cache"
	"ken/internal/content"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store/local"
)

// Options say how to open a repository.
type Options struct {
	Dir     string             // a directory in the repository; "" is the current one
	Program string             // identifies this build of ken; another build may answer differently
	History repo.HistoryFilter // which files and trailers the index of the history covers
}

// A Workspace is one open repository. Close it after use.
type Workspace struct {
	Git   *git.Repo
	Files *content.Tree
	Cache *cache.Cache
	Bare  bool // the repository has no work tree; only its commits can be read

	outlines outlineStore

	mu      sync.Mutex
	remarks []string
}

// Open opens the repository with a work tree that contains a directory. It starts no process.
func Open(ctx context.Context, opts Options) (*Workspace, error) {
	g, err := git.Open(ctx, opts.dir())
	if err != nil {
		return nil, err
	}
	return open(g, opts), nil
}

// OpenAllowBare opens a repository that may have no work tree.
func OpenAllowBare(ctx context.Context, opts Options) (*Workspace, error) {
	g, bare, err := git.OpenAllowBare(ctx, opts.dir())
	if err != nil {
		return nil, err
	}
	w := open(g, opts)
	w.Bare = bare
	return w, nil
}

func (o Options) dir() string {
	if o.Dir == "" {
		return "."
	}
	return o.Dir
}

func open(g *git.Repo, opts Options) *Workspace {
	g.FilterHistory(opts.History)
	outline.UseTables(local.OpenGrammarTables(g.CommonDir()))
	return &Workspace{
		Git:   g,
		Files: content.Open(g.Root(), content.Options{Format: g.ObjectFormat()}),
		Cache: cache.Open(g.CommonDir(), opts.Program),

		outlines: outlineStore{disk: local.OpenOutlines(g.CommonDir())},
	}
}

// Close stores the outlines that are not stored yet.
func (w *Workspace) Close() { w.outlines.close() }

// Remark adds a sentence for the user about a limit of the answers.
func (w *Workspace) Remark(sentences ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.remarks = append(w.remarks, sentences...)
}

// Remarks returns the sentences of Remark.
func (w *Workspace) Remarks() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.remarks)
}

// Commit returns the commit that a revision names.
func (w *Workspace) Commit(ctx context.Context, rev string) (repo.ID, error) {
	commit, ok, err := w.Git.Resolve(ctx, rev)
	if err == nil && !ok {
		err = &fault.Error{Kind: fault.Usage, Hint: "check it with: git log -1 " + fault.Quote(rev), Err: fmt.Errorf("no such commit: %q", rev)}
	}
	return commit, err
}
