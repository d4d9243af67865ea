package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/share"
	"ken/internal/store"
	"ken/internal/term"
)

func (p *program) sharePush() *cobra.Command {
	var opts share.PushOptions
	c := &cobra.Command{
		Use:   "push [REMOTE]",
		Short: "Hand over what is new here to a remote",
		Long: `Adds what is known here and not at the remote to its refs/ken/knowledge. If
somebody else was quicker, what they pushed is taken over on the way. From the base of a
team all that is new there is taken over.

When there is more than the budget allows, or what is no record, --prune begins a new epoch: it lets go
of texts that later ones followed, then of outlines, then of texts about directories
from the root down, then of the oldest, and lists what it dropped, so that no clone
brings that back.

When the policy asks for more than it did, what was pushed before is held back. --vouch
brings what is known here and you brought yourself again, signed off or signed as the
policy wants it; with --dry-run it lists that first.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			opts.Remote = argument(args)
			act := syncBase
			switch {
			case opts.Prune, opts.Vouch:
				act = noBase // a budget is that of a git remote, and so are commits
			case opts.DryRun:
				act = lookBase
			}
			_, err := p.sharing(c.Context(), opts.Remote, act, func(s *share.Share, base *store.TeamStatus) error {
				out, err := s.Push(c.Context(), opts)
				if err != nil {
					return err
				}
				out.Base = base
				return p.printPushed(out, opts.Prune)
			})
			return err
		},
	}
	c.Flags().BoolVar(&opts.DryRun, "dry-run", false, "say what would be pushed or dropped, and do neither")
	c.Flags().BoolVar(&opts.Vouch, "vouch", false, "vouch for what you brought yourself and the policy holds back by now")
	c.Flags().BoolVar(&opts.Prune, "prune", false, "drop what is no record, and the least useful ones if there is more than the budget allows")
	return c
}

// argument returns the one argument, "" for none.
func argument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (p *program) printPushed(out *share.Pushed, prune bool) error {
	if p.io.JSON {
		return p.io.Encode(out)
	}
	would := ""
	if out.DryRun {
		would = "would be "
	}
	p.io.Together(func() {
		for _, d := range out.Dropped {
			p.io.Line(term.Warn, "dropped", display(d.PathJSON), fmt.Sprintf("%s of %s by %s: %s", term.Bytes(d.Bytes), d.At.Format("2006-01-02"), d.Author, d.Reason))
		}
		if len(out.Dropped) > 0 {
			p.io.Line(term.Warn, "dropped", out.Remote, would+"let go by a new epoch: "+term.Count(len(out.Dropped), "record"))
		}
		for _, q := range out.Cleared {
			p.io.Line(term.Warn, "cleared", display(q.PathJSON), q.Reason)
		}
		if len(out.Cleared) > 0 {
			p.io.Line(term.Warn, "cleared", out.Remote, would+"left behind by a new epoch: "+term.Count(len(out.Cleared), "file"))
		}
		if begun := len(out.Dropped)+len(out.Cleared) > 0; begun && out.Held > 0 {
			p.io.Line(term.Warn, "held", out.Remote, term.Count(out.Held, "record")+" of those whom the policy does not trust "+would+"taken along, with the history that says who brought them")
		}
		if out.Again > 0 {
			p.io.Line(term.Warn, "dropped", out.Remote, would+"taken away again, as an epoch had let go of them and somebody put them back: "+term.Count(out.Again, "record"))
		}
		if out.DryRun {
			for _, v := range out.Vouched {
				p.io.Line(term.Plain, "vouched", display(v.PathJSON), "by "+v.Author)
			}
		}
		if len(out.Vouched)+out.Lists > 0 {
			p.io.Line(term.Good, "vouched", out.Remote, would+"trusted from now on: "+ownCount(len(out.Vouched), out.Lists)+" that "+out.Who+" brought")
		}
		nothing := out.Records+out.Again+out.Lists == 0 && len(out.Dropped)+len(out.Cleared)+len(out.Vouched) == 0
		switch {
		case nothing && out.DryRun:
			p.io.Line(term.Good, "current", out.Remote, "nothing is new here, by what was last heard of it")
		case nothing:
			p.io.Line(term.Good, "current", out.Remote, "nothing is new here")
		case out.Records > 0:
			p.io.Line(term.Good, "pushed", out.Remote, would+term.Count(out.Records, "record"))
		}
		if out.Taken > 0 {
			p.io.Line(term.Good, "pulled", out.Remote, term.Count(out.Taken, "record")+" on the way")
		}
	})
	p.remarkTrust(out.Remote, out.Who, out.Why, out.Mine)
	if out.Unfit > 0 {
		p.io.Remarkf("ken: %s cannot be shared; see which: ken share status", term.Count(out.Unfit, "record"))
	}
	if out.Junk > 0 {
		p.io.Remarkf("ken: %s of no use there; see which: ken share status; leave them behind with: ken share push --prune", term.Count(out.Junk, "file"))
	}
	switch over := out.Size.Over(); {
	case over && prune:
		p.io.Remarkf("ken: %s of records, and the budget is %s; what is left is held back here and may be trusted elsewhere: see whose it is with ken share status, or raise share.budget", term.Bytes(out.Size.Bytes), term.Bytes(out.Size.Budget))
	case over:
		p.io.Remarkf("ken: %s of records, and the budget is %s; make room with: ken share push --prune", term.Bytes(out.Size.Bytes), term.Bytes(out.Size.Budget))
	case prune && len(out.Dropped)+len(out.Cleared) == 0:
		p.io.Remarkf("ken: nothing need be dropped: %s of records, and the budget is %s", term.Bytes(out.Size.Bytes), term.Bytes(out.Size.Budget))
	}
	return nil
}
