package spec

import (
	"context"
	"slices"

	"ken/internal/repo"
)

// Text returns the node of an id together with the whole text of its file, its
// frontmatter included, as far as a file is read; lines end in \n.
func (r *Reader) Text(ctx context.Context, id string) (*Node, string, error) {
	files, _, err := r.src.Specs(ctx)
	if err != nil {
		return nil, "", err
	}
	nodes := Load(files)
	i := slices.IndexFunc(nodes, func(n *Node) bool { return n.ID == id })
	if i < 0 {
		return nil, "", unknownNode(nodes, id)
	}
	at := slices.IndexFunc(files, func(f repo.LoadedFile) bool { return f.Path == nodes[i].Path })
	return nodes[i], new(Node).decode(files[at].Content), nil
}
