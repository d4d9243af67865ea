package app

import (
	"context"

	"ken/internal/brief"
	"ken/internal/cli"
	"ken/internal/config"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// Brief says what to know first about a path.
func (w *workspace) Brief(ctx context.Context, opts cli.BriefOptions) (b *brief.Brief, err error) {
	var t *findTree
	_, err = w.askIndex(ctx, opts.At, func(x *searchindex.Index, tree *findTree, cut bool) (err error) {
		t = tree
		r := &briefReader{w: w, x: x, t: tree, cut: cut, survey: w.surveyOf(tree.Tree, nil)}
		b, err = r.brief(ctx, opts.Path, opts.Budget)
		return err
	})
	if err != nil {
		return nil, err
	}
	b.Commit, b.State = t.Commit(), "commit"
	if tree, ok := t.Tree.(*surveyTree); ok {
		b.State = string(tree.state)
	}
	return b, nil
}

// configAt takes the configuration from a commit, where there is no work tree to take
// it from.
func (w *workspace) configAt(ctx context.Context, commit repo.ID) error {
	id, ok, err := w.git.At(ctx, commit, config.Name)
	if err != nil || !ok {
		return err
	}
	text, err := w.git.Blobs(ctx, []repo.ID{id})
	if err != nil {
		return err
	}
	w.cfg, err = config.Parse(text[0])
	return err
}

// Orient verifies the work tree and returns what was found with the brief of the repository,
// within a budget in tokens.
func (w *workspace) Orient(ctx context.Context, budget int) (*registry.Orientation, error) {
	if budget == 0 {
		budget = brief.DefaultBudget
	}
	var out *registry.Orientation
	_, err := w.askIndex(ctx, "", func(x *searchindex.Index, t *findTree, cut bool) error {
		rep := t.Tree.(*surveyTree).report // without a revision, it is the work tree
		limit := budget * brief.BytesPerToken
		headline := rep.Headline()
		headline = headline[:min(len(headline), limit-1)] + "\n"
		r := &briefReader{w: w, x: x, t: t, cut: cut, survey: w.surveyOf(t.Tree, nil)}
		room := limit - len(headline)
		b, err := r.brief(ctx, "", max(room/brief.BytesPerToken, 1))
		if err != nil {
			return err
		}
		text, left := b.Quoted(room)
		left += b.LeftOut
		out = &registry.Orientation{
			State: rep.State, Reasons: rep.Reasons, Head: rep.Head, LastVerified: rep.LastVerified, Upstream: rep.Upstream, Counts: rep.Counts,
			Brief: headline + text, Tokens: (len(headline+text) + brief.BytesPerToken - 1) / brief.BytesPerToken, LeftOut: left, Truncated: left > 0,
		}
		return nil
	})
	return out, err
}
