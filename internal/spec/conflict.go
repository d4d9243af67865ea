package spec

import (
	"fmt"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// The lines by which git marks a conflict, before a space or the line's end. A line of
// ='s is a heading as often as not.
const (
	ours   = "<<<<<<<"
	theirs = ">>>>>>>"
)

// conflicts returns the lines, from 1, on which a conflict begins that a merge has left
// in a text; where only its end was left, that line. Not those in fences: they are samples.
func conflicts(text string) []int {
	var found []int
	var open fence
	within, number := false, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		number++
		switch {
		case open.size > 0:
			if open.closedBy(line) {
				open = fence{}
			}
		case marks(line, ours):
			found, within = append(found, number), true
		case marks(line, theirs):
			if !within {
				found = append(found, number)
			}
			within = false
		default:
			if s, ok := outdent(line); ok {
				open = opens(s)
			}
		}
	}
	return found
}

func marks(line, marker string) bool {
	rest, ok := strings.CutPrefix(line, marker)
	return ok && (rest == "" || rest[0] == ' ')
}

// readConflicts notes what a merge has left undecided in the node's file.
func (n *Node) readConflicts(text string) {
	for _, line := range conflicts(text) {
		n.problem(Problem{
			Rule: RuleConflict, Line: line,
			Message: "a merge has left its marks here: the file says two things at once",
			Fix:     "decide what is meant, take the lines of <, = and > out, then git add and git commit",
		})
	}
}

// unmerged is the problem of a spec whose conflict git has on record.
func unmerged(p repo.Path) Problem {
	return Problem{
		Rule: RuleConflict, Line: 1,
		Message: "it is unmerged: a merge has not been decided for this file",
		Fix:     resolve(p),
	}
}

func resolve(p repo.Path) string {
	return fmt.Sprintf("resolve the conflict, then: git add %s && git commit", fault.Quote(string(p)))
}

// torn reports whether a spec with these problems says two things at once.
func torn(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Rule == RuleConflict })
}

// InConflict reports whether the spec says two things at once: a merge was not decided, or
// its marks are still there.
func (l *Listed) InConflict() bool { return torn(l.Problems) }

// refuseTorn refuses to have it said of a spec in conflict that it holds.
func refuseTorn(id string, p repo.Path) error {
	return &fault.Error{Hint: resolve(p), Err: fmt.Errorf("the spec of %s is in conflict, so that nobody can say what holds", show(id))}
}
