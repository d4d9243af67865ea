package app

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ken/internal/cli"
	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/review"
	"ken/internal/searchindex"
	"ken/internal/spec"
	"ken/internal/survey"
)

// Review judges the change that a range names.
func (w *workspace) Review(ctx context.Context, opts cli.ReviewOptions) (*review.Review, error) {
	span, err := w.reviewRange(ctx, opts.Range)
	if err != nil {
		return nil, err
	}
	if span.unknown != nil {
		return &review.Review{To: span.end(), Base: span.base, Lines: []review.Line{}, Unknown: []review.Unknown{*span.unknown}}, nil
	}
	at := ""
	if !span.to.IsZero() {
		at = span.to.String()
	}
	var r *review.Review
	_, err = w.askIndex(ctx, at, func(x *searchindex.Index, t *findTree, _ bool) (err error) {
		c := &reviewer{w: w, x: x, t: t, span: span, all: opts.All, only: opts.Only}
		r, err = c.judge(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.From, r.To, r.Base = span.from.String(), span.end(), span.base
	if !opts.All {
		r.Limit(review.MaxLines)
	}
	return r, nil
}

// FailOn returns the kinds of lines that fail a check.
func (w *workspace) FailOn() []review.Kind {
	if w.cfg.Review.FailOn == nil {
		return review.DefaultFailOn
	}
	return w.cfg.Review.FailOn
}

// A reviewer collects the facts for one review.
type reviewer struct {
	w    *workspace
	x    *searchindex.Index
	t    *findTree
	span reviewSpan
	all  bool
	only []repo.Path // the changed files that are judged, if not nil

	changes []review.Change
	unknown []review.Unknown
}

func (c *reviewer) judge(ctx context.Context) (*review.Review, error) {
	if c.t.behind {
		c.unknown = append(c.unknown, review.Unknown{
			Reason: "another process is updating the search index, and this answer is from the index as it was before", Command: "ken review",
		})
	}
	list, err := c.compare(ctx)
	if err != nil {
		return nil, err
	}
	if c.only != nil {
		list = slices.DeleteFunc(list, func(f repo.FileChange) bool {
			return !slices.Contains(c.only, f.Path) && !slices.Contains(c.only, f.From)
		})
	}
	if err := c.readChanges(ctx, list); err != nil {
		return nil, err
	}
	f := review.Facts{
		Changes: c.changes, Index: c.x, Tree: c.t, After: func() []docs.File { return c.after(list) }, ReadOld: func(id repo.ID) []byte { return c.blob(ctx, id) },
		Policy: c.w.cfg.Docs, All: c.all,
	}
	if f.Gate, err = c.gate(ctx); err != nil {
		return nil, err
	}
	if f.Summaries, err = c.summaries(ctx); err != nil {
		return nil, err
	}
	if f.DirsAbove, err = c.dirsAbove(ctx); err != nil {
		return nil, err
	}
	if f.EditedElsewhere, err = c.editedElsewhere(ctx, f.Gate != nil); err != nil {
		return nil, err
	}
	f.Unknown = c.unknown
	r, err := review.Judge(ctx, f)
	if err != nil {
		return nil, err
	}
	c.older(r)
	return r, nil
}

// blob returns a content that git has, nil if it is not here or too large.
func (c *reviewer) blob(ctx context.Context, id repo.ID) (content []byte) {
	if id.IsZero() {
		return nil
	}
	err := c.w.git.EachBlob(ctx, []repo.ID{id}, func(_ int, b []byte, size int64) {
		if size >= 0 && size == int64(len(b)) {
			content = slices.Clone(b)
		}
	})
	if err != nil {
		return nil
	}
	return content
}

// after lists the files of the tree after the change, untracked ones included.
func (c *reviewer) after(list []repo.FileChange) []docs.File {
	files := make([]docs.File, 0, len(c.t.listed))
	for p, f := range c.t.listed {
		mode := repo.Regular
		switch f.Kind {
		case repo.KindSymlink:
			mode = repo.Symlink
		case repo.KindGitlink:
			mode = repo.Gitlink
		default:
		}
		files = append(files, docs.File{Path: p, ID: f.ID, Mode: mode})
	}
	for i := range list {
		if f := &list[i]; f.NewMode != 0 && c.t.listed[f.Path] == nil {
			files = append(files, docs.File{Path: f.Path, ID: f.New, Mode: f.NewMode})
		}
	}
	slices.SortFunc(files, func(a, b docs.File) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return files
}

// gate asks for the specs that govern the changed files; nil if there are no specs.
func (c *reviewer) gate(ctx context.Context) (*spec.GateResult, error) {
	opts := spec.GateOptions{Threshold: c.w.GatePolicy().Threshold}
	if c.span.to.IsZero() {
		if len(c.changes) == 0 || !exists(filepath.Join(c.w.git.Root(), spec.Root)) {
			return nil, nil
		}
		opts.Paths = c.paths()
		return c.w.Spec().Gate(ctx, opts)
	}
	specs, err := c.w.git.FilesNamed(ctx, c.span.to, spec.Root, spec.FileName)
	if err != nil || len(specs) == 0 {
		return nil, err
	}
	opts.Range = c.span.from.String() + ".." + c.span.to.String()
	return c.w.Spec().Gate(ctx, opts)
}

// paths lists the changed paths of both sides.
func (c *reviewer) paths() []repo.Path {
	var paths []repo.Path
	for i := range c.changes {
		paths = append(paths, c.changes[i].Path, c.changes[i].OldPath())
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// summaries returns the texts about old contents of changed files that nobody has confirmed or
// written again.
func (c *reviewer) summaries(ctx context.Context) ([]review.Summary, error) {
	var contents []repo.Content
	for i := range c.changes {
		f := &c.changes[i]
		if !f.Old.IsZero() && !f.New.IsZero() && f.Old != f.New {
			contents = append(contents, repo.Content{ID: f.Old}, repo.Content{ID: f.New})
		}
	}
	if len(contents) == 0 {
		return nil, nil
	}
	records, err := c.w.store.Newest(ctx, contents)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	var list []review.Summary
	var moved []registry.Moved
	for i := range c.changes {
		f := &c.changes[i]
		record, ok := records[repo.Content{ID: f.Old}]
		_, again := records[repo.Content{ID: f.New}]
		if !ok || again || f.Old == f.New || f.New.IsZero() || f.Unmerged {
			continue
		}
		written := record.Recipe == "hand" || record.Recipe == "agent"
		list = append(list, review.Summary{Path: f.Path, Author: authorName(record.Author), Written: written})
		moved = append(moved, registry.Moved{Path: f.Path, From: f.Old, To: f.New})
	}
	grades, err := grader{c.w}.Grades(ctx, moved)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Grade = grades[i]
	}
	return slices.DeleteFunc(list, func(s review.Summary) bool { return !c.w.cfg.Registry.Counts(s.Grade) }), nil
}

// authorName returns the name of an author without the address.
func authorName(author string) string {
	if name, _, ok := strings.Cut(author, " <"); ok && name != "" {
		return name
	}
	return author
}

// dirsAbove counts the directories above the changed files whose summaries are stale.
func (c *reviewer) dirsAbove(ctx context.Context) (int, error) {
	tree, ok := c.t.Tree.(*surveyTree)
	if !ok || len(c.changes) == 0 {
		return 0, nil
	}
	if any, err := c.w.store.Describes(ctx); !any || err != nil {
		return 0, err
	}
	counts, err := c.w.surveyOf(tree, nil).DirCounts(ctx, nil)
	if err != nil {
		return 0, err
	}
	above := make(map[repo.Path]bool)
	for _, p := range c.paths() {
		for dir := p.Dir(); !above[dir]; dir = dir.Dir() {
			above[dir] = true
		}
	}
	n := 0
	for _, d := range counts.Wanting {
		if d.Verdict != survey.Unknown && above[pathOfDir(d)] {
			n++
		}
	}
	return n, nil
}

// pathOfDir returns the path of a listed directory; that of the root is "".
func pathOfDir(d survey.StaleDirectory) repo.Path {
	p, err := d.Raw()
	if err != nil || p == "." {
		return ""
	}
	return p
}

// editedElsewhere finds the specs of changed files that other worktrees edit.
func (c *reviewer) editedElsewhere(ctx context.Context, specs bool) (map[string][]string, error) {
	if !specs || !c.span.to.IsZero() {
		return nil, nil
	}
	worktrees, err := c.w.git.Worktrees()
	if err != nil || len(worktrees) < 2 {
		return nil, err
	}
	owners, err := c.w.Spec().Owners(ctx, c.paths())
	if err != nil {
		return nil, err
	}
	governing := make(map[string]bool)
	for _, o := range owners {
		for _, g := range o.Governing {
			governing[g.ID] = true
		}
	}
	if len(governing) == 0 {
		return nil, nil
	}
	overlays, err := c.w.Spec().Overlays(ctx)
	if err != nil {
		c.unknown = append(c.unknown, review.Unknown{Kind: review.Also, Reason: "what other worktrees edit: " + err.Error()})
		return nil, ctx.Err()
	}
	edited := make(map[string][]string)
	for _, o := range overlays {
		if o.Worktree == c.w.git.Worktree() {
			continue
		}
		for _, op := range o.Ops {
			if governing[op.Node] && !slices.Contains(edited[op.Node], o.Worktree) {
				edited[op.Node] = append(edited[op.Node], o.Worktree)
			}
		}
	}
	return edited, nil
}

// older counts the problems that the change did not cause: stale summaries of other content, and stale
// mentions that the last check of all documents listed.
func (c *reviewer) older(r *review.Review) {
	if !c.span.to.IsZero() {
		return
	}
	lines := make(map[string]bool)
	for _, l := range r.Lines {
		lines[l.Path] = true
	}
	changed := make(map[repo.Path]bool)
	for i := range c.changes {
		changed[c.changes[i].Path] = true
	}
	var debts []review.Line
	for _, p := range slices.Sorted(maps.Keys(c.t.stale)) {
		if !changed[p] {
			debts = append(debts, review.Debt(review.Stale, p, "stale summary", "ken diff "+fault.Quote(string(p))))
		}
	}
	for p, texts := range c.w.staleMentions() {
		if lines[p.JSON().Path] {
			continue
		}
		for _, text := range texts {
			debts = append(debts, review.Debt(review.Docs, p, "mentions "+text+", which is gone", "ken docs "+fault.Quote(string(p))))
		}
	}
	slices.SortStableFunc(debts, func(a, b review.Line) int { return strings.Compare(a.Path, b.Path) })
	r.Older = len(debts)
	if c.all {
		r.Debts = debts
	}
}
