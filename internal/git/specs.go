package git

import (
	"context"
	"fmt"
	"strings"

	"ken/internal/repo"
	"ken/internal/spec"
)

// SpecsAt returns the spec files of a commit with their contents' ids. A commit
// that is zero has none; one that is not here is an error.
func (r *Repo) SpecsAt(ctx context.Context, commit repo.ID) (spec.Set, error) {
	if commit.IsZero() {
		return spec.Set{}, nil
	}
	out, err := r.read(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", commit.String(), "--", spec.Root+"/")
	if err != nil {
		return nil, fmt.Errorf("list the specs of %s: %w", commit.Short(), err)
	}
	return parseSpecs(out)
}

// parseSpecs reads `git ls-tree -r -z`: mode, type, id, tab, path, NUL.
func parseSpecs(out string) (spec.Set, error) {
	set := make(spec.Set)
	for len(out) > 0 {
		item, rest, ended := strings.Cut(out, "\x00")
		fields, name, tabbed := strings.Cut(item, "\t")
		part := strings.Split(fields, " ")
		if !ended || !tabbed || len(part) != 3 {
			return nil, fmt.Errorf("git ls-tree: cannot read %q", item)
		}
		out = rest
		path := repo.Path(name)
		if part[1] != "blob" || path.Base() != spec.FileName || part[0] == "120000" {
			continue // a link is no spec
		}
		id, err := repo.ParseID(part[2])
		if err != nil {
			return nil, fmt.Errorf("git ls-tree: %s: %w", path, err)
		}
		set[path] = id
	}
	return set, nil
}
