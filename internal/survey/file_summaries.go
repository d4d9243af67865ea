package survey

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store"
)

// WriteFileSummaries records summaries of files of a directory, for the contents of a basis. It returns the files
// that it refused, sorted, each with the reason.
func WriteFileSummaries(ctx context.Context, reg *registry.Registry, author string, dir repo.Path, basis store.DirBasis, texts map[repo.Path]string) (refused []string, err error) {
	var updates []registry.Update
	texts = maps.Clone(texts)
	for _, f := range basis.Files {
		path := repo.Path(f.Name)
		if dir != "" {
			path = dir + "/" + path
		}
		if text, ok := texts[path]; ok {
			updates = append(updates, registry.Update{Path: path, Text: text, Read: f.ID.String(), Author: author})
			delete(texts, path)
		}
	}
	for path := range texts {
		refused = append(refused, fmt.Sprintf("%s (not one of its files)", path))
	}
	if len(updates) > 0 {
		var written []registry.WriteResult
		written, err = reg.Write(ctx, updates)
		for i, u := range written {
			if u.Result == registry.Rejected {
				refused = append(refused, fmt.Sprintf("%s (%s)", updates[i].Path, u.Reason))
			}
		}
	}
	slices.Sort(refused)
	return refused, err
}
