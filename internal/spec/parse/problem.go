package parse

import "strconv"

// A Problem is a defect of a spec that its author should fix.
type Problem struct {
	Rule    string `json:"rule"` // one of the constants below
	Line    int    `json:"line"` // the line of the file, from 1
	Message string `json:"message"`
	Fix     string `json:"fix"` // how to fix it
}

// The rules that a Problem can name.
const (
	RuleFile        = "file"        // size and encoding of the file
	RuleFrontmatter = "frontmatter" // the fields between the --- lines
	RuleEntry       = "entry"       // the entries of code and related
	RuleBody        = "body"        // the sections of the body
	RuleSymbol      = "symbol"      // an entry with a symbol
	RuleAck         = "ack"         // an ack in the history
	RuleConflict    = "conflict"    // an unresolved merge
)

// maxProblems is the most problems that are reported for one file. A generated file can have one on each line.
const maxProblems = 50

// problem adds p, unless there are too many.
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

// Quote quotes s for one line of a message, shortened if it is long.
func Quote(s string) string {
	const most = 80
	if r := []rune(s[:min(len(s), 4*most)]); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}
