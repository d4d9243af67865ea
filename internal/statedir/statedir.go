// Package statedir finds the state directory that a command means, and opens it with the contract and the configuration
// of its repository. It refuses directories that contain anything else, since commands move the files in a state
// directory.
//
// Package state has the disk, the lock and the archive of the directory, and package workflow what a command does to it.
package statedir

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"ken/internal/config"
	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/ken"
	"ken/internal/state"
	"ken/internal/workflow"
)

// Options selects a state directory.
type Options struct {
	From   string        // the base of relative paths; "" for the current directory
	Dir    string        // relative to From; "" for the configured directory
	Author string        // who writes, "" if unknown
	Wait   time.Duration // for the lock
}

// Open finds the state directory and opens it. It need not exist. Outside a repository, Dir must be set.
//
// For .devt/state it opens the directory of the session of devt that the environment names.
func Open(ctx context.Context, opts Options) (*workflow.Manager, error) {
	return open(ctx, opts, os.Getenv(contract.InstanceEnv))
}

// open opens the state directory, or that of a session of devt in it unless instance is "".
func open(ctx context.Context, opts Options, instance string) (m *workflow.Manager, err error) {
	named, err := opts.named()
	if err != nil {
		return nil, err
	}
	g, err := findRepository(ctx, opts.From, named)
	if err != nil {
		return nil, err
	}
	root, cfg := "", ken.Config{}
	if g != nil {
		root = g.Root()
		if cfg, err = ken.LoadConfig(root); err != nil {
			return nil, err
		}
	}
	c, err := loadContract(root, filepath.ToSlash(cmp.Or(named, string(cfg.State.Dir))))
	if err != nil {
		return nil, err
	}
	configured := cmp.Or(string(cfg.State.Dir), c.Dir)
	mentions := []string{configured}
	if opts.Dir != "" {
		mentions = append(mentions, filepath.ToSlash(filepath.Clean(opts.Dir)))
	}
	var shared *workflow.Manager
	base := cmp.Or(named, filepath.Join(root, configured))
	if instance != "" && contract.IsDevtRoot(filepath.ToSlash(base)) {
		if !contract.IsInstanceID(instance) {
			return nil, badInstance(instance)
		}
		if shared, err = open(ctx, opts, ""); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				_ = shared.Close()
			}
		}()
		if named != "" {
			named = filepath.Join(named, instance)
		} else {
			configured += "/" + instance
		}
		if c, err = loadContract(root, filepath.ToSlash(cmp.Or(named, configured))); err != nil {
			return nil, err
		}
	}
	so := state.Options{
		Wait:  opts.Wait,
		Names: state.Names{Lock: c.Name(contract.Lock), Archive: c.Name(contract.Archive)},
	}
	where := place{dir: named, from: opts.From, git: g, archive: so.Names.Archive}
	if named == "" {
		where.dir, where.configured = filepath.Join(root, configured), true
	}
	where.own, err = where.is(root, contract.Default().Dir)
	if err != nil {
		return nil, err
	}
	known, err := where.isKnown(root, configured)
	if err != nil {
		return nil, err
	}
	so.Guard = where.check
	var dir *state.Dir
	if named != "" {
		err = where.check(ctx)
		if err == nil {
			dir, err = state.Open(named, so)
		}
	} else {
		dir, err = state.OpenIn(root, configured, so)
	}
	if err != nil {
		return nil, err
	}
	return workflow.New(dir, workflow.Options{
		Contract:    c,
		Now:         time.Now,
		NewID:       newWorkflowID,
		ArchiveRuns: (*int)(cfg.State.ArchiveRuns),
		Author:      author(opts.Author),
		From:        opts.From,
		Mentions:    mentions,
		Named:       !known,
		Shared:      shared,
	}), nil
}

// loadContract returns the contract of a state directory in the work tree at root: the
// default contract for that directory, with what the project adds. Outside a work tree,
// root is "". If dir is "", the directory is the one that the contract names.
func loadContract(root, dir string) (*contract.Contract, error) {
	if root == "" {
		return contract.DefaultFor(dir), nil
	}
	b, err := config.ReadFile(root, contract.FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return contract.DefaultFor(dir), nil
	}
	if err != nil {
		return nil, &fault.Error{
			Hint: "correct " + contract.FileName + ", or move it aside to use the default contract",
			Err:  fmt.Errorf("read %s: %w", contract.FileName, err),
		}
	}
	return contract.Extend(dir, b, contract.FileName)
}

// badInstance is the error about an id that devt rejects too.
func badInstance(id string) error {
	return &fault.Error{
		Kind: fault.Usage,
		Hint: "unset " + contract.InstanceEnv + ", or set it to an id that devt printed",
		Err:  fmt.Errorf("%s %q is not the id of a session: letters, digits, - and _, at most 64", contract.InstanceEnv, id),
	}
}

// named returns the absolute path of dir, "" if it is not set.
func (o Options) named() (string, error) {
	if o.Dir == "" {
		return "", nil
	}
	dir := o.Dir
	if !filepath.IsAbs(dir) {
		if info, err := os.Stat(filepath.Join(o.From, ".")); err != nil || !info.IsDir() {
			return "", &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("not a directory: %s", o.From)}
		}
		dir = filepath.Join(o.From, dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", o.Dir, err)
	}
	return abs, nil
}

// findRepository opens the repository whose configuration applies: that of the named
// directory, or the caller's. It returns nil for a named directory outside a repository.
func findRepository(ctx context.Context, from, named string) (*git.Repo, error) {
	if named != "" {
		g, err := git.Open(ctx, git.ExistingDir(named))
		if errors.Is(err, fs.ErrPermission) { // without permission for the directory, its parent is in the same repository
			g, err = git.Open(ctx, filepath.Dir(git.ExistingDir(named)))
		}
		if fault.KindOf(err) == fault.NoRepo {
			return nil, nil
		}
		return g, err
	}
	if from == "" {
		from = "."
	}
	g, err := git.Open(ctx, from)
	if fault.KindOf(err) == fault.NoRepo {
		return nil, &fault.Error{
			Kind: fault.NoRepo,
			Hint: "run it inside a repository, or name the directory: ken … --dir DIR",
			Err:  err,
		}
	}
	return g, err
}

func newWorkflowID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return "wf_" + hex.EncodeToString(b[:])
}

// author returns who writes. Asking git for a name would take longer than the write
// itself.
func author(given string) string {
	if a := os.Getenv("KEN_AUTHOR"); a != "" {
		return a
	}
	return given
}
