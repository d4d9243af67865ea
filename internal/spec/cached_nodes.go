package spec

import (
	"context"

	"ken/internal/repo"
	"ken/internal/spec/parse"
)

const kindNodes = "nodes"

// cachedNodes are the nodes of a checkout without their bodies. They are valid while the stat digest of the spec
// files is the same. Reading them takes a fraction of the time that reading all spec files takes.
type cachedNodes struct {
	Stats repo.StatDigest
	Nodes []cachedNode // by path
}

// A cachedNode is a node as its spec file declares it, without the body.
type cachedNode struct {
	ID, Parent    string
	Path          repo.Path
	Title, Desc   string
	Declared      string
	Session       string
	Code, Related []parse.Entry
	Problems      []parse.Problem
	CodeUnknown   string
	Blob          repo.ID // the blob id of the file
	// DependsOnWatched is set for a node of a listing whose facts depend on listingInputs.Watched.
	DependsOnWatched bool
}

// newCachedNode returns the fields of a node that a listing needs, and the blob id of its file.
func newCachedNode(n *parse.Node, blob repo.ID) cachedNode {
	return cachedNode{
		ID: n.ID, Parent: n.Parent, Path: n.Path, Title: n.Title, Desc: n.Desc, Declared: n.Declared, Session: n.Session,
		Code: n.Code, Related: n.Related, Problems: n.Problems, CodeUnknown: n.CodeUnknown, Blob: blob,
	}
}

// node returns the node with the fields that a listing needs.
func (c *cachedNode) node() *parse.Node {
	return &parse.Node{
		ID: c.ID, Parent: c.Parent, Path: c.Path, Title: c.Title, Desc: c.Desc, Declared: c.Declared, Session: c.Session,
		Code: c.Code, Related: c.Related, Problems: c.Problems, CodeUnknown: c.CodeUnknown,
	}
}

// list returns the nodes.
func (c *cachedNodes) list() []*parse.Node {
	nodes := make([]*parse.Node, len(c.Nodes))
	for i := range c.Nodes {
		nodes[i] = c.Nodes[i].node()
	}
	return nodes
}

// cachedNodes returns the nodes of the checkout from the cache, if the spec files are certainly unchanged.
// Otherwise it reads the files. It caches the nodes unless the files may have changed meanwhile.
func (r *Reader) cachedNodes(ctx context.Context) (*cachedNodes, error) {
	var k cachedNodes
	if r.load(kindNodes, &k) && r.unchanged(ctx, k.Stats) {
		return &k, nil
	}
	files, stats, err := r.specs(ctx)
	if err != nil {
		return nil, err
	}
	nodes, err := parse.LoadContext(ctx, files)
	if err != nil {
		return nil, err
	}
	ids := r.blobIDs(files)
	made := &cachedNodes{Stats: stats}
	for _, n := range nodes {
		made.Nodes = append(made.Nodes, newCachedNode(n, ids[n.Path]))
	}
	if !stats.IsZero() {
		r.save(kindNodes, *made)
	}
	return made, nil
}

// nodesOrNone returns cachedNodes, or no nodes if the spec files cannot be read. It is for callers that ask git
// for the specs that are not among them.
func (r *Reader) nodesOrNone(ctx context.Context) *cachedNodes {
	k, err := r.cachedNodes(ctx)
	if err != nil {
		return &cachedNodes{}
	}
	return k
}

// blobIDs returns the blob id of each file.
func (r *Reader) blobIDs(files []repo.LoadedFile) map[repo.Path]repo.ID {
	ids := make(map[repo.Path]repo.ID, len(files))
	for _, f := range files {
		ids[f.Path] = r.blob(f)
	}
	return ids
}
