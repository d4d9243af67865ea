package find

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"ken/internal/repo"
	"ken/internal/searchindex"
)

// Search answers a query from an index that is up to date with the tree.
func Search(ctx context.Context, x *searchindex.Index, t Tree, q Query) (*Answer, error) {
	query := terms(q.Words)
	list, err := rank(ctx, x, query, q.Kinds, tuned)
	if err != nil {
		return nil, err
	}
	a := &Answer{Query: strings.Join(q.Words, " "), At: "worktree", Places: []Place{}, Unknown: []string{}}
	if a.Unknown, err = unknown(ctx, x, query); err != nil {
		return nil, err
	}
	for _, c := range list[:min(len(list), cmp.Or(q.Limit, DefaultLimit))] {
		p, err := place(ctx, x, t, c, query)
		if err != nil {
			return nil, err
		}
		a.Places = append(a.Places, p)
	}
	return a, nil
}

// unknown returns the terms that nothing has.
func unknown(ctx context.Context, x *searchindex.Index, query []string) ([]string, error) {
	missing := []string{}
	for _, term := range query {
		found := false
		for _, field := range []searchindex.Field{searchindex.InText, searchindex.InPath, searchindex.InSymbol, searchindex.InNote, searchindex.InSubject} {
			hits, err := x.Match(ctx, field, []string{term}, 1)
			if err != nil {
				return nil, err
			}
			if found = len(hits) > 0; found {
				break
			}
		}
		if !found {
			missing = append(missing, term)
		}
	}
	return missing, nil
}

func place(ctx context.Context, x *searchindex.Index, t Tree, c *candidate, query []string) (Place, error) {
	p := Place{Path: c.file.Path, Symbols: []Symbol{}, Score: math.Round(c.score*100) / 100}
	if c.fields[searchindex.InPath] > 0 {
		p.Why = append(p.Why, "path")
	}
	if c.fields[searchindex.InSymbol] > 0 {
		p.Why = append(p.Why, "name")
	}
	if c.fields[searchindex.InNote] > 0 {
		p.Why = append(p.Why, "summary")
	}
	if c.fields[searchindex.InText] > 0 {
		p.Why = append(p.Why, "text")
	}
	if c.commits > 0 {
		p.Why = append(p.Why, fmt.Sprintf("%d commits", c.commits))
	}
	if c.with != 0 {
		o, err := x.FileAt(ctx, c.with)
		if err != nil {
			return p, err
		}
		p.Why = append(p.Why, fmt.Sprintf("changes with %s (%d of %d)", o.Path, c.together, c.of))
	}
	if content := t.Read(ctx, c.file.Path); content != nil && hasText(File{Kind: c.file.Kind, Size: int64(len(content))}) {
		p.Line, p.Text = bestLine(string(content), query)
	}
	return p, nil
}

// bestLine returns the line with the most terms of a query.
func bestLine(content string, query []string) (int, string) {
	best, at, text := 0, 0, ""
	n := 0
	for line := range strings.Lines(content) {
		n++
		if len(line) > 1000 {
			continue
		}
		score := 0
		terms := searchindex.Terms(line)
		for _, q := range query {
			if slices.ContainsFunc(terms, func(t string) bool { return strings.HasPrefix(t, q) }) {
				score++
			}
		}
		if score > best {
			best, at, text = score, n, strings.TrimSpace(line)
		}
	}
	return at, text
}

var _ = repo.Path("")
