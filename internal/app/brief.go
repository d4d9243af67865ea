package app

import (
	"context"
	"fmt"
	"strings"

	"ken/internal/cli"
	"ken/internal/config"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey"
)

// Brief puts together what directories, summaries and specs say about a path.
func (w *workspace) Brief(ctx context.Context, opts cli.BriefOptions) (*survey.Brief, error) {
	in := survey.BriefOptions{Path: opts.Path, Budget: opts.Budget}
	if opts.At != "" {
		commit, err := w.commitOf(ctx, opts.At)
		if err != nil {
			return nil, err
		}
		if w.bare {
			if err := w.configAt(ctx, commit); err != nil {
				return nil, err
			}
		}
		in.State = "commit"
		tree := &commitTree{w: w, commit: commit}
		if in.About, err = aboutFile(ctx, tree, in.Path); err != nil {
			return nil, err
		}
		return w.surveyOf(tree, nil).Brief(ctx, in)
	}
	tree := &surveyTree{w: w}
	if in.Path != "" {
		var err error
		if in.About, err = w.about(ctx, tree, in.Path); err != nil {
			return nil, err
		}
	}
	b, err := w.surveyOf(tree, nil).Brief(ctx, in)
	if err != nil {
		return nil, err
	}
	b.State = string(tree.state)
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

// about is what is said of a path besides its directory: the file's own summary, and
// the specs that govern it.
func (w *workspace) about(ctx context.Context, tree oneTree, p repo.Path) ([]survey.Section, error) {
	known, err := w.registry.Show(ctx, []repo.Path{p})
	if err != nil {
		return nil, err
	}
	var list []survey.Section
	if known[0].Text == "" {
		if list, err = aboutFile(ctx, tree, p); err != nil {
			return nil, err
		}
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

// A oneTree is a tree that can be asked for one file, nil when it is none.
type oneTree interface {
	survey.Tree
	one(ctx context.Context, p repo.Path) (*survey.File, error)
}

// briefOutline is how many lines of a file's outline a brief has.
const briefOutline = 12

// aboutFile is what a tree alone tells of a file: its summary, else its outline. Of what
// is no file there is nothing to tell.
func aboutFile(ctx context.Context, tree oneTree, p repo.Path) ([]survey.Section, error) {
	f, err := tree.one(ctx, p)
	if f == nil || err != nil {
		return nil, err
	}
	one := []*survey.File{f}
	said, err := tree.Summaries(ctx, one)
	if err != nil {
		return nil, err
	}
	if said[0].State == fresh.Fresh {
		return []survey.Section{{Subject: p.String(), Verdict: fresh.Fresh.String(), Text: said[0].Text}}, nil
	}
	seen, err := tree.Outlines(ctx, one)
	if err != nil {
		return nil, err
	}
	lines := survey.OutlineGist(seen[0].Outline, briefOutline)
	if len(lines) == 0 {
		return []survey.Section{unoutlined(f)}, nil
	}
	return []survey.Section{{Subject: p.String(), Verdict: fresh.Fresh.String() + ", outline", Text: strings.Join(lines, "\n")}}, nil
}

// unoutlined tells of a file what its name and size do.
func unoutlined(f *survey.File) survey.Section {
	s := survey.Section{Subject: f.Path.String(), Verdict: fresh.None.String(), Text: fmt.Sprintf("no text and no outline: %s, %d bytes", f.Kind, f.Size), Own: true}
	switch {
	case f.Problem != "":
		s.Verdict, s.Text = fresh.Unknown.String(), f.Problem
	case f.Excluded != "":
		s.Verdict, s.Text = fresh.Excluded.String(), fmt.Sprintf("left out by policy: %s", f.Excluded)
	}
	return s
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
	return survey.Section{Subject: "spec " + n.ID, Verdict: verdict, Text: strings.Join(strings.Fields(text), " ") + " (" + repo.Path(n.Path).String() + ")"}
}
