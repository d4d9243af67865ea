package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/repo"
)

// A TreeFile is an entry of a commit's tree.
type TreeFile struct {
	Path repo.Path
	ID   repo.ID
	Mode repo.Mode
	Size int64 // of a blob, -1 when it is not here; 0 for others
}

// FilesAt lists the files of a commit, sorted by path.
func (r *Repo) FilesAt(ctx context.Context, commit repo.ID) ([]TreeFile, error) {
	files, err := r.listing(ctx, commit, "-l")
	if wouldFetch(err) {
		return r.partialFilesAt(ctx, commit)
	}
	return files, err
}

// partialFilesAt is FilesAt where some contents are not here.
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

// EntriesAt is FilesAt without sizes, so that contents that are not here do not matter.
func (r *Repo) EntriesAt(ctx context.Context, commit repo.ID) ([]TreeFile, error) {
	return r.listing(ctx, commit)
}

func (r *Repo) listing(ctx context.Context, commit repo.ID, options ...string) ([]TreeFile, error) {
	args := append([]string{"ls-tree", "-r", "-z", "--full-tree"}, options...)
	out, err := r.read(ctx, nil, append(args, commit.String())...)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", commit.Short(), err)
	}
	return parseListing(out)
}

// parseListing reads `git ls-tree -r -z`: mode, type, id, with -l the size padded with
// spaces, tab, path, NUL.
func parseListing(out string) ([]TreeFile, error) {
	var files []TreeFile
	for len(out) > 0 {
		item, rest, ended := strings.Cut(out, "\x00")
		fields, name, tabbed := strings.Cut(item, "\t")
		part := strings.Fields(fields)
		if !ended || !tabbed || len(part) < 3 || len(part) > 4 {
			return nil, fmt.Errorf("git ls-tree: cannot read %q", item)
		}
		out = rest
		mode, err := strconv.ParseUint(part[0], 8, 32)
		if err != nil {
			return nil, fmt.Errorf("git ls-tree: mode of %q: %w", name, err)
		}
		f := TreeFile{Path: repo.Path(name), Mode: repo.Mode(mode)}
		if f.ID, err = repo.ParseID(part[2]); err != nil {
			return nil, fmt.Errorf("git ls-tree: %w", err)
		}
		switch {
		case len(part) == 3 || part[3] == "-":
		case part[3] == "BAD":
			f.Size = -1
		default:
			if f.Size, err = strconv.ParseInt(part[3], 10, 64); err != nil {
				return nil, fmt.Errorf("git ls-tree: size of %q: %w", name, err)
			}
		}
		files = append(files, f)
	}
	return files, nil
}
