// Package git reads a git repository: HEAD, index, attributes, objects and history. No other package of ken runs
// git or reads its files.
//
// In ordinary layouts it reads HEAD, refs, config and index from their files, which takes a tenth of the time of a
// git process. It runs git for layouts that it does not understand completely: reftable, a split or sparse index,
// an unknown extension. An unusual repository takes longer, but no answer is wrong. If git fails, too, the
// package returns an error.
//
// Other packages read the files of the work tree and decide what the facts mean. This package changes the
// repository only in CommitEmpty, WriteCommit, MoveRefs, FetchRef and PushRef. It also writes a cache, which you can
// delete at any time. Only the functions for remotes and signatures use the network or start programs that a
// configuration names.
//
// Package command runs git, package objects reads objects with it, and package remerge repeats merges. Packages index,
// history and config parse what this package reads.
package git

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"ken/internal/git/command"
	"ken/internal/git/config"
	"ken/internal/git/objects"
	"ken/internal/repo"
)

// A Repo is a work tree and its git directory. It caches the configuration, so every command opens a new Repo.
// Several goroutines may use it.
type Repo struct {
	root   string // canonical path of the work tree
	gitDir string // canonical path of its git directory
	common string // directory of refs, objects and config; other than gitDir in a linked worktree
	prefix repo.Path

	format        repo.ObjectFormat
	own           config.Settings // the repository's own config files
	unknownLayout bool            // ken does not understand the layout: git answers every question
	// detached says that git would not find the git directory from the work tree (core.worktree), so every
	// call names both.
	detached bool
	// foreign says that the repository belongs to another user and git accepts it.
	foreign bool

	// filter selects what the history index stores; nil until FilterHistory is called.
	filter *repo.HistoryFilter

	mu    sync.Mutex
	full  config.Settings // result of allConfig
	asked bool
	trees map[repo.ID]repo.ID // trees of commits; a commit never changes its tree
}

// git returns the runner of git in this repository.
func (r *Repo) git() command.Runner {
	return command.Runner{Root: r.root, GitDir: r.gitDir, Detached: r.detached, Foreign: r.foreign}
}

// objects returns the reader of this repository's objects.
func (r *Repo) objects() objects.Reader { return objects.Reader{Git: r.git(), Format: r.format} }

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

// Author returns "Name <email>" of the environment and the configuration, as git would write it into a commit. It is
// "" if no author is set.
func (r *Repo) Author(ctx context.Context) (string, error) {
	name, email := cleanName(os.Getenv("GIT_AUTHOR_NAME")), cleanName(os.Getenv("GIT_AUTHOR_EMAIL"))
	if name == "" || email == "" {
		c, err := r.allConfig(ctx)
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

// Version returns the version of git.
func (r *Repo) Version(ctx context.Context) (string, error) {
	out, err := r.git().Read(ctx, nil, "version")
	return strings.TrimSpace(strings.TrimPrefix(out, "git version ")), err
}
