package app

import (
	"context"
	"fmt"
	"strings"

	"ken/internal/cli"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey"
)

// Brief puts together what directories, summaries and specs say about a path.
func (w *workspace) Brief(ctx context.Context, opts cli.BriefOptions) (*survey.Brief, error) {
	in := survey.BriefOptions{Path: opts.Path, Budget: opts.Budget}
	if opts.At != "" {
		commit, ok, err := w.git.Resolve(ctx, opts.At)
		if err == nil && !ok {
			err = &fault.Error{Kind: fault.Usage, Hint: "see what git makes of it: git log -1 " + fault.Quote(opts.At), Err: fmt.Errorf("there is no commit %q", opts.At)}
		}
		if err != nil {
			return nil, err
		}
		in.State = "commit"
		return w.surveyOf(&commitTree{w: w, commit: commit}, nil).Brief(ctx, in)
	}
	if in.Path != "" {
		var err error
		if in.About, err = w.about(ctx, in.Path); err != nil {
			return nil, err
		}
	}
	tree := &surveyTree{w: w}
	b, err := w.surveyOf(tree, nil).Brief(ctx, in)
	if err != nil {
		return nil, err
	}
	b.State = string(tree.state)
	return b, nil
}

// about is what is said of a path besides its directory: the file's own summary, and
// the specs that govern it.
func (w *workspace) about(ctx context.Context, p repo.Path) ([]survey.Section, error) {
	var list []survey.Section
	known, err := w.registry.Show(ctx, []repo.Path{p})
	if err != nil {
		return nil, err
	}
	if k := known[0]; k.Text != "" && (k.Verdict == fresh.Fresh || k.Verdict == fresh.Stale) {
		list = append(list, survey.Section{Subject: p.String(), Verdict: k.Verdict.String(), Text: k.Text, Receipt: &k.Receipt})
	}
	owners, err := w.Spec().Owners(ctx, []repo.Path{p})
	if err != nil || len(owners[0].Governing) == 0 {
		return list, err
	}
	l, err := w.Spec().List(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range owners[0].Governing {
		for _, n := range l.Nodes {
			if n.ID == o.ID {
				list = append(list, specSection(n))
			}
		}
	}
	return list, nil
}

func specSection(n spec.Listed) survey.Section {
	text := n.Desc
	if text == "" {
		text = n.Title
	}
	verdict := n.Status.String()
	if n.Drift != nil && *n.Drift > 0 {
		verdict = fmt.Sprintf("%s %d", verdict, *n.Drift)
	}
	return survey.Section{Subject: "spec " + n.ID, Verdict: verdict, Text: strings.TrimSpace(text) + " (" + n.Path + ")"}
}
