package git

import (
	"bytes"
	"context"
	"fmt"

	"ken/internal/git/history"
	"ken/internal/repo"
)

// fileMoves returns the moves of files that the filter follows, as git finds them in some commits, in
// one run. It looks at nothing else, so that what else a commit moved costs
// nothing and takes no such file's place. For a merge they are those against each parent.
func (r *Repo) fileMoves(ctx context.Context, commits []repo.ID) ([]history.FileMove, error) {
	if len(commits) == 0 || r.filter.MoveName == "" {
		return nil, nil
	}
	var in bytes.Buffer
	for _, id := range commits {
		fmt.Fprintf(&in, "%s\n", id)
	}
	// Beyond a thousand moves with edits in one commit only those without are found,
	// as git has it where nobody set another limit.
	out, err := r.read(ctx, &in, "diff-tree", "--stdin", "-m", "-r", "-M50%", "-l1000", "--raw", "-z", "--no-abbrev",
		"--no-ext-diff", "--no-textconv", "--no-color", "--no-notes", "--format=%H%x00", "--", string(r.filter.MoveDir))
	if err != nil {
		return nil, err
	}
	return history.ParseMoves(out, *r.filter)
}
