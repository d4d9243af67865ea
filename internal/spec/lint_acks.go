package spec

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
	"ken/internal/suggest"
)

// strayAcks returns a warning for each ack in the history of HEAD with an id that no spec ever had, if a spec has
// drift. It names the drifting specs that were probably meant.
func (r *Reader) strayAcks(ctx context.Context, l *Listing) ([]Finding, error) {
	drift := slices.DeleteFunc(slices.Clone(l.Nodes), func(n ListedSpec) bool { return n.Drift == nil || *n.Drift == 0 })
	if len(drift) == 0 {
		return nil, nil
	}
	h, err := r.readHistory(ctx, []repo.ID{l.Head})
	if err != nil {
		return nil, err
	}
	head, ok := h.Find(l.Head)
	if !ok {
		return nil, nil
	}
	g := derive.NewGraph(h, head)
	names := derive.NewIDIndex(h.Below(parse.Root))
	var found []Finding
	for _, c := range h.Marked() {
		if !g.Has(c) {
			continue
		}
		commit := h.Commit(c)
		isLost := func(t repo.Trailer) bool { return t.Key == derive.TrailerLost }
		for _, id := range derive.AckedIDs(slices.DeleteFunc(slices.Clone(commit.Trailers), isLost)) {
			if len(names.CandidatePaths(id)) > 0 {
				continue
			}
			unknown := Finding{
				Rule: parse.RuleAck,
				Message: fmt.Sprintf("commit %s has the trailer %s: %s, and no spec ever had this id",
					commit.ID.Short(), derive.TrailerAck, parse.Quote(id)),
				Fix: "if the spec that was meant still holds: ken spec ack ID --reason TEXT",
			}
			meant := meantBy(id, drift)
			for _, unknown.Node = range meant {
				unknown.Fix = fmt.Sprintf("if you mean %s: ken spec ack %s --reason TEXT", unknown.Node, fault.Quote(unknown.Node))
				found = append(found, unknown)
			}
			if len(meant) == 0 {
				found = append(found, unknown)
			}
		}
	}
	return found, nil
}

// meantBy returns the ids of specs that a wrong id probably means: the ids in a comma-separated list, and ids with
// a typing error.
func meantBy(id string, nodes []ListedSpec) []string {
	var meant []string
	listed := strings.FieldsFunc(norm.NFC.String(id), func(c rune) bool { return c == ',' || c == ' ' })
	for i := range nodes {
		_, slip := suggest.TypoDistance(nodes[i].ID, id)
		if slip || slices.Contains(listed, nodes[i].ID) {
			meant = append(meant, nodes[i].ID)
		}
	}
	return meant
}
