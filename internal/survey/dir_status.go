package survey

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
)

// A DirStatus is the verdict about a directory, with its reasons.
type DirStatus struct {
	Dir     *Directory
	Verdict fresh.Verdict
	Record  *store.DirRecord // its summary or outline; nil without one
	Reasons []string

	CountedChildren int // children that policy does not leave out
	ChangedChildren int // those of them that differ from the basis of the record

	outlined bool         // Record is the outline of the present content
	retried  bool         // the author of Record could not finish it, twice, from the same own files
	children []*DirStatus // by name
}

// text returns the digest of the directory's text, zero without one.
func (s *DirStatus) text() fresh.Digest {
	if s.Record == nil {
		return fresh.Digest{}
	}
	return s.Record.TextID()
}

// A treeStatus has the status of every directory of a tree.
type treeStatus struct {
	*Survey
	files  []repo.File
	order  []*Directory // subdirectories first
	latest map[repo.Path][]*store.DirRecord
	failed map[repo.Path]store.DirFailure
	status map[*Directory]*DirStatus // status of each directory

	uncertain    bool // a content could not be read, so verdicts may depend on more than files and records
	outlinesOnly bool // the store has no summary by a model or an agent
	refreshes    bool // outlines of changed content are made again, see refresh
}

// judge reads the tree and gives the verdict about every directory. Directories without a summary get their present
// outline, unless the store has no records at all.
func (s *Survey) judge(ctx context.Context) (*treeStatus, error) { return s.judgeAll(ctx, true) }

// judgeStored is judge for writers: outlines that are not of the present content are stale.
func (s *Survey) judgeStored(ctx context.Context) (*treeStatus, error) { return s.judgeAll(ctx, false) }

func (s *Survey) judgeAll(ctx context.Context, refreshes bool) (*treeStatus, error) {
	files, err := s.tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	ts := &treeStatus{Survey: s, files: files, order: directories(files, s.opts), status: make(map[*Directory]*DirStatus)}
	if len(ts.order) == 0 {
		return ts, nil
	}
	if ts.latest, err = s.store.Latest(ctx); err != nil {
		return nil, err
	}
	ts.refreshes = refreshes && (len(ts.latest) > 0 || s.opts.OfCommit)
	ts.outlinesOnly = true
	for _, list := range ts.latest {
		if ts.outlinesOnly = !slices.ContainsFunc(list, byModelOrAgent); !ts.outlinesOnly {
			break
		}
	}
	if ts.failed, err = s.store.Failures(ctx); err != nil {
		return nil, err
	}
	for _, level := range levels(ts.order) {
		if err := ts.judgeLevel(ctx, level); err != nil {
			return nil, err
		}
	}
	return ts, nil
}

// levels groups directories so that each level depends only on the levels before it.
func levels(order []*Directory) [][]*Directory {
	height := make(map[*Directory]int, len(order))
	var list [][]*Directory
	for _, d := range order {
		h := 0
		for _, c := range d.Children {
			h = max(h, height[c]+1)
		}
		height[d] = h
		if h == len(list) {
			list = append(list, nil)
		}
		list[h] = append(list[h], d)
	}
	return list
}

// judgeLevel gives the verdicts about directories whose children have theirs.
func (ts *treeStatus) judgeLevel(ctx context.Context, level []*Directory) error {
	if err := ts.judgeByRecords(ctx, level); err != nil {
		return err
	}
	if err := ts.findRetried(ctx, level); err != nil {
		return err
	}
	return ts.refresh(ctx, level)
}

