// Package ken puts the features of ken together over one open repository. The command line, the MCP server and the
// dashboard get a [Repository] and ask its features. The package decides nothing itself.
package ken

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"ken/internal/agenthook"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/session"
	"ken/internal/spec"
	"ken/internal/store/local"
	"ken/internal/store/team"
	"ken/internal/tree"
	"ken/internal/workspace"
)

// Options say how to open a repository. The zero value opens that of the current directory.
type Options struct {
	Dir      string // a directory in the repository; "" is the current one
	Author   string // who writes; "" is the author that git names
	Recipe   string // how summaries are made, for their records
	Progress func(done, total int)
}

// A Repository is one open repository with its configuration, its store and its features.
type Repository struct {
	*workspace.Workspace

	Config      Config
	Store       *local.Store
	Registry    *registry.Registry  // nil without a work tree
	ReadOnly    *tree.ReadOnlyCheck // if set, reading records no check
	LoadedSpecs *spec.LoadedSpecs   // the spec files that a server read last; may be nil
	Team        *team.Team          // the connection to the team's store; nil without one

	author          string
	progress        func(done, total int)
	sendTeamRecords func() string // sends new records to the team's store, and returns a remark; may be nil
}

// Open opens a repository with a work tree. It contacts no team's store, so it is for hooks and servers.
func Open(ctx context.Context, opts Options) (*Repository, error) {
	ws, err := workspace.Open(ctx, workspaceOptions(opts.Dir))
	if err != nil {
		return nil, err
	}
	g := ws.Git
	cfg, err := LoadConfig(g.Root())
	if err != nil {
		return nil, err
	}
	worktrees, err := g.Worktrees()
	if err != nil {
		return nil, err
	}
	s := local.Open(local.Options{CommonDir: g.CommonDir(), StateDir: StateDir()})
	w := &Repository{Workspace: ws, Store: s, Config: cfg, author: opts.Author, progress: opts.Progress}
	w.Registry = registry.New(g, ws.Files, s, registry.Options{
		Policy:    cfg.Registry,
		Author:    func() string { return w.Author(ctx) },
		Recipe:    opts.Recipe,
		Progress:  w.reportProgress,
		Worktrees: worktrees,
		Grade: func(ctx context.Context, changes []registry.ContentChange) ([]fresh.Grade, error) {
			return registry.Grades(ctx, ws, changes)
		},
		Seen: seenInSession(g.GitDir()),
	})
	return w, nil
}

func workspaceOptions(dir string) workspace.Options {
	return workspace.Options{Dir: dir, Program: program(), History: spec.HistoryFilter()}
}

// program identifies this build of ken by its file, since another build may answer differently.
func program() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(name)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
}

// OpenWithTeam opens a repository with a work tree, and fetches new records from the team's store.
func OpenWithTeam(ctx context.Context, opts Options) (*Repository, error) {
	w, err := Open(ctx, opts)
	if err == nil {
		w.fetchTeamRecords(ctx)
	}
	return w, err
}

// OpenAllowBare opens a repository for questions about commits. It may have no work tree; then the configuration is that
// of a commit.
func OpenAllowBare(ctx context.Context, dir string) (*Repository, error) {
	ws, err := workspace.OpenAllowBare(ctx, workspaceOptions(dir))
	if err != nil {
		return nil, err
	}
	if !ws.Bare {
		return Open(ctx, Options{Dir: dir})
	}
	return &Repository{
		Workspace: ws,
		Store:     local.Open(local.Options{CommonDir: ws.Git.CommonDir(), StateDir: StateDir()}),
	}, nil
}

// OnProgress replaces the function that receives the progress of reading files.
func (r *Repository) OnProgress(f func(done, total int)) { r.progress = f }

func (r *Repository) reportProgress(done, total int) {
	if r.progress != nil {
		r.progress(done, total)
	}
}

// Remarks returns the sentences for the user about limits of the answers, each once.
func (r *Repository) Remarks() []string {
	var list []string
	for _, remark := range slices.Concat([]string{r.Store.Note()}, fresh.UnusedRemarks(r.Store.Unused()), r.Workspace.Remarks()) {
		if remark != "" && !slices.Contains(list, remark) {
			list = append(list, remark)
		}
	}
	return list
}

// Close sends new records to the team's store, and closes the stores.
func (r *Repository) Close() error {
	r.Workspace.Close()
	return errors.Join(r.closeTeam(), r.Store.Close())
}

// Author returns who writes: KEN_AUTHOR, else the author of the options, else the one that git names.
func (r *Repository) Author(ctx context.Context) string {
	if a := os.Getenv("KEN_AUTHOR"); a != "" {
		return a
	}
	if r.author != "" {
		return r.author
	}
	if a, err := r.Git.Author(ctx); err == nil && a != "" {
		return a
	}
	return "unknown"
}

// StateDir returns the directory for the state of the user's programs.
func StateDir() string {
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

// seenInSession returns a function that returns the content of a path that the current session saw last.
func seenInSession(gitDir string) func(repo.Path) repo.ID {
	memory := sync.OnceValue(func() *agenthook.Memory {
		return agenthook.ParseMemory(session.LogIn(gitDir, session.ID()).Read(agenthook.MaxMemory))
	})
	return func(p repo.Path) repo.ID {
		id, _ := memory().Seen(p)
		return id
	}
}
