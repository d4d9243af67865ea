package derive

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// A Basis is the content that an ack was made for.
type Basis struct {
	Spec     repo.ID      // the blob id of the spec file
	Governed fresh.Digest // the digest of the governed files
}

// String returns the basis as it is written in a trailer.
func (b Basis) String() string { return b.Spec.String() + " " + b.Governed.String() }

// ParseBasis parses the result of String.
func ParseBasis(s string) (Basis, error) {
	words := strings.Fields(s)
	if len(words) != 2 {
		return Basis{}, fmt.Errorf("basis %s: expected a content id and a digest", parse.Quote(s))
	}
	var b Basis
	var err error
	if b.Spec, err = repo.ParseID(words[0]); err != nil {
		return Basis{}, fmt.Errorf("basis %s: %w", parse.Quote(s), err)
	}
	if err := b.Governed.UnmarshalText([]byte(words[1])); err != nil {
		return Basis{}, fmt.Errorf("basis %s: %w", parse.Quote(s), err)
	}
	return b, nil
}

// BasesAt returns the bases for acks of nodes on top of a commit.
func BasesAt(ctx context.Context, nodes []*parse.Node, at Options, h History, c Contents) ([]Basis, error) {
	head, ok := h.Find(at.Head)
	if !ok {
		return nil, fmt.Errorf("ack: commit %s is not in the history", at.Head)
	}
	d := newDerivation(nodes, h, head, c)
	for _, s := range d.states {
		if d.govern(s); s.limitReason != "" {
			return nil, fmt.Errorf("ack %s: %s", s.node.ID, s.limitReason)
		}
		d.blobs.Request(head, s.node.Path)
		for _, f := range s.files {
			d.blobs.Request(head, f.path)
		}
	}
	if err := d.blobs.Fetch(ctx); err != nil {
		return nil, err
	}
	if d.blobs.Err != nil {
		return nil, fmt.Errorf("ack: %w", d.blobs.Err)
	}
	bases := make([]Basis, len(nodes))
	for i, s := range d.states {
		bases[i] = Basis{Spec: d.blobs.At(head, s.node.Path), Governed: d.governedAt(s, head)}
		if bases[i].Spec.IsZero() {
			return nil, fmt.Errorf("ack %s: the spec is not committed", s.node.ID)
		}
	}
	return bases, nil
}

// GovernedDigest returns the digest of a set of governed files. It is the SHA-256 of one line per file, sorted by
// path: the path, a NUL, the content id in hex and a newline. It does not cover modes, nor paths with the zero ID,
// which do not exist.
func GovernedDigest(files map[repo.Path]repo.ID) fresh.Digest {
	hash := sha256.New()
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if id := files[p]; !id.IsZero() {
			fmt.Fprintf(hash, "%s\x00%s\n", string(p), id)
		}
	}
	return fresh.Digest(hash.Sum(nil))
}

// governedAt returns the digest of the files that a node governs in a commit whose contents were requested.
func (d *derivation) governedAt(s *nodeState, c repo.CommitNumber) fresh.Digest {
	set := make(map[repo.Path]repo.ID, len(s.files))
	for _, f := range s.files[:s.entries] {
		set[f.path] = d.blobs.At(c, f.path)
	}
	return GovernedDigest(set)
}