// findRetried finds the directories with a partial summary that the same author wrote twice
// from the same own files. A third attempt would end like the first two.
func (ts *treeStatus) findRetried(ctx context.Context, level []*Directory) error {
	var dirs []repo.Path
	for _, d := range level {
		if s := ts.status[d]; s.hasPartialSummary() {
			dirs = append(dirs, s.Record.Path)
		}
	}
	if len(dirs) == 0 {
		return nil
	}
	written, err := ts.store.PastDirRecords(ctx, dirs)
	if err != nil {
		return err
	}
	for _, d := range level {
		s := ts.status[d]
		if !s.hasPartialSummary() {
			continue
		}
		attempts := 0
		for _, r := range written[s.Record.Path] {
			if sameAttempt(r, s.Record) {
				attempts++
			}
		}
		if attempts > 1 {
			s.retried = true
		}
		if s.retried && s.Verdict.Reason == fresh.Partial {
			s.Reasons = []string{"its author could not finish it, twice"}
		}
	}
	return nil
}

// hasPartialSummary reports whether the author of the directory's summary could not finish it.
func (s *DirStatus) hasPartialSummary() bool { return s.hasSummary() && s.Record.Partial }

// sameAttempt reports whether both records are partial summaries by the same recipe from the
// same own files. The texts of subdirectories do not count: the second attempts below a
// directory give it other texts, and would otherwise make its second attempt a first one.
func sameAttempt(a, b *store.DirRecord) bool {
	bothPartial := a.Partial && b.Partial
	sameOrigin := a.Recipe == b.Recipe && slices.EqualFunc(a.Basis.Files, b.Basis.Files, sameFile)
	return bothPartial && sameOrigin
}

func sameFile(a, b store.BasisFile) bool { return a.ID == b.ID && string(a.Name) == string(b.Name) }

// judgeByRecords judges directories by the stored records.
func (ts *treeStatus) judgeByRecords(ctx context.Context, level []*Directory) error {
	var open, wanting []*DirStatus
	for _, d := range level {
		s := &DirStatus{Dir: d}
		ts.status[d] = s
		for _, c := range d.Children {
			child := ts.status[c]
			s.children = append(s.children, child)
			if child.Verdict.State != fresh.Excluded {
				s.CountedChildren++
			}
		}
		switch {
		case d.Excluded != "":
			s.Verdict, s.Reasons = fresh.Verdict{State: fresh.Excluded}, []string{d.Excluded}
		case ts.unreadable(s):
			s.Verdict = fresh.Verdict{}
			s.Record = newest(ts.latest[d.Path])
		case !ts.useMatching(s, ts.eligibleRecords(d.Path, ts.latest[d.Path])):
			open = append(open, s)
		case !ts.outlinesOnly && (s.Record.IsOutline() || s.Record.Partial):
			wanting = append(wanting, s)
		}
	}
	if len(open)+len(wanting) == 0 {
		return nil
	}
	// The store may have a record with the same basis, of this directory at another time or of another directory.
	bases := make([]fresh.Digest, len(open), len(open)+len(wanting))
	for i, s := range open {
		bases[i] = ts.basis(s).Digest()
	}
	for _, s := range wanting {
		bases = append(bases, s.Record.Basis.Digest())
	}
	known, err := ts.store.DirRecordsByBasis(ctx, bases)
	if err != nil {
		return err
	}
	for i, s := range wanting {
		ts.useSharedSummary(s, known[bases[len(open)+i]])
	}
	if len(open) == 0 {
		return nil
	}
	bases = bases[:len(open)]
	found := make([][]*store.DirRecord, len(open))
	for i := range open {
		found[i] = ts.eligibleRecords(open[i].Dir.Path, known[bases[i]])
	}
	if err := ts.preferOwn(ctx, open, bases, found); err != nil {
		return err
	}
	return ts.judgeChanged(ctx, open, bases, found)
}

// eligibleRecords returns the records that a directory may have as its text. An outline never replaces the summary
// of a model or an agent, not even a stale one. In the tree of a commit, every record is eligible.
func (ts *treeStatus) eligibleRecords(p repo.Path, records []*store.DirRecord) []*store.DirRecord {
	if ts.opts.OfCommit || !slices.ContainsFunc(ts.latest[p], byModelOrAgent) || !slices.ContainsFunc(records, (*store.DirRecord).IsOutline) {
		return records
	}
	return slices.DeleteFunc(slices.Clone(records), (*store.DirRecord).IsOutline)
}

