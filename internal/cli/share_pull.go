package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/share"
	"ken/internal/store"
	"ken/internal/term"
)

func (p *program) sharePull() *cobra.Command {
	return &cobra.Command{
		Use:   "pull [REMOTE]",
		Short: "Take over new summaries from a remote",
		Long: `Adds the new records of the remote to your store. A summary that someone wrote for
the same content is fresh at once.

ken ignores records whose committer the policy does not trust, and files that it
cannot read. It counts them; ken share status lists them.`,
		Example: `  ken share pull            # from origin, or from share.remote
  ken share pull origin     # from this remote`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			_, err := p.sharing(c.Context(), argument(args), syncBase, func(s *share.Share, base *store.TeamStatus) error {
				out, err := s.Pull(c.Context(), argument(args))
				if err != nil {
					return err
				}
				out.Base = base
				return p.printPulled(out)
			})
			return err
		},
	}
}

func (p *program) printPulled(out *share.PullResult) error {
	if p.io.JSON {
		return p.io.Encode(out)
	}
	switch {
	case out.Tip.IsZero() && out.OwnRecords > 0:
		p.io.Line(term.Bad, "none", out.Remote, fmt.Sprintf("the remote has no records any more; this clone has %s of it: ken share push %s", english.Count(out.OwnRecords, "record"), fault.Quote(out.Remote)))
	case out.Tip.IsZero():
		p.io.Line(term.Plain, "none", out.Remote, "the remote has no records yet: ken share push "+fault.Quote(out.Remote))
	case out.Taken == 0:
		p.io.Line(term.Good, "current", out.Remote, "no new records")
	default:
		p.io.Line(term.Good, "pulled", out.Remote, english.Count(out.Taken, "record"))
	}
	for _, b := range out.Mismatches {
		p.io.Line(term.Plain, "brought", term.CleanText(b.Committer), fmt.Sprintf("%s written as %s", english.Count(b.Records, "record"), term.CleanText(b.Author)))
	}
	if out.Removed > 0 {
		p.io.Line(term.Plain, "pruned", out.Remote, english.Count(out.Removed, "record")+" removed from the remote; your store keeps them")
	}
	p.printUntrusted(out.Untrusted)
	if n := len(out.Quarantined); n > 0 {
		p.io.Line(term.Warn, "ignored", out.Remote, english.Count(n, "file")+" unreadable; list them: ken share status "+fault.Quote(out.Remote))
	}
	return nil
}
