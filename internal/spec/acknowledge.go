package spec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ken/internal/fault"
	"ken/internal/repo"
)

// An AckRequest asks to have it on record that specs still hold.
type AckRequest struct {
	Nodes   []string // ids, as they are in the work tree
	Reason  string   // why; required
	Session string   // who says so, "" for nobody in particular
	Head    repo.ID  // the commit that was looked at; zero for whatever HEAD is by now
}

// Acked is what was put on record.
type Acked struct {
	Commit repo.ID  `json:"commit,omitzero"` // zero when no spec needed an ack
	Nodes  []string `json:"nodes"`           // as the commit calls them
	// NoDrift are the specs that needed no ack: their code did not change.
	NoDrift []string `json:"no_drift,omitempty"`
}

// Ack records, in an empty commit on top of HEAD, that the code that nodes govern
// was looked at and their specs still hold. Neither the index nor the work tree is
// touched. Nodes without drift need no ack; if all are such, there is no commit. An id that is unknown refuses all of them, and so does a spec in conflict. If HEAD is not, or no longer, the
// one that was looked at, nothing is recorded and the error is a [*repo.MovedError].
func (r *Reader) Ack(ctx context.Context, req AckRequest) (*Acked, error) {
	reason := paragraphs(req.Reason)
	if len(reason) == 0 {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: `say why they still hold: ken spec ack ID --reason "TEXT"`,
			Err: ErrNoReason,
		}
	}
	if len(req.Nodes) == 0 {
		return nil, &fault.Error{Kind: fault.Usage, Hint: "list specs: ken spec ls", Err: ErrNoNodes}
	}
	head, err := r.past.Head(ctx)
	if err != nil {
		return nil, err
	}
	if !req.Head.IsZero() && req.Head != head.Commit {
		return nil, &fault.Error{Hint: "HEAD moved: check the specs again", Err: &repo.MovedError{Seen: req.Head, Now: head.Commit}}
	}
	nodes, err := r.toAck(ctx, head.Commit, req.Nodes)
	if err != nil {
		return nil, err
	}
	h, err := r.past.History(ctx, []repo.ID{head.Commit})
	if err != nil {
		return nil, err
	}
	done := &Acked{Nodes: []string{}}
	nodes, done.NoDrift, err = r.drifting(ctx, head.Commit, nodes)
	if err != nil || len(nodes) == 0 {
		return done, err
	}
	bases, err := BasesAt(ctx, nodes, JudgedAt{Head: head.Commit}, h, r.past.Contents())
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		done.Nodes = append(done.Nodes, n.ID)
	}
	done.Commit, err = r.past.CommitEmpty(ctx, head.Commit, ackMessage(done.Nodes, bases, reason, req.Session))
	if err != nil {
		return nil, err
	}
	return done, nil
}

// drifting returns those of the nodes of a commit that are in drift, or may be, and the ids of
// the others.
func (r *Reader) drifting(ctx context.Context, commit repo.ID, nodes []*Node) (drift []*Node, none []string, err error) {
	all, err := r.nodesAt(ctx, commit, r.anyIndex(ctx))
	if err != nil {
		return nil, nil, err
	}
	facts, err := r.factsAmong(ctx, nodes, all, commit)
	if err != nil {
		return nil, nil, err
	}
	for i, n := range nodes {
		if f := &facts[i]; f.Drift != nil && *f.Drift == 0 && len(f.Problems) == 0 {
			none = append(none, n.ID)
			continue
		}
		drift = append(drift, n)
	}
	return drift, none, nil
}

// toAck returns the nodes of the commit that ids mean, each once. An id is that of
// the work tree, where a node that is not committed yet may have changed it, and else
// that of the commit, for a node that the work tree has no more.
func (r *Reader) toAck(ctx context.Context, commit repo.ID, ids []string) ([]*Node, error) {
	here, err := r.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	committed, err := r.nodesAt(ctx, commit, r.anyIndex(ctx))
	if err != nil {
		return nil, err
	}
	tracked, err := r.src.Tracked(ctx)
	if err != nil {
		return nil, err
	}
	var found []*Node
	for _, id := range ids {
		same := func(n *Node) bool { return n.ID == id }
		if i := slices.IndexFunc(here, same); i >= 0 {
			path := here[i].Path
			same = func(n *Node) bool { return n.Path == path }
			if !slices.ContainsFunc(committed, same) {
				return nil, &fault.Error{
					Hint: "commit it first; a new spec needs no ack",
					Err:  fmt.Errorf("spec %s is not committed", show(id)),
				}
			}
			if torn(here[i].Problems) {
				return nil, refuseTorn(id, path)
			}
		}
		i := slices.IndexFunc(committed, same)
		if i < 0 {
			return nil, unknownNode(here, id)
		}
		if p := committed[i].Path; torn(committed[i].Problems) || isUnmerged(tracked, p) {
			return nil, refuseTorn(id, p)
		}
		if !slices.Contains(found, committed[i]) {
			found = append(found, committed[i])
		}
	}
	return found, nil
}

// shownAcks is how many nodes the subject of an ack names.
const shownAcks = 3

// ackMessage returns the message of an ack's commit. The reason stands above the
// last paragraph: no line of it is ever read as a trailer.
func ackMessage(ids []string, bases []Basis, reason []string, session string) string {
	named := strings.Join(ids[:min(len(ids), shownAcks)], ", ")
	if more := len(ids) - shownAcks; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	var b strings.Builder
	first, rest, _ := strings.Cut(reason[0], "\n")
	fmt.Fprintf(&b, "ack %s: %s\n\n", named, first)
	if rest != "" {
		fmt.Fprintf(&b, "%s\n\n", rest)
	}
	for _, p := range reason[1:] {
		fmt.Fprintf(&b, "%s\n\n", p)
	}
	for i, id := range ids {
		fmt.Fprintf(&b, "%s: %s\n%s: %s\n", TrailerAck, id, TrailerBasis, bases[i])
	}
	if session = strings.Join(strings.Fields(printable(session)), " "); session != "" {
		fmt.Fprintf(&b, "%s: %s\n", TrailerSession, session)
	}
	return b.String()
}

// paragraphs returns a text's paragraphs, without the lines' white space at the end
// and what cannot be printed.
func paragraphs(text string) []string {
	var list []string
	var open []string
	for _, line := range append(strings.Split(text, "\n"), "") {
		line = strings.TrimRightFunc(printable(line), unicode.IsSpace)
		if line != "" {
			open = append(open, line)
			continue
		}
		if open != nil {
			list, open = append(list, strings.Join(open, "\n")), nil
		}
	}
	return list
}

// printable replaces what cannot be printed by a space.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
