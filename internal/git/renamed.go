package git

import (
	"context"
	"fmt"
	"slices"

	"ken/internal/repo"
)

// Renamed finds the new paths of files that are no longer tracked: for each path the tracked
// paths that git takes for the same file, sorted. If a commit removed a file, its new path is the file of that
// commit that git finds at least half similar. Renamed follows it through later commits, and the index as
// the last step. Only commits that HEAD reaches count. Paths without a new path are left out.
//
// A shallow clone hides renames before its first commits.
func (r *Repo) Renamed(ctx context.Context, s *repo.Snapshot, gone []repo.Path) (map[repo.Path][]repo.Path, error) {
	head := s.Head.Commit
	if head.IsZero() || len(gone) == 0 {
		return nil, nil
	}
	staged, err := r.stagedRenames(ctx, s)
	if err != nil {
		return nil, err
	}
	history, err := r.History(ctx, []repo.ID{head})
	if err != nil {
		return nil, err
	}
	f := &renameChain{repo: r, history: history, reached: history.ReachedFrom(head), steps: staged, asked: map[repo.Path]bool{}}
	if err := f.follow(ctx, gone, s.Index.Entries); err != nil {
		return nil, err
	}
	went := make(map[repo.Path][]repo.Path)
	for _, path := range gone {
		if to := f.ends(path, s.Index.Entries); len(to) > 0 {
			went[path] = to
		}
	}
	return went, nil
}

// stagedRenames lists the renames between HEAD and the index.
func (r *Repo) stagedRenames(ctx context.Context, s *repo.Snapshot) (map[repo.Path][]repo.Path, error) {
	renames := make(map[repo.Path][]repo.Path)
	tree, ok, err := r.Tree(ctx, s.Head.Commit)
	if err != nil || ok && tree == s.Index.Tree {
		return renames, err
	}
	out, err := r.git().Read(ctx, nil, "diff-index", "--cached", "-z", "--name-status", "-M50%", "-l1000", "--diff-filter=R", "--no-relative",
		"--ignore-submodules=none", "--no-ext-diff", "--no-textconv", s.Head.Commit.String(), "--")
	if err != nil {
		return nil, fmt.Errorf("list what is staged as renamed: %w", err)
	}
	items, err := parsePaths("diff-index", out)
	if err != nil {
		return nil, err
	}
	if len(items)%3 != 0 {
		return nil, fmt.Errorf("git diff-index: truncated output")
	}
	for rename := range slices.Chunk(items, 3) {
		from, to := rename[1], rename[2]
		renames[from] = append(renames[from], to)
	}
	return renames, nil
}

// ReachedFrom reports for each commit by number whether head reaches it; head reaches itself. It returns nil if
// the history does not have head.
func (h *History) ReachedFrom(head repo.ID) []bool {
	n, ok := h.Find(head)
	if !ok {
		return nil
	}
	reached := make([]bool, n+1)
	reached[n] = true
	lines := h.Parents()
	for c := n; c >= 0; c-- {
		if !reached[c] {
			continue
		}
		for _, parent := range lines.Of(c) {
			reached[parent] = true
		}
	}
	return reached
}

// A renameChain follows files through renames.
type renameChain struct {
	repo    *Repo
	history *History
	reached []bool
	steps   map[repo.Path][]repo.Path // the next paths of each path
	asked   map[repo.Path]bool
}

// follow finds the next paths, step by step, until they are tracked.
func (r *renameChain) follow(ctx context.Context, paths []repo.Path, entries []repo.Entry) error {
	for len(paths) > 0 {
		left := make(map[repo.ID][]repo.Path) // by the commit that removed them
		var commits []repo.ID
		for _, path := range paths {
			if r.asked[path] {
				continue
			}
			r.asked[path] = true
			for _, id := range r.removals(path) {
				if left[id] == nil {
					commits = append(commits, id)
				}
				left[id] = append(left[id], path)
			}
		}
		removals, err := r.repo.Removals(ctx, commits)
		if err != nil {
			return fmt.Errorf("find renames: %w", err)
		}
		for i, list := range removals {
			for _, d := range list {
				if d.MovedTo != "" && slices.Contains(left[commits[i]], d.Path) {
					r.steps[d.Path] = append(r.steps[d.Path], d.MovedTo)
				}
			}
		}
		var next []repo.Path
		for _, path := range paths {
			for _, to := range r.steps[path] {
				if _, tracked := repo.FindEntry(entries, to); !tracked {
					next = append(next, to)
				}
			}
		}
		paths = slices.DeleteFunc(next, func(p repo.Path) bool { return r.asked[p] })
	}
	return nil
}

// removals lists the commits that removed a path.
func (r *renameChain) removals(path repo.Path) []repo.ID {
	var list []repo.ID
	for _, touch := range r.history.Touching(path) {
		if touch.Kind == repo.Deleted && r.reaches(touch.Commit) {
			list = append(list, r.history.Commit(touch.Commit).ID)
		}
	}
	return list
}

func (r *renameChain) reaches(n repo.CommitNumber) bool {
	return int(n) < len(r.reached) && r.reached[n]
}

// ends returns the tracked paths at the ends of the steps from a path, sorted.
func (r *renameChain) ends(path repo.Path, entries []repo.Entry) []repo.Path {
	var ends []repo.Path
	seen := map[repo.Path]bool{path: true}
	for next := []repo.Path{path}; len(next) > 0; next = next[1:] {
		for _, to := range r.steps[next[0]] {
			if seen[to] {
				continue
			}
			seen[to] = true
			if _, tracked := repo.FindEntry(entries, to); tracked {
				ends = append(ends, to)
			} else {
				next = append(next, to)
			}
		}
	}
	slices.Sort(ends)
	return ends
}
