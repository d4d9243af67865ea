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

func (p *program) shareStatus() *cobra.Command {
	var check, fetch bool
	c := &cobra.Command{
		Use:   "status [REMOTE]",
		Short: "Show what is not shared yet, and what ken ignores",
		Long: `Compares your store with the remote as last fetched; --fetch contacts it now. It
changes nothing in your store.`,
		Example: `  ken share status           # without contacting the remote
  ken share status --fetch   # contact it`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			current := true
			base, err := p.sharing(c.Context(), argument(args), lookBase, func(s *share.Share, base *store.TeamStatus) error {
				out, err := s.Status(c.Context(), argument(args), fetch)
				if err != nil {
					return err
				}
				out.Base, current = base, out.Current()
				return p.printSharing(out)
			})
			return failCheck(err, check && (!current || base != nil && !base.Current()))
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit with status 3 if anything is unpushed, unpulled, unreadable, over the budget or unknown")
	c.Flags().BoolVar(&fetch, "fetch", false, "contact the remote now")
	return c
}

func (p *program) printSharing(s *share.Status) error {
	if p.io.JSON {
		return p.io.Encode(s)
	}
	remote := fault.Quote(s.Remote)
	when := ""
	if !s.Fetched.IsZero() {
		when = ", as of " + s.Fetched.Format("2006-01-02 15:04:05 MST")
	}
	p.io.Buffered(func() {
		switch {
		case !s.Known:
			p.io.Line(term.Bad, "unknown", s.Remote, "never contacted: ken share pull "+remote)
		case s.Current():
			p.io.Line(term.Good, "current", s.Remote, fmt.Sprintf("%s, %s%s", english.Count(s.Size.Records, "record"), term.Bytes(s.Size.Bytes), when))
		}
		if s.Unpushed > 0 {
			p.io.Line(term.Warn, "unpushed", s.Remote, english.Count(s.Unpushed, "record")+": ken share push "+remote)
		}
		if s.Unpulled > 0 {
			p.io.Line(term.Warn, "unpulled", s.Remote, english.Count(s.Unpulled, "record")+": ken share pull "+remote)
		}
		if s.Size.Exceeded() {
			p.io.Line(term.Warn, "over", s.Remote, fmt.Sprintf("the records have %s, and the budget is %s: ken share push %s --prune", term.Bytes(s.Size.Bytes), term.Bytes(s.Size.Budget), remote))
		}
		for _, q := range s.Quarantined {
			p.io.Line(term.Bad, "ignored", q.Display(), q.Reason)
		}
		if s.Junk > 0 {
			p.io.Line(term.Warn, "junk", s.Remote, english.Count(s.Junk, "file")+" that ken cannot use; remove with: ken share push "+remote+" --prune")
		}
		p.printUntrusted(s.Untrusted)
	})
	p.remarkTrust(s.Committer, s.DistrustReason)
	return nil
}

// remarkTrust tells the user that other clones ignore their records.
func (p *program) remarkTrust(who, why string) {
	if why != "" {
		p.io.Remarkf("ken: other clones ignore the records of %s: %s; see share in .ken/config.yaml", term.CleanText(who), why)
	}
}

// printUntrusted counts the records that the policy does not trust, by committer.
func (p *program) printUntrusted(list []share.Untrusted) {
	type group struct{ committer, reason string }
	var order []group
	count := make(map[group]int)
	unsigned := false
	for _, u := range list {
		g := group{u.Committer, u.Reason}
		if count[g] == 0 {
			order = append(order, g)
		}
		count[g]++
		unsigned = unsigned || u.Reason == share.Unverified
	}
	for _, g := range order {
		p.io.Line(term.Warn, "ignored", term.CleanText(g.committer), english.Count(count[g], "record")+": "+g.reason)
	}
	if unsigned {
		p.io.Remarkf("ken: git trusts the ssh keys in the file that gpg.ssh.allowedSignersFile names, and the keys that gpg trusts; add a key, then: ken share pull")
	}
}
