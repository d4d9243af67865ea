package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"ken/internal/agenthook"
	"ken/internal/config"
	"ken/internal/content"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/outline"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/store/local"
	"ken/internal/store/team"
)

type openOptions struct {
	dir      string // "" is the current directory
	author   string // who writes, if the caller knows
	recipe   string
	progress func(done, total int)
}

// A workspace is one open repository: its facts, and the decisions over them.
type workspace struct {
	git      *git.Repo
	store    *local.Store
	registry *registry.Registry
	files    *content.Tree
	cfg      config.Config
	author   string // who writes, if whoever opened it knows
	remarks  []string
	bare     bool // there is no work tree: only commits can be asked about

	progress func(done, total int) // who hears how many files have been read; may be nil

	look *worktreeReader // judges the files and records nothing; if nil, reading records a check

	specs *lastSpecs // cached specs of the work tree; nil if the process reads them once

	memoryOnce sync.Once
	memory     *agenthook.Memory // of the session that this process runs in

	cacheOnce sync.Once
	cache     *outlineCache // of what grammars see; nil until it is needed

	team  *team.Team    // the way to the base of a team; nil without one
	leave func() string // what is done there in the end, and what is to be said of it; may be nil
}

func open(ctx context.Context, opts openOptions) (*workspace, error) {
	dir := opts.dir
	if dir == "" {
		dir = "."
	}
	g, err := git.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	g.FilterHistory(spec.HistoryFilter())
	cfg, err := config.Load(g.Root())
	if err != nil {
		return nil, err
	}
	outline.KeepTables(g)
	worktrees, err := g.Worktrees()
	if err != nil {
		return nil, err
	}
	s := local.Open(local.Options{CommonDir: g.CommonDir(), StateDir: stateDir()})
	files := content.Open(g.Root(), content.Options{Format: g.ObjectFormat()})
	w := &workspace{git: g, store: s, files: files, cfg: cfg, author: opts.author, progress: opts.progress}
	w.registry = registry.New(g, files, s, registry.Options{
		Policy:    cfg.Registry,
		Author:    func() string { return author(ctx, g, opts.author) },
		Recipe:    opts.recipe,
		Progress:  w.tell,
		Worktrees: worktrees,
		Grader:    grader{w},
		Seen:      w.seen,
	})
	return w, nil
}

// openHere is open for whoever asks something, and is answered with what the team knows. Hooks
// are not: what they tell is what this clone knows.
func openHere(ctx context.Context, opts openOptions) (*workspace, error) {
	w, err := open(ctx, opts)
	if err == nil {
		w.arrive(ctx)
	}
	return w, err
}

// openCommits opens a repository for questions about commits: where there is no work
// tree, what it holds of policy and files is for the commit to say.
func openCommits(ctx context.Context, dir string) (*workspace, error) {
	if dir == "" {
		dir = "."
	}
	g, bare, err := git.OpenCommits(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !bare {
		return open(ctx, openOptions{dir: dir})
	}
	g.FilterHistory(spec.HistoryFilter())
	outline.KeepTables(g)
	return &workspace{
		git: g, bare: true,
		store: local.Open(local.Options{CommonDir: g.CommonDir(), StateDir: stateDir()}),
		files: content.Open(g.Root(), content.Options{Format: g.ObjectFormat()}),
	}, nil
}

func (w *workspace) Registry() *registry.Registry { return w.registry }

// OnProgress has f told how many of how many files have been read, instead of whoever was
// told before.
func (w *workspace) OnProgress(f func(done, total int)) { w.progress = f }

func (w *workspace) tell(done, total int) {
	if w.progress != nil {
		w.progress(done, total)
	}
}

// Remarks are told once each, however often it came to them.
func (w *workspace) Remarks() []string {
	var list []string
	for _, r := range slices.Concat([]string{w.store.Note()}, unusedRemarks(w.store.Unused()), w.remarks) {
		if r != "" && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	return list
}

func (w *workspace) Close() error {
	if w.cache != nil {
		w.cache.close()
	}
	return errors.Join(w.closeTeam(), w.store.Close())
}

// Path resolves an argument as git would: from where the command was run.
func (w *workspace) Path(arg string) (repo.Path, error) {
	return w.resolve(arg, string(w.git.Prefix()))
}

// RootPath resolves a path from the root.
func (w *workspace) RootPath(arg string) (repo.Path, error) { return w.resolve(arg, "") }

func (w *workspace) resolve(arg, prefix string) (repo.Path, error) {
	name := arg
	if p, ok := repo.Unquote(arg); ok {
		name = string(p)
	}
	slashed := filepath.ToSlash(name)
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(w.git.Root(), realDir(name))
		if err != nil {
			return "", outside(arg)
		}
		slashed = filepath.ToSlash(rel)
	} else {
		slashed = path.Join(prefix, slashed)
	}
	clean := path.Clean(slashed)
	switch {
	case arg == "":
		return "", &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("the path is empty")}
	case clean == ".." || strings.HasPrefix(clean, "../"):
		return "", outside(arg)
	case clean == ".":
		return "", nil
	default:
		return repo.Path(clean), nil
	}
}

// realDir resolves the links above an absolute name, as the root has been; the
// name itself may be a link that is tracked as such.
func realDir(name string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, filepath.Base(name))
}

func outside(arg string) error {
	return &fault.Error{
		Kind: fault.Usage,
		Hint: "name a file inside the repository, or: ken -C DIR …",
		Err:  fmt.Errorf("outside the repository: %s", arg),
	}
}

// author says who is writing: whoever the environment or the caller names, else
// the person git would name.
func author(ctx context.Context, g *git.Repo, given string) string {
	if a := os.Getenv("KEN_AUTHOR"); a != "" {
		return a
	}
	if given != "" {
		return given
	}
	if a, err := g.Author(ctx); err == nil && a != "" {
		return a
	}
	return "unknown"
}

// stateDir is where a user's programs keep what cannot lie with the repository.
func stateDir() string {
	if d := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return d
	}
	if runtime.GOOS == "windows" {
		if d := os.Getenv("LOCALAPPDATA"); d != "" {
			return d
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state")
}
