package git

import (
	"bytes"
	"context"
	"fmt"

	"ken/internal/git/history"
	"ken/internal/repo"
)

// fileMoves returns the moves that git finds in the commits, among the files that the filter follows,
// in one run of git. Other files cost no time and cannot be taken for the source of a move. The moves
// of a merge are those from each parent.
func (r *Repo) fileMoves(ctx context.Context, commits []repo.ID) ([]history.FileMove, error) {
	if len(commits) == 0 || r.filter.MoveName == "" {
		return nil, nil
	}
	var in bytes.Buffer
	for _, id := range commits {
		fmt.Fprintf(&in, "%s\n", id)
	}
	// In a commit with more than a thousand candidates git finds only moves without edits. That is
	// git's default limit.
	out, err := r.git().Read(ctx, &in, "diff-tree", "--stdin", "-m", "-r", "-M50%", "-l1000", "--raw", "-z", "--no-abbrev",
		"--no-ext-diff", "--no-textconv", "--no-color", "--no-notes", "--format=%H%x00", "--", string(r.filter.MoveDir))
	if err != nil {
		return nil, err
	}
	return history.ParseMoves(out, *r.filter)
}
