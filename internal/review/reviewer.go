package review

import (
	"context"
	"slices"
	"strings"

	"ken/internal/change"
	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/tree"
)

// A Reviewer judges changes of one repository.
type Reviewer struct {
	tree.Sources
	Finder    *find.Finder
	Surveys   *survey.Factory
	Spec      *spec.Reader
	Docs      docs.Policy
	Threshold int    // of the gate
	Main      string // the configured main branch; may be ""
	// AtCommit returns the reviewer with the configuration of a commit. It is nil if the work tree has the
	// configuration.
	AtCommit func(ctx context.Context, commit repo.ID) (*Reviewer, error)
}

// Options select the change to judge.
type Options struct {
	Range string // A..B, REV or "" for the work tree since the main branch
	All   bool   // every line, including older problems
}

// Review judges the change in a range.
func (r *Reviewer) Review(ctx context.Context, opts Options) (*Review, error) {
	span, err := r.reviewRange(ctx, opts.Range)
	if err != nil {
		return nil, err
	}
	if span.unknown != nil {
		return &Review{To: span.end(), Base: span.base, Lines: []Line{}, Unknown: []fault.Unknown{*span.unknown}}, nil
	}
	if r.AtCommit != nil {
		if r, err = r.AtCommit(ctx, span.to); err != nil {
			return nil, err
		}
	}
	var result *Review
	err = r.Finder.WithIndex(ctx, span.to, func(x *searchindex.Index, t *find.IndexedTree) (err error) {
		c := &collector{Reviewer: r, x: x, t: t, span: span, all: opts.All}
		result, err = c.judge(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	result.From = span.from.String()
	result.To = span.end()
	result.Base = span.base
	if !opts.All {
		result.Limit(MaxLines)
	}
	return result, nil
}

// A collector collects the facts for one review.
type collector struct {
	*Reviewer
	x    *searchindex.Index
	t    *find.IndexedTree
	span reviewSpan
	all  bool

	change  *change.Change
	unknown []fault.Unknown
}

// judge reviews the change.
func (c *collector) judge(ctx context.Context) (r *Review, err error) {
	if c.t.IndexBusy {
		busy := find.IndexBusy
		busy.Command = "ken review"
		c.unknown = append(c.unknown, busy)
	}
	if c.change, err = change.Between(ctx, c.x, c.t, change.Range{From: c.span.from, To: c.span.to}); err != nil {
		return nil, err
	}
	if err := c.addUncompared(ctx); err != nil {
		return nil, err
	}
	f := Facts{Change: c.change, Index: c.x, Tree: c.t, After: c.after, Policy: c.Docs, All: c.all}
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
	if f.LackingDocs, err = c.lackingDocs(ctx); err != nil {
		return nil, err
	}
	f.Unknown = c.unknown
	if r, err = Judge(ctx, f); err != nil {
		return nil, err
	}
	return r, c.older(ctx, r)
}

// after lists the files of the tree after the change, including untracked ones.
func (c *collector) after() []repo.File {
	var files []repo.File
	for _, p := range c.t.Paths() {
		f := c.t.Listed(p)
		mode := repo.Regular
		switch f.Kind {
		case repo.KindSymlink:
			mode = repo.Symlink
		case repo.KindGitlink:
			mode = repo.Gitlink
		default:
		}
		files = append(files, repo.File{Path: p, ID: f.ID, Mode: mode})
	}
	for i := range c.change.Files {
		if f := &c.change.Files[i]; f.NewMode != 0 && c.t.Listed(f.Path) == nil {
			files = append(files, repo.File{Path: f.Path, ID: f.New, Mode: f.NewMode})
		}
	}
	slices.SortFunc(files, func(a, b repo.File) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return files
}

// gate checks the specs that govern the changed files; nil if there are no specs.
func (c *collector) gate(ctx context.Context) (*spec.GateResult, error) {
	opts := spec.GateOptions{Threshold: c.Threshold}
	if c.span.to.IsZero() {
		isSpec := func(p repo.Path) bool { return p.Under(spec.Root) } // it may not be checked out
		hasSpecs := c.Workspace.OnDisk(ctx, spec.Root) || slices.ContainsFunc(c.t.Paths(), isSpec)
		if len(c.change.Files) == 0 || !hasSpecs {
			return nil, nil
		}
		opts.Paths = c.paths()
		return c.Spec.Gate(ctx, opts)
	}
	specs, err := c.Workspace.Git.FilesNamed(ctx, c.span.to, spec.Root, spec.FileName)
	if err != nil || len(specs) == 0 {
		return nil, err
	}
	opts.Range = c.span.from.String() + ".." + c.span.to.String()
	return c.Spec.Gate(ctx, opts)
}

// paths lists the changed paths of both sides.
func (c *collector) paths() []repo.Path {
	var paths []repo.Path
	for i := range c.change.Files {
		paths = append(paths, c.change.Files[i].Path, c.change.Files[i].OldPath())
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// summaries returns the texts about old contents of changed files that were neither confirmed nor rewritten.
func (c *collector) summaries(ctx context.Context) ([]Summary, error) {
	var contents []repo.Content
	for i := range c.change.Files {
		f := &c.change.Files[i]
		if !f.Old.IsZero() && !f.New.IsZero() && f.Old != f.New {
			contents = append(contents, repo.Content{ID: f.Old}, repo.Content{ID: f.New})
		}
	}
	if len(contents) == 0 {
		return nil, nil
	}
	records, err := c.Store.Newest(ctx, contents)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	var list []Summary
	for i := range c.change.Files {
		f := &c.change.Files[i]
		record, ok := records[repo.Content{ID: f.Old}]
		_, again := records[repo.Content{ID: f.New}]
		if !ok || again || f.Old == f.New || f.New.IsZero() || f.Unmerged {
			continue
		}
		written := record.Recipe == "hand" || record.Recipe == "agent"
		grade := outline.Grade(f.Before, f.After)
		list = append(list, Summary{Path: f.Path, Author: authorName(record.Author), Written: written, Grade: grade})
	}
	return slices.DeleteFunc(list, func(s Summary) bool { return !c.Policy.Counts(s.Grade) }), nil
}

// authorName returns the name of an author without the address.
func authorName(author string) string {
	if name, _, ok := strings.Cut(author, " <"); ok && name != "" {
		return name
	}
	return author
}

// dirsAbove counts the directories above the changed files whose summaries are stale.
func (c *collector) dirsAbove(ctx context.Context) (int, error) {
	if c.t.Work == nil || len(c.change.Files) == 0 {
		return 0, nil
	}
	if any, err := c.Store.HasDirRecords(ctx); !any || err != nil {
		return 0, err
	}
	counts, err := c.Surveys.ForTree(c.t.Work, nil).DirCounts(ctx, nil)
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
	for _, d := range counts.NeedAttention {
		if d.Verdict.State != fresh.Unknown && above[pathOfDir(d)] {
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
func (c *collector) editedElsewhere(ctx context.Context, specs bool) (map[string][]string, error) {
	if !specs || !c.span.to.IsZero() {
		return nil, nil
	}
	worktrees, err := c.Workspace.Git.Worktrees()
	if err != nil || len(worktrees) < 2 {
		return nil, err
	}
	owners, err := c.Spec.Owners(ctx, c.paths())
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
	overlays, err := c.Spec.Overlays(ctx)
	if err != nil {
		c.unknown = append(c.unknown, fault.Unknown{What: string(Also), Why: "what other worktrees edit: " + err.Error()})
		return nil, ctx.Err()
	}
	edited := make(map[string][]string)
	for _, o := range overlays {
		if o.Worktree == c.Workspace.Git.Worktree() {
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

// older counts the problems that the change did not cause: stale summaries of other files, and stale mentions from
// the last check of all documents.
func (c *collector) older(ctx context.Context, r *Review) error {
	if !c.span.to.IsZero() {
		return nil
	}
	lines := make(map[string]bool)
	for _, l := range r.Lines {
		lines[l.Path] = true
	}
	changed := make(map[repo.Path]bool)
	for i := range c.change.Files {
		changed[c.change.Files[i].Path] = true
	}
	var older []Line
	for _, p := range c.t.Paths() {
		if c.t.Stale(p) && !changed[p] {
			older = append(older, olderLine(Stale, p, "stale summary", "ken summary diff "+fault.Quote(string(p))))
		}
	}
	snapshot, err := c.t.Workspace.Git.Snapshot(ctx)
	if err != nil {
		return err
	}
	stale, checked := docs.StaleMentions(c.t.Workspace)
	for p, texts := range stale {
		isPast := checked != snapshot.Head.Commit || c.t.Listed(p) == nil
		if isPast || lines[p.JSON().Path] {
			continue
		}
		for _, text := range texts {
			older = append(older, olderLine(Docs, p, "mentions "+text+", which is gone", "ken docs "+fault.Quote(string(p))))
		}
	}
	slices.SortStableFunc(older, func(a, b Line) int { return strings.Compare(a.Path, b.Path) })
	r.Older = len(older)
	if c.all {
		r.OlderLines = older
	}
	return nil
}
