package spec

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A HistoryRow is one version of a node.
type HistoryRow struct {
	Commit    repo.ID `json:"commit"`
	Date      string  `json:"date"`
	Subject   string  `json:"subject"`
	Session   *string `json:"session"`
	Additions *int    `json:"additions"` // of the spec file; null when they could not be counted
	Deletions *int    `json:"deletions"`
}

// History returns the versions of a node, newest first. One whose history does not
// reach back to its beginning is an error: the oldest could be missing.
func (r *Reader) History(ctx context.Context, id string) ([]HistoryRow, error) {
	f, err := r.factsOf(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.rows(ctx, f)
}

func (r *Reader) rows(ctx context.Context, f *Facts) ([]HistoryRow, error) {
	var commits []repo.ID
	var paths []repo.Path
	for _, v := range f.Versions {
		commits = append(commits, v.Commit)
		paths = append(paths, v.paths()...)
	}
	slices.Sort(paths)
	lines, err := r.past.Lines(ctx, commits, slices.Compact(paths))
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

// Diff returns what a version changed in the spec, as a patch. The version is named by
// the beginning of its commit's id, or as git would name the commit.
func (r *Reader) Diff(ctx context.Context, id, rev string) (repo.ID, string, error) {
	f, err := r.factsOf(ctx, id)
	if err != nil {
		return repo.ID{}, "", err
	}
	v, err := r.version(ctx, f, rev)
	if err != nil {
		return repo.ID{}, "", err
	}
	patch, err := r.past.Patch(ctx, v.Commit, v.paths())
	return v.Commit, patch, err
}

// leastPrefix is how much of an id is enough to name a commit.
const leastPrefix = 4

// version returns the version of a node that is meant.
func (r *Reader) version(ctx context.Context, f *Facts, rev string) (VersionRow, error) {
	var found []VersionRow
	for _, v := range f.Versions {
		if len(rev) >= leastPrefix && strings.HasPrefix(v.Commit.String(), strings.ToLower(rev)) {
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		named, ok, err := r.past.Resolve(ctx, rev)
		if err != nil {
			return VersionRow{}, err
		}
		for _, v := range f.Versions {
			if ok && v.Commit == named {
				found = append(found, v)
			}
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	what := "is not a version of"
	if len(found) > 1 {
		what = "matches several versions of"
	}
	return VersionRow{}, &fault.Error{
		Kind: fault.Usage, Hint: "list versions: ken spec history " + fault.Quote(f.Node.ID),
		Err: fmt.Errorf("%s %s %s", show(rev), what, f.Node.ID),
	}
}

// factsOf derives what git says about one node.
func (r *Reader) factsOf(ctx context.Context, id string) (*Facts, error) {
	nodes, err := r.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	head, err := r.past.Head(ctx)
	if err != nil {
		return nil, err
	}
	all, err := r.facts(ctx, nodes, head.Commit)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Node.ID != id {
			continue
		}
		for _, u := range all[i].Unknown {
			if u.Fact == FactVersion {
				return nil, fmt.Errorf("versions of %s unknown: %s", id, u.Reason)
			}
		}
		all[i].at = head.Commit
		return &all[i], nil
	}
	return nil, unknownNode(nodes, id)
}

// paths returns where the spec file lay in the version and, if that moved it, before.
func (v VersionRow) paths() []repo.Path { return append([]repo.Path{v.Path}, v.From...) }
