package attention

import (
	"cmp"
	"strings"

	"ken/internal/board"
	"ken/internal/fault"
)

// Unread lists the parts of a board that could not be read. It leaves out parts that were not asked for.
func Unread(b *board.Board) []fault.Unknown {
	w := b.Worktree()
	list := []fault.Unknown{}
	add := func(parts ...*fault.Unknown) {
		for _, u := range parts {
			if u != nil {
				list = append(list, *u)
			}
		}
	}
	add(w.Files.Unknown, w.Files.OrZero().RenamedFrom.Unknown, w.Survey.Unknown, w.Documents.Unknown, w.Spec.Unknown)
	for _, other := range b.Proposals.OrZero().Worktrees {
		for _, u := range other.Unknown {
			list = append(list, fault.Unknown{What: "worktree " + other.Worktree, Why: u.String()})
		}
	}
	add(b.Proposals.Unknown, w.State.Unknown)
	if u := w.State.OrZero().Workflow.Unknown; u != nil {
		// Only the user can say how to mend the document: ken state get prints what can be done.
		list = append(list, fault.Unknown{What: u.What, Why: u.Why})
	}
	if b.Runs != nil {
		add(b.Runs.Unknown)
	}
	add(w.Ignored.Unknown)
	return list
}

// commandOf returns the command in a hint, "" if it has none.
func commandOf(hint string) string {
	_, command, ok := strings.Cut(hint, ": ")
	if !ok {
		command = hint
	}
	if strings.HasPrefix(command, "ken ") || strings.HasPrefix(command, "git ") {
		return command
	}
	return ""
}

func unread(b *board.Board) (list []Item) {
	for _, u := range Unread(b) {
		readAgain, ok := partCommands[u.What]
		if !ok { // one worktree of several
			readAgain = partCommands["worktrees"]
		}
		list = append(list, unknown(u.What, u.Why, cmp.Or(commandOf(u.Command), readAgain)))
	}
	return list
}

// partCommands has the command that reads a part again, by the name of the part.
var partCommands = map[string]string{
	"files": "ken status", "directories": "ken survey show", "documents": "ken docs", "specs": "ken spec ls",
	"worktrees": "ken spec overlay", "workflow": "ken state get", "runs": "ken worker runs",
	"shared records": "ken share status",
}
