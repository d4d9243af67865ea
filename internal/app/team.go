package app

import (
	"cmp"
	"context"
	"os"
	"strings"
	"time"

	"ken/internal/env"
	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/team"
)

// storeVariable names the base of the team, before the repository does.
const storeVariable = "KEN_STORE"

// arrive goes to the base of the team, if there is one, and takes over what is new there. What
// is in the way of that is a remark: the local store answers in any case.
func (w *workspace) arrive(ctx context.Context) {
	t, err := w.openTeam(ctx)
	if err != nil {
		w.remarks = append(w.remarks, err.Error())
		return
	}
	if t == nil {
		return
	}
	w.team = t
	w.remarks = append(w.remarks, t.Arrive(ctx))
	w.leave = func() string { return t.Leave(ctx) }
}

// followEvery is how often a server looks what the team has written. Who looks at the board at
// the same time as a colleague sees the same within that.
const followEvery = 15 * time.Second

// followTeam keeps the repository at root in step with the base of its team, if there is one,
// until ctx ends. What is in the way of that is told by commands.
func followTeam(ctx context.Context, root string) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		if w, err := openHere(ctx, openOptions{dir: root}); err == nil {
			_ = w.Close() // likewise
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// baseAddress is where the base is, "" where none is named.
func (w *workspace) baseAddress() string { return cmp.Or(os.Getenv(storeVariable), w.cfg.Team.Store) }

// configOfHead has the policy of HEAD stand where there is no work tree.
func (w *workspace) configOfHead(ctx context.Context) error {
	if !w.bare {
		return nil
	}
	head, err := w.git.Head(ctx)
	if err != nil || head.Commit.IsZero() {
		return err
	}
	return w.configAt(ctx, head.Commit)
}

// openTeam returns the way to the base, nil where none is named.
func (w *workspace) openTeam(ctx context.Context) (*team.Team, error) {
	if err := w.configOfHead(ctx); err != nil {
		return nil, err
	}
	address := w.baseAddress()
	if address == "" {
		return nil, nil
	}
	step, err := env.Timeout("KEN_STORE_TIMEOUT", team.StepTime)
	if err != nil {
		return nil, err
	}
	refused, err := w.storeRefused()
	if err != nil {
		return nil, err
	}
	return team.Open(team.Options{
		Step: step, Address: address, Refused: refused, Repository: w.identity, Local: w.store,
		StateDir: stateDir(), CommonDir: w.git.CommonDir(), Bare: w.bare, Root: w.git.Root(), Worktree: w.git.Worktree(),
	})
}

// rootKey is what the root commit is remembered under, with the commit of the main branch that
// it was found from: while that one is there, nobody looks again.
const rootKey = "root commit"

// identity is the name by which a team's machines know the repository. An older history that is
// merged into the main branch gives it another name, here as in every other clone that has it:
// everything is handed over again under that one.
func (w *workspace) identity(ctx context.Context) (string, error) {
	name, news, err := w.named(ctx)
	if news != "" {
		_ = w.store.Remember(ctx, rootKey, news) // where that is not possible, it is found again
	}
	return name, err
}

// named returns that name, and what is to be remembered of how it was found, "" for nothing new.
func (w *workspace) named(ctx context.Context) (name, news string, err error) {
	if name := w.cfg.Team.Repository; name != "" {
		return name, "", nil
	}
	var known git.RootCommit
	if text, err := w.store.Remembered(ctx, rootKey); err == nil {
		root, tip, _ := strings.Cut(text, " ")
		known.Root, _ = repo.ParseID(root) // what cannot be read is looked for
		known.Tip, _ = repo.ParseID(tip)
	}
	found, err := w.git.RootCommit(ctx, known)
	if err != nil {
		return "", "", err
	}
	if found != known {
		news = found.Root.String() + " " + found.Tip.String()
	}
	return found.Root.String(), news, nil
}

// Base keeps this clone in step with the base of its team, or only says how it stands; nil
// where there is none.
func (w *workspace) Base(ctx context.Context, sync bool) (*store.TeamStatus, error) {
	t, err := w.openTeam(ctx)
	if t == nil || err != nil {
		return nil, err
	}
	w.team = t
	away := t.Refused()
	if sync && away == nil {
		_, away = t.Sync(ctx)
	}
	b, err := t.Status(ctx, away)
	b.Only = w.cfg.Share.Remote == ""
	return b, err
}

// closeTeam hands over what was written, and lets go of the base.
func (w *workspace) closeTeam() error {
	if w.team == nil {
		return nil
	}
	if w.leave != nil {
		w.remarks = append(w.remarks, w.leave())
	}
	return w.team.Close()
}
