package spec

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// Ownership lists the nodes that govern a path or refer to it.
type Ownership struct {
	repo.PathJSON
	Governing []Claim `json:"governing"`
	Related   []Claim `json:"related"`
	// Unknown are the nodes that may govern the path: ken cannot read what they govern.
	Unknown []fault.Unknown `json:"unknown"`
}

// A Claim is a node with the entry that matches a path.
type Claim struct {
	ID    string `json:"id"`
	Desc  string `json:"desc"`
	Entry string `json:"entry"`
}

// OwnersBelow returns the specs that govern each path and those that refer to it; for a directory also those of the
// tracked files below it. A path that the index, HEAD and the work tree lack is an error.
func (r *Reader) OwnersBelow(ctx context.Context, paths []repo.Path) ([]Ownership, error) {
	tracked, err := r.tracked(ctx)
	if err != nil {
		return nil, err
	}
	k, err := r.cachedNodes(ctx)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(paths)
	for _, p := range pathsOf(tracked) {
		if slices.ContainsFunc(paths, func(dir repo.Path) bool { return p.Under(dir) }) {
			all = append(all, p)
		}
	}
	below := all[len(paths):]
	for _, dir := range paths {
		if !slices.ContainsFunc(below, func(p repo.Path) bool { return p.Under(dir) }) {
			if err := r.mustExist(ctx, dir); err != nil {
				return nil, err
			}
		}
	}
	nodes := k.list()
	place := make(map[string]int, len(nodes))
	for i, n := range nodes {
		place[n.ID] = i
	}
	known := Owners(nodes, all)
	if err := r.addMovedCode(ctx, nodes, known); err != nil {
		return nil, err
	}
	var out []Ownership
	for _, dir := range paths {
		o := Ownership{PathJSON: dir.JSON(), Governing: []Claim{}, Related: []Claim{}, Unknown: unreadCode(nodes)}
		for i, p := range all {
			if p.Under(dir) {
				o.Governing = addClaims(o.Governing, known[i].Governing)
				o.Related = addClaims(o.Related, known[i].Related)
			}
		}
		order := func(a, b Claim) int { return cmp.Compare(place[a.ID], place[b.ID]) }
		slices.SortFunc(o.Governing, order)
		slices.SortFunc(o.Related, order)
		out = append(out, o)
	}
	return out, nil
}

// addMovedCode adds the nodes whose code was moved to a path.
func (r *Reader) addMovedCode(ctx context.Context, nodes []*parse.Node, owners []Ownership) error {
	if len(nodes) == 0 {
		return nil
	}
	l, err := r.list(ctx)
	if err != nil {
		return err
	}
	for _, listed := range l.Nodes {
		for _, m := range listed.Moved {
			i := slices.IndexFunc(nodes, func(n *parse.Node) bool { return n.Path == listed.rawPath() })
			to := m.To.JSON()
			k := slices.IndexFunc(owners, func(o Ownership) bool { return o.PathJSON == to })
			if k >= 0 && i >= 0 {
				claim := Claim{ID: nodes[i].ID, Desc: nodes[i].Desc, Entry: entryOf(nodes[i], m.From)}
				owners[k].Governing = addClaims(owners[k].Governing, []Claim{claim})
			}
		}
	}
	return nil
}

// entryOf returns the code entry of a node that matches a path.
func entryOf(n *parse.Node, p repo.Path) string {
	for _, e := range n.Code {
		if e.Matches(p) {
			return e.String()
		}
	}
	return p.String()
}

// addClaims adds the claims of nodes that the list does not have.
func addClaims(list, more []Claim) []Claim {
	for _, c := range more {
		if !slices.ContainsFunc(list, func(have Claim) bool { return have.ID == c.ID }) {
			list = append(list, c)
		}
	}
	return list
}

// mustExist returns an error if neither the work tree nor HEAD has a path. HEAD has a file whose deletion is staged.
func (r *Reader) mustExist(ctx context.Context, p repo.Path) error {
	found, err := r.ws.Files.Stat(ctx, []repo.Entry{{Path: p}})
	if err != nil || p == "" || found[0].Presence != repo.Absent {
		return err
	}
	head, err := r.ws.Git.Head(ctx)
	if err != nil {
		return err
	}
	if !head.Commit.IsZero() {
		_, committed, err := r.ws.Git.At(ctx, head.Commit, p)
		if committed || err != nil && fault.KindOf(err) != fault.Usage {
			return err
		}
	}
	return &fault.Error{
		Kind: fault.Usage, Hint: "list the files that specs govern: ken spec ls --json",
		Err: errors.New("no such file or directory: " + parse.Quote(p.String())),
	}
}

// Owners returns for each path the nodes that govern it and the nodes that refer to it, in the order of nodes.
func Owners(nodes []*parse.Node, paths []repo.Path) []Ownership {
	code, related := parse.NewEntryIndex(nodes, parse.CodeOf), parse.NewEntryIndex(nodes, parse.RelatedOf)
	list := func(holdings []parse.NodeEntry) []Claim {
		claims := []Claim{}
		for _, h := range holdings {
			claims = append(claims, Claim{nodes[h.Node].ID, nodes[h.Node].Desc, h.Text})
		}
		return claims
	}
	out := []Ownership{}
	for _, p := range paths {
		out = append(out, Ownership{
			PathJSON: p.JSON(), Governing: list(code.Claims(p)), Related: list(related.Claims(p)), Unknown: unreadCode(nodes),
		})
	}
	return out
}

// unreadCode lists the nodes that may govern any path.
func unreadCode(nodes []*parse.Node) []fault.Unknown {
	list := []fault.Unknown{}
	for _, n := range nodes {
		if n.CodeUnknown != "" {
			list = append(list, fault.Unknown{What: n.ID, Why: n.CodeUnknown, Command: "ken spec show " + fault.Quote(n.ID)})
		}
	}
	return list
}
