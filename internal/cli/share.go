package cli

import (
	"context"

	"github.com/spf13/cobra"

	"ken/internal/ken"
	"ken/internal/share"
	"ken/internal/store"
)

// share returns ken share.
func (p *program) share() *cobra.Command {
	c := &cobra.Command{
		Use:   "share",
		Short: "Share summaries with other clones, through a git remote or PostgreSQL",
		Long: `Shares records of summaries under refs/ken/knowledge of a git remote. Merging
records is a union without conflicts. The work tree, the index and git status do not
change.

If .ken/config.yaml or KEN_STORE names a PostgreSQL database, these commands use it
when you give no REMOTE, and also a git remote if share.remote names one. With a
database, push and pull do the same: both sides get the new records of the other.`,
		Example: `  ken share push     # send your summaries to origin
  ken share pull     # take over those of others
  ken share status   # show what is not shared yet`,
		Args: cobra.NoArgs,
		RunE: needsSub,
	}
	c.AddCommand(p.sharePush(), p.sharePull(), p.shareStatus())
	return c
}

// sharing opens the repository, which can be bare. Without a remote it first contacts the
// database of the team, if there is one, and returns its status. Then it calls f for the git
// remote, unless the team shares only through the database.
func (p *program) sharing(ctx context.Context, remote string, act baseAct, f func(*share.Share, *store.TeamStatus) error) (base *store.TeamStatus, err error) {
	w, err := ken.OpenAllowBare(ctx, p.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = p.closeRepository(w, err) }()
	if remote == "" && act != noBase {
		var away error
		base, away = w.TeamStatus(ctx, act == syncBase)
		if base != nil {
			p.printBase(base, act)
		}
		if base != nil && (base.NoRemote || away != nil) && p.io.JSON {
			if err := p.io.Encode(struct {
				Base *store.TeamStatus `json:"base"`
			}{base}); err != nil {
				return base, err
			}
		}
		if away != nil || base != nil && base.NoRemote {
			return base, away
		}
	}
	s, err := w.Share(ctx)
	if err != nil {
		return base, err
	}
	return base, f(s, base)
}
