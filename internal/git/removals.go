package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/repo"
)

// Removals lists for each commit the paths that it removed, and where git finds the files
// again: against the first parent, as git log -M does. If a commit removed more files than git
// compares, or git lacks contents, only files with the same content are found.
func (r *Repo) Removals(ctx context.Context, commits []repo.ID) ([][]repo.Removal, error) {
	list, err := r.removals(ctx, commits, "-M")
	if _, refused := errors.AsType[*refusal](err); !refused {
		return list, err
	}
	// Git refuses all commits because of one: find it by halving.
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

// removals is Removals with one of git's options to find renames.
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

// A treeChange is what a commit did to one path.
type treeChange struct {
	kind  byte // git's letter
	old   repo.ID
	path  repo.Path
	to    repo.Path // of one that was moved or copied
	alike int
}

// diffTrees calls see with each change of some commits against their first parents. A root
// commit has none.
func (r *Repo) diffTrees(ctx context.Context, commits []repo.ID, more []string, see func(i int, c treeChange)) error {
	if len(commits) == 0 {
		return nil
	}
	var names strings.Builder
	p := &treeChanges{where: make(map[string]int, len(commits)), see: see, at: -1}
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
	err := r.split(ctx, call{args: args, stdin: strings.NewReader(names.String()), steady: true}, p.item)
	if err == nil && (p.wants > 0 || p.seen < len(commits)) {
		err = errors.New("git diff-tree: truncated output")
	}
	return err
}

// treeChanges reads what diff-tree says of commits: the id of each, followed by a line
// and one or two paths for each change.
type treeChanges struct {
	where map[string]int
	see   func(i int, c treeChange)
	at    int // the commit, -1 before the first
	seen  int // commits
	next  treeChange
	wants int // paths of it that are still to come
}

func (p *treeChanges) item(text string) error {
	if p.wants > 0 {
		if p.wants--; p.next.path == "" {
			p.next.path = repo.Path(text)
		} else {
			p.next.to = repo.Path(text)
		}
		if p.wants == 0 {
			p.see(p.at, p.next)
		}
		return nil
	}
	if fields, ok := strings.CutPrefix(text, ":"); ok && p.at >= 0 {
		return p.line(strings.Fields(fields))
	}
	// The id of a commit ends in a line end or a NUL, by the version of git.
	i, ok := p.where[strings.TrimSpace(text)]
	if !ok {
		return fmt.Errorf("git diff-tree: cannot read %q", text)
	}
	p.at = i
	p.seen++
	return nil
}

// line reads two modes, two ids and a letter, perhaps with a number.
func (p *treeChanges) line(part []string) error {
	if len(part) != 5 {
		return fmt.Errorf("git diff-tree: cannot read %q", part)
	}
	id, err := repo.ParseID(part[2])
	p.next, p.wants = treeChange{kind: part[4][0], old: id}, 1
	if p.next.kind == 'R' || p.next.kind == 'C' {
		p.wants = 2
		var bad error
		p.next.alike, bad = strconv.Atoi(part[4][1:])
		err = errors.Join(err, bad)
	}
	if err != nil {
		return fmt.Errorf("git diff-tree: %w", err)
	}
	return nil
}

// LastRemoval returns the newest commit that deleted or renamed a path, or a file in a directory
// of that name; the zero id for none. Only commits that head leads to count. A deletion that a
// merge alone made is not found.
func (r *Repo) LastRemoval(ctx context.Context, head repo.ID, path repo.Path) (repo.ID, error) {
	out, err := r.read(ctx, nil, "log", "--format=%H", "--max-count=1", "--full-history", "--no-merges", "--diff-filter=D", "--no-renames", head.String(), "--", string(path))
	out = strings.TrimSpace(out)
	if err != nil || out == "" {
		return repo.ID{}, err
	}
	return repo.ParseID(out)
}
