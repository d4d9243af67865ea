package app

import (
	"context"
	"errors"
	"os"

	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/install"
	"ken/internal/install/disk"
	"ken/internal/ken"
	"ken/internal/store/local"
	"ken/internal/store/postgres"
	"ken/internal/store/team"
	"ken/internal/workspace"
)

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
	cfg, err := ken.LoadConfig(g.Root())
	facts.Config, facts.Password = err, postgres.HasPassword(cfg.Store)
	facts.Git, facts.NoGit = g.Version(ctx)
	if facts.Store = readsStore(ctx, g); facts.Store == nil && facts.Config == nil {
		facts.Store = examineKnowledge(ctx, g.Root(), &facts)
	}
	if facts.Config == nil {
		if facts.Base = reachesBase(ctx, g, cfg); facts.Base != nil {
			facts.Trouble = string(team.Trouble(facts.Base))
		}
		facts.Addresses, facts.BadAddress = (&ken.Repository{Workspace: &workspace.Workspace{Git: g}, Config: cfg}).Addresses(ctx)
	}
	facts.AddHooks(disk.Hooks{Git: g}.Install(ctx, install.Options{DryRun: true}))
	facts.OnPath = disk.OnPath("ken")
	if at, err := os.Executable(); err == nil {
		facts.Program = at
	}
	facts.Clients = disk.Clients{Root: g.Root()}.Status(ctx)
	return facts, true, ctx.Err()
}

// readsStore returns an error if the store cannot be read. It reads no configuration, which may
// be broken too.
func readsStore(ctx context.Context, g *git.Repo) error {
	kept := local.Open(local.Options{CommonDir: g.CommonDir(), StateDir: ken.StateDir()})
	_, _, err := kept.LastVerification(ctx, g.Worktree())
	return errors.Join(err, kept.Close())
}

// examineKnowledge reads every record, and counts stale summaries. It writes nothing.
func examineKnowledge(ctx context.Context, root string, facts *install.Facts) (err error) {
	w, err := ken.Open(ctx, ken.Options{Dir: root})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	unused, err := w.Store.CheckRecords(ctx)
	if err != nil {
		return err
	}
	facts.AddUnused(unused)
	rep, directories, err := w.Status(ctx)
	if err != nil {
		return err
	}
	facts.StaleFiles = rep.Counts.Stale
	if directories != nil {
		facts.StaleDirectories = len(directories.NeedAttention)
	}
	return nil
}

// reachesBase returns an error if the team's store cannot be used.
func reachesBase(ctx context.Context, g *git.Repo, cfg ken.Config) error {
	kept := local.Open(local.Options{CommonDir: g.CommonDir(), StateDir: ken.StateDir()})
	w := &ken.Repository{Workspace: &workspace.Workspace{Git: g}, Config: cfg, Store: kept}
	t, err := w.OpenTeam(ctx)
	if err == nil && t != nil {
		if err = t.CheckAccess(ctx); err == nil {
			err = w.Identity().Check(ctx)
		}
	}
	return errors.Join(err, kept.Close())
}

// installClient adds ken to the files of a client, or removes it. The user's own files need no repository.
func installClient(ctx context.Context, dir string, c install.Client, opts install.Options) (*install.ClientResult, error) {
	if dir == "" {
		dir = "."
	}
	var clients disk.Clients
	g, err := git.Open(ctx, dir)
	switch {
	case err == nil:
		clients.Root = g.Root()
	case fault.KindOf(err) != fault.NoRepo:
		return nil, err
	}
	return clients.Install(ctx, c, opts)
}
