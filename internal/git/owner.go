package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"ken/internal/git/command"
)

// checkOwner refuses a repository of another user, as git does: another user must not be able to change
// the configuration of ken by putting a repository into a directory above. Root is the work tree, or the
// git directory of a bare repository.
//
// It checks the owners of the same files as git. If another user owns one of them, git decides, since
// safe.directory may allow the directory; then foreign is true.
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

// askWhetherSafe has git decide whether the repository at root may be used, and returns git's refusal.
// Git checks the owner, safe.directory and safe.bareRepository before it reads anything else. The user
// may also set safe.directory for a single command.
func askWhetherSafe(ctx context.Context, root string) error {
	git := command.Runner{Root: root}
	args := []string{"rev-parse", "--git-dir"}
	_, err := git.Output(ctx, command.Call{Args: args, Env: commandSettings(os.Environ())})
	return err
}
