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
func (r *Repository) fetchTeamRecords(ctx context.Context) {
	t, err := r.OpenTeam(ctx)
	if err != nil {
		r.Remark(err.Error())
		return
	}
	if t == nil {
		return
	}
	r.Team = t
	r.Remark(t.Pull(ctx))
	r.sendTeamRecords = func() string { return t.Push(ctx) }
}

// StoreAddress returns the address of the team's store, "" without one.
func (r *Repository) StoreAddress() string {
	return cmp.Or(os.Getenv(storeVariable), r.Config.Store)
}

// configOfHead loads the configuration of HEAD in a bare repository.
func (r *Repository) configOfHead(ctx context.Context) error {
	if !r.Bare {
		return nil
	}
	head, err := r.Git.Head(ctx)
	if err != nil || head.Commit.IsZero() {
		return err
	}
	return r.ConfigAt(ctx, head.Commit)
}

// OpenTeam opens the connection to the team's store; nil without one.
func (r *Repository) OpenTeam(ctx context.Context) (*team.Team, error) {
	if err := r.configOfHead(ctx); err != nil {
		return nil, err
	}
	address := r.StoreAddress()
	if address == "" {
		return nil, nil
	}
	step, err := env.Timeout("KEN_STORE_TIMEOUT", team.StepTime)
	if err != nil {
		return nil, err
	}
	refused, err := r.permissions().CheckStore()
	if err != nil {
		return nil, err
	}
	return team.Open(team.Options{
		Step: step, Address: address, Refused: refused, Repository: r.Identity().Name, Local: r.Store,
		StateDir: StateDir(), CommonDir: r.Git.CommonDir(),
	})
}

// Identity returns the finder of the name under which the team's store has the repository.
func (r *Repository) Identity() team.Identity {
	return team.Identity{Configured: r.Config.Team.Repository, Git: r.Git, Store: r.Store}
}

// TeamStatus returns the status of the team's store, after a synchronization if sync is set; nil without a store.
func (r *Repository) TeamStatus(ctx context.Context, sync bool) (*store.TeamStatus, error) {
	t, err := r.OpenTeam(ctx)
	if t == nil || err != nil {
		return nil, err
	}
	r.Team = t
	away := t.Refused()
	if sync && away == nil {
		_, away = t.Sync(ctx)
	}
	b, err := t.Status(ctx, away)
	b.NoRemote = r.Config.Share.Remote == ""
	return b, err
}

// closeTeam sends new records to the team's store, and closes the connection.
func (r *Repository) closeTeam() error {
	if r.Team == nil {
		return nil
	}
	if r.sendTeamRecords != nil {
		r.Remark(r.sendTeamRecords())
	}
	return r.Team.Close()
}