// byModelOrAgent reports whether a model or an agent wrote a record, or checked it.
func byModelOrAgent(r *store.DirRecord) bool { return !r.IsOutline() }

// preferOwn replaces summaries of other directories with the same basis by summaries of the directory itself, because
// directories with the same input may have different summaries. Their outlines are equal.
func (ts *treeStatus) preferOwn(ctx context.Context, open []*DirStatus, bases []fresh.Digest, found [][]*store.DirRecord) error {
	ofOther := func(r *store.DirRecord, at repo.Path) bool { return r.Path != at && !r.IsOutline() }
	var places []store.DirVersion
	for i, s := range open {
		at := s.Dir.Path
		if len(ts.latest[at]) > 0 && slices.ContainsFunc(found[i], func(r *store.DirRecord) bool { return ofOther(r, at) }) {
			places = append(places, store.DirVersion{Path: at, Basis: bases[i]})
		}
	}
	if len(places) == 0 {
		return nil
	}
	own, err := ts.store.DirRecordsByVersion(ctx, places)
	if err != nil {
		return err
	}
	for i, s := range open {
		mine := slices.DeleteFunc(slices.Clone(own[store.DirVersion{Path: s.Dir.Path, Basis: bases[i]}]), (*store.DirRecord).IsOutline)
		if len(mine) > 0 {
			rest := slices.DeleteFunc(slices.Clone(found[i]), func(r *store.DirRecord) bool { return ofOther(r, s.Dir.Path) })
			found[i] = append(mine, rest...)
		}
	}
	return nil
}

// useSharedSummary gives a directory with an outline or a partial summary the summary that a model or an agent
// wrote for another directory with the same basis. So no model is asked twice about the same input.
func (ts *treeStatus) useSharedSummary(s *DirStatus, known []*store.DirRecord) {
	whole := slices.DeleteFunc(slices.Clone(known), func(r *store.DirRecord) bool { return r.IsOutline() || r.Partial })
	shared := DirStatus{Dir: s.Dir, CountedChildren: s.CountedChildren, children: s.children}
	if ts.useMatching(&shared, whole) {
		*s = shared
	}
}

// unreadable adds a reason for each file of a directory whose content is unknown.
func (ts *treeStatus) unreadable(s *DirStatus) bool {
	for _, f := range s.Dir.Files {
		if f.ID.IsZero() {
			s.Reasons = append(s.Reasons, fmt.Sprintf("%s: %s", quoteName(f.Path.Base()), cmp.Or(f.Problem, "content not known")))
		}
	}
	return len(s.Reasons) > 0
}

// useMatching sets the record of a directory to one whose basis equals the present content. It returns false if
// there is none.
func (ts *treeStatus) useMatching(s *DirStatus, records []*store.DirRecord) bool {
	for _, r := range ranked(records) {
		if names, _ := s.differing(r); s.sameFiles(r) && len(names) == 0 {
			s.Record = r
			s.finish()
			return true
		}
	}
	return false
}

// ranked sorts records: those that a model or an agent wrote before outlines, and the newest first.
func ranked(records []*store.DirRecord) []*store.DirRecord {
	if len(records) < 2 {
		return records
	}
	list := slices.Clone(records)
	slices.SortStableFunc(list, func(a, b *store.DirRecord) int {
		switch {
		case a.IsOutline() != b.IsOutline() && b.IsOutline():
			return -1
		case a.IsOutline() != b.IsOutline():
			return 1
		}
		return b.Compare(a)
	})
	return list
}

// newest returns the first of the ranked records; nil for none.
func newest(records []*store.DirRecord) *store.DirRecord {
	if len(records) == 0 {
		return nil
	}
	return ranked(records)[0]
}

