package remerge

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
func (s *scratch) mergeFiles(ctx context.Context, m *Merge, byGit map[repo.CommitPath]bool, unknown map[repo.CommitPath]error) {
	base, err := s.onlyBase(ctx, m)
	for _, p := range m.Paths {
		at := repo.CommitPath{Commit: m.Commit, Path: p}
		if err != nil {
			unknown[at] = err
			continue
		}
		is, err := s.mergeFile(ctx, m, base, p)
		if err != nil {
			unknown[at] = err
			continue
		}
		byGit[at] = is
	}
}

// onlyBase returns the merge base of a merge of two parents.
func (s *scratch) onlyBase(ctx context.Context, m *Merge) (repo.ID, error) {
	if len(m.Parents) != 2 {
		return repo.ID{}, errOldGit
	}
	out, found, err := s.git.Probe(ctx, "merge-base", "--all", m.Parents[0].String(), m.Parents[1].String())
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
func (s *scratch) mergeFile(ctx context.Context, m *Merge, base repo.ID, path repo.Path) (bool, error) {
	var places []repo.CommitPath
	for _, c := range []repo.ID{m.Parents[0], base, m.Parents[1], m.Commit} {
		places = append(places, repo.CommitPath{Commit: c, Path: path})
	}
	ids, err := s.idsAt(ctx, places)
	if err != nil {
		return false, err
	}
	ours, was := ids[places[0]], ids[places[1]]
	theirs, result := ids[places[2]], ids[places[3]]
	switch {
	case was.IsZero() || ours.IsZero() || theirs.IsZero():
		return false, errOldGit // it may have been moved
	case ours == theirs || was == theirs:
		return result == ours, nil
	case was == ours:
		return result == theirs, nil
	}
	return s.mergesTo(ctx, []repo.ID{ours, was, theirs}, result)
}

// mergesTo reports whether git merge-file merges three contents to a fourth without a conflict.
func (s *scratch) mergesTo(ctx context.Context, three []repo.ID, result repo.ID) (bool, error) {
	contents, err := s.objects.Blobs(ctx, three)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp(s.git.Root, "file-")
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
	out, status, stderr, err := s.git.Collect(ctx, command.Call{Args: args, Env: withoutConfig})
	switch {
	case err != nil:
		return false, err
	case status == 0:
		return s.objects.Format.Blob([]byte(out)) == result, nil
	case status < 128 || strings.Contains(stderr, "binary"):
		return false, nil // a conflict
	}
	return false, s.git.Failed(args, status, stderr)
}
