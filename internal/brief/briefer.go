package brief

import (
	"context"
	"errors"
	"strings"

	"ken/internal/find"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/tree"
)

// A Briefer makes briefs of one repository.
type Briefer struct {
	tree.Sources
	Finder  *find.Finder
	Spec    *spec.Reader
	Surveys *survey.Factory
}

// Options say what a brief is about.
type Options struct {
	Path   repo.Path
	Budget int     // in tokens; 0 is the default
	At     repo.ID // a commit; the work tree if zero
}

// Brief returns the brief of a path.
func (br *Briefer) Brief(ctx context.Context, opts Options) (b *Brief, err error) {
	var files *find.IndexedTree
	err = br.Finder.WithIndex(ctx, opts.At, func(x *searchindex.Index, t *find.IndexedTree) (err error) {
		files = t
		b, err = br.collector(x, t).brief(ctx, opts.Path, opts.Budget)
		return err
	})
	var deleted *find.DeletedError
	if errors.As(err, &deleted) {
		opts.At = deleted.Head
		b, err = br.Brief(ctx, opts)
		if err == nil {
			b.markGone(deleted)
		}
		return b, err
	}
	if err != nil {
		return nil, err
	}
	b.Commit = files.Commit()
	b.State = "commit"
	if files.Work != nil {
		b.State = string(files.Work.Report().State)
	}
	return b, nil
}

// markGone gives the file of a brief the verdict gone.
func (b *Brief) markGone(deleted *find.DeletedError) {
	for i := range b.Sections {
		if s := &b.Sections[i]; s.Subject == b.Path {
			s.Verdict = fresh.Gone.String()
		}
	}
	b.Unknown = append(b.Unknown, deleted.Unknown())
}

func (br *Briefer) collector(x *searchindex.Index, t *find.IndexedTree) *collector {
	return &collector{Briefer: br, x: x, t: t, survey: br.Surveys.ForTree(t.Tree, nil)}
}

// Orient verifies the work tree and returns what was found with the brief of the repository,
// within a budget in tokens.
func (br *Briefer) Orient(ctx context.Context, budget int) (*registry.Orientation, error) {
	if budget == 0 {
		budget = DefaultBudget
	}
	var out *registry.Orientation
	err := br.Finder.WithIndex(ctx, repo.ID{}, func(x *searchindex.Index, t *find.IndexedTree) error {
		rep := t.Work.Report()
		limit := budget * BytesPerToken
		headline := rep.Headline()
		headline = strings.ToValidUTF8(headline[:min(len(headline), limit-1)], "") + "\n"
		r := br.collector(x, t)
		room := limit - len(headline)
		b, err := r.brief(ctx, "", max(room/BytesPerToken, 1))
		if err != nil {
			return err
		}
		text, left := b.Quoted(room)
		left += b.LeftOut
		out = &registry.Orientation{
			State: rep.State, Reasons: rep.Reasons, Head: rep.Head, LastVerified: rep.LastVerified, Upstream: rep.Upstream, Counts: rep.Counts,
			Brief: headline + text, Tokens: (len(headline+text) + BytesPerToken - 1) / BytesPerToken, LeftOut: left, Truncated: left > 0,
		}
		return nil
	})
	return out, err
}
