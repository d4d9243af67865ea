package git

import (
	"context"
	"strconv"
	"strings"

	"ken/internal/repo"
)

// Recent lists the newest commits that head reaches, at most limit, without merges. cut says
// that the clone is shallow, so older commits may be missing.
func (r *Repo) Recent(ctx context.Context, head repo.ID, limit int) (ids []repo.ID, cut bool, err error) {
	out, err := r.git().Read(ctx, nil, "rev-list", "--no-merges", "-n", strconv.Itoa(limit), head.String(), "--")
	if err != nil {
		return nil, false, err
	}
	for line := range strings.Lines(out) {
		id, err := repo.ParseID(strings.TrimSpace(line))
		if err != nil {
			return nil, false, err
		}
		ids = append(ids, id)
	}
	shallow, err := r.optionalFile("shallow")
	return ids, shallow != "" && len(ids) < limit, err
}

// Commits calls f with each commit and its changes, in any order. The date is the committer date: a commit
// can come to a branch long after its author wrote it.
func (r *Repo) Commits(ctx context.Context, ids []repo.ID, f func(repo.Commit) error) error {
	var revisions strings.Builder
	for _, id := range ids {
		revisions.WriteString(id.String() + "\n")
	}
	format := strings.Replace(walkFormat, "%aI", "%cI", 1)
	return r.walk(ctx, strings.NewReader(revisions.String()), []string{"--no-walk=unsorted"}, format, nil, f)
}
