package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"ken/internal/share"
)

// share returns ken share. Its verbs are built only for a command line that names it.
func (p *program) share(args []string) *cobra.Command {
	const name = "share"
	c := &cobra.Command{
		Use:   name,
		Short: "Share what is known with other clones, through a git remote",
		Long: `What one clone knows of a content, all can know. Summaries of files and
directories travel as records under refs/ken/knowledge of a remote that you have
anyway: joining what two know is a union, with no conflicts. The work tree, the
index and git status never see it.`,
		Args: cobra.NoArgs,
		RunE: needsSub,
	}
	if slices.Contains(args, name) {
		c.AddCommand(p.sharePush(), p.sharePull(), p.shareStatus())
	}
	return c
}

// sharing opens the repository, which may be bare, and runs f with what it shares.
func (p *program) sharing(ctx context.Context, f func(*share.Share) error) (err error) {
	w, err := p.OpenCommits(ctx, p.dir)
	if err != nil {
		return err
	}
	defer func() {
		for _, r := range w.Remarks() {
			p.io.Remarkf("ken: %s", r)
		}
		err = errors.Join(err, w.Close())
	}()
	s, err := w.Share(ctx)
	if err != nil {
		return err
	}
	return f(s)
}