// sameFiles reports whether the own files have the contents of a record's basis.
func (s *DirStatus) sameFiles(r *store.DirRecord) bool {
	return slices.EqualFunc(s.Dir.Files, r.Basis.Files, func(f *repo.File, b store.BasisFile) bool {
		return f.ID == b.ID && f.Path.Base() == string(b.Name)
	})
}

// finish gives the verdict about a directory whose record has the present content as its basis.
func (s *DirStatus) finish() {
	switch {
	case s.Record.Basis.Missing() > 0:
		s.Verdict, s.ChangedChildren = fresh.Incomplete.Verdict(), s.Record.Basis.Missing()
		s.Reasons = append(s.Reasons, fmt.Sprintf("written while %d of %d subdirectories had no summary", s.ChangedChildren, s.CountedChildren))
	case s.Record.Partial:
		s.Verdict = fresh.Partial.Verdict()
		s.Reasons = append(s.Reasons, "its author could not finish it")
	default:
		s.Verdict = fresh.Verdict{State: fresh.Fresh}
	}
}

// describedAnew is the reason for a child with another text than in the basis.
const describedAnew = " has a new summary"

// differing names the children that differ from a record's basis or whose content changed since their text was
// written. unknown counts those with an unknown verdict.
func (s *DirStatus) differing(r *store.DirRecord) (names []string, unknown int) {
	was := make(map[string]fresh.Digest, len(r.Basis.Children))
	for _, c := range r.Basis.Children {
		was[string(c.Name)] = c.Text
	}
	for _, c := range s.children {
		if c.Verdict.State == fresh.Excluded {
			continue
		}
		name := c.Dir.Name()
		text, known := was[name]
		delete(was, name)
		switch {
		case !known:
			names = append(names, quoteName(name)+" is new")
		case text.IsZero() && !r.IsOutline() && !c.hasSummary():
			// It had no summary then, and has none now.
		case c.Verdict.Reason == fresh.Failed && c.Record == nil && !r.IsOutline():
			// It had an outline at most, which ken does not store after a failure.
		case text != c.text():
			names = append(names, quoteName(name)+describedAnew)
		case !text.IsZero() && !c.holdsFor(r):
			if c.Verdict.State == fresh.Unknown {
				unknown++
			}
			names = append(names, quoteName(name)+" is "+c.Verdict.Word())
		}
	}
	for _, c := range r.Basis.Children {
		if _, absent := was[string(c.Name)]; absent {
			names = append(names, s.absent(string(c.Name), r)...)
		}
	}
	return names, unknown
}

// holdsFor reports whether a record that was written from the text of a child still holds. If the child's author could
// not finish the text, or lacked the summary of a subdirectory, nothing changed because of that. An outline is made
// again, as it costs nothing.
func (s *DirStatus) holdsFor(r *store.DirRecord) bool {
	switch {
	case s.Verdict.State == fresh.Fresh:
		return true
	case r.IsOutline():
		return false
	case s.Verdict.Reason == fresh.Failed:
		return s.outlined
	default:
		return s.Verdict.Reason == fresh.Partial || s.Verdict.Reason == fresh.Incomplete
	}
}

// absent says why a file or a subdirectory of a record's basis is not among those that count now. If policy leaves
// it out, it does not count, and a summary stays fresh. An outline is made again, because it names the files and
// directories that count.
func (s *DirStatus) absent(name string, r *store.DirRecord) []string {
	switch {
	case !s.leftOut(name):
		return []string{quoteName(name) + " is gone"}
	case r.IsOutline():
		return []string{quoteName(name) + " is left out by policy"}
	default:
		return nil
	}
}

// leftOut reports whether policy leaves out a file or a subdirectory that exists.
func (s *DirStatus) leftOut(name string) bool {
	return s.Dir.leftOut[name] || slices.ContainsFunc(s.children, func(c *DirStatus) bool {
		return c.Verdict.State == fresh.Excluded && c.Dir.Name() == name
	})
}

// quoteName returns a name for a reason. It escapes bytes that are not printable.
func quoteName(name string) string { return repo.Path(name).String() }

