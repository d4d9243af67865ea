package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"ken/internal/share"
	"ken/internal/store"
)

// share returns ken share.
func (p *program) share() *cobra.Command {
	c := &cobra.Command{
		Use:   "share",
		Short: "Share what is known with other clones, through a git remote or a base",
		Long: `What one clone knows of a content, all can know. Summaries of files and
directories travel as records under refs/ken/knowledge of a remote that you have
anyway: joining what two know is a union, with no conflicts. The work tree, the
index and git status never see it.

Where .ken/config.yaml or KEN_STORE names a PostgreSQL database, that is the base
of the team: these commands go there when no REMOTE is given, and to a git remote
too when share.remote names one. Push and pull both go both ways there: what is new
on either side is on both afterwards.`,
		Args: cobra.NoArgs,
		RunE: needsSub,
	}
	c.AddCommand(p.sharePush(), p.sharePull(), p.shareStatus())
	return c
}

// sharing opens the repository, which may be bare, and runs f with what it shares. Unless a
// remote is named, it goes to the base of the team first, if there is one, and returns how
// this clone stands with it; f is for git remotes, and not called where the policy names
// none beside the base.
func (p *program) sharing(ctx context.Context, remote string, act baseAct, f func(*share.Share, *store.TeamStatus) error) (base *store.TeamStatus, err error) {
	w, err := p.OpenCommits(ctx, p.dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, w.Close())
		for _, r := range w.Remarks() {
			p.io.Remarkf("ken: %s", r)
		}
	}()
	if remote == "" && act != noBase {
		var away error
		base, away = w.Base(ctx, act == syncBase)
		if base != nil {
			p.printBase(base, act)
		}
		if base != nil && (base.Only || away != nil) && p.io.JSON {
			if err := p.io.Encode(struct {
				Base *store.TeamStatus `json:"base"`
			}{base}); err != nil {
				return base, err
			}
		}
		if away != nil || base != nil && base.Only {
			return base, away
		}
	}
	s, err := w.Share(ctx)
	if err != nil {
		return base, err
	}
	return base, f(s, base)
}
