package ken

import (
	"cmp"
	"context"
	"os"

	"ken/internal/env"
	"ken/internal/store"
	"ken/internal/store/team"
)

// storeVariable is the variable in which the user names the team's store. It overrides the configuration.
const storeVariable = "KEN_STORE"

// fetchTeamRecords fetches new records from the team's store, if there is one. A failure is only a remark, since the local store
// answers in any case.
func (w *Repository) fetchTeamRecords(ctx context.Context) {
	t, err := w.OpenTeam(ctx)
	if err != nil {
		w.Remark(err.Error())
		return
	}
	if t == nil {
		return
	}
	w.Team = t
	w.Remark(t.Pull(ctx))
	w.sendTeamRecords = func() string { return t.Push(ctx) }
}

// StoreAddress returns the address of the team's store, "" without one.
func (w *Repository) StoreAddress() string {
	return cmp.Or(os.Getenv(storeVariable), w.Config.Team.Store)
}

// configOfHead loads the configuration of HEAD in a bare repository.
func (w *Repository) configOfHead(ctx context.Context) error {
	if !w.Bare {
		return nil
	}
	head, err := w.Git.Head(ctx)
	if err != nil || head.Commit.IsZero() {
		return err
	}
	return w.ConfigAt(ctx, head.Commit)
}

// OpenTeam opens the connection to the team's store; nil without one.
func (w *Repository) OpenTeam(ctx context.Context) (*team.Team, error) {
	if err := w.configOfHead(ctx); err != nil {
		return nil, err
	}
	address := w.StoreAddress()
	if address == "" {
		return nil, nil
	}
	step, err := env.Timeout("KEN_STORE_TIMEOUT", team.StepTime)
	if err != nil {
		return nil, err
	}
	refused, err := w.permissions().CheckStore()
	if err != nil {
		return nil, err
	}
	return team.Open(team.Options{
		Step: step, Address: address, Refused: refused, Repository: w.Identity().Name, Local: w.Store,
		StateDir: StateDir(), CommonDir: w.Git.CommonDir(), Bare: w.Bare, Root: w.Git.Root(), Worktree: w.Git.Worktree(),
	})
}

// Identity returns the finder of the name under which the team's store has the repository.
func (w *Repository) Identity() team.Identity {
	return team.Identity{Configured: w.Config.Team.Repository, Git: w.Git, Store: w.Store}
}

// TeamStatus returns the status of the team's store, after a synchronization if sync is set; nil without a store.
func (w *Repository) TeamStatus(ctx context.Context, sync bool) (*store.TeamStatus, error) {
	t, err := w.OpenTeam(ctx)
	if t == nil || err != nil {
		return nil, err
	}
	w.Team = t
	away := t.Refused()
	if sync && away == nil {
		_, away = t.Sync(ctx)
	}
	b, err := t.Status(ctx, away)
	b.NoRemote = w.Config.Share.Remote == ""
	return b, err
}

// closeTeam sends new records to the team's store, and closes the connection.
func (w *Repository) closeTeam() error {
	if w.Team == nil {
		return nil
	}
	if w.sendTeamRecords != nil {
		w.Remark(w.sendTeamRecords())
	}
	return w.Team.Close()
}
