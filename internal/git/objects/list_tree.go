package objects

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// ListTree calls f with each entry of a tree while git lists them. The sizes are set if args request them.
func (r Reader) ListTree(ctx context.Context, f func(repo.File) error, args ...string) error {
	args = append([]string{"ls-tree", "-z", "--full-tree"}, args...)
	return r.Git.Split(ctx, command.Call{Args: args}, func(text string) error {
		item, err := ParseTreeItem(text)
		if err != nil {
			return err
		}
		return f(item)
	})
}

// ParseTreeItem parses an entry of `git ls-tree -z`: mode, type, id, with -l the size padded
// with spaces, tab, path. The size of a blob that git does not have is -1.
func ParseTreeItem(text string) (repo.File, error) {
	what, path, tabbed := strings.Cut(text, "\t")
	word := strings.Fields(what)
	if !tabbed || len(word) != 3 && len(word) != 4 {
		return repo.File{}, fmt.Errorf("git ls-tree: cannot read %q", text)
	}
	mode, err := strconv.ParseUint(word[0], 8, 32)
	if err != nil {
		return repo.File{}, fmt.Errorf("git ls-tree: mode of %q: %w", path, err)
	}
	item := repo.File{Path: repo.Path(path), Mode: repo.Mode(mode)}
	if item.ID, err = repo.ParseID(word[2]); err != nil {
		return repo.File{}, fmt.Errorf("git ls-tree: id of %q: %w", path, err)
	}
	switch {
	case len(word) == 3 || word[3] == "-":
	case word[3] == "BAD":
		item.Size = -1
	default:
		if item.Size, err = strconv.ParseInt(word[3], 10, 64); err != nil {
			return repo.File{}, fmt.Errorf("git ls-tree: size of %q: %w", path, err)
		}
	}
	return item, nil
}
