package app

import (
	"context"
	"fmt"
	"strings"

	"ken/internal/brief"
	"ken/internal/cli"
	"ken/internal/config"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/spec"
	"ken/internal/suggest"
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

// untracked returns the error for a path that git does not track. Its hint is the path that
// was probably meant.
func (r *briefReader) untracked(p repo.Path) error {
	hint := "list the tracked paths: git ls-files"
	for _, path := range r.paths {
		if _, meant := suggest.Slip(path.Base(), p.Base()); meant && path.Dir() == p.Dir() {
			hint = "did you mean " + fault.Quote(path.String()) + "?"
			break
		}
	}
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf("git tracks no file or directory %s", p)}
}

// fileWords returns the summary of a file, or what the file says of itself.
func (r *briefReader) fileWords(ctx context.Context, f *survey.File, own, unread string) (brief.Section, error) {
	s := brief.Section{Subject: f.Path.String(), Verdict: fresh.Fresh.String() + ", outline", Text: own}
	switch {
	case unread != "":
		s.Verdict, s.Text = fresh.Unknown.String(), unread
		if f.Problem != "" {
			return s, nil
		}
	case f.Excluded != "" && f.Kind == repo.KindGenerated:
	case f.Excluded != "":
		s.Verdict, s.Text = fresh.Excluded.String(), fmt.Sprintf("left out by policy: %s", f.Excluded)
	case own == "":
		s.Verdict, s.Text = fresh.None.String(), fmt.Sprintf("no summary, and nothing in it says what it is for (%s, %d bytes)", f.Kind, f.Size)
	}
	if _, ok := r.t.oneTree.(*commitTree); ok {
		said, err := r.t.Summaries(ctx, []*survey.File{f})
		if err == nil && said[0].State == fresh.Fresh {
			s.Verdict, s.Text, s.Written = fresh.Fresh.String(), said[0].Text, true
		}
		return s, err
	}
	known, err := r.w.registry.Show(ctx, []repo.Path{f.Path})
	if err != nil {
		return s, err
	}
	k := known[0]
	if k.Text != "" && (k.Verdict == fresh.Fresh || k.Verdict == fresh.Stale) {
		s.Verdict, s.Text, s.Receipt, s.Written = k.Verdict.String(), k.Text, &k.Receipt, true
		if k.Verdict == fresh.Stale {
			s.Verdict += ": " + gradeWords(k.Grade)
		}
	}
	return s, nil
}

// gradeWords says how much changed since a summary was written.
func gradeWords(g fresh.Grade) string {
	switch g {
	case fresh.GradeFormat:
		return "only the format changed since"
	case fresh.GradeBody:
		return "bodies changed since, no signature"
	case fresh.GradeInterface:
		return "signatures changed since"
	default:
		return "the content changed since"
	}
}

// specs returns the specs that govern a path.
func (r *briefReader) specs(ctx context.Context, p repo.Path) ([]brief.Section, error) {
	if _, ok := r.t.oneTree.(*commitTree); ok {
		return nil, nil
	}
	owners, err := r.w.Spec().Owners(ctx, []repo.Path{p})
	if err != nil || len(owners[0].Governing) == 0 {
		return nil, err
	}
	l, err := r.w.Spec().List(ctx)
	if err != nil {
		return nil, err
	}
	var list []brief.Section
	for _, o := range owners[0].Governing {
		for _, n := range l.Nodes {
			if n.ID == o.ID {
				list = append(list, specSection(n))
			}
		}
	}
	return list, nil
}

func specSection(n spec.Listed) brief.Section {
	text := n.Desc
	if text == "" {
		text = n.Title
	}
	verdict := n.Status.String()
	if n.Drift != nil && *n.Drift > 0 {
		verdict = fmt.Sprintf("%s %d", verdict, *n.Drift)
	}
	return brief.Section{Subject: "spec " + n.ID, Verdict: verdict, Text: strings.Join(strings.Fields(text), " ") + " (" + repo.Path(n.Path).String() + ")", Written: true}
}
