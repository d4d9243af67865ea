package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/docs"
	"ken/internal/repo"
)

// TreeAt lists the files of a commit, sorted by path, without their sizes, for which git
// would have to look at each of them.
func (r *Repo) TreeAt(ctx context.Context, commit repo.ID) ([]docs.File, error) {
	var files []docs.File
	s := &splitter{f: func(item string) error {
		what, path, ok := strings.Cut(item, "\t")
		words := strings.Split(what, " ")
		if !ok || len(words) != 3 {
			return fmt.Errorf("git ls-tree: cannot read %q", item)
		}
		mode, err := strconv.ParseUint(words[0], 8, 32)
		if err != nil {
			return fmt.Errorf("git ls-tree: mode of %q: %w", path, err)
		}
		id, err := repo.ParseID(words[2])
		files = append(files, docs.File{Path: repo.Path(path), ID: id, Mode: repo.Mode(mode)})
		return err
	}}
	args := []string{"ls-tree", "-r", "-z", "--full-tree", commit.String()}
	status, stderr, err := r.run(ctx, call{args: args, stdout: s})
	switch {
	case s.err != nil:
		return nil, s.err
	case err != nil:
		return nil, err
	case status != 0:
		return nil, r.failed(args, status, stderr)
	case len(s.rest) > 0:
		return nil, errors.New("git ls-tree: the answer breaks off")
	}
	return files, nil
}
