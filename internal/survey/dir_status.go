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

// A DirStatus is what is known of a directory now.
type DirStatus struct {
	Dir     *Directory
	Verdict Verdict
	Record  *store.DirRecord // that speaks for it; nil when none does
	Reasons []string
	// K of the N children that count are not as the record knew them.
	K, N int

	outlined bool          // Record is the outline of what is there now
	retried  bool          // the author of Record could not finish it, twice
	children []*DirStatus  // by name
	kept     *cachedStatus // of one that was kept, nil for one that was judged now
}

// text names what is said of the directory, zero when nothing is.
func (s *DirStatus) text() fresh.Digest {
	if s.Record == nil {
		return fresh.Digest{}
	}
	return s.Record.TextID()
}

// A judgement is one reading of a tree.
type judgement struct {
	*Survey
	files  []File
	order  []*Directory // every one after all below it
	plan   *LayoutPlan  // nil for none
	latest map[repo.Path][]*store.DirRecord
	failed map[repo.Path]store.DirFailure
	at     map[*Directory]*DirStatus

	unsure       bool   // a grammar saw nothing where it once did: the file may have been on the move
	outlinesOnly bool   // the store has no summary by a model or an agent
	refreshes    bool   // outlines of changed content are made again, see refresh
	refreshed    bool   // some were, and are not stored
	made         string // names what it was made from, "" when that was not asked or cannot be told
	saved        bool   // what is kept is just this
}

// judge reads the tree and finds how every directory stands. Directories without a summary
// get their present outline, unless nobody ever asked for outlines here.
func (s *Survey) judge(ctx context.Context) (*judgement, error) { return s.judgeAll(ctx, true) }

// judgeStored is judge for writers: outlines that are not of the present content are stale.
func (s *Survey) judgeStored(ctx context.Context) (*judgement, error) { return s.judgeAll(ctx, false) }

