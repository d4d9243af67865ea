package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/share"
	"ken/internal/store"
	"ken/internal/term"
)

func (p *program) shareStatus() *cobra.Command {
	var check, fetch bool
	c := &cobra.Command{
		Use:   "status [REMOTE]",
		Short: "Say what is not shared yet, and what was not taken over",
		Long: `Compares what is known here with what the remote had when it was last heard of;
--fetch asks it now. Nothing is taken over.`,
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
			if err == nil && check && (!current || base != nil && !base.Current()) {
				return errWanting
			}
			return err
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit with status 3 if anything is unpushed, unsent, unpulled, quarantined, over the budget or not known, or of your own and unfit or held back")
	c.Flags().BoolVar(&fetch, "fetch", false, "ask the remote now")
	return c
}

func (p *program) printSharing(s *share.Standing) error {
	if p.io.JSON {
		return p.io.Encode(s)
	}
	when := ""
	if !s.Fetched.IsZero() {
		when = ", as of " + s.Fetched.Format(asOf)
	}
	p.io.Together(func() {
		switch {
		case !s.Known:
			p.io.Line(term.Bad, "unknown", s.Remote, "it was never asked: ken share pull "+s.Remote)
		case s.Current():
			p.io.Line(term.Good, "current", s.Remote, fmt.Sprintf("%s, %s%s", term.Count(s.Size.Records, "record"), term.Bytes(s.Size.Bytes), when))
		}
		if s.Unpushed > 0 {
			p.io.Line(term.Warn, "unpushed", s.Remote, term.Count(s.Unpushed, "record")+": ken share push "+s.Remote)
		}
		if s.Unpulled > 0 {
			p.io.Line(term.Warn, "unpulled", s.Remote, term.Count(s.Unpulled, "record")+": ken share pull "+s.Remote)
		}
		if s.Size.Over() {
			p.io.Line(term.Warn, "over", s.Remote, fmt.Sprintf("%s of records, and the budget is %s: ken share push --prune", term.Bytes(s.Size.Bytes), term.Bytes(s.Size.Budget)))
		}
		for _, q := range s.Quarantined {
			p.io.Line(term.Bad, "bad", display(q.PathJSON), q.Reason)
		}
		if s.Junk > 0 {
			p.io.Line(term.Warn, "junk", s.Remote, term.Count(s.Junk, "file")+" of no use; a new epoch without: ken share push --prune "+fault.Quote(s.Remote))
		}
		p.printUnfit(s.Unfit)
		p.printHeld(s.Held)
	})
	p.remarkTrust(s.Remote, s.Who, s.Why, s.Mine)
	p.hintKeys(s.Held)
	return nil
}

// printUnfit lists what is not shared: one by one what something is wrong with, and by who
// brought it, who alone can do something about it, what was held back.
func (p *program) printUnfit(list []share.Unfit) {
	type group struct{ who, reason string }
	var order []group
	count := make(map[group]int)
	for _, u := range list {
		if u.Who == "" {
			p.io.Line(term.Warn, "unfit", display(u.PathJSON), "kept here, and not shared: "+u.Reason)
			continue
		}
		g := group{u.Who, u.Reason}
		if count[g] == 0 {
			order = append(order, g)
		}
		count[g]++
	}
	for _, g := range order {
		p.io.Line(term.Warn, "unfit", g.who, term.Count(count[g], "record")+", kept here and not shared: "+g.reason+"; for "+g.who+" to vouch for, if trusted: ken share push --vouch")
	}
	if len(order) > 0 {
		p.io.Line(term.Warn, "unfit", "in all", term.Count(len(list), "record")+"; each is in: ken share status --json")
	}
}

// remarkTrust says what to do about one's own records that are held back, and that others hold
// back what comes from here.
func (p *program) remarkTrust(remote, who, why string, mine share.Own) {
	switch {
	case why != "":
		p.io.Remarkf("ken: others hold back what %s shares: %s; see share.trust and share.authors of .ken/config.yaml", who, why)
	case mine != share.Own{}:
		p.io.Remarkf("ken: %s that %s brought, and the policy holds back: vouch for them with: ken share push %s --vouch (--dry-run lists them)", ownCount(mine.Records, mine.Lists), who, fault.Quote(remote))
	}
}

// hintKeys says where keys are trusted, if something is held back for want of one.
func (p *program) hintKeys(list []share.Held) {
	if slices.ContainsFunc(list, func(h share.Held) bool { return h.Reason == share.Unverified }) {
		p.io.Remarkf("ken: git says which keys are trusted: those of ssh that the file of gpg.ssh.allowedSignersFile lists (git config gpg.ssh.allowedSignersFile FILE), and those that gpg trusts; the next ken share pull looks again")
	}
}

// printHeld sums up what is held back, by who brought it.
func (p *program) printHeld(list []share.Held) {
	type group struct{ who, reason string }
	var order []group
	count := make(map[group]int)
	for _, h := range list {
		g := group{h.Who, h.Reason}
		if count[g] == 0 {
			order = append(order, g)
		}
		count[g]++
	}
	for _, g := range order {
		p.io.Line(term.Warn, "held", g.who, term.Count(count[g], "record")+": "+g.reason)
	}
}

// ownCount counts records, and lists of what was dropped if there are any.
func ownCount(records, lists int) string {
	switch told := term.Count(lists, "list") + " of what was dropped"; {
	case lists == 0:
		return term.Count(records, "record")
	case records == 0:
		return told
	default:
		return term.Count(records, "record") + " and " + told
	}
}
