package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ken/internal/git/command"
	"ken/internal/git/objects"
	"ken/internal/repo"
)

// mergeFiles merges single files, for versions of git whose merge-tree is too old. It can merge a file
// that has the same path in both parents and in their only merge base. Other cases are unknown: more
// than one base, more than two parents, a moved file.
func (r *Repo) mergeFiles(ctx context.Context, m *merge, byGit map[mergedPath]bool, unknown map[mergedPath]error) {
	base, err := r.onlyBase(ctx, m)
	for _, p := range m.paths {
		at := mergedPath{m.commit, p}
		if err != nil {
			unknown[at] = err
			continue
		}
		is, err := r.mergeFile(ctx, m, base, p)
		if err != nil {
			unknown[at] = err
			continue
		}
		byGit[at] = is
	}
}

// onlyBase returns the merge base of a merge of two parents.
func (r *Repo) onlyBase(ctx context.Context, m *merge) (repo.ID, error) {
	if len(m.parents) != 2 {
		return repo.ID{}, errOldGit
	}
	out, found, err := r.git().Probe(ctx, "merge-base", "--all", m.parents[0].String(), m.parents[1].String())
	if err != nil {
		return repo.ID{}, err
	}
	bases := strings.Fields(out)
	if !found || len(bases) != 1 {
		return repo.ID{}, errOldGit
	}
	return repo.ParseID(bases[0])
}

// mergeFile reports whether git merges a file to the content in the merge commit.
func (r *Repo) mergeFile(ctx context.Context, m *merge, base repo.ID, path repo.Path) (bool, error) {
	var places []repo.CommitPath
	for _, c := range []repo.ID{m.parents[0], base, m.parents[1], m.commit} {
		places = append(places, repo.CommitPath{Commit: c, Path: path})
	}
	ids, err := r.objects().IDsAt(ctx, distinct(places), nil)
	if err != nil {
		return false, err
	}
	at := make(map[repo.ID]repo.ID)
	for i, p := range distinct(places) {
		at[p.Commit] = ids[i]
	}
	was, result := at[base], at[m.commit]
	ours, theirs := at[m.parents[0]], at[m.parents[1]]
	switch {
	case was.IsZero() || ours.IsZero() || theirs.IsZero():
		return false, errOldGit // it may have been moved
	case ours == theirs || was == theirs:
		return result == ours, nil
	case was == ours:
		return result == theirs, nil
	}
	return r.mergesTo(ctx, []repo.ID{ours, was, theirs}, result)
}

// mergesTo reports whether git merge-file merges three contents to a fourth without a conflict.
func (r *Repo) mergesTo(ctx context.Context, three []repo.ID, result repo.ID) (bool, error) {
	contents, err := r.Blobs(ctx, three)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp(r.root, "file-")
	if err != nil {
		return false, err
	}
	args := []string{"merge-file", "-p", "-q"}
	for i, content := range contents {
		if len(content) >= objects.MaxBlob {
			return false, fmt.Errorf("%s is too large to be merged again", three[i].Short())
		}
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return false, err
		}
		args = append(args, name)
	}
	out, status, stderr, err := r.git().Collect(ctx, command.Call{Args: args, Env: withoutConfig})
	switch {
	case err != nil:
		return false, err
	case status == 0:
		return r.format.Blob([]byte(out)) == result, nil
	case status < 128 || strings.Contains(stderr, "binary"):
		return false, nil // a conflict
	}
	return false, r.git().Failed(args, status, stderr)
}
