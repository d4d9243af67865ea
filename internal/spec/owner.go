package spec

import (
	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// Ownership lists the nodes that govern a path or refer to it.
type Ownership struct {
	repo.PathJSON
	Governing []Claim `json:"governing"`
	Related   []Claim `json:"related"`
}

// A Claim is a node with the entry that matches a path.
type Claim struct {
	ID    string `json:"id"`
	Desc  string `json:"desc"`
	Entry string `json:"entry"`
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
		out = append(out, Ownership{PathJSON: p.JSON(), Governing: list(code.Claims(p)), Related: list(related.Claims(p))})
	}
	return out
}
