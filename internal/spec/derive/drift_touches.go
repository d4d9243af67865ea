package derive

import (
	"context"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
)

// A commitTouch is a commit that changed a governed file of a node.
type commitTouch struct {
	state   *nodeState
	commit  repo.CommitNumber
	path    repo.Path
	symbols []string // the governed symbols; nil if the whole file is governed
}

// touchesOf returns the touches of a file with drift.
func (s *nodeState) touchesOf(b touchedFile) []commitTouch {
	var list []commitTouch
	symbols := s.symbolsAt(b.file.path)
	for _, t := range b.touches {
		list = append(list, commitTouch{s, t.Commit, b.file.path, symbols})
	}
	return list
}

// symbolsAt is symbolsOf for one of the paths of a file that may have been moved.
func (s *nodeState) symbolsAt(p repo.Path) []string {
	paths := []repo.Path{p}
	for from := range s.moved {
		if from != p && s.movedTo(from) == s.movedTo(p) {
			paths = append(paths, from)
		}
	}
	return symbolsOf(s.node, paths)
}

// moves reports whether a commit moved the file without an edit.
func (t *commitTouch) moves() bool {
	for from, move := range t.state.moved {
		if move.commit == t.commit && (from == t.path || move.to == t.path) {
			return true
		}
	}
	return false
}

// dropOtherSymbols removes the touches that changed no governed symbol of their file. All touches of a file stay if an
// entry with a symbol counts as the whole file.
func (d *derivation) dropOtherSymbols(ctx context.Context, read OutlineReader, drifting []*nodeState) error {
	var all []commitTouch
	for _, s := range drifting {
		if s.same || s.driftGrade == nil {
			continue
		}
		// The symbols differ from those in an attestation. If only one commit came after it, this commit changed them.
		single := slices.Contains(s.attested, s.driftGrade.commit)
		isWhole := func(name string) bool { _, is := s.driftGrade.whole[name]; return is }
		var list []commitTouch
		for _, b := range s.changedFiles() {
			touches := s.touchesOf(b)
			symbols := touches[0].symbols
			certain := single && len(touches) == 1
			if symbols != nil && !certain && !slices.ContainsFunc(symbols, isWhole) {
				list = append(list, touches...)
			}
		}
		if len(list) > MaxOutlined {
			for _, t := range list {
				for _, name := range t.symbols {
					s.driftGrade.whole[name] = "too many commits changed " + t.path.String()
				}
			}
			continue
		}
		all = append(all, list...)
	}
	grades, err := d.gradeTouches(ctx, read, all)
	if err != nil {
		return err
	}
	other := make(map[*nodeState]map[commitPath]bool)
	for i, t := range all {
		if grades[i] == "" || t.moves() {
			if other[t.state] == nil {
				other[t.state] = make(map[commitPath]bool)
			}
			other[t.state][commitPath{t.commit, t.path}] = true
		}
	}
	for s, drop := range other {
		narrowed := []touchedFile{}
		for _, b := range s.changedFiles() {
			b.touches = slices.DeleteFunc(slices.Clone(b.touches), func(t repo.Touch) bool { return drop[commitPath{t.Commit, b.file.path}] })
			if len(b.touches) > 0 {
				narrowed = append(narrowed, b)
			}
		}
		s.narrowed = narrowed
		s.same = len(narrowed) == 0
	}
	return nil
}

// findFormat finds the drift commits that changed only comments or layout.
func (d *derivation) findFormat(ctx context.Context, read OutlineReader) error {
	var all []commitTouch
	for _, s := range d.states {
		if s.driftGrade == nil || s.same {
			continue
		}
		var list []commitTouch
		for _, b := range s.changedFiles() {
			list = append(list, s.touchesOf(b)...)
		}
		if len(list) <= MaxOutlined {
			all = append(all, list...)
		}
	}
	grades, err := d.gradeTouches(ctx, read, all)
	if err != nil {
		return err
	}
	for i, t := range all {
		if t.state.format == nil {
			t.state.format = make(map[repo.CommitNumber]bool)
		}
		before, known := t.state.format[t.commit]
		t.state.format[t.commit] = (before || !known) && grades[i] == fresh.GradeFormat
	}
	return nil
}

// gradeTouches returns how much each commit changed the governed part of its file: "" if it did not. A merge is
// compared with the parent that is most like it, since a merge that takes a side changes nothing. What ken cannot read
// has the highest grade.
func (d *derivation) gradeTouches(ctx context.Context, read OutlineReader, list []commitTouch) ([]fresh.Grade, error) {
	for _, t := range list {
		d.blobs.Request(t.commit, t.path)
		for _, p := range d.g.parentsOf(t.commit) {
			d.blobs.Request(p, t.path)
		}
	}
	if err := d.blobs.Fetch(ctx); err != nil {
		return nil, err
	}
	grades := make([]fresh.Grade, len(list))
	var all []*change
	changes := make([][]*change, len(list))
	for i, t := range list {
		grades[i] = fresh.GradeContent
		for _, p := range d.g.parentsOf(t.commit) {
			c := &change{
				paths: []repo.Path{t.path}, was: d.blobs.At(p, t.path), now: d.blobs.At(t.commit, t.path), symbols: t.symbols,
			}
			c.outlined = c.readable()
			changes[i] = append(changes[i], c)
		}
		all = append(all, changes[i]...)
	}
	if d.blobs.Err != nil || d.outlineErr != nil {
		return grades, nil
	}
	seen, err := d.outline(ctx, read, all)
	if err != nil || d.outlineErr != nil {
		return grades, err
	}
	for i, list := range changes {
		for _, c := range list {
			old := seen[c.before()]
			now := seen[c.after()]
			if c.symbols != nil { // an empty list still says that the rest of the file is not governed
				absent := func(name string) bool { return lacks(old, name) && lacks(now, name) }
				c.symbols = slices.DeleteFunc(slices.Clone(c.symbols), absent)
			}
			ignored := &driftGrade{whole: make(map[string]string)}
			g, _ := ignored.gradeOf(c, seen, nil)
			if g.Rank() < grades[i].Rank() {
				grades[i] = g
			}
		}
	}
	return grades, nil
}

// lacks reports whether an outline certainly has no symbol with a name.
func lacks(o *outline.Outline, name string) bool {
	if o == nil || o.Partial != "" || o.More > 0 {
		return false
	}
	last := name[strings.LastIndexAny(name, ".:#")+1:]
	return !slices.ContainsFunc(o.Symbols, func(s outline.Symbol) bool { return strings.Contains(s.FullName(), last) })
}
