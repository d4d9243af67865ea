package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// Removals lists for each commit the paths that it removed and their new paths, compared with the first
// parent, as git log -M does. If a commit removed too many files for git, or contents are missing, it finds
// only files with the same content.
func (r *Repo) Removals(ctx context.Context, commits []repo.ID) ([][]repo.Removal, error) {
	list, err := r.removals(ctx, commits, "-M")
	if _, refused := errors.AsType[*command.Error](err); !refused {
		return list, err
	}
	// Git refuses the whole list because of one commit. Bisect to find it.
	if len(commits) > 1 {
		half := len(commits) / 2
		front, err := r.Removals(ctx, commits[:half])
		if err != nil {
			return nil, err
		}
		back, err := r.Removals(ctx, commits[half:])
		return append(front, back...), err
	}
	// Without contents git finds only files with the same id.
	list, err = r.removals(ctx, commits, "-M100%")
	for _, left := range list {
		for i := range left {
			left[i].Unsearched = left[i].MovedTo == ""
		}
	}
	return list, err
}

// removals is Removals with a given option of git to find renames.
func (r *Repo) removals(ctx context.Context, commits []repo.ID, renames string) ([][]repo.Removal, error) {
	list := make([][]repo.Removal, len(commits))
	err := r.diffTrees(ctx, commits, []string{renames, "-l1000"}, func(i int, c treeChange) {
		if c.kind == 'D' || c.kind == 'R' {
			list[i] = append(list[i], repo.Removal{Path: c.path, MovedTo: c.to, Similarity: c.alike, ID: c.old})
		}
	})
	return list, err
}

// Changed lists for each commit the paths that differ from its first parent.
func (r *Repo) Changed(ctx context.Context, commits []repo.ID) ([][]repo.Path, error) {
	list := make([][]repo.Path, len(commits))
	err := r.diffTrees(ctx, commits, []string{"--no-renames"}, func(i int, c treeChange) { list[i] = append(list[i], c.path) })
	return list, err
}

// A treeChange is the change of a commit to one path.
type treeChange struct {
	kind  byte // git's letter
	old   repo.ID
	path  repo.Path
	to    repo.Path // the new path of a move or copy
	alike int
}

// diffTrees calls visit with each change of some commits against their first parents. A root
// commit has none.
func (r *Repo) diffTrees(ctx context.Context, commits []repo.ID, more []string, visit func(i int, c treeChange)) error {
	if len(commits) == 0 {
		return nil
	}
	var names strings.Builder
	p := &treeChanges{where: make(map[string]int, len(commits)), visit: visit, at: -1}
	for i, id := range commits {
		if _, again := p.where[id.String()]; again {
			return fmt.Errorf("list what %s changed: the commit was requested twice", id.Short())
		}
		p.where[id.String()] = i
		names.WriteString(id.String() + "\n")
	}
	args := append([]string{
		"diff-tree", "--stdin", "-r", "-z", "--raw", "--no-abbrev", "--always", "--diff-merges=first-parent", "--no-relative",
		"--ignore-submodules=none", "--no-ext-diff", "--no-textconv",
	}, more...)
	err := r.git().Split(ctx, command.Call{Args: args, Stdin: strings.NewReader(names.String()), IdleTimeoutOnly: true}, p.item)
	if err == nil && (p.wants > 0 || p.seen < len(commits)) {
		err = errors.New("git diff-tree: truncated output")
	}
	return err
}

// treeChanges parses the output of diff-tree: the id of each commit, and for each change a line and one or two
// paths.
type treeChanges struct {
	where map[string]int
	visit func(i int, c treeChange)
	at    int // index of the commit, -1 before the first
	seen  int // number of commits
	next  treeChange
	wants int // number of paths still to come
}

func (t *treeChanges) item(text string) error {
	if t.wants > 0 {
		if t.wants--; t.next.path == "" {
			t.next.path = repo.Path(text)
		} else {
			t.next.to = repo.Path(text)
		}
		if t.wants == 0 {
			t.visit(t.at, t.next)
		}
		return nil
	}
	if fields, ok := strings.CutPrefix(text, ":"); ok && t.at >= 0 {
		return t.line(strings.Fields(fields))
	}
	// Some versions of git print a newline after the id of a commit, others a NUL.
	i, ok := t.where[strings.TrimSpace(text)]
	if !ok {
		return fmt.Errorf("git diff-tree: cannot read %q", text)
	}
	t.at = i
	t.seen++
	return nil
}

// line parses two modes, two ids and a letter, which a number may follow.
func (t *treeChanges) line(part []string) error {
	if len(part) != 5 {
		return fmt.Errorf("git diff-tree: cannot read %q", part)
	}
	id, err := repo.ParseID(part[2])
	t.next, t.wants = treeChange{kind: part[4][0], old: id}, 1
	if t.next.kind == 'R' || t.next.kind == 'C' {
		t.wants = 2
		var bad error
		t.next.alike, bad = strconv.Atoi(part[4][1:])
		err = errors.Join(err, bad)
	}
	if err != nil {
		return fmt.Errorf("git diff-tree: %w", err)
	}
	return nil
}

// LastRemoval returns the newest commit that deleted or renamed a path, or a file in a directory of that name.
// It is the zero id if there is none. Only commits that head reaches count. It does not find a deletion that
// was made in a merge.
func (r *Repo) LastRemoval(ctx context.Context, head repo.ID, path repo.Path) (repo.ID, error) {
	out, err := r.git().Read(ctx, nil, "log", "--format=%H", "--max-count=1", "--full-history", "--no-merges", "--diff-filter=D", "--no-renames", head.String(), "--", string(path))
	out = strings.TrimSpace(out)
	if err != nil || out == "" {
		return repo.ID{}, err
	}
	return repo.ParseID(out)
}
