package app

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"ken/internal/cli"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// Uses says who uses a file, a directory or a symbol of the work tree, or of a commit.
func (w *workspace) Uses(ctx context.Context, opts cli.UsesOptions) (*find.UsesAnswer, error) {
	return w.uses(ctx, opts, w.Path)
}

// uses answers Uses for a path that resolve turns into one from the root.
func (w *workspace) uses(ctx context.Context, opts cli.UsesOptions, resolve func(string) (repo.Path, error)) (answer *find.UsesAnswer, err error) {
	q := find.UsesQuery{Asked: opts.Asked, Limit: opts.Limit, Tests: opts.Tests}
	if q.Whole, err = resolve(opts.Asked); err != nil {
		return nil, err
	}
	if q.Whole == "" {
		return nil, &fault.Error{Kind: fault.Usage, Hint: "ken brief", Err: errors.New("the whole repository has no users: name a file, a directory or a symbol")}
	}
	if i := strings.LastIndexByte(opts.Asked, '#'); i > 0 {
		p, err := resolve(opts.Asked[:i])
		if err != nil {
			return nil, err
		}
		q.Path = p
		q.Symbol = opts.Asked[i+1:]
	}
	remarks, err := w.askIndex(ctx, opts.At, func(x *searchindex.Index, t *findTree, _ bool) (err error) {
		answer, err = find.Uses(ctx, x, t, q)
		if missing, ok := errors.AsType[*find.NoPathError](err); ok {
			return w.noPath(ctx, "uses", t, missing.Path, slices.Sorted(maps.Keys(t.listed)))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if opts.At != "" {
		commit, err := w.commitOf(ctx, opts.At)
		if err != nil {
			return nil, err
		}
		answer.At = commit.String()
	}
	answer.Remarks = append(answer.Remarks, remarks...)
	return answer, nil
}

// AllUses calls f with every edge between files.
func (w *workspace) AllUses(ctx context.Context, at string, f func(find.WholeEdge) error) error {
	_, err := w.askIndex(ctx, at, func(x *searchindex.Index, _ *findTree, _ bool) error { return find.AllEdges(ctx, x, f) })
	return err
}
