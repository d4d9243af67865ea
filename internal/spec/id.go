package spec

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

// identify gives every node its id: the name of its directory, or where others
// have that name, as much of the path before it as tells it apart. The nodes are
// sorted by path and no two have the same, so that the same tree gives the same
// ids.
//
// It goes in rounds. In each, those that have none yet bid for an id with one
// more element of their path than before. Who bids alone has it; of several, the
// one whose path ends there, since the others can go on. An id once given stays,
// also when a later bid spells the same: a_b and the b in a are two. Whoever runs
// out of path is numbered. Ids that are given before are taken, and not given again.
func identify(nodes []*Node, given map[string]bool) {
	give := func(n *Node, id string) {
		n.ID = id
		given[id] = true
	}
	waiting := make([]*idCandidate, 0, len(nodes))
	var out []*idCandidate
	for _, n := range nodes {
		if n.Dir() == Root && !given[rootID] {
			give(n, rootID)
			continue
		}
		waiting = append(waiting, newIDCandidate(n))
	}

	type lot struct {
		bids int
		last *idCandidate // the first whose path ends here
	}
	for len(waiting) > 0 {
		lots := make(map[string]lot, len(waiting))
		for _, b := range waiting {
			b.extend()
			l := lots[b.bid()]
			l.bids++
			if b.atEnd() && l.last == nil {
				l.last = b
			}
			lots[b.bid()] = l
		}
		on := waiting[:0]
		for _, b := range waiting {
			id := b.bid()
			switch l := lots[id]; {
			case !given[id] && (l.last == b || l.bids == 1):
				give(b.node, id)
			case b.atEnd():
				out = append(out, b)
			default:
				on = append(on, b)
			}
		}
		waiting = on
	}

	numbers := make(map[string]int)
	for _, b := range out {
		whole := b.bid()
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

// An idCandidate is a node on its way to an id.
type idCandidate struct {
	node  *Node
	whole string // the elements of its path, made into tokens and joined
	sizes []int  // of those not in the bid yet
	from  int    // where in whole the bid begins
}

func newIDCandidate(n *Node) *idCandidate {
	tokens := strings.Split(string(n.Dir()), "/")[1:]
	if len(tokens) == 0 {
		tokens = []string{rootID}
	}
	sizes := make([]int, len(tokens))
	for i, t := range tokens {
		tokens[i] = token(t)
		sizes[i] = len(tokens[i])
	}
	whole := strings.Join(tokens, separator)
	return &idCandidate{node: n, whole: whole, sizes: sizes, from: len(whole) + len(separator)}
}

// extend puts one more element into the bid.
func (b *idCandidate) extend() {
	last := len(b.sizes) - 1
	b.from -= len(separator) + b.sizes[last]
	b.sizes = b.sizes[:last]
}

func (b *idCandidate) bid() string { return b.whole[b.from:] }

// atEnd reports whether the bid has all of the path.
func (b *idCandidate) atEnd() bool { return len(b.sizes) == 0 }

// token makes of a directory's name a word that can stand in a URL, a trailer or
// a command as it is: in NFC, with - for what means something there. Letters of
// all scripts stay.
func token(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) && name != "" {
		return name // as most are
	}
	s := norm.NFC.String(strings.ToValidUTF8(name, "-"))
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\%?#`, r) || unicode.IsSpace(r) || repo.Misleads(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '-'
		}
		return r
	}, s)
	switch s {
	case "":
		return "-"
	case ".", "..": // which a URL would take for a way
		return strings.Repeat("-", len(s))
	}
	return s
}