// judgeChanged judges directories whose content differs from the basis of their latest record.
func (ts *treeStatus) judgeChanged(ctx context.Context, open []*DirStatus, bases []fresh.Digest, found [][]*store.DirRecord) error {
	var rest []*DirStatus
	var ask []*repo.File
	for i, s := range open {
		if ts.useMatching(s, found[i]) {
			continue
		}
		if f, ok := ts.failed[s.Dir.Path]; ok && f.Basis == bases[i] {
			s.Verdict, s.Reasons = fresh.Failed.Verdict(), []string{f.Reason}
			s.Record = newest(ts.latest[s.Dir.Path])
			continue
		}
		if len(ts.latest[s.Dir.Path]) == 0 {
			s.Verdict = fresh.Verdict{State: fresh.None}
			continue
		}
		rest = append(rest, s)
		for _, r := range ts.eligibleRecords(s.Dir.Path, ts.latest[s.Dir.Path]) {
			ask = append(ask, s.changedFiles(r)...)
		}
	}
	shapes, err := ts.shapes(ctx, ask)
	if err != nil {
		return err
	}
	var past []*DirStatus
	unjudged := make(map[*DirStatus]DirStatus)
	for _, s := range rest {
		var best *DirStatus
		for _, r := range ranked(ts.eligibleRecords(s.Dir.Path, ts.latest[s.Dir.Path])) {
			if c := ts.compare(s, r, shapes); best == nil || c.Verdict.State == fresh.Fresh && best.Verdict.State != fresh.Fresh {
				best = c
			}
		}
		if best.Verdict.State != fresh.Fresh && !best.Record.IsOutline() {
			past, unjudged[s] = append(past, s), *s
		}
		*s = *best
	}
	return ts.useOlderSummary(ctx, past, unjudged)
}

// useOlderSummary looks for an older summary that is fresh again, for directories whose latest one is stale. Its
// basis may differ from the present content in ways that do not count. The map unjudged has the statuses before
// they were judged.
func (ts *treeStatus) useOlderSummary(ctx context.Context, past []*DirStatus, unjudged map[*DirStatus]DirStatus) error {
	if len(past) == 0 {
		return nil
	}
	dirs := make([]repo.Path, len(past))
	for i, s := range past {
		dirs[i] = s.Dir.Path
	}
	written, err := ts.store.PastDirRecords(ctx, dirs)
	if err != nil {
		return err
	}
	var ask []*repo.File
	for _, s := range past {
		older := slices.DeleteFunc(slices.Clone(written[s.Dir.Path]), func(r *store.DirRecord) bool { return !s.sameNames(r) })
		written[s.Dir.Path] = older
		for _, r := range older {
			ask = append(ask, s.changedFiles(r)...)
		}
	}
	shapes, err := ts.shapes(ctx, ask)
	if err != nil {
		return err
	}
	for _, s := range past {
		was := unjudged[s]
		for _, r := range written[s.Dir.Path] {
			if c := ts.compare(&was, r, shapes); c.Verdict.State == fresh.Fresh {
				*s = *c
				break
			}
		}
	}
	return nil
}

// sameNames reports whether the own files have the names, and the children the texts, of a record's basis.
func (s *DirStatus) sameNames(r *store.DirRecord) bool {
	names, _ := s.differing(r)
	return len(names) == 0 && slices.EqualFunc(s.Dir.Files, r.Basis.Files, func(f *repo.File, b store.BasisFile) bool {
		return f.Path.Base() == string(b.Name)
	})
}

// filesByName returns the files in the basis of a record by their names.
func filesByName(r *store.DirRecord) map[string]store.BasisFile {
	files := make(map[string]store.BasisFile, len(r.Basis.Files))
	for _, f := range r.Basis.Files {
		files[string(f.Name)] = f
	}
	return files
}

