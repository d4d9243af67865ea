package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/share"
	"ken/internal/store"
	"ken/internal/term"
)

func (p *program) sharePush() *cobra.Command {
	var opts share.PushOptions
	c := &cobra.Command{
		Use:   "push [REMOTE]",
		Short: "Send new summaries to a remote",
		Long: `Adds the records of your store that the remote does not have to its
refs/ken/knowledge. If another clone pushed first, ken merges its records.

--prune removes records from the remote when they exceed share.budget, until a
quarter of it is free: first records that have a later one of the same path, then
outlines, then summaries of directories from the root down, then the oldest
summaries. Your store keeps them. It also removes files that are not records.`,
		Example: `  ken share push --dry-run           # count what a push would send
  ken share push
  ken share push --prune --dry-run   # list what a prune would remove`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			opts.Remote = argument(args)
			act := syncBase
			switch {
			case opts.Prune:
				act = noBase // a budget belongs to a git remote
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
	c.Flags().BoolVar(&opts.DryRun, "dry-run", false, "show what would change, and change nothing")
	c.Flags().BoolVar(&opts.Prune, "prune", false, "remove records from the remote if they exceed share.budget")
	return c
}

// argument returns the one argument, "" for none.
func argument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (p *program) printPushed(out *share.PushResult, prune bool) error {
	if p.io.JSON {
		return p.io.Encode(out)
	}
	pruned, pushed := "pruned", "pushed"
	if out.DryRun {
		pruned, pushed = "would prune", "would push"
	}
	p.io.Buffered(func() {
		for _, d := range out.Dropped {
			p.io.Line(term.Warn, pruned, cmp.Or(d.Display(), "."), fmt.Sprintf("%s, written %s by %s: %s", term.Bytes(d.Bytes), d.At.Format("2006-01-02"), term.CleanText(d.Author), d.Reason))
		}
		if len(out.Dropped) > 0 {
			p.io.Line(term.Warn, pruned, out.Remote, english.Count(len(out.Dropped), "record"))
		}
		for _, q := range out.Cleared {
			p.io.Line(term.Warn, pruned, q.Display(), q.Reason)
		}
		switch {
		case out.Records > 0:
			p.io.Line(term.Good, pushed, out.Remote, english.Count(out.Records, "record"))
		case len(out.Dropped)+len(out.Cleared) > 0:
		case out.DryRun:
			p.io.Line(term.Good, "current", out.Remote, "no new records since the last contact")
		default:
			p.io.Line(term.Good, "current", out.Remote, "no new records")
		}
		if out.Taken > 0 {
			p.io.Line(term.Good, "pulled", out.Remote, english.Count(out.Taken, "record"))
		}
		for _, q := range out.Skipped {
			p.io.Line(term.Warn, "skipped", q.Display(), "not shared: "+q.Reason)
		}
	})
	p.remarkTrust(out.Committer, out.DistrustReason)
	size := fmt.Sprintf("the records have %s, and the budget is %s", term.Bytes(out.Size.Bytes), term.Bytes(out.Size.Budget))
	switch {
	case out.Size.Exceeded():
		p.io.Remarkf("ken: %s; remove some with: ken share push %s --prune", size, fault.Quote(out.Remote))
	case prune && len(out.Dropped)+len(out.Cleared) == 0:
		p.io.Remarkf("ken: nothing to prune: %s", size)
	}
	return nil
}
