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
	middle = "======="
	theirs = ">>>>>>>"
)

// conflicts returns the lines, from 1, on which a conflict begins that a merge has left
// in a text; where only its end was left, that line. In a fence it takes all of a conflict,
// and none is one in a fence of samples.
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

// complete reports whether the lines behind the beginning of a conflict have the rest of it.
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

// samples reports whether what stands in the fence may show a conflict: its language says so.
func (f fence) samples() bool {
	switch strings.ToLower(f.language) {
	case "conflict", "diff", "patch":
		return true
	}
	return false
}

// marks reports whether a line is a mark of a conflict. Git lengthens the marks of a
// conflict inside of another one.
func marks(line, marker string) bool {
	rest, ok := strings.CutPrefix(line, marker)
	rest = strings.TrimLeft(rest, marker[:1])
	return ok && (rest == "" || rest[0] == ' ')
}

// readConflicts notes what a merge has left undecided in the node's file.
func (n *Node) readConflicts(text string) {
	for _, line := range conflicts(text) {
		n.problem(Problem{
			Rule: RuleConflict, Line: line,
			Message: "conflict markers of a merge",
			Fix:     "resolve the conflict, remove the lines of <, = and >, then git add and git commit",
		})
	}
}

// unmerged is the problem of a spec whose conflict git has on record.
func unmerged(p repo.Path) Problem {
	return Problem{
		Rule: RuleConflict, Line: 1,
		Message: "unmerged: git has a conflict in this file",
		Fix:     resolve(p),
	}
}

func resolve(p repo.Path) string {
	return fmt.Sprintf("resolve the conflict, then: git add %s && git commit", fault.Quote(string(p)))
}

// torn reports whether a spec with these problems says two things at once.
func torn(problems []Problem) bool {
	return slices.ContainsFunc(problems, inConflict)
}

func inConflict(p Problem) bool { return p.Rule == RuleConflict }

// InConflict reports whether the spec says two things at once: a merge was not decided, or
// its marks are still there.
func (l *Listed) InConflict() bool { return torn(l.Problems) }

// refuseTorn refuses to have it said of a spec in conflict that it holds.
func refuseTorn(id string, p repo.Path) error {
	return &fault.Error{Hint: resolve(p), Err: fmt.Errorf("spec %s has a merge conflict", show(id))}
}