// changedFiles returns the files that have another content in the basis of a record, and an outline there.
func (s *DirStatus) changedFiles(r *store.DirRecord) []*repo.File {
	was := filesByName(r)
	var list []*repo.File
	for _, f := range s.Dir.Files {
		if b, ok := was[f.Path.Base()]; ok && b.ID != f.ID && b.Shape.Language != "" {
			list = append(list, f)
		}
	}
	return list
}

// shapes returns the outlines of files.
func (ts *treeStatus) shapes(ctx context.Context, files []*repo.File) (map[*repo.File]*outline.Outline, error) {
	slices.SortFunc(files, func(a, b *repo.File) int { return strings.Compare(string(a.Path), string(b.Path)) })
	files = slices.Compact(files)
	if len(files) == 0 {
		return nil, nil
	}
	list, err := ts.tree.Outlines(ctx, files)
	if err != nil {
		return nil, err
	}
	shapes := make(map[*repo.File]*outline.Outline, len(files))
	for i, f := range files {
		shapes[f] = list[i].Outline
		ts.uncertain = ts.uncertain || list[i].Outline == nil
	}
	return shapes, nil
}

// compare judges a directory by a record of it.
func (ts *treeStatus) compare(s *DirStatus, r *store.DirRecord, shapes map[*repo.File]*outline.Outline) *DirStatus {
	c := *s
	c.Record = r
	changed := ts.changed(s, r, shapes)
	differing, unknown := s.differing(r)
	c.ChangedChildren = len(differing)
	switch {
	case len(changed) > 0:
		c.Verdict, c.Reasons = fresh.StaleSelf.Verdict(), append(changed, differing...)
	case len(differing) > unknown:
		c.Verdict, c.Reasons = fresh.StaleBelow.Verdict(), differing
	case unknown > 0: // no change is known, but a child could not be judged
		c.Verdict, c.Reasons = fresh.Verdict{}, differing
	default:
		c.finish()
	}
	return &c
}

// changed names the own files whose difference from a record's basis counts.
func (ts *treeStatus) changed(s *DirStatus, r *store.DirRecord, shapes map[*repo.File]*outline.Outline) []string {
	was := filesByName(r)
	var names []string
	for _, f := range s.Dir.Files {
		name := f.Path.Base()
		b, known := was[name]
		delete(was, name)
		switch {
		case !known:
			names = append(names, quoteName(name)+" is new")
		case b.ID == f.ID:
		case r.IsOutline():
			if now := shapes[f]; b.Shape.Digest.IsZero() || now == nil || b.Shape.Digest != now.Digest {
				names = append(names, quoteName(name)+" changed")
			}
		default:
			if g := outline.Grade(b.Shape.Outline(), shapes[f]); ts.opts.Counts(g) {
				names = append(names, fmt.Sprintf("%s changed (%s)", quoteName(name), g))
			}
		}
	}
	for _, b := range r.Basis.Files {
		if _, absent := was[string(b.Name)]; absent {
			names = append(names, s.absent(string(b.Name), r)...)
		}
	}
	return names
}

// textForParent returns the digest of the text about a directory from which its parent is described. It is zero without
// a text, and for an outline of older content: the parent then calls the directory pending.
func (s *DirStatus) textForParent() fresh.Digest {
	isOldOutline := !s.hasSummary() && !s.outlined && s.Verdict.State != fresh.Fresh
	if isOldOutline {
		return fresh.Digest{}
	}
	return s.text()
}

// basis returns the basis of a text that would be written about a directory now, without outlines of the files.
func (ts *treeStatus) basis(s *DirStatus) store.DirBasis {
	var b store.DirBasis
	for _, f := range s.Dir.Files {
		b.Files = append(b.Files, store.BasisFile{Name: []byte(f.Path.Base()), ID: f.ID})
	}
	for _, c := range s.children {
		if c.Verdict.State != fresh.Excluded {
			b.Children = append(b.Children, store.BasisChild{Name: []byte(c.Dir.Name()), Text: c.textForParent()})
		}
	}
	return b
}
