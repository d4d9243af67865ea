package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/repo"
)

// Lines counts the lines that commits added to and deleted from paths, each compared with its first parent.
// It leaves out unchanged paths and binary files. A moved file counts at its new path, with the lines that
// were edited.
func (r *Repo) Lines(ctx context.Context, commits []repo.ID, paths []repo.Path) (map[repo.ID]map[repo.Path]repo.LineCount, error) {
	if len(commits) == 0 || len(paths) == 0 {
		return map[repo.ID]map[repo.Path]repo.LineCount{}, nil
	}
	var stdin strings.Builder
	for _, id := range commits {
		fmt.Fprintln(&stdin, id)
	}
	args := append([]string{"log", "--no-walk=unsorted", "--stdin", "--numstat", "-z", "--format=%x00%H%x00"}, patchArgs(paths)...)
	out, err := r.git().Read(ctx, strings.NewReader(stdin.String()), args...)
	if err != nil {
		return nil, fmt.Errorf("count lines: %w", err)
	}
	return parseNumstat(out)
}

// Patch returns the changes of a commit to some paths, compared with its first parent, as a patch. It is ""
// if there are none.
func (r *Repo) Patch(ctx context.Context, commit repo.ID, paths []repo.Path) (string, error) {
	args := append([]string{"log", "--no-walk", "--format=", "--unified=3", "--inter-hunk-context=0", commit.String()}, patchArgs(paths)...)
	out, err := r.git().Read(ctx, nil, args...)
	if err != nil {
		return "", fmt.Errorf("show %s: %w", commit.Short(), err)
	}
	return out, nil
}

// patchArgs are options that override all settings about patches.
func patchArgs(paths []repo.Path) []string {
	args := []string{
		"--diff-merges=first-parent", "--root", "-M50%", "--no-ext-diff", "--no-textconv", "-O/dev/null", "--no-color", "--no-notes",
		"--no-show-signature", "--no-mailmap", "--diff-algorithm=myers",
		"--src-prefix=a/", "--dst-prefix=b/", "--no-indent-heuristic", "--no-relative", "--ignore-submodules=none",
		"--abbrev=40", "--",
	}
	for _, p := range paths {
		args = append(args, string(p))
	}
	return args
}

// parseNumstat parses commits, separated by NULs, with a line per path: added, tab, deleted, tab, path, NUL.
// For a move the path is empty, and the old and the new path follow.
func parseNumstat(out string) (map[repo.ID]map[repo.Path]repo.LineCount, error) {
	counts := make(map[repo.ID]map[repo.Path]repo.LineCount)
	var commit repo.ID
	tokens := strings.Split(out, "\x00")
	for i := 0; i < len(tokens); i++ {
		t := strings.TrimLeft(tokens[i], "\n")
		if t == "" {
			continue
		}
		fields := strings.SplitN(t, "\t", 3)
		if len(fields) == 1 {
			id, err := repo.ParseID(t)
			if err != nil {
				return nil, fmt.Errorf("git log: cannot read %q: %w", t, err)
			}
			commit = id
			counts[commit] = make(map[repo.Path]repo.LineCount)
			continue
		}
		if len(fields) != 3 || commit.IsZero() {
			return nil, fmt.Errorf("git log: cannot read %q", t)
		}
		path := fields[2]
		if path == "" {
			if i += 2; i >= len(tokens) {
				return nil, fmt.Errorf("git log: cannot read %q", t)
			}
			path = tokens[i]
		}
		added, err := strconv.Atoi(fields[0])
		deleted, err2 := strconv.Atoi(fields[1])
		if err == nil && err2 == nil { // a binary file has "-"
			counts[commit][repo.Path(path)] = repo.LineCount{Added: added, Deleted: deleted}
		}
	}
	return counts, nil
}
