package remerge

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// errOldGit says that git is too old: merge-tree can merge whole trees since 2.38, and several merges
// in one run since 2.39.
var errOldGit = errors.New("this needs git 2.39 or newer")

// mergeAll repeats merges in a scratch repository. It sets err of each merge that fails.
func (s *scratch) mergeAll(ctx context.Context, merges []*Merge, failures *Failures) error {
	var pairs []*Merge
	for _, m := range merges {
		switch {
		case len(m.Parents) == 2:
			pairs = append(pairs, m)
		case len(m.Parents) < 2:
			m.err = errors.New("the commit has fewer than two parents")
		}
	}
	if err := s.mergePairs(ctx, pairs, failures); err != nil {
		return err
	}
	for _, m := range merges {
		if len(m.Parents) < 3 {
			continue
		}
		if err := s.mergeOctopus(ctx, m, failures); err != nil {
			return err
		}
	}
	return nil
}

// mergePairs repeats merges of two parents. If git fails at one of them, it continues with the next.
func (s *scratch) mergePairs(ctx context.Context, merges []*Merge, failures *Failures) error {
	for len(merges) > 0 {
		if err := failures.tooMany(); err != nil {
			for _, m := range merges {
				m.err = err
			}
			return nil
		}
		done, err := s.mergeTrees(ctx, merges)
		if errors.Is(err, errOldGit) {
			return err // the caller merges single files instead
		}
		failures.add(done, err)
		merges = merges[done:]
		_, refused := errors.AsType[*command.Error](err)
		switch {
		case err == nil && len(merges) == 0:
			return nil
		case err == nil:
			return errors.New("git merge-tree: truncated output")
		case !refused || len(merges) == 0:
			return err
		}
		merges[0].err = err
		merges = merges[1:]
	}
	return nil
}

// mergeTrees repeats merges in one run of git. It returns how many git finished.
func (s *scratch) mergeTrees(ctx context.Context, merges []*Merge) (done int, err error) {
	var in strings.Builder
	for _, m := range merges {
		fmt.Fprintf(&in, "%s %s\n", m.Parents[0], m.Parents[1])
	}
	args := []string{"merge-tree", "--write-tree", "--stdin", "-z", "--no-messages", "--name-only", "--allow-unrelated-histories"}
	out, status, stderr, err := s.git.Collect(ctx, command.Call{Args: args, Stdin: strings.NewReader(in.String()), Env: withoutConfig})
	if err != nil {
		return 0, err
	}
	if status == usageStatus {
		return 0, errOldGit
	}
	done, err = readMerges(out, merges)
	if err == nil && status != 0 {
		err = s.git.Failed(args, status, stderr)
	}
	return done, err
}

// usageStatus is the exit status of git for an unknown option.
const usageStatus = 129

// readMerges parses the output of merge-tree: for each merge whether it is clean, the tree, the paths in
// conflict, and an empty path.
func readMerges(out string, merges []*Merge) (done int, err error) {
	token := func() (string, bool) {
		text, rest, ok := strings.Cut(out, "\x00")
		if ok {
			out = rest
		}
		return text, ok
	}
	for _, m := range merges {
		clean, ok := token()
		if !ok {
			return done, nil
		}
		tree, ok := token()
		if !ok {
			return done, nil
		}
		if _, err := strconv.Atoi(clean); err != nil {
			return done, fmt.Errorf("git merge-tree: cannot read %q", clean)
		}
		id, err := repo.ParseID(tree)
		if err != nil {
			return done, fmt.Errorf("git merge-tree: %w", err)
		}
		conflicts := make(map[repo.Path]bool)
		for {
			path, ok := token()
			if !ok {
				return done, nil
			}
			if path == "" {
				break
			}
			conflicts[repo.Path(path)] = true
		}
		if clean != "1" && len(conflicts) == 0 {
			return done, fmt.Errorf("git merge-tree: unclean merge (status %s) without a listed conflict", clean)
		}
		m.tree, m.conflicts = id, conflicts
		done++
	}
	return done, nil
}

// mergeOctopus repeats a merge of more than two parents as git does: it merges the second into the
// first, the third into the result, and so on. A conflict in one step is a conflict of the merge.
func (s *scratch) mergeOctopus(ctx context.Context, m *Merge, failures *Failures) error {
	conflicts := make(map[repo.Path]bool)
	head := m.Parents[0]
	for i, p := range m.Parents[1:] {
		step := &Merge{Commit: m.Commit, Parents: []repo.ID{head, p}}
		if err := s.mergePairs(ctx, []*Merge{step}, failures); err != nil {
			return err
		}
		if m.err = step.err; m.err != nil {
			return nil
		}
		for path := range step.conflicts {
			conflicts[path] = true
		}
		m.tree = step.tree
		if i == len(m.Parents)-2 {
			break
		}
		if head, m.err = s.commitStep(ctx, step.tree, m.Parents[:i+2]); m.err != nil {
			return nil
		}
	}
	m.conflicts = conflicts
	return nil
}

// commitStep commits an intermediate result in the scratch repository.
func (s *scratch) commitStep(ctx context.Context, tree repo.ID, parents []repo.ID) (repo.ID, error) {
	args := []string{"commit-tree", "-m", "step", tree.String()}
	for _, p := range parents {
		args = append(args, "-p", p.String())
	}
	env := append([]string{
		"GIT_AUTHOR_NAME=ken", "GIT_AUTHOR_EMAIL=ken", "GIT_AUTHOR_DATE=@0 +0000",
		"GIT_COMMITTER_NAME=ken", "GIT_COMMITTER_EMAIL=ken", "GIT_COMMITTER_DATE=@0 +0000",
	}, withoutConfig...)
	out, err := s.git.Output(ctx, command.Call{Args: args, Env: env})
	if err != nil {
		return repo.ID{}, err
	}
	return repo.ParseID(strings.TrimSpace(out))
}
