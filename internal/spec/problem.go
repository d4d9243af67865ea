package spec

import "strconv"

// A Problem is something about a spec file that its author should look at.
type Problem struct {
	Rule    string `json:"rule"` // what is broken: one of the constants below
	Line    int    `json:"line"` // of the file, from 1
	Message string `json:"message"`
	Fix     string `json:"fix"` // what to do about it
}

// The rules.
const (
	RuleFile        = "file"        // its size and encoding
	RuleFrontmatter = "frontmatter" // what stands between the --- lines
	RuleEntry       = "entry"       // what code and related name
	RuleBody        = "body"        // its parts
	RuleSymbol      = "symbol"      // what a part of a file is judged by
	RuleAck         = "ack"         // what was said to hold
	RuleConflict    = "conflict"    // what a merge has left undecided
)

// maxProblems is how many problems of one file are told. A file that no one wrote
// by hand can have as many as it has lines.
const maxProblems = 50

// problem notes p, unless there are enough.
func (n *Node) problem(p Problem) {
	switch {
	case len(n.Problems) < maxProblems:
		n.Problems = append(n.Problems, p)
	case len(n.Problems) == maxProblems:
		n.Problems = append(n.Problems, Problem{
			Rule: p.Rule, Line: p.Line,
			Message: "more problems follow; ken does not list them",
			Fix:     "fix the ones above first",
		})
	}
}

// show returns what was written, fit for one line of a message.
func show(s string) string {
	const most = 80
	if r := []rune(s[:min(len(s), 4*most)]); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}
