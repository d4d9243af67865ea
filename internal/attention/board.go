package attention

import (
	"strings"

	"ken/internal/board"
	"ken/internal/contract"
)

// OfBoard returns the facts of a worktree of a board. A part that was not read yet has no items.
func OfBoard(b *board.Board, w *board.Worktree) Facts {
	f := Facts{Changed: w.Changes}
	unread := func(part string, u *board.Unread) {
		if u != nil {
			f.Unread = append(f.Unread, Unread{part, u.Reason, commandOf(u.Hint)})
		}
	}
	if known := w.Files.Known; known != nil {
		f.Files, f.RenamedFrom = known.StaleOrUnknown, known.RenamedFrom
	}
	if known := w.Survey.Known; known != nil {
		f.Directories = &known.Summaries
	}
	if known := w.Spec.Known; known != nil {
		f.Gate, f.SpecsUnknown = known.Gate, known.Unknown
		for i := range known.Nodes {
			f.Specs = append(f.Specs, &known.Nodes[i].ListedSpec)
		}
	}
	if known := w.State.Known; known != nil {
		for _, bucket := range known.Buckets {
			switch bucket.Name {
			case contract.AdHoc:
				f.Foreign = bucket.Entries
			case contract.Ephemeral:
				f.Leftovers = bucket.Entries
			case contract.Unknown:
				f.Uninspected = bucket.Entries
			default: // they belong there
			}
		}
	}
	if known := b.Proposals.Known; known != nil {
		f.Collisions = known.Meetings
		for i := range known.Worktrees {
			for _, u := range known.Worktrees[i].Unknown {
				f.Unread = append(f.Unread, Unread{Part: "worktree " + known.Worktrees[i].Worktree, Reason: u.Fact + ": " + u.Reason})
			}
		}
	}
	if known := w.Ignored.Known; known != nil {
		f.Ignored = *known
	}
	unread("files", w.Files.Unknown)
	unread("directories", w.Survey.Unknown)
	if known := w.Documents.Known; known != nil {
		f.Documents = known.Report
	}
	unread("documents", w.Documents.Unknown)
	unread("specs", w.Spec.Unknown)
	unread("worktrees", b.Proposals.Unknown)
	unread("workflow", w.State.Unknown)
	if known := w.State.Known; known != nil {
		unread("workflow", known.Workflow.Unknown)
	}
	if b.Runs != nil {
		if b.Runs.Known != nil {
			f.Runs = b.Runs.Known.Runs
		}
		unread("runs", b.Runs.Unknown)
	}
	unread("shared records", w.Ignored.Unknown)
	return f
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
