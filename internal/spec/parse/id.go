package parse

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"ken/internal/repo"
)

const (
	rootID    = "root" // the id of .spec/spec.md
	separator = "_"    // between the elements of an id
)

// AssignIDs assigns an id to every node: the name of its directory, with as many parent directories as are needed
// to make it unique. The nodes are sorted by path and have different paths, so the same tree always gets the same
// ids.
//
// It works in rounds. In each round, every node without an id proposes an id with one more element of its path. A
// node that is the only one to propose an id gets it. Of several, the one that has no more path elements gets it,
// since the others can use longer ids. An assigned id is never taken back, even if a later proposal is spelled the
// same: a_b and the b in a are two nodes. A node that has used its whole path gets a number. Ids in given are not
// assigned again.
func AssignIDs(nodes []*Node, given map[string]bool) {
	give := func(n *Node, id string) {
		n.ID = id
		given[id] = true
	}
	waiting := make([]*idCandidate, 0, len(nodes))
	var exhausted []*idCandidate
	for _, n := range nodes {
		if n.Dir() == Root && !given[rootID] {
			give(n, rootID)
			continue
		}
		waiting = append(waiting, newIDCandidate(n))
	}

	type proposers struct {
		proposals int
		last      *idCandidate // the first node without more path elements
	}
	for len(waiting) > 0 {
		byProposal := make(map[string]proposers, len(waiting))
		for _, b := range waiting {
			b.extend()
			l := byProposal[b.id()]
			l.proposals++
			if b.atEnd() && l.last == nil {
				l.last = b
			}
			byProposal[b.id()] = l
		}
		remaining := waiting[:0]
		for _, b := range waiting {
			id := b.id()
			switch l := byProposal[id]; {
			case !given[id] && (l.last == b || l.proposals == 1):
				give(b.node, id)
			case b.atEnd():
				exhausted = append(exhausted, b)
			default:
				remaining = append(remaining, b)
			}
		}
		waiting = remaining
	}

	numbers := make(map[string]int)
	for _, b := range exhausted {
		whole := b.id()
		id := ""
		for number := max(numbers[whole], 2); id == ""; number++ {
			if s := whole + "-" + strconv.Itoa(number); !given[s] {
				id = s
			}
			numbers[whole] = number + 1
		}
		give(b.node, id)
	}
}

// An idCandidate is a node and the id that it proposes.
type idCandidate struct {
	node  *Node
	whole string // the tokens of its path, joined
	sizes []int  // lengths of the tokens that the proposal does not include yet
	from  int    // the proposal is whole[from:]
}

func newIDCandidate(n *Node) *idCandidate {
	tokens := strings.Split(string(n.Dir()), "/")[1:]
	if len(tokens) == 0 {
		tokens = []string{rootID}
	}
	sizes := make([]int, len(tokens))
	for i, t := range tokens {
		tokens[i] = IDToken(t)
		sizes[i] = len(tokens[i])
	}
	whole := strings.Join(tokens, separator)
	return &idCandidate{node: n, whole: whole, sizes: sizes, from: len(whole) + len(separator)}
}

// extend adds one more path element to the proposal.
func (i *idCandidate) extend() {
	last := len(i.sizes) - 1
	i.from -= len(separator) + i.sizes[last]
	i.sizes = i.sizes[:last]
}

func (i *idCandidate) id() string { return i.whole[i.from:] }

// atEnd reports whether the proposal includes the whole path.
func (i *idCandidate) atEnd() bool { return len(i.sizes) == 0 }

// IDToken converts a directory name to a word that needs no quoting in a URL, a trailer or a command. It is in NFC,
// keeps letters of all scripts, and has - for other characters.
func IDToken(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) && name != "" {
		return name // the common case
	}
	s := norm.NFC.String(strings.ToValidUTF8(name, "-"))
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\%?#`, r) || unicode.IsSpace(r) || repo.IsMisleading(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '-'
		}
		return r
	}, s)
	switch s {
	case "":
		return "-"
	case ".", "..": // a URL would resolve these
		return strings.Repeat("-", len(s))
	}
	return s
}

// CandidateIDs returns the ids that the node at a path may have, shortest first.
func CandidateIDs(p repo.Path) []string {
	if p.Dir() == Root {
		return []string{rootID}
	}
	var proposals []string
	for b := newIDCandidate(&Node{Path: p}); !b.atEnd(); {
		b.extend()
		proposals = append(proposals, b.id())
	}
	return proposals
}
