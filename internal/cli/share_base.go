package cli

import (
	"fmt"
	"strings"

	"ken/internal/store"
	"ken/internal/term"
)

// A baseAct is what a command wants of the base of a team.
type baseAct int

const (
	noBase   baseAct = iota
	lookBase         // to know how this clone stands with it
	syncBase         // to be in step with it
)

// asOf is how it is told when something was last heard of.
const asOf = "2006-01-02 15:04:05 MST"

// printBase says how the clone stands with the base. In JSON it is part of the one document.
func (p *program) printBase(b *store.TeamStatus, act baseAct) {
	if p.io.JSON {
		return
	}
	p.io.Together(func() {
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
			p.io.Line(term.Good, "current", b.Address, "nothing is new, neither here nor there")
		case act == lookBase && b.Current():
			p.io.Line(term.Good, "current", b.Address, fmt.Sprintf("%s about repository %s", term.Count(b.Records, "record"), b.Repository))
		}
		if b.Pulled > 0 {
			p.io.Line(term.Good, "pulled", b.Address, term.Count(b.Pulled, "record"))
		}
		if b.Pushed > 0 {
			p.io.Line(term.Good, "pushed", b.Address, term.Count(b.Pushed, "record"))
		}
		if b.Unsent > 0 {
			p.io.Line(term.Warn, "unsent", b.Address, term.Count(b.Unsent, "record")+", kept here and handed over when it can be: ken share push")
		}
		if b.Unpulled > 0 && act == lookBase {
			p.io.Line(term.Warn, "unpulled", b.Address, term.Count(b.Unpulled, "record")+": ken share pull")
		}
		for _, q := range b.Quarantined {
			p.io.Line(term.Bad, "bad", display(q.PathJSON), q.Reason)
		}
		if more := b.Aside - len(b.Quarantined); more > 0 {
			p.io.Line(term.Bad, "bad", b.Address, term.Count(more, "more record")+" that nobody can take over")
		}
		if act != lookBase {
			return
		}
		for _, m := range b.Machines {
			p.io.Line(term.Plain, "machine", m.Host+":"+m.Worktree, machineStands(m))
		}
	})
}

// machineStands says how a work tree stands.
func machineStands(m store.Machine) string {
	here := ""
	if m.Here {
		here = ", this one"
	}
	if m.Verified.IsZero() {
		return "not looked at yet" + here
	}
	head := "what is to be the first commit"
	if !m.Head.IsZero() {
		head = m.Head.String()[:12]
	}
	return fmt.Sprintf("last looked at %s, %s: of %s %d fresh, %d stale%s", head, m.Verified.Format(asOf), term.Count(m.Files, "file"), m.Fresh, m.Stale, here)
}
