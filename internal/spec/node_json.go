package spec

import (
	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// NodeJSON is the content of a spec file, for JSON documents.
type NodeJSON struct {
	ID     string  `json:"id"`
	Parent *string `json:"parent"`
	repo.PathJSON
	Title    string          `json:"title"`
	Desc     string          `json:"desc"`
	Declared string          `json:"declared"` // the status in the frontmatter
	Code     []string        `json:"code"`
	Related  []string        `json:"related"`
	Problems []parse.Problem `json:"problems"`
}

// nodeJSON returns the node for JSON documents.
func nodeJSON(n *parse.Node) NodeJSON {
	d := NodeJSON{
		ID: n.ID, PathJSON: n.Path.JSON(), Title: n.Title, Desc: n.Desc, Declared: n.Declared,
		Code: []string{}, Related: []string{}, Problems: append([]parse.Problem{}, n.Problems...),
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
