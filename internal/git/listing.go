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
	Size int64 // of a blob; 0 for others
}

// FilesAt lists the files of a commit, sorted by path.
func (r *Repo) FilesAt(ctx context.Context, commit repo.ID) ([]TreeFile, error) {
	out, err := r.read(ctx, nil, "ls-tree", "-r", "-l", "-z", "--full-tree", commit.String())
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", commit.Short(), err)
	}
	return parseListing(out)
}

// parseListing reads `git ls-tree -r -l -z`: mode, type, id, size padded with spaces,
// tab, path, NUL.
func parseListing(out string) ([]TreeFile, error) {
	var files []TreeFile
	for len(out) > 0 {
		item, rest, ended := strings.Cut(out, "\x00")
		fields, name, tabbed := strings.Cut(item, "\t")
		part := strings.Fields(fields)
		if !ended || !tabbed || len(part) != 4 {
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
		if part[3] != "-" {
			if f.Size, err = strconv.ParseInt(part[3], 10, 64); err != nil {
				return nil, fmt.Errorf("git ls-tree: size of %q: %w", name, err)
			}
		}
		files = append(files, f)
	}
	return files, nil
}
