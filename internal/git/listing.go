package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// A TreeFile is an entry of a commit's tree.
type TreeFile struct {
	Path repo.Path
	ID   repo.ID
	Mode repo.Mode
	Size int64 // of a blob, -1 if git does not have it; 0 for other entries
}

// FilesAt lists the files of a commit, sorted by path.
func (r *Repo) FilesAt(ctx context.Context, commit repo.ID) ([]TreeFile, error) {
	files, err := r.filesAt(ctx, commit, "-r", "-l", commit.String())
	if wouldFetch(err) {
		return r.partialFilesAt(ctx, commit)
	}
	return files, err
}

// partialFilesAt is FilesAt for a clone without some of the contents.
func (r *Repo) partialFilesAt(ctx context.Context, commit repo.ID) ([]TreeFile, error) {
	files, err := r.EntriesAt(ctx, commit)
	if err != nil {
		return nil, err
	}
	var blobs []*TreeFile
	var ids []repo.ID
	for i := range files {
		if f := &files[i]; f.Mode != repo.Gitlink {
			blobs, ids = append(blobs, f), append(ids, f.ID)
		}
	}
	sizes, err := r.Sizes(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", commit.Short(), err)
	}
	for i, f := range blobs {
		f.Size = sizes[i]
	}
	return files, nil
}

// EntriesAt is FilesAt without sizes. It does not need the contents.
func (r *Repo) EntriesAt(ctx context.Context, commit repo.ID) ([]TreeFile, error) {
	return r.filesAt(ctx, commit, "-r", commit.String())
}

func (r *Repo) filesAt(ctx context.Context, commit repo.ID, args ...string) (files []TreeFile, err error) {
	err = r.lsTree(ctx, func(item treeItem) error {
		files = append(files, TreeFile{Path: item.path, ID: item.id, Mode: item.mode, Size: item.size})
		return nil
	}, args...)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", commit.Short(), err)
	}
	return files, nil
}

// FilesNamed returns the regular files of a commit with a name, below a directory, with their content
// ids. A zero commit has none. A missing commit is an error.
func (r *Repo) FilesNamed(ctx context.Context, commit repo.ID, dir repo.Path, name string) (map[repo.Path]repo.ID, error) {
	files := make(map[repo.Path]repo.ID)
	if commit.IsZero() {
		return files, nil
	}
	err := r.lsTree(ctx, func(item treeItem) error {
		if item.kind == "blob" && item.mode != repo.Symlink && item.path.Base() == name {
			files[item.path] = item.id
		}
		return nil
	}, "-r", commit.String(), "--", string(dir)+"/")
	if err != nil {
		return nil, fmt.Errorf("list the files %s of %s: %w", dir+"/**/"+repo.Path(name), commit.Short(), err)
	}
	return files, nil
}

// A treeItem is an entry of a tree.
type treeItem struct {
	path repo.Path
	mode repo.Mode
	kind string // blob, commit or, if requested, tree
	id   repo.ID
	size int64 // of a blob, if requested; -1 if git does not have it
}

// lsTree calls f with each entry of a tree while git lists them.
func (r *Repo) lsTree(ctx context.Context, f func(treeItem) error, args ...string) error {
	args = append([]string{"ls-tree", "-z", "--full-tree"}, args...)
	return r.git().Split(ctx, command.Call{Args: args}, func(text string) error {
		item, err := parseTreeItem(text)
		if err != nil {
			return err
		}
		return f(item)
	})
}

// parseTreeItem parses an entry of `git ls-tree -z`: mode, type, id, with -l the size padded
// with spaces, tab, path.
func parseTreeItem(text string) (treeItem, error) {
	what, path, tabbed := strings.Cut(text, "\t")
	word := strings.Fields(what)
	if !tabbed || len(word) != 3 && len(word) != 4 {
		return treeItem{}, fmt.Errorf("git ls-tree: cannot read %q", text)
	}
	mode, err := strconv.ParseUint(word[0], 8, 32)
	if err != nil {
		return treeItem{}, fmt.Errorf("git ls-tree: mode of %q: %w", path, err)
	}
	item := treeItem{path: repo.Path(path), mode: repo.Mode(mode), kind: word[1]}
	if item.id, err = repo.ParseID(word[2]); err != nil {
		return treeItem{}, fmt.Errorf("git ls-tree: id of %q: %w", path, err)
	}
	switch {
	case len(word) == 3 || word[3] == "-":
	case word[3] == "BAD":
		item.size = -1
	default:
		if item.size, err = strconv.ParseInt(word[3], 10, 64); err != nil {
			return treeItem{}, fmt.Errorf("git ls-tree: size of %q: %w", path, err)
		}
	}
	return item, nil
}
