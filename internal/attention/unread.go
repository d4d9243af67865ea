package attention

import (
	"cmp"
	"strings"

	"ken/internal/board"
)

// An UnreadPart is a part of a board that could not be read.
type UnreadPart struct {
	Name   string
	Reason string
	// Command fixes it; "" if ken knows no better one than reading the part again.
	Command string
}

// Unread lists the parts of a board that could not be read. It leaves out parts that were not asked for.
func Unread(b *board.Board) (list []UnreadPart) {
	w := b.Worktree()
	add := func(name string, u *board.Unread) {
		if u != nil {
			list = append(list, UnreadPart{name, u.Reason, commandOf(u.Hint)})
		}
	}
	add("files", w.Files.Unknown)
	add("files", w.Files.OrZero().RenamedFrom.Unknown)
	add("directories", w.Survey.Unknown)
	add("documents", w.Documents.Unknown)
	add("specs", w.Spec.Unknown)
	for _, other := range b.Proposals.OrZero().Worktrees {
		for _, u := range other.Unknown {
			list = append(list, UnreadPart{Name: "worktree " + other.Worktree, Reason: u.Fact + ": " + u.Reason})
		}
	}
	add("worktrees", b.Proposals.Unknown)
	add("workflow", w.State.Unknown)
	if u := w.State.OrZero().Workflow.Unknown; u != nil {
		// Only the user can say how to mend the document: ken state get prints what can be done.
		list = append(list, UnreadPart{Name: "workflow", Reason: u.Reason})
	}
	if b.Runs != nil {
		add("runs", b.Runs.Unknown)
	}
	add("shared records", w.Ignored.Unknown)
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
		readAgain, ok := partCommands[u.Name]
		if !ok { // one worktree of several
			readAgain = partCommands["worktrees"]
		}
		list = append(list, unknown(u.Name, u.Reason, cmp.Or(u.Command, readAgain)))
	}
	return list
}

// partCommands has the command that reads a part again, by the name of the part.
var partCommands = map[string]string{
	"files": "ken status", "directories": "ken survey show", "documents": "ken docs", "specs": "ken spec ls",
	"worktrees": "ken spec overlay", "workflow": "ken state get", "runs": "ken worker runs",
	"shared records": "ken share status",
}
