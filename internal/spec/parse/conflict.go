package parse

import (
	"fmt"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// Git's conflict markers. A space or the end of the line follows them. A line of = may also be the underline of a
// heading.
const (
	ours   = "<<<<<<<"
	middle = "======="
	theirs = ">>>>>>>"
)

// conflicts returns the line numbers, from 1, of the conflicts that a merge has left in a text. A lone end marker
// counts as well. In a code fence, only a complete conflict counts, and none in a fence that shows examples of
// conflicts.
func conflicts(text string) []int {
	var found []int
	var open fence
	within := false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case open.samples() && !open.closedBy(line):
		case marks(line, ours):
			if open.size == 0 || complete(lines[i+1:]) {
				found, within = append(found, i+1), true
			}
		case marks(line, theirs):
			if open.size == 0 && !within {
				found = append(found, i+1)
			}
			within = false
		case open.size > 0:
			if open.closedBy(line) {
				open = fence{}
			}
		default:
			if s, ok := outdent(line); ok {
				open = opens(s)
			}
		}
	}
	return found
}

// complete reports whether a conflict that began before these lines ends in them.
func complete(lines []string) bool {
	halfway := false
	for _, line := range lines {
		switch {
		case marks(line, ours):
			return false
		case marks(line, theirs):
			return halfway
		case marks(line, middle) && !strings.Contains(line, " "):
			halfway = true
		}
	}
	return false
}

// samples reports whether the language of the fence is one in which conflict markers are examples.
func (f fence) samples() bool {
	switch strings.ToLower(f.language) {
	case "conflict", "diff", "patch":
		return true
	}
	return false
}

// marks reports whether a line is a conflict marker. Git lengthens the markers of nested conflicts.
func marks(line, marker string) bool {
	rest, ok := strings.CutPrefix(line, marker)
	rest = strings.TrimLeft(rest, marker[:1])
	return ok && (rest == "" || rest[0] == ' ')
}

// readConflicts adds a problem for the conflicts in the file of a node.
func (n *Node) readConflicts(text string) {
	for _, line := range conflicts(text) {
		n.problem(Problem{
			Rule: RuleConflict, Line: line,
			Message: "conflict markers of a merge",
			Fix:     "resolve the conflict, remove the lines of <, = and >, then git add and git commit",
		})
	}
}

// UnmergedProblem returns the problem of a spec that the index has as unmerged.
func UnmergedProblem(p repo.Path) Problem {
	return Problem{
		Rule: RuleConflict, Line: 1,
		Message: "unmerged: git has a conflict in this file",
		Fix:     HowToResolve(p),
	}
}

// HowToResolve returns the hint that says how to resolve a conflict in a file.
func HowToResolve(p repo.Path) string {
	return fmt.Sprintf("resolve the conflict, then: git add %s && git commit", fault.Quote(string(p)))
}

// HasConflict reports whether one of the problems is a merge conflict.
func HasConflict(problems []Problem) bool {
	return slices.ContainsFunc(problems, IsConflict)
}

// IsConflict reports whether a problem is a merge conflict.
func IsConflict(p Problem) bool { return p.Rule == RuleConflict }
