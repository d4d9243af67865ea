package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/share"
	"ken/internal/store"
	"ken/internal/term"
)

func (p *program) sharePull() *cobra.Command {
	return &cobra.Command{
		Use:   "pull [REMOTE]",
		Short: "Take over what a remote has and this clone has not",
		Long: `Takes over what is new in refs/ken/knowledge of the remote. What was written
about a content that is here is fresh at once, wherever it was written. The base of a
team is handed what is new here as well.

What cannot be read is quarantined, and what nobody whom the policy trusts has
shared is held back: ken share status lists both.`,
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

func (p *program) printPulled(out *share.Pulled) error {
	if p.io.JSON {
		return p.io.Encode(out)
	}
	switch {
	case out.Tip.IsZero() && out.Had > 0:
		p.io.Line(term.Bad, "none", out.Remote, fmt.Sprintf("nothing is shared there any more: it had %s, as of %s; put back what is here with: ken share push %s", term.Count(out.Had, "record"), out.Heard.Format(asOf), fault.Quote(out.Remote)))
	case out.Tip.IsZero() && out.Size.Records > 0:
		p.io.Line(term.Warn, "none", out.Remote, "nothing is shared there, and this clone has shared "+term.Count(out.Size.Records, "record")+" before; put them there with: ken share push "+fault.Quote(out.Remote))
	case out.Tip.IsZero():
		p.io.Line(term.Plain, "none", out.Remote, "nobody has shared anything there yet; begin with: ken share push "+out.Remote)
	case out.Taken == 0 && len(out.Held)+len(out.Quarantined)+out.Dropped == 0:
		p.io.Line(term.Good, "current", out.Remote, "nothing is new there")
	case out.Taken == 0:
		p.io.Line(term.Plain, "current", out.Remote, "nothing there is to be taken over")
	default:
		p.io.Line(term.Good, "pulled", out.Remote, term.Count(out.Taken, "record"))
	}
	for _, b := range out.Brought {
		p.io.Line(term.Plain, "brought", plain(b.Committer), fmt.Sprintf("%s written as %s", term.Count(b.Records, "record"), plain(b.Author)))
	}
	if out.Dropped > 0 {
		p.io.Line(term.Plain, "dropped", out.Remote, term.Count(out.Dropped, "record")+" that others let go by a new epoch; what is known here stays")
	}
	if all, came := len(out.Withheld), len(out.Held); all > 0 {
		news := ""
		if came > 0 && came < all {
			news = fmt.Sprintf(", %d of them new", came)
		}
		p.io.Line(term.Warn, "held", out.Remote, term.Count(all, "record")+" of those whom the policy does not trust"+news+"; see whose: ken share status "+fault.Quote(out.Remote))
	}
	if n := len(out.Quarantined); n > 0 {
		p.io.Line(term.Warn, "bad", out.Remote, term.Count(n, "file")+" quarantined; see why: ken share status")
	}
	p.hintKeys(out.Withheld)
	return nil
}
