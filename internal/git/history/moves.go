package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ken/internal/repo"
)

// A FileMove is a move of a file that git found between a commit and one of its parents.
type FileMove struct {
	Commit   repo.ID
	From, To repo.Path
	Same     bool // the content is the same
}

// ParseMoves parses the output of `git diff-tree -M --raw -z --format=%H%x00`, and returns the moves
// of files that the filter follows. The output has the id of a commit, then its entries: moves have
// two paths, other entries have one.
func ParseMoves(out string, filter repo.HistoryFilter) ([]FileMove, error) {
	errShort := errors.New("git diff-tree: truncated output")
	var moves []FileMove
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
		m := FileMove{Commit: commit, From: repo.Path(from), To: repo.Path(to), Same: words[2] == words[3]}
		if words[4][0] == 'R' && filter.Follows(m.From) && filter.Follows(m.To) {
			moves = append(moves, m)
		}
	}
	return moves, nil
}

// Moving returns the commits that may have moved a file that the filter follows. Call
// [Builder.Number] first.
func (b *Builder) Moving() []repo.ID {
	var ids []repo.ID
	for _, i := range b.moving {
		if b.numbers.number[i] >= 0 {
			ids = append(ids, repo.IDFromBytes(b.id(i)))
		}
	}
	return ids
}

// SetMoves sets the moves that git found in the commits of [Builder.Moving]. Of the moves of a merge
// it takes those to a path that no parent has.
func (b *Builder) SetMoves(found []FileMove) error {
	places := make(map[repo.ID]uint32)
	for _, i := range b.moving {
		if b.numbers.number[i] >= 0 {
			places[repo.IDFromBytes(b.id(i))] = i
		}
	}
	var moves []repo.Move
	for _, f := range found {
		i, ok := places[f.Commit]
		if !ok {
			return fmt.Errorf("git diff-tree: unexpected commit %s", f.Commit)
		}
		if b.adds(i, f.To) {
			moves = append(moves, repo.Move{Commit: repo.CommitNumber(b.numbers.number[i]), From: f.From, To: f.To, Same: f.Same})
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
	// Git can find the same move for each parent of a merge. The sort puts a move with the same
	// content first.
	b.moves = slices.CompactFunc(moves, func(x, y repo.Move) bool {
		return x.Commit == y.Commit && x.From == y.From && x.To == y.To
	})
	return nil
}

// adds reports whether the i-th commit of the walk added a path.
func (b *Builder) adds(i uint32, path repo.Path) bool {
	n, ok := b.paths[string(path)]
	from, to := b.ends(i)
	return ok && slices.Contains(b.touches[from.touches:to.touches], n<<2|uint32(repo.Added))
}
