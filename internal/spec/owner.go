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

// Owners says which nodes govern a path and which refer to it, in the order of
// the nodes.
func Owners(nodes []*Node, path repo.Path) Ownership {
	o := Ownership{PathJSON: path.JSON(), Governing: []Claim{}, Related: []Claim{}}
	for _, n := range nodes {
		if e, ok := claims(n.Code, path); ok {
			o.Governing = append(o.Governing, Claim{n.ID, n.Desc, e.Text})
		}
		if e, ok := claims(n.Related, path); ok {
			o.Related = append(o.Related, Claim{n.ID, n.Desc, e.Text})
		}
	}
	return o
}

// claims returns the first entry that names the path.
func claims(entries []Entry, path repo.Path) (Entry, bool) {
	for _, e := range entries {
		if e.Matches(path) {
			return e, true
		}
	}
	return Entry{}, false
}
