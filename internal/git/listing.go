package git

import (
	"context"
	"fmt"

	"ken/internal/git/objects"
	"ken/internal/repo"
)

// FilesAt lists the files of a commit with their modes and sizes, sorted by path. The size of a blob that git does not
// have is -1, that of a submodule 0.
func (r *Repo) FilesAt(ctx context.Context, commit repo.ID) ([]repo.File, error) {
	files, err := r.filesAt(ctx, commit, "-r", "-l", commit.String())
	if objects.WouldFetch(err) {
		return r.partialFilesAt(ctx, commit)
	}
	return files, err
}

// partialFilesAt is FilesAt for a clone without some of the contents.
func (r *Repo) partialFilesAt(ctx context.Context, commit repo.ID) ([]repo.File, error) {
	files, err := r.EntriesAt(ctx, commit)
	if err != nil {
		return nil, err
	}
	var blobs []*repo.File
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
func (r *Repo) EntriesAt(ctx context.Context, commit repo.ID) ([]repo.File, error) {
	return r.filesAt(ctx, commit, "-r", commit.String())
}

func (r *Repo) filesAt(ctx context.Context, commit repo.ID, args ...string) (files []repo.File, err error) {
	err = r.objects().ListTree(ctx, func(f repo.File) error {
		files = append(files, f)
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
	err := r.objects().ListTree(ctx, func(f repo.File) error {
		if f.Mode.SameType(repo.Regular) && f.Path.Base() == name {
			files[f.Path] = f.ID
		}
		return nil
	}, "-r", commit.String(), "--", string(dir)+"/")
	if err != nil {
		return nil, fmt.Errorf("list the files %s of %s: %w", dir+"/**/"+repo.Path(name), commit.Short(), err)
	}
	return files, nil
}
