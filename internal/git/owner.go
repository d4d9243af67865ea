package git

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// checkOwner refuses a repository that belongs to another user, as git does: nobody should obey
// a configuration because somebody else has put it into a directory above. Root is the work tree,
// or the git directory where there is none.
//
// It looks at the owners of all that git looks at. If one of them is another user, git decides,
// because the user may have called the directory safe; then foreign is true.
func checkOwner(ctx context.Context, root, gitDir string) (foreign bool, err error) {
	files := []string{root, gitDir}
	if root != gitDir {
		files = append(files, filepath.Join(root, ".git")) // a directory, a file or a link
	}
	if !slices.ContainsFunc(files, func(f string) bool { return !ownedByUser(f) }) {
		return false, nil
	}
	return true, askWhetherSafe(ctx, root)
}

// askWhetherSafe has git decide whether the repository at root may be used, and returns its
// refusal. Git looks at the owner, at safe.directory and at safe.bareRepository, before it reads
// anything of the repository. The user may also call a directory safe for one command.
func askWhetherSafe(ctx context.Context, root string) error {
	r := &Repo{root: root}
	args := []string{"rev-parse", "--git-dir"}
	status, stderr, err := r.run(ctx, call{args: args, stdout: io.Discard, env: commandSettings(os.Environ())})
	if err == nil && status != 0 {
		err = r.failed(args, status, stderr)
	}
	return err
}
