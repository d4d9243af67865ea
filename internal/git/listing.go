package git

import (
	"context"
	"fmt"

	"ken/internal/git/objects"
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
	if objects.WouldFetch(err) {
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
	err = r.objects().ListTree(ctx, func(item objects.TreeItem) error {
		files = append(files, TreeFile{Path: item.Path, ID: item.ID, Mode: item.Mode, Size: item.Size})
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
	err := r.objects().ListTree(ctx, func(item objects.TreeItem) error {
		if item.Kind == "blob" && item.Mode != repo.Symlink && item.Path.Base() == name {
			files[item.Path] = item.ID
		}
		return nil
	}, "-r", commit.String(), "--", string(dir)+"/")
	if err != nil {
		return nil, fmt.Errorf("list the files %s of %s: %w", dir+"/**/"+repo.Path(name), commit.Short(), err)
	}
	return files, nil
}
