package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/fault"
	"ken/internal/git/command"
	"ken/internal/repo"
)

// FirstParents calls f with the newest n commits of a branch, newest first: from head along first
// parents, each with its changes against the first parent. The changes of a merge are those that it
// brought to the branch. It runs git once.
//
// At the end of a shallow clone git takes a commit for a root commit that adds every file. Its real
// changes are unknown, so FirstParents leaves it out and returns cut = true.
func (r *Repo) FirstParents(ctx context.Context, head repo.ID, n int, f func(repo.Commit) error) (cut bool, err error) {
	options := []string{"--first-parent", "--diff-merges=first-parent", "--max-count=" + strconv.Itoa(n)}
	err = r.walk(ctx, strings.NewReader(head.String()+"\n"), options, walkFormat, nil, func(c repo.Commit) error {
		if len(c.Parents) == 0 {
			var err error
			if cut, err = r.cutOff(c.ID); err != nil || cut {
				return err
			}
		}
		return f(c)
	})
	if why, refused := errors.AsType[*command.Error](err); refused {
		err = &fault.Error{
			Hint: "if this is a partial clone, fetch what is missing: git fetch --refetch --no-filter",
			Err:  fmt.Errorf("walk the history of %s: %w", head.Short(), why),
		}
	}
	return cut, err
}
