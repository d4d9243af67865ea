package registry

import (
	"context"

	"ken/internal/repo"
)

// RenamedFrom returns the earlier paths of files that were renamed since their summary was written.
// A file counts as renamed if git no longer tracks the path that its summary was written for.
func (r *Registry) RenamedFrom(ctx context.Context, paths []repo.Path) (map[repo.Path]repo.Path, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	known, err := r.Show(ctx, paths)
	if err != nil {
		return nil, err
	}
	from := make(map[repo.Path]repo.Path)
	var others []repo.Path
	for i := range known {
		k := &known[i]
		if k.WrittenFor == "" {
			continue
		}
		other, err := repo.PathJSON{Path: k.WrittenFor, B64: k.WrittenForB64}.Raw()
		if err != nil {
			return nil, err
		}
		from[paths[i]] = other
		others = append(others, other)
	}
	if len(others) == 0 {
		return nil, nil
	}
	now, err := r.Show(ctx, others)
	if err != nil {
		return nil, err
	}
	for i := range now {
		if now[i].untracked {
			continue
		}
		for path, other := range from {
			if other == others[i] {
				delete(from, path)
			}
		}
	}
	return from, nil
}