func (s *Survey) judgeAll(ctx context.Context, refreshes bool) (*judgement, error) {
	files, err := s.tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	j := &judgement{Survey: s, files: files, order: directories(files, s.opts), at: make(map[*Directory]*DirStatus)}
	if len(j.order) == 0 {
		return j, nil
	}
	if j.latest, err = s.store.Latest(ctx); err != nil {
		return nil, err
	}
	j.refreshes = refreshes && (len(j.latest) > 0 || s.opts.Past)
	j.outlinesOnly = true
	for _, list := range j.latest {
		if j.outlinesOnly = !slices.ContainsFunc(list, byModelOrAgent); !j.outlinesOnly {
			break
		}
	}
	if j.failed, err = s.store.Failures(ctx); err != nil {
		return nil, err
	}
	if j.plan, err = j.recall(ctx); err != nil {
		return nil, err
	}
	if j.plan != nil && len(j.plan.ranks) > 0 {
		opts := s.opts
		opts.Ranks = j.plan.under(opts.Ranks)
		j.order = directories(files, opts)
	}
	for _, level := range levels(j.order) {
		if err := j.judgeLevel(ctx, level); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// levels groups directories so that each level depends on those before it alone.
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

// judgeLevel finds how directories stand whose children have been judged.
func (j *judgement) judgeLevel(ctx context.Context, level []*Directory) error {
	if err := j.settleLevel(ctx, level); err != nil {
		return err
	}
	if err := j.findRetried(ctx, level); err != nil {
		return err
	}
	return j.refresh(ctx, level)
}

// findRetried finds the directories with a partial summary that the same author wrote twice
// from the same basis. A third attempt would end like the first two.
func (j *judgement) findRetried(ctx context.Context, level []*Directory) error {
	var dirs []repo.Path
	for _, d := range level {
		if s := j.at[d]; s.Verdict == Partial && s.written() {
			dirs = append(dirs, s.Record.Path)
		}
	}
	if len(dirs) == 0 {
		return nil
	}
	written, err := j.store.WrittenOf(ctx, dirs)
	if err != nil {
		return err
	}
	for _, d := range level {
		s := j.at[d]
		if s.Verdict != Partial || !s.written() {
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
			s.Reasons = []string{"its author could not finish it, twice"}
		}
	}
	return nil
}

// sameAttempt reports whether both records are partial summaries by the same recipe from the
// same basis.
func sameAttempt(a, b *store.DirRecord) bool {
	return a.Partial && b.Partial && a.Recipe == b.Recipe && a.Basis.Digest() == b.Basis.Digest()
}

// settleLevel judges directories by the records that are stored.
func (j *judgement) settleLevel(ctx context.Context, level []*Directory) error {
	var open, wanting []*DirStatus
	for _, d := range level {
		s := &DirStatus{Dir: d}
		j.at[d] = s
		for _, c := range d.Children {
			child := j.at[c]
			s.children = append(s.children, child)
			if child.Verdict != Excluded {
				s.N++
			}
		}
		switch {
		case d.Excluded != "":
			s.Verdict, s.Reasons = Excluded, []string{d.Excluded}
		case j.unreadable(s):
			s.Verdict = Unknown
			s.Record = newest(j.latest[d.Path])
		case !j.settled(s, j.speakers(d.Path, j.latest[d.Path])):
			open = append(open, s)
		case !j.outlinesOnly && (s.Record.Outlined() || s.Record.Partial):
			wanting = append(wanting, s)
		}
	}
	if len(open)+len(wanting) == 0 {
		return nil
	}
	// The same may have been there before, at another time or in another place.
	bases := make([]fresh.Digest, len(open), len(open)+len(wanting))
	for i, s := range open {
		bases[i] = j.basis(s).Digest()
	}
	for _, s := range wanting {
		bases = append(bases, s.Record.Basis.Digest())
	}
	known, err := j.store.WrittenFrom(ctx, bases)
	if err != nil {
		return err
	}
	for i, s := range wanting {
		j.yield(s, known[bases[len(open)+i]])
	}
	if len(open) == 0 {
		return nil
	}
	bases = bases[:len(open)]
	found := make([][]*store.DirRecord, len(open))
	for i := range open {
		found[i] = j.speakers(open[i].Dir.Path, known[bases[i]])
	}
	if err := j.preferOwn(ctx, open, bases, found); err != nil {
		return err
	}
	return j.settle(ctx, open, bases, found)
}

// speakers returns those of some records that may speak for a directory. What a model or an agent wrote
// there stays, stale or not: no outline displaces it. Of the past, whatever goes with it
// is told.
func (j *judgement) speakers(p repo.Path, records []*store.DirRecord) []*store.DirRecord {
	if j.opts.Past || !slices.ContainsFunc(j.latest[p], byModelOrAgent) || !slices.ContainsFunc(records, (*store.DirRecord).Outlined) {
		return records
	}
	return slices.DeleteFunc(slices.Clone(records), (*store.DirRecord).Outlined)
}

// byModelOrAgent reports whether a model or an agent wrote a record, or looked at it.
func byModelOrAgent(r *store.DirRecord) bool { return !r.Outlined() }

// preferOwn replaces what was written elsewhere, from the same, by what was written at
// the directory itself: directories with the same input may be described in words of their own. What was merely
// outlined has the same words everywhere.
func (j *judgement) preferOwn(ctx context.Context, open []*DirStatus, bases []fresh.Digest, found [][]*store.DirRecord) error {
	strange := func(r *store.DirRecord, at repo.Path) bool { return r.Path != at && !r.Outlined() }
	var places []store.DirVersion
	for i, s := range open {
		at := s.Dir.Path
		if len(j.latest[at]) > 0 && slices.ContainsFunc(found[i], func(r *store.DirRecord) bool { return strange(r, at) }) {
			places = append(places, store.DirVersion{Path: at, Basis: bases[i]})
		}
	}
	if len(places) == 0 {
		return nil
	}
	own, err := j.store.WrittenIn(ctx, places)
	if err != nil {
		return err
	}
	for i, s := range open {
		mine := slices.DeleteFunc(slices.Clone(own[store.DirVersion{Path: s.Dir.Path, Basis: bases[i]}]), (*store.DirRecord).Outlined)
		if len(mine) > 0 {
			rest := slices.DeleteFunc(slices.Clone(found[i]), func(r *store.DirRecord) bool { return strange(r, s.Dir.Path) })
			found[i] = append(mine, rest...)
		}
	}
	return nil
}

// yield has a directory that was merely outlined, or that its author could not finish with,
// take over what a model or an agent has written elsewhere from the same: nobody is asked twice about
// one thing.
func (j *judgement) yield(s *DirStatus, known []*store.DirRecord) {
	whole := slices.DeleteFunc(slices.Clone(known), func(r *store.DirRecord) bool { return r.Outlined() || r.Partial })
	if twin := (DirStatus{Dir: s.Dir, N: s.N, children: s.children}); j.settled(&twin, whole) {
		*s = twin
	}
}

// unreadable notes the files of a directory whose content is not known.
func (j *judgement) unreadable(s *DirStatus) bool {
	for _, f := range s.Dir.Files {
		if f.ID.IsZero() {
			s.Reasons = append(s.Reasons, fmt.Sprintf("%s: %s", said(f.Path.Base()), cmp.Or(f.Problem, "content not known")))
		}
	}
	return len(s.Reasons) > 0
}

// settled takes a record that was written from just what is there, if there is one.
func (j *judgement) settled(s *DirStatus, records []*store.DirRecord) bool {
	for _, r := range ranked(records) {
		if names, _ := s.differing(r); s.sameFiles(r) && len(names) == 0 {
			s.Record = r
			s.finish()
			return true
		}
	}
	return false
}

// ranked puts what a model or an agent wrote before what was outlined, and the newest first.
func ranked(records []*store.DirRecord) []*store.DirRecord {
	if len(records) < 2 {
		return records
	}
	list := slices.Clone(records)
	slices.SortStableFunc(list, func(a, b *store.DirRecord) int {
		switch {
		case a.Outlined() != b.Outlined() && b.Outlined():
			return -1
		case a.Outlined() != b.Outlined():
			return 1
		}
		return b.Compare(a)
	})
	return list
}

func newest(records []*store.DirRecord) *store.DirRecord {
	if len(records) == 0 {
		return nil
	}
	return ranked(records)[0]
}

// sameFiles reports whether the own files are byte for byte what a record was
// written from.
func (s *DirStatus) sameFiles(r *store.DirRecord) bool {
	return slices.EqualFunc(s.Dir.Files, r.Basis.Files, func(f *File, b store.BasisFile) bool {
		return f.ID == b.ID && f.Path.Base() == string(b.Name)
	})
}

// finish gives the verdict about a directory whose record was written from just what
// is there.
func (s *DirStatus) finish() {
	switch {
	case s.Record.Basis.Missing() > 0:
		s.Verdict, s.K = Incomplete, s.Record.Basis.Missing()
		s.Reasons = append(s.Reasons, fmt.Sprintf("written while %d of %d subdirectories had no summary", s.K, s.N))
	case s.Record.Partial:
		s.Verdict = Partial
		s.Reasons = append(s.Reasons, "its author could not finish it")
	default:
		s.Verdict = Fresh
	}
}

// describedAnew is said of a child whose words are others.
const describedAnew = " has a new summary"

// differing names the children that are not as a record knew them, or whose own text
// does not hold; of so many that is not known.
func (s *DirStatus) differing(r *store.DirRecord) (names []string, unknown int) {
	was := make(map[string]fresh.Digest, len(r.Basis.Children))
	for _, c := range r.Basis.Children {
		was[string(c.Name)] = c.Text
	}
	for _, c := range s.children {
		if c.Verdict == Excluded {
			continue
		}
		name := s.calls(c)
		text, known := was[name]
		delete(was, name)
		switch {
		case !known:
			names = append(names, said(name)+" is new")
		case text.IsZero() && !r.Outlined() && !c.written():
			// It had no summary then, and has none now.
		case text != c.text():
			names = append(names, said(name)+describedAnew)
		case !text.IsZero() && c.Verdict != Fresh:
			if c.Verdict == Unknown {
				unknown++
			}
			names = append(names, said(name)+" is "+c.Verdict.Word())
		}
	}
	for _, c := range r.Basis.Children {
		if _, absent := was[string(c.Name)]; absent {
			names = append(names, s.absent(string(c.Name), r)...)
		}
	}
	return names, unknown
}

// absent says why a file or a subdirectory of a record's basis is not among those that
// count now. Policy may have left it out: then it does not count, and a summary stays as
// it is. An outline is made again, because it names what counts.
func (s *DirStatus) absent(name string, r *store.DirRecord) []string {
	switch {
	case !s.leftOut(name):
		return []string{said(name) + " is gone"}
	case r.Outlined():
		return []string{said(name) + " is left out by policy"}
	default:
		return nil
	}
}

// leftOut reports whether policy leaves out a file or a subdirectory that exists.
func (s *DirStatus) leftOut(name string) bool {
	return s.Dir.leftOut[name] || slices.ContainsFunc(s.children, func(c *DirStatus) bool {
		return c.Verdict == Excluded && s.calls(c) == name
	})
}

// said is a name as a reason has it: whoever reads one sees which file is meant, whatever
// its bytes are.
func said(name string) string { return repo.Path(name).String() }

// calls is the name by which a text knows what lies below.
func (s *DirStatus) calls(c *DirStatus) string {
	if s.Dir.Path == reportPath {
		return string(repo.DirLabel(c.Dir.Path)) // an overview has them from several levels
	}
	return c.Dir.Name()
}

// settle gives the verdicts about directories that are not just as their latest
// record knew them.
func (j *judgement) settle(ctx context.Context, open []*DirStatus, bases []fresh.Digest, found [][]*store.DirRecord) error {
	var rest []*DirStatus
	var ask []*File
	for i, s := range open {
		if j.settled(s, found[i]) {
			continue
		}
		if f, ok := j.failed[s.Dir.Path]; ok && f.Basis == bases[i] {
			s.Verdict, s.Reasons = Failed, []string{f.Reason}
			s.Record = newest(j.latest[s.Dir.Path])
			continue
		}
		if len(j.latest[s.Dir.Path]) == 0 {
			s.Verdict = None
			continue
		}
		rest = append(rest, s)
		for _, r := range j.speakers(s.Dir.Path, j.latest[s.Dir.Path]) {
			ask = append(ask, s.moved(r)...)
		}
	}
	shapes, err := j.shapes(ctx, ask)
	if err != nil {
		return err
	}
	var past []*DirStatus
	bare := make(map[*DirStatus]DirStatus)
	for _, s := range rest {
		var best *DirStatus
		for _, r := range ranked(j.speakers(s.Dir.Path, j.latest[s.Dir.Path])) {
			if c := j.compare(s, r, shapes); best == nil || c.Verdict == Fresh && best.Verdict != Fresh {
				best = c
			}
		}
		if best.Verdict != Fresh && !best.Record.Outlined() {
			past, bare[s] = append(past, s), *s
		}
		*s = *best
	}
	return j.recollect(ctx, past, bare)
}

// recollect looks for an older summary that fits again, for directories
// whose latest one is stale. Its basis may differ from the present content
// in ways that do not count. bare has the statuses before they were judged.
func (j *judgement) recollect(ctx context.Context, past []*DirStatus, bare map[*DirStatus]DirStatus) error {
	if len(past) == 0 {
		return nil
	}
	dirs := make([]repo.Path, len(past))
	for i, s := range past {
		dirs[i] = s.Dir.Path
	}
	written, err := j.store.WrittenOf(ctx, dirs)
	if err != nil {
		return err
	}
	var ask []*File
	for _, s := range past {
		older := slices.DeleteFunc(slices.Clone(written[s.Dir.Path]), func(r *store.DirRecord) bool { return !s.sameNames(r) })
		written[s.Dir.Path] = older
		for _, r := range older {
			ask = append(ask, s.moved(r)...)
		}
	}
	shapes, err := j.shapes(ctx, ask)
	if err != nil {
		return err
	}
	for _, s := range past {
		was := bare[s]
		for _, r := range written[s.Dir.Path] {
			if c := j.compare(&was, r, shapes); c.Verdict == Fresh {
				*s = *c
				break
			}
		}
	}
	return nil
}

// sameNames reports whether the own files have the names that a record knew, and what
// is said of the children is what it was told.
func (s *DirStatus) sameNames(r *store.DirRecord) bool {
	names, _ := s.differing(r)
	return len(names) == 0 && slices.EqualFunc(s.Dir.Files, r.Basis.Files, func(f *File, b store.BasisFile) bool {
		return f.Path.Base() == string(b.Name)
	})
}

// moved returns the files that a record knew with another content.
func (s *DirStatus) moved(r *store.DirRecord) []*File {
	was := make(map[string]store.BasisFile, len(r.Basis.Files))
	for _, b := range r.Basis.Files {
		was[string(b.Name)] = b
	}
	var list []*File
	for _, f := range s.Dir.Files {
		if b, ok := was[f.Path.Base()]; ok && b.ID != f.ID && b.Shape.Language != "" {
			list = append(list, f)
		}
	}
	return list
}

// shapes returns the outlines of files.
func (j *judgement) shapes(ctx context.Context, files []*File) (map[*File]*outline.Outline, error) {
	slices.SortFunc(files, func(a, b *File) int { return strings.Compare(string(a.Path), string(b.Path)) })
	files = slices.Compact(files)
	if len(files) == 0 {
		return nil, nil
	}
	list, err := j.tree.Outlines(ctx, files)
	if err != nil {
		return nil, err
	}
	shapes := make(map[*File]*outline.Outline, len(files))
	for i, f := range files {
		shapes[f] = list[i].Outline
		j.unsure = j.unsure || list[i].Outline == nil
	}
	return shapes, nil
}

// compare judges a directory by a record of it.
func (j *judgement) compare(s *DirStatus, r *store.DirRecord, shapes map[*File]*outline.Outline) *DirStatus {
	c := *s
	c.Record = r
	changed := j.changed(s, r, shapes)
	differing, unknown := s.differing(r)
	c.K = len(differing)
	switch {
	case len(changed) > 0:
		c.Verdict, c.Reasons = StaleSelf, append(changed, differing...)
	case len(differing) > unknown:
		c.Verdict, c.Reasons = StaleBelow, differing
	case unknown > 0: // nothing is known to have changed, and nobody could say what it says
		c.Verdict, c.Reasons = Unknown, differing
	default:
		c.finish()
	}
	return &c
}

// changed names the own files that are not as a record knew them, as far as it
// matters.
func (j *judgement) changed(s *DirStatus, r *store.DirRecord, shapes map[*File]*outline.Outline) []string {
	was := make(map[string]store.BasisFile, len(r.Basis.Files))
	for _, b := range r.Basis.Files {
		was[string(b.Name)] = b
	}
	var names []string
	for _, f := range s.Dir.Files {
		name := f.Path.Base()
		b, known := was[name]
		delete(was, name)
		switch {
		case !known:
			names = append(names, said(name)+" is new")
		case b.ID == f.ID:
		case r.Outlined():
			if now := shapes[f]; b.Shape.Digest.IsZero() || now == nil || b.Shape.Digest != now.Digest {
				names = append(names, said(name)+" changed")
			}
		default:
			if g := outline.Grade(b.Shape.Outline(), shapes[f]); j.opts.Counts(g) {
				names = append(names, fmt.Sprintf("%s changed (%s)", said(name), g))
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

// basis returns what a text about a directory would be written from now, without
// what grammars see.
func (j *judgement) basis(s *DirStatus) store.DirBasis {
	var b store.DirBasis
	for _, f := range s.Dir.Files {
		b.Files = append(b.Files, store.BasisFile{Name: []byte(f.Path.Base()), ID: f.ID})
	}
	for _, c := range s.children {
		if c.Verdict != Excluded {
			b.Children = append(b.Children, store.BasisChild{Name: []byte(s.calls(c)), Text: c.text()})
		}
	}
	return b
}
