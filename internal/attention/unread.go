package attention

import (
	"strings"

	"ken/internal/board"
)

// An UnreadPart is a part of a board that could not be read.
type UnreadPart struct {
	Name   string
	Reason string
	// Command settles it; "" if ken only knows the command that repeats the question.
	Command string
}

// Unread lists the parts of a board and of a worktree of it that could not be read. It has none that was not asked for.
func Unread(b *board.Board, w *board.Worktree) (list []UnreadPart) {
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

func unread(b *board.Board, w *board.Worktree) (list []Item) {
	for _, u := range Unread(b, w) {
		args, ok := partCommands[u.Name]
		if !ok { // one worktree of several
			args = partCommands["worktrees"]
		}
		it := unknown(u.Name, u.Reason, args...)
		it.Shell = u.Command
		list = append(list, it)
	}
	return list
}

// partCommands repeat the question that ken could not answer.
var partCommands = map[string][]string{
	"files": {"status"}, "directories": {"survey", "show"}, "documents": {"docs"}, "specs": {"spec", "ls"},
	"worktrees": {"spec", "overlay"}, "workflow": {"state", "get"}, "runs": {"worker", "runs"}, "shared records": {"share", "status"},
}
