package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"ken/internal/config"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/git"
	"ken/internal/install"
	"ken/internal/registry"
	"ken/internal/store/local"
	"ken/internal/store/postgres"
	"ken/internal/store/team"
)

// Setup creates the files of ken init, or removes them.
func (h *hookSpace) Setup(_ context.Context, opts install.Options) ([]install.FileResult, error) {
	at := &clientSpace{root: h.git.Root()}
	var done []install.FileResult
	for _, f := range install.SetupFiles {
		seen, err := at.file(install.ClientFile{Base: install.Work, Path: f.Path})
		if err != nil {
			return nil, notOurs(err)
		}
		decide := f.Install
		if opts.Uninstall {
			decide = f.Uninstall
		}
		c := decide(seen.text)
		done = append(done, install.FileResult{Path: f.Path, Action: c.Action, Note: c.Note})
		if opts.DryRun {
			continue
		}
		if err := seen.apply(c); err != nil {
			return nil, seen.failed(err)
		}
	}
	return done, nil
}

// notOurs adds to a [linkError] a hint for ken init.
func notOurs(err error) error {
	link, ok := errors.AsType[*linkError](err)
	if !ok {
		return err
	}
	return &fault.Error{Hint: "replace the link with a file or a directory, or install only the git hooks: ken init --hooks", Err: link}
}

// diagnose collects the facts for ken doctor about the repository of dir. ok is false
// outside a repository.
func diagnose(ctx context.Context, dir string) (facts install.Facts, ok bool, err error) {
	if dir == "" {
		dir = "."
	}
	g, err := git.Open(ctx, dir)
	if fault.KindOf(err) == fault.NoRepo {
		return facts, false, nil
	}
	if err != nil {
		return facts, false, err
	}
	cfg, err := config.Load(g.Root())
	facts.Config, facts.Password = err, postgres.HasPassword(cfg.Team.Store)
	facts.Git, facts.NoGit = g.Version(ctx)
	if facts.Store = readsStore(ctx, g); facts.Store == nil && facts.Config == nil {
		facts.Store = examineKnowledge(ctx, g.Root(), &facts)
	}
	if facts.Config == nil {
		if facts.Base = reachesBase(ctx, g, cfg); facts.Base != nil {
			facts.Trouble = string(team.Trouble(facts.Base))
		}
		facts.Addresses, facts.BadAddress = (&workspace{git: g, cfg: cfg}).Addresses(ctx)
	}
	facts.Hooks = make(map[string]string)
	done, err := (&hookSpace{git: g, dir: dir}).Install(ctx, install.Options{DryRun: true})
	facts.NoHooks = err
	if err == nil {
		for _, o := range done.Hooks {
			facts.Hooks[o.Name] = o.Action
			if o.Off {
				facts.Off = append(facts.Off, o.Name)
			}
		}
	}
	facts.OnPath = onPath("ken")
	if at, err := os.Executable(); err == nil {
		facts.Program = at
	}
	facts.Clients = (&clientSpace{root: g.Root()}).Status(ctx)
	return facts, true, ctx.Err()
}

// readsStore returns an error if the store cannot be read. It reads no configuration, which may
// be broken too.
func readsStore(ctx context.Context, g *git.Repo) error {
	kept := local.Open(local.Options{CommonDir: g.CommonDir(), StateDir: stateDir()})
	_, _, err := kept.Baseline(ctx, g.Worktree())
	return errors.Join(err, kept.Close())
}

// examineKnowledge reads every record, and counts stale summaries. It writes nothing.
func examineKnowledge(ctx context.Context, root string, facts *install.Facts) (err error) {
	w, err := open(ctx, openOptions{dir: root})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	unused, err := w.Unused(ctx)
	if err != nil {
		return err
	}
	for _, u := range unused {
		if errors.Is(u.Why, fresh.ErrDamaged) {
			facts.Damaged = append(facts.Damaged, u.Label())
		} else {
			facts.Ahead = append(facts.Ahead, u.Label())
		}
	}
	rep, err := w.registry.Status(ctx, registry.VerifyOptions{OmitNew: true, OmitSparse: true})
	if err != nil {
		return err
	}
	facts.StaleFiles = rep.Counts.Stale
	directories, err := w.Standings(ctx, rep, false, nil)
	if directories != nil {
		facts.StaleDirectories = len(directories.Wanting)
	}
	return err
}

// reachesBase returns an error if the team's store cannot be used.
func reachesBase(ctx context.Context, g *git.Repo, cfg config.Config) error {
	kept := local.Open(local.Options{CommonDir: g.CommonDir(), StateDir: stateDir()})
	w := &workspace{git: g, cfg: cfg, store: kept}
	t, err := w.openTeam(ctx)
	if err == nil && t != nil {
		if err = t.Reach(ctx); err == nil {
			_, _, err = w.named(ctx)
		}
	}
	return errors.Join(err, kept.Close())
}

// onPath reports whether a program is on the PATH.
func onPath(name string) bool {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return true
		}
	}
	return false
}
