package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/docs"
	"ken/internal/repo"
)

// Departures lists for each commit the paths that it left without their files, and where
// git finds these again: against the first parent, as git log -M would. For a commit that
// took away more than can be compared, only what is exactly the same is found.
func (r *Repo) Departures(ctx context.Context, commits []repo.ID) ([][]docs.Departure, error) {
	list := make([][]docs.Departure, len(commits))
	if len(commits) == 0 {
		return list, nil
	}
	var names strings.Builder
	where := make(map[string]int, len(commits))
	for i, id := range commits {
		if _, again := where[id.String()]; again {
			return nil, fmt.Errorf("list what %s took away: it is asked for twice", id.Short())
		}
		where[id.String()] = i
		names.WriteString(id.String() + "\n")
	}
	args := []string{
		"diff-tree", "--stdin", "-r", "-z", "--raw", "--no-abbrev", "--always", "-M", "-l1000",
		"--diff-merges=first-parent", "--no-relative", "--ignore-submodules=none",
		"--no-ext-diff", "--no-textconv",
	}
	p := &departures{where: where, list: list, at: -1}
	s := &splitter{f: p.item}
	status, stderr, err := r.run(ctx, call{args: args, stdin: strings.NewReader(names.String()), stdout: s, steady: true})
	switch {
	case s.err != nil:
		return nil, s.err
	case err != nil:
		return nil, err
	case status != 0:
		return nil, r.failed(args, status, stderr)
	case len(s.rest) > 0 || p.wants > 0 || p.seen < len(commits):
		return nil, errors.New("git diff-tree: the answer breaks off")
	}
	return list, nil
}

// departures reads what diff-tree says of commits: the id of each, followed by a line
// and one or two paths for each change.
type departures struct {
	where map[string]int
	list  [][]docs.Departure
	at    int // the commit, -1 before the first
	seen  int // commits
	next  docs.Departure
	kind  byte
	wants int // paths of it that are still to come
}

func (p *departures) item(text string) error {
	if p.wants > 0 {
		return p.path(text)
	}
	if fields, ok := strings.CutPrefix(text, ":"); ok && p.at >= 0 {
		part := strings.Fields(fields)
		if len(part) != 5 {
			return fmt.Errorf("git diff-tree: cannot read %q", text)
		}
		id, err := repo.ParseID(part[2])
		if err != nil {
			return fmt.Errorf("git diff-tree: %w", err)
		}
		p.next, p.kind, p.wants = docs.Departure{ID: id}, part[4][0], 1
		if p.kind == 'R' || p.kind == 'C' {
			p.wants = 2
			p.next.Alike, err = strconv.Atoi(part[4][1:])
		}
		if err != nil {
			return fmt.Errorf("git diff-tree: cannot read %q", text)
		}
		return nil
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

func (p *departures) path(text string) error {
	p.wants--
	if p.next.From == "" {
		p.next.From = repo.Path(text)
	} else {
		p.next.To = repo.Path(text)
	}
	if p.wants == 0 && (p.kind == 'D' || p.kind == 'R') {
		p.list[p.at] = append(p.list[p.at], p.next)
	}
	return nil
}
