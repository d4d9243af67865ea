package brief

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/survey/describe"
)

// fileWords returns the summary of a file, or what the file says of itself.
func (r *collector) fileWords(ctx context.Context, f *repo.File, own, unread string) (Section, error) {
	s := Section{Subject: f.Path.String(), Verdict: fresh.Fresh.String() + ", outline", Text: own}
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
	if r.t.Work == nil {
		said, err := r.t.Summaries(ctx, []*repo.File{f})
		if err == nil && said[0].State == fresh.Fresh {
			s.Verdict, s.Text, s.Written = fresh.Fresh.String(), said[0].Text, true
		}
		return s, err
	}
	known, err := r.Registry.Show(ctx, []repo.Path{f.Path})
	if err != nil {
		return s, err
	}
	k := known[0]
	if k.Text != "" && (k.Verdict == fresh.Fresh || k.Verdict == fresh.Stale) {
		return writtenSection(f.Path, &k), nil
	}
	return s, nil
}

// writtenSection returns the summary of a file with its verdict.
func writtenSection(p repo.Path, k *registry.Summary) Section {
	s := Section{Subject: p.String(), Verdict: k.Verdict.String(), Text: k.Text, Written: true}
	if k.Verdict == fresh.Stale {
		s.Verdict += ": " + gradeWords(k.Grade)
	}
	return s
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

// dirWords returns the summary of a directory, or what its own files say about it.
func (r *collector) dirWords(ctx context.Context, d *survey.Directory, texts map[repo.Path]survey.DirSummary) (Section, error) {
	s := Section{Subject: repo.DirLabel(d.Path).String(), Verdict: fresh.Fresh.String() + ", outline"}
	if d.Excluded != "" {
		s.Verdict, s.Text = fresh.Excluded.String(), "left out: "+d.Excluded
		return s, nil
	}
	if t, ok := texts[d.Path]; ok {
		return writtenDirSection(t), nil
	}
	own, absent, err := r.survey.SelfDescription(ctx, d)
	if err != nil {
		return s, err
	}
	if s.Text = own; own == "" {
		s.Text = r.linkedReadme(ctx, d)
	}
	unread := slices.IndexFunc(d.Files, func(f *repo.File) bool { return f.Problem != "" })
	switch {
	case s.Text != "":
	case unread >= 0:
		f := d.Files[unread]
		s.Verdict, s.Text = fresh.Unknown.String(), fmt.Sprintf("%s: %s", repo.Path(f.Path.Base()), f.Problem)
	case absent > 0:
		s.Verdict, s.Text, s.ByKen = fresh.Unknown.String(), fmt.Sprintf("git lacks the contents of %d of its files", absent), true
	default:
		s.Verdict, s.Text, s.ByKen = fresh.None.String(), "no summary, and no text in it says what it is for", true
	}
	return s, nil
}

// writtenDirSection returns the summary of a directory with its verdict.
func writtenDirSection(t survey.DirSummary) Section {
	s := Section{Subject: repo.DirLabel(t.Path).String(), Verdict: t.Verdict.String(), Text: t.Text, Written: true}
	if t.Verdict.State != fresh.Fresh && len(t.Reasons) > 0 {
		s.Verdict += ": " + english.First(t.Reasons, 4)
	}
	return s
}

// wordsAbove returns the summary that somebody wrote of the directory of a file, and the first lines of those of the
// directories above it, nearest first.
func (r *collector) wordsAbove(ctx context.Context, p repo.Path) ([]Section, error) {
	dirs := []repo.Path{p.Dir()}
	for at := p.Dir(); at != ""; at = at.Dir() {
		dirs = append(dirs, at.Dir())
	}
	texts, _, err := r.survey.Summaries(ctx, dirs)
	if err != nil {
		return nil, err
	}
	var list []Section
	for i, dir := range dirs {
		t, ok := texts[dir]
		if !ok {
			continue
		}
		if i > 0 {
			t.Text, _, _ = strings.Cut(t.Text, "\n")
		}
		list = append(list, writtenDirSection(t))
	}
	return list, nil
}

// specs returns the specs that govern a path.
func (r *collector) specs(ctx context.Context, p repo.Path) ([]Section, error) {
	if r.t.Work == nil {
		return nil, nil
	}
	owners, err := r.Spec.Owners(ctx, []repo.Path{p})
	if err != nil {
		return nil, err
	}
	var list []Section
	for _, u := range owners[0].Unknown {
		list = append(list, Section{Subject: "spec " + u.What, Verdict: fresh.Unknown.String(), Text: "may govern it: " + u.Why})
	}
	if len(owners[0].Governing) == 0 {
		return list, nil
	}
	l, err := r.Spec.List(ctx)
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

func specSection(n spec.ListedSpec) Section {
	text := n.Desc
	if text == "" {
		text = n.Title
	}
	verdict := n.Status.String()
	if n.Drift != nil && *n.Drift > 0 {
		verdict = fmt.Sprintf("%s %d", verdict, *n.Drift)
	}
	return Section{Subject: "spec " + n.ID, Verdict: verdict, Text: strings.Join(strings.Fields(text), " ") + " (" + repo.Path(n.Path).String() + ")", Written: true}
}

// part returns a directory with a line about it.
func (r *collector) part(ctx context.Context, d *survey.Directory, texts map[repo.Path]survey.DirSummary) (Part, error) {
	s, err := r.dirWords(ctx, d, texts)
	if err != nil || s.Verdict == fresh.None.String() || s.Verdict == fresh.Unknown.String() {
		return Part{Path: d.Path}, err
	}
	first, _, _ := strings.Cut(s.Text, "\n")
	part := Part{Path: d.Path, About: first}
	if t, ok := texts[d.Path]; ok && t.Verdict.State != fresh.Fresh {
		part.Verdict = t.Verdict.State.String()
	}
	return part, nil
}

// describe adds a line to each central file.
func (r *collector) describe(ctx context.Context, list []CentralFile) error {
	files := make([]repo.Path, len(list))
	for i, c := range list {
		files[i] = c.Path
	}
	said, err := r.described(ctx, files)
	for i := range said {
		list[i].About, list[i].Likely = said[i].About, byName(list[i].Path)
	}
	return err
}

// described returns files with a line about each: the summary if it is fresh, else what the
// file says of itself.
func (r *collector) described(ctx context.Context, paths []repo.Path) ([]FileAbout, error) {
	list := make([]FileAbout, len(paths))
	files := make([]*repo.File, 0, len(paths))
	for i, p := range paths {
		list[i].Path = p
		if f := r.t.Listed(p); f != nil {
			files = append(files, f)
		}
	}
	if len(files) != len(paths) {
		return list, nil
	}
	said, err := r.t.Summaries(ctx, files)
	if err != nil {
		return nil, err
	}
	seen, err := r.outlines(ctx, files)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		switch {
		case said[i].State == fresh.Fresh:
			list[i].About, _, _ = strings.Cut(said[i].Text, "\n")
		case seen[i] != nil:
			list[i].About = describe.FileLine(f, seen[i])
		}
	}
	return list, nil
}
