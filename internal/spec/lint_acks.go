package spec

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/suggest"
)

// strayAcks returns a warning for each ack that HEAD reaches and whose id no spec ever had,
// as long as the spec that it seems to mean is in drift.
func (r *Reader) strayAcks(ctx context.Context, l *Listing) ([]Finding, error) {
	drift := slices.DeleteFunc(slices.Clone(l.Nodes), func(n Listed) bool { return n.Drift == nil || *n.Drift == 0 })
	if len(drift) == 0 {
		return nil, nil
	}
	h, err := r.past.History(ctx, []repo.ID{l.Head})
	if err != nil {
		return nil, err
	}
	head, ok := h.Find(l.Head)
	if !ok {
		return nil, nil
	}
	g := newGraph(h, head)
	names := newRegister(h.Below(Root))
	var found []Finding
	for _, c := range h.Marked() {
		if !g.has(c) {
			continue
		}
		commit := h.Commit(c)
		for _, a := range readAcks(commit.Trailers) {
			if len(names.rivals(a.id)) > 0 {
				continue
			}
			for _, meant := range meantBy(a.id, drift) {
				found = append(found, Finding{
					Rule: RuleAck, Node: meant,
					Message: fmt.Sprintf("commit %s has the trailer %s: %s, and no spec ever had this id", commit.ID.Short(), TrailerAck, show(a.id)),
					Fix:     fmt.Sprintf("if you mean %s: ken spec ack %s --reason TEXT", meant, fault.Quote(meant)),
				})
			}
		}
	}
	return found, nil
}

// meantBy returns the ids of specs that a wrong id seems to mean: those in a list of ids, and
// those that differ by a typing mistake.
func meantBy(id string, nodes []Listed) []string {
	var meant []string
	listed := strings.FieldsFunc(norm.NFC.String(id), func(c rune) bool { return c == ',' || c == ' ' })
	for i := range nodes {
		_, slip := suggest.Slip(nodes[i].ID, id)
		if slip || slices.Contains(listed, nodes[i].ID) {
			meant = append(meant, nodes[i].ID)
		}
	}
	return meant
}
