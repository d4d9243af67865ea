package cli

import (
	"fmt"
	"strings"

	"ken/internal/english"
	"ken/internal/store"
	"ken/internal/term"
)

// A baseAct is what a command does with the database of a team.
type baseAct int

const (
	noBase   baseAct = iota
	lookBase         // compare
	syncBase         // exchange records
)

// printBase prints the status of the database. With --json it is part of the document of the command.
func (p *program) printBase(b *store.TeamStatus, act baseAct) {
	if p.io.JSON {
		return
	}
	p.io.Buffered(func() {
		switch {
		case b.Trouble == store.TroubleNotAllowed:
			p.io.Line(term.Warn, string(b.Trouble), b.Address, "not contacted until you allow it: ken allow")
		case b.Problem != "":
			_, why, ok := strings.Cut(b.Problem, b.Address+": ")
			if !ok {
				why = b.Problem
			}
			p.io.Line(term.Bad, string(b.Trouble), b.Address, oneLine(why))
		case act == syncBase && b.Pulled+b.Pushed == 0:
			p.io.Line(term.Good, "current", b.Address, "no new records on either side")
		case act == lookBase && b.Current():
			p.io.Line(term.Good, "current", b.Address, fmt.Sprintf("%s of repository %s", english.Count(b.Records, "record"), b.Repository))
		}
		if b.Pulled > 0 {
			p.io.Line(term.Good, "pulled", b.Address, english.Count(b.Pulled, "record"))
		}
		if b.Pushed > 0 {
			p.io.Line(term.Good, "pushed", b.Address, english.Count(b.Pushed, "record"))
		}
		if b.Unsent > 0 {
			p.io.Line(term.Warn, "unsent", b.Address, english.Count(b.Unsent, "record")+", sent as soon as the database answers: ken share push")
		}
		if b.Unpulled > 0 && act == lookBase {
			p.io.Line(term.Warn, "unpulled", b.Address, english.Count(b.Unpulled, "record")+": ken share pull")
		}
		for _, q := range b.Quarantined {
			p.io.Line(term.Bad, "ignored", q.Display(), q.Reason)
		}
		if more := b.Bad - len(b.Quarantined); more > 0 {
			p.io.Line(term.Bad, "ignored", b.Address, english.Count(more, "more record")+" that ken cannot read")
		}
	})
}
