package spec

import "ken/internal/repo"

// Described is a node as documents show it: what its file says.
type Described struct {
	ID     string  `json:"id"`
	Parent *string `json:"parent"`
	repo.PathJSON
	Title    string    `json:"title"`
	Desc     string    `json:"desc"`
	Declared string    `json:"declared"` // the status it claims
	Code     []string  `json:"code"`
	Related  []string  `json:"related"`
	Problems []Problem `json:"problems"`
}

// Describe returns the node as documents show it.
func (n *Node) Describe() Described {
	d := Described{
		ID: n.ID, PathJSON: n.Path.JSON(), Title: n.Title, Desc: n.Desc, Declared: n.Declared,
		Code: []string{}, Related: []string{}, Problems: append([]Problem{}, n.Problems...),
	}
	if n.Parent != "" {
		d.Parent = &n.Parent
	}
	for _, e := range n.Code {
		d.Code = append(d.Code, e.Text)
	}
	for _, e := range n.Related {
		d.Related = append(d.Related, e.Text)
	}
	return d
}
