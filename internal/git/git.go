// Package git reads facts from a git repository: where HEAD is, what the index
// tracks, what attributes and history say. It is the only door to git in ken.
//
// In ordinary layouts HEAD, refs, config and index are read from their files,
// which is an order of magnitude cheaper than a process. Whatever those readers
// do not understand completely (reftable, a split or sparse index, an extension
// of next year) is asked of git itself, so an unusual repository costs time and
// never a wrong answer. What neither can tell is an error.
//
// The package leaves reading the files of the work tree, and deciding what the facts mean, to
// others. It changes the repository only in CommitEmpty, WriteCommit, MoveRefs, FetchRef and
// PushRef, and in a cache of the history that you can delete at any time. Only the functions
// for remotes and signatures start programs that a configuration names or use the network.
package git

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"sync"

	"ken/internal/git/config"
	"ken/internal/repo"
)

// A Repo is one work tree and the git directory behind it. It remembers the
// configuration it was opened with, so a new command opens a new Repo. It may
// be used from several goroutines.
type Repo struct {
	root   string // canonical path of the work tree
	gitDir string // canonical path of its git directory
	common string // where refs, objects and config are; gitDir unless a linked worktree
	prefix repo.Path

	format  repo.ObjectFormat
	own     config.Settings // the repository's own config files
	strange bool            // says something we do not understand: ask git for everything
	// detached says that the work tree is not where git would find the git
	// directory by itself (core.worktree), so every call names both.
	detached bool
	// foreign says that the repository belongs to another user, and that git uses it
	// all the same.
	foreign bool

	// filter says what histories keep of commits; nil until FilterHistory is called.
	filter *repo.HistoryFilter

	mu    sync.Mutex
	full  config.Settings // everything git reads, once asked for
	asked bool
	trees map[repo.ID]repo.ID // trees of commits; a commit never changes its tree
}

// Root returns the canonical path of the work tree.
func (r *Repo) Root() string { return r.root }

// GitDir returns the git directory of this work tree: for a linked worktree,
// the one below the main repository's worktrees.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir returns the git directory that all worktrees share.
func (r *Repo) CommonDir() string { return r.common }

// Prefix returns the directory Open was given, from the root; "" at the root.
func (r *Repo) Prefix() repo.Path { return r.prefix }

// ObjectFormat returns the hash that object ids are made with.
func (r *Repo) ObjectFormat() repo.ObjectFormat { return r.format }

// Worktree returns the name of the linked worktree, "" for the main one.
func (r *Repo) Worktree() string {
	if r.gitDir == r.common {
		return ""
	}
	return filepath.Base(r.gitDir)
}

// Author returns "Name <email>" as git would write it into a commit, from the environment and the
// configuration, "" when they name nobody.
func (r *Repo) Author(ctx context.Context) (string, error) {
	name, email := cleanName(os.Getenv("GIT_AUTHOR_NAME")), cleanName(os.Getenv("GIT_AUTHOR_EMAIL"))
	if name == "" || email == "" {
		c, err := r.everything(ctx)
		if err != nil {
			return "", err
		}
		name = cmp.Or(name, person(c, "author.name", "user.name"))
		email = cmp.Or(email, person(c, "author.email", "user.email"), cleanName(os.Getenv("EMAIL")))
	}
	switch {
	case name == "" && email == "":
		return "", nil
	case email == "":
		return name, nil
	case name == "":
		return "<" + email + ">", nil
	}
	return name + " <" + email + ">", nil
}
