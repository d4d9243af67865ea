package spec

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// A HistoryRow is one version of a node.
type HistoryRow struct {
	Commit    repo.ID `json:"commit"`
	Date      string  `json:"date"`
	Subject   string  `json:"subject"`
	Session   *string `json:"session"`
	Additions *int    `json:"additions"` // lines of the spec file; null if git could not count them
	Deletions *int    `json:"deletions"`
}

// History returns the versions of a spec, newest first. It returns an error if the history is incomplete, because
// the oldest versions could be missing.
func (r *Reader) History(ctx context.Context, id string) ([]HistoryRow, error) {
	f, _, err := r.factsOf(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.rows(ctx, f)
}

func (r *Reader) rows(ctx context.Context, f *derive.Facts) ([]HistoryRow, error) {
	var commits []repo.ID
	var paths []repo.Path
	for _, v := range f.Versions {
		commits = append(commits, v.Commit)
		paths = append(paths, versionPaths(v)...)
	}
	slices.Sort(paths)
	lines, err := r.ws.Git.Lines(ctx, commits, slices.Compact(paths))
	if err != nil {
		return nil, err
	}
	rows := []HistoryRow{}
	for _, v := range f.Versions {
		row := HistoryRow{Commit: v.Commit, Date: v.Date, Subject: v.Subject, Session: v.Session}
		if n, ok := lines[v.Commit][v.Path]; ok {
			row.Additions, row.Deletions = &n.Added, &n.Deleted
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Diff returns the change of a spec in one version, as a patch. prefix is the beginning of the commit id.
func (r *Reader) Diff(ctx context.Context, id, prefix string) (repo.ID, string, error) {
	f, _, err := r.factsOf(ctx, id)
	if err != nil {
		return repo.ID{}, "", err
	}
	v, err := version(f, prefix)
	if err != nil {
		return repo.ID{}, "", err
	}
	patch, err := r.ws.Git.Patch(ctx, v.Commit, versionPaths(v))
	return v.Commit, patch, err
}

// minPrefix is the minimal length of an abbreviated commit id.
const minPrefix = 4

// version returns the version of a node whose commit id begins with prefix.
func version(f *derive.Facts, prefix string) (derive.VersionRow, error) {
	var found []derive.VersionRow
	for _, v := range f.Versions {
		if len(prefix) >= minPrefix && strings.HasPrefix(v.Commit.String(), prefix) {
			found = append(found, v)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	what := "is not a version of"
	if len(found) > 1 {
		what = "matches several versions of"
	}
	return derive.VersionRow{}, &fault.Error{
		Kind: fault.Usage, Hint: "list versions: ken spec history " + fault.Quote(f.Node.ID),
		Err: fmt.Errorf("%s %s %s", parse.Quote(prefix), what, f.Node.ID),
	}
}

// factsOf returns the facts about one node at HEAD, and HEAD.
func (r *Reader) factsOf(ctx context.Context, id string) (f *derive.Facts, head repo.ID, err error) {
	nodes, err := r.Nodes(ctx)
	if err != nil {
		return nil, head, err
	}
	at, err := r.ws.Git.Head(ctx)
	if err != nil {
		return nil, head, err
	}
	i := slices.IndexFunc(nodes, func(n *parse.Node) bool { return n.ID == id })
	if i < 0 {
		return nil, head, unknownNode(nodes, id)
	}
	found, err := r.factsWith(ctx, nodes[i:i+1], nodes, r.deriveOptions(at.Commit))
	if err != nil {
		return nil, head, err
	}
	for _, u := range found[0].Unknown {
		if u.What == derive.FactVersion {
			return nil, head, fmt.Errorf("versions of %s unknown: %s", id, u.Why)
		}
	}
	return &found[0], at.Commit, nil
}

// versionPaths returns the path of the spec file in a version and, if the commit moved it, the path before.
func versionPaths(v derive.VersionRow) []repo.Path { return append([]repo.Path{v.Path}, v.From...) }
