package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ken/internal/repo"
)

// A fileMove is a move that git found in a commit, against one of its parents.
type fileMove struct {
	commit   repo.ID
	from, to repo.Path
	same     bool
}

// fileMoves returns the moves of files that the filter follows, as git finds them in some commits, in
// one run. It looks at nothing else, so that what else a commit moved costs
// nothing and takes no such file's place. For a merge they are those against each parent.
func (r *Repo) fileMoves(ctx context.Context, commits []repo.ID) ([]fileMove, error) {
	if len(commits) == 0 || r.filter.MoveName == "" {
		return nil, nil
	}
	var in bytes.Buffer
	for _, id := range commits {
		fmt.Fprintf(&in, "%s\n", id)
	}
	// Beyond a thousand moves with edits in one commit only those without are found,
	// as git has it where nobody set another limit.
	out, err := r.read(ctx, &in, "diff-tree", "--stdin", "-m", "-r", "-M50%", "-l1000", "--raw", "-z", "--no-abbrev",
		"--no-ext-diff", "--no-textconv", "--no-color", "--no-notes", "--format=%H%x00", "--", string(r.filter.MoveDir))
	if err != nil {
		return nil, err
	}
	return parseMoves(out, *r.filter)
}

// parseMoves reads moves: the id of a commit, then entries with two paths each, and
// entries with one that are no moves.
func parseMoves(out string, filter repo.HistoryFilter) ([]fileMove, error) {
	errShort := errors.New("git diff-tree: the answer breaks off")
	var moves []fileMove
	var commit repo.ID
	for len(out) > 0 {
		token, rest, ok := strings.Cut(out, "\x00")
		if !ok {
			if strings.Trim(token, "\n") == "" {
				break
			}
			return nil, errShort
		}
		out = rest
		token = strings.TrimLeft(token, "\n")
		if token == "" {
			continue
		}
		if token[0] != ':' {
			id, err := repo.ParseID(token)
			if err != nil {
				return nil, fmt.Errorf("git diff-tree: %w", err)
			}
			commit = id
			continue
		}
		words := strings.Fields(token)
		if len(words) != 5 {
			return nil, fmt.Errorf("git diff-tree: cannot read %q", token)
		}
		from, rest, ok := strings.Cut(out, "\x00")
		if !ok {
			return nil, errShort
		}
		out = rest
		if words[4][0] != 'R' && words[4][0] != 'C' {
			continue
		}
		to, rest, ok := strings.Cut(out, "\x00")
		if !ok {
			return nil, errShort
		}
		out = rest
		m := fileMove{commit: commit, from: repo.Path(from), to: repo.Path(to), same: words[2] == words[3]}
		if words[4][0] == 'R' && filter.Follows(m.from) && filter.Follows(m.to) {
			moves = append(moves, m)
		}
	}
	return moves, nil
}

// moves returns the moves that the commits of the walk made, by
// ascending number. Of a merge's those count that led to a name which no parent has.
func (b *builder) moves(ctx context.Context, r *Repo, o *order) ([]repo.Move, error) {
	var ids []repo.ID
	places := make(map[repo.ID]uint32)
	for _, i := range b.moving {
		if o.number[i] >= 0 {
			id := repo.IDFromBytes(b.id(i))
			ids = append(ids, id)
			places[id] = i
		}
	}
	found, err := r.fileMoves(ctx, ids)
	if err != nil {
		return nil, err
	}
	var moves []repo.Move
	for _, f := range found {
		i, ok := places[f.commit]
		if !ok {
			return nil, fmt.Errorf("git diff-tree: commit %s was not asked for", f.commit)
		}
		if b.adds(i, f.to) {
			moves = append(moves, repo.Move{Commit: repo.CommitNumber(o.number[i]), From: f.from, To: f.to, Same: f.same})
		}
	}
	slices.SortFunc(moves, func(x, y repo.Move) int {
		if x.Commit == y.Commit && x.From == y.From && x.To == y.To && x.Same != y.Same {
			if x.Same {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(x.Commit, y.Commit), cmp.Compare(x.To, y.To), cmp.Compare(x.From, y.From))
	})
	// A merge may find it against every parent; content that one of them had is no
	// other content.
	return slices.CompactFunc(moves, func(x, y repo.Move) bool {
		return x.Commit == y.Commit && x.From == y.From && x.To == y.To
	}), nil
}

// adds reports whether the commit that came i-th added a path.
func (b *builder) adds(i uint32, path repo.Path) bool {
	n, ok := b.paths[string(path)]
	from, to := b.ends(i)
	return ok && slices.Contains(b.touches[from.touches:to.touches], n<<2|uint32(repo.Added))
}
