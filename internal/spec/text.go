package spec

import (
	"context"
	"slices"

	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// Text returns the spec with an id and the whole text of its file, including the frontmatter. Lines end in \n.
// Text beyond the size limit of a spec is left out.
func (r *Reader) Text(ctx context.Context, id string) (*parse.Node, string, error) {
	files, _, err := r.specs(ctx)
	if err != nil {
		return nil, "", err
	}
	nodes := parse.Load(files)
	i := slices.IndexFunc(nodes, func(n *parse.Node) bool { return n.ID == id })
	if i < 0 {
		return nil, "", unknownNode(nodes, id)
	}
	at := slices.IndexFunc(files, func(f repo.LoadedFile) bool { return f.Path == nodes[i].Path })
	return nodes[i], new(parse.Node).Decode(files[at].Content), nil
}
