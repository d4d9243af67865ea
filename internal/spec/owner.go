package spec

import "ken/internal/repo"

// Ownership is who has a say about a path.
type Ownership struct {
	repo.PathJSON
	Governing []Claim `json:"governing"`
	Related   []Claim `json:"related"`
}

// A Claim is a node's word about a path, and the entry that says so.
type Claim struct {
	ID    string `json:"id"`
	Desc  string `json:"desc"`
	Entry string `json:"entry"`
}

// Owners says of each path which nodes govern it and which refer to it, in the order
// of the nodes.
func Owners(nodes []*Node, paths []repo.Path) []Ownership {
	code, related := newEntryIndex(nodes, codeOf), newEntryIndex(nodes, relatedOf)
	list := func(holdings []holding) []Claim {
		claims := []Claim{}
		for _, h := range holdings {
			claims = append(claims, Claim{nodes[h.node].ID, nodes[h.node].Desc, h.Text})
		}
		return claims
	}
	out := []Ownership{}
	for _, p := range paths {
		out = append(out, Ownership{PathJSON: p.JSON(), Governing: list(code.claims(p)), Related: list(related.claims(p))})
	}
	return out
}
