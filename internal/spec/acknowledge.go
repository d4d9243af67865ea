package spec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// An AckRequest asks to record that specs still hold.
type AckRequest struct {
	Nodes   []string // ids of specs in the work tree
	Reason  string   // required
	Session string   // the session that acknowledges, "" for none
	Head    repo.ID  // the commit that the caller reviewed; zero means the current HEAD
}

// AckResult is the result of an ack.
type AckResult struct {
	Commit repo.ID  `json:"commit,omitzero"` // zero if no spec needed an ack
	Nodes  []string `json:"nodes"`           // the ids in the commit
	// NoDrift are the specs that needed no ack, because their code did not change.
	NoDrift []string `json:"no_drift,omitempty"`
	// Edited are the specs in the commit whose files differ from HEAD. The ack is about their committed text.
	Edited []string `json:"edited,omitempty"`
}

// Ack records, in an empty commit on top of HEAD, that specs still hold although their code changed. It changes
// neither the index nor the work tree. Specs without drift need no ack; if no spec has drift, there is no commit.
// Ack records nothing if an id is unknown or a spec has a merge conflict. If HEAD is not the commit that the
// caller reviewed, it returns a [*repo.MovedError].
func (r *Reader) Ack(ctx context.Context, req AckRequest) (*AckResult, error) {
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
	head, err := r.ws.Git.Head(ctx)
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
	h, err := r.readHistory(ctx, []repo.ID{head.Commit})
	if err != nil {
		return nil, err
	}
	done := &AckResult{Nodes: []string{}}
	nodes, done.NoDrift, err = r.drifting(ctx, head.Commit, nodes)
	if err != nil || len(nodes) == 0 {
		return done, err
	}
	bases, err := derive.BasesAt(ctx, nodes, derive.Options{Head: head.Commit}, h, r.ws.Git.Contents())
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		done.Nodes = append(done.Nodes, n.ID)
	}
	if done.Edited, err = r.editedSpecs(ctx, head.Commit, nodes); err != nil {
		return nil, err
	}
	done.Commit, err = r.ws.Git.CommitEmpty(ctx, head.Commit, ackMessage(done.Nodes, bases, reason, req.Session))
	if err != nil {
		return nil, err
	}
	return done, nil
}

// editedSpecs returns the ids of the nodes whose files in the work tree differ from a commit.
func (r *Reader) editedSpecs(ctx context.Context, commit repo.ID, nodes []*parse.Node) ([]string, error) {
	files, _, err := r.specs(ctx)
	if err != nil {
		return nil, err
	}
	committed, err := r.specsAt(ctx, commit)
	if err != nil {
		return nil, err
	}
	var edited []string
	for _, n := range nodes {
		i := slices.IndexFunc(files, func(f repo.LoadedFile) bool { return f.Path == n.Path })
		if i < 0 || !r.isStored(files[i], committed[n.Path]) {
			edited = append(edited, n.ID)
		}
	}
	return edited, nil
}

// drifting returns the nodes that have drift, or whose drift is unknown, and the ids of the others.
func (r *Reader) drifting(ctx context.Context, commit repo.ID, nodes []*parse.Node) (drift []*parse.Node, none []string, err error) {
	all, err := r.nodesAt(ctx, commit, r.nodesOrNone(ctx))
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

// toAck returns the nodes of the commit with the given ids, each once. An id is looked up in the work tree first,
// where an uncommitted spec may have changed the ids of others, and then in the commit, for a spec that was
// deleted in the work tree.
func (r *Reader) toAck(ctx context.Context, commit repo.ID, ids []string) ([]*parse.Node, error) {
	here, err := r.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	committed, err := r.nodesAt(ctx, commit, r.nodesOrNone(ctx))
	if err != nil {
		return nil, err
	}
	tracked, err := r.tracked(ctx)
	if err != nil {
		return nil, err
	}
	var found []*parse.Node
	for _, id := range ids {
		same := func(n *parse.Node) bool { return n.ID == id }
		if i := slices.IndexFunc(here, same); i >= 0 {
			path := here[i].Path
			same = func(n *parse.Node) bool { return n.Path == path }
			if !slices.ContainsFunc(committed, same) {
				return nil, &fault.Error{
					Hint: "commit it first; a new spec needs no ack",
					Err:  fmt.Errorf("spec %s is not committed", parse.Quote(id)),
				}
			}
			if parse.HasConflict(here[i].Problems) {
				return nil, refuseConflict(id, path)
			}
		}
		i := slices.IndexFunc(committed, same)
		if i < 0 {
			return nil, unknownNode(here, id)
		}
		if p := committed[i].Path; parse.HasConflict(committed[i].Problems) || isUnmerged(tracked, p) {
			return nil, refuseConflict(id, p)
		}
		if !slices.Contains(found, committed[i]) {
			found = append(found, committed[i])
		}
	}
	return found, nil
}

// shownAcks is the number of ids that the subject of an ack lists.
const shownAcks = 3

// ackMessage returns the commit message of an ack. The reason comes before the last paragraph, so git never reads
// a line of it as a trailer.
func ackMessage(ids []string, bases []derive.Basis, reason []string, session string) string {
	var b strings.Builder
	first, rest, _ := strings.Cut(reason[0], "\n")
	fmt.Fprintf(&b, "ack %s: %s\n\n", english.First(ids, shownAcks), first)
	if rest != "" {
		fmt.Fprintf(&b, "%s\n\n", rest)
	}
	for _, p := range reason[1:] {
		fmt.Fprintf(&b, "%s\n\n", p)
	}
	for i, id := range ids {
		fmt.Fprintf(&b, "%s: %s\n%s: %s\n", derive.TrailerAck, id, derive.TrailerBasis, bases[i])
	}
	if session = strings.Join(strings.Fields(printable(session)), " "); session != "" {
		fmt.Fprintf(&b, "%s: %s\n", derive.TrailerSession, session)
	}
	return b.String()
}

// paragraphs returns the paragraphs of a text, without trailing white space and unprintable characters.
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

// printable replaces unprintable characters by spaces.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// refuseConflict returns the error for an ack of a spec with a merge conflict.
func refuseConflict(id string, p repo.Path) error {
	return &fault.Error{Hint: parse.HowToResolve(p), Err: fmt.Errorf("spec %s has a merge conflict", parse.Quote(id))}
}
