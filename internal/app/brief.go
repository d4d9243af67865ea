package app

import (
	"context"

	"ken/internal/brief"
	"ken/internal/cli"
	"ken/internal/config"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/survey"
)

// Brief says what to know first about a path.
func (w *workspace) Brief(ctx context.Context, opts cli.BriefOptions) (b *brief.Brief, err error) {
	var t *findTree
	_, err = w.askIndex(ctx, opts.At, func(x *searchindex.Index, tree *findTree, cut bool) (err error) {
		t = tree
		r := &briefReader{w: w, x: x, t: tree, cut: cut, survey: w.surveyOf(tree.oneTree, nil)}
		b, err = r.brief(ctx, opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	b.Commit, b.State = t.Commit(), "commit"
	if tree, ok := t.oneTree.(*surveyTree); ok {
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

// Orient sums up what is known of files and, where any are described, of directories.
func (w *workspace) Orient(ctx context.Context, budget int) (*registry.Orientation, error) {
	return w.registry.OrientWith(ctx, budget, func(most int) (string, error) {
		said, err := w.store.Latest(ctx)
		if err != nil || len(said) == 0 {
			return "", err
		}
		b, err := w.Survey(nil).Brief(ctx, survey.BriefOptions{Budget: max(1, most/survey.BytesPerToken), Quoted: true})
		if err != nil {
			return "", err
		}
		return b.Quoted(), nil
	})
}

// A oneTree is a tree that can be asked for one file, nil when it is none.
type oneTree interface {
	survey.Tree
	one(ctx context.Context, p repo.Path) (*survey.File, error)
}
