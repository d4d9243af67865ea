package spec

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A Basis is the content that an ack was made for.
type Basis struct {
	Spec     repo.ID      // the node's spec file
	Governed fresh.Digest // what the node governs
}

// String returns the basis as it stands in a trailer.
func (b Basis) String() string { return b.Spec.String() + " " + b.Governed.String() }

// ParseBasis reads what String wrote.
func ParseBasis(s string) (Basis, error) {
	words := strings.Fields(s)
	if len(words) != 2 {
		return Basis{}, fmt.Errorf("basis %s: expected a content id and a digest", show(s))
	}
	var b Basis
	var err error
	if b.Spec, err = repo.ParseID(words[0]); err != nil {
		return Basis{}, fmt.Errorf("basis %s: %w", show(s), err)
	}
	if err := b.Governed.UnmarshalText([]byte(words[1])); err != nil {
		return Basis{}, fmt.Errorf("basis %s: %w", show(s), err)
	}
	return b, nil
}

// BasesAt returns the bases of acks of nodes that are made on top of head.
func BasesAt(ctx context.Context, nodes []*Node, at JudgedAt, h History, c Contents) ([]Basis, error) {
	head, ok := h.Find(at.Head)
	if !ok {
		return nil, fmt.Errorf("ack: commit %s is not in the history", at.Head)
	}
	d := newDerivation(nodes, h, head, c)
	for _, s := range d.studies {
		if d.govern(s); s.beyond != "" {
			return nil, fmt.Errorf("ack %s: %s", s.node.ID, s.beyond)
		}
		d.sheet.want(head, s.node.Path)
		for _, f := range s.files {
			d.sheet.want(head, f.path)
		}
	}
	if err := d.sheet.ask(ctx); err != nil {
		return nil, err
	}
	if d.sheet.err != nil {
		return nil, fmt.Errorf("ack: %w", d.sheet.err)
	}
	bases := make([]Basis, len(nodes))
	for i, s := range d.studies {
		bases[i] = Basis{Spec: d.sheet.at(head, s.node.Path), Governed: d.governedAt(s, head)}
		if bases[i].Spec.IsZero() {
			return nil, fmt.Errorf("ack %s: the spec is not committed", s.node.ID)
		}
	}
	return bases, nil
}

// GovernedDigest returns the digest of a set of governed files: the sha256 of a line
// for each, sorted by path, that has the path, a NUL, the content id in hex and a
// newline. Modes are not in it. Nor is a path with the zero ID, where there is
// nothing.
func GovernedDigest(files map[repo.Path]repo.ID) fresh.Digest {
	hash := sha256.New()
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if id := files[p]; !id.IsZero() {
			fmt.Fprintf(hash, "%s\x00%s\n", string(p), id)
		}
	}
	return fresh.Digest(hash.Sum(nil))
}

// governedAt returns the digest of what a node governs, in a commit whose contents
// were asked for.
func (d *derivation) governedAt(s *study, c repo.CommitNumber) fresh.Digest {
	set := make(map[repo.Path]repo.ID, len(s.files))
	for _, f := range s.files[:s.entries] {
		set[f.path] = d.sheet.at(c, f.path)
	}
	return GovernedDigest(set)
}
