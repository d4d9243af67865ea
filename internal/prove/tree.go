package prove

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A tree is what is known after some commits: a text about every file and directory that
// counts. A commit is applied by its changes alone, however large the rest is.
type tree struct {
	opts    Options
	dirs    map[repo.Path]*directory
	texts   map[repo.ID]bool // contents about which there is a text
	known   map[sum]bool     // texts about directories, each by what it was written from
	files   int              // that count
	counted int              // directories that do

	commit              int // the number of the commit at hand, from 1
	fileTexts, dirTexts cohort
}

// A directory is one with files that count, or with directories that do.
type directory struct {
	path   repo.Path
	parent *directory

	files int
	names sum // of the files and their contents
	// Children that count, and the sum of their names and texts.
	children int
	below    sum

	text sum // the basis of its summary; zero while it does not count

	// How the current commit changes it.
	touched bool // a file that counts was added, removed or changed
	self    bool // the change is large enough to make its summary stale
	moved   bool // the summary of a child changed
	queued  bool
}

// A sum is a digest of a set. The order of additions does not change it, and an element can be
// taken out again.
type sum [4]uint64

func (s *sum) add(t sum) {
	for i := range s {
		s[i] += t[i]
	}
}

func (s *sum) sub(t sum) {
	for i := range s {
		s[i] -= t[i]
	}
}

func sumOf(parts ...string) sum {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.AppendUvarint(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	var s sum
	b := h.Sum(nil)
	for i := range s {
		s[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return s
}

func (s sum) bytes() string {
	var b []byte
	for _, w := range s {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return string(b)
}

func newTree(opts Options) *tree {
	t := &tree{opts: opts, dirs: make(map[repo.Path]*directory), texts: make(map[repo.ID]bool), known: make(map[sum]bool)}
	t.fileTexts, t.dirTexts = newCohort(), newCohort()
	t.dirs[""] = &directory{}
	return t
}

// dir returns the directory of a path, made if need be.
func (t *tree) dir(p repo.Path) *directory {
	d, ok := t.dirs[p]
	if !ok {
		d = &directory{path: p, parent: t.dir(p.Dir())}
		t.dirs[p] = d
	}
	return d
}

// put enters a file that counts.
func (t *tree) put(p repo.Path, f File) {
	if f.Counts {
		t.enter(t.dir(p.Dir()), p, f, 1)
	}
}

// enter enters a file into its directory, or with -1 takes it out again.
func (t *tree) enter(d *directory, p repo.Path, f File, sign int) {
	t.files += sign
	d.files += sign
	name := sumOf(p.Base(), f.ID.String())
	if sign > 0 {
		d.names.add(name)
	} else {
		d.names.sub(name)
	}
}

// basis names what a text about a directory would be written from.
func (d *directory) basis() sum { return sumOf(d.names.bytes(), d.below.bytes()) }

// counts reports whether somebody is asked for a text about it.
func (d *directory) counts() bool { return d.files > 0 || d.children > 0 }

// describe gives every directory its text.
func (t *tree) describe() {
	for _, d := range upwards(slices.Collect(maps.Values(t.dirs))) {
		if d.counts() {
			t.rewrite(d, d.basis())
			t.known[d.text] = true
		}
		d.moved = false
	}
}

// upwards sorts directories so that each comes after those below it.
func upwards(list []*directory) []*directory {
	slices.SortFunc(list, func(a, b *directory) int {
		return cmp.Or(cmp.Compare(depth(b.path), depth(a.path)), strings.Compare(string(a.path), string(b.path)))
	})
	return list
}

func depth(p repo.Path) int {
	if p == "" {
		return 0
	}
	return strings.Count(string(p), "/") + 1
}

// rewrite sets a directory's text, zero for none, and updates its parent.
func (t *tree) rewrite(d *directory, text sum) {
	was := d.text
	if was == text {
		return
	}
	d.text = text
	if was == (sum{}) {
		t.counted++
	}
	if text == (sum{}) {
		t.counted--
	}
	up := d.parent
	if up == nil {
		return
	}
	up.moved = true
	if was != (sum{}) {
		up.below.sub(sumOf(d.path.Base(), was.bytes()))
		up.children--
	}
	if text != (sum{}) {
		up.below.add(sumOf(d.path.Base(), text.bytes()))
		up.children++
	}
}

// apply replays a commit: finds what it made stale, and has it written anew.
func (t *tree) apply(c *Commit) Outcome {
	o := Outcome{Commit: c.ID, Subject: c.Subject, Merge: c.Merge, Texts: t.files + t.counted}
	touched := t.touch(c)
	for i := range c.Changes {
		t.change(&c.Changes[i], &o)
	}
	t.followMoves(c)
	t.settle(touched, &o)
	for i := range c.Changes {
		if f := c.Changes[i].New; f.Counts {
			t.texts[f.ID] = true
		}
	}
	return o
}

// observe begins to follow the texts of the tree as it is.
func (t *tree) observe(files []Entry) {
	for _, e := range files {
		if e.Counts {
			t.fileTexts.add(e.Path, 0)
		}
	}
	for p, d := range t.dirs {
		if d.counts() {
			t.dirTexts.add(p, 0)
		}
	}
}

// followMoves has the texts of files that a commit moved go along, drops those of files that it
// deleted, and begins to follow those of new files.
func (t *tree) followMoves(c *Commit) {
	gone := make(map[repo.ID]repo.Path)
	for i := range c.Changes {
		ch := &c.Changes[i]
		if !ch.Old.Counts || ch.New.Counts {
			continue
		}
		if _, twice := gone[ch.Old.ID]; twice {
			t.fileTexts.leave(ch.Path, t.commit)
		} else {
			gone[ch.Old.ID] = ch.Path
		}
	}
	for i := range c.Changes {
		ch := &c.Changes[i]
		if from, ok := gone[ch.New.ID]; ok && ch.New.Counts && !ch.Old.Counts {
			t.fileTexts.move(from, ch.Path)
			delete(gone, ch.New.ID)
		}
		if ch.New.Counts && !ch.Old.Counts && !ch.New.Absent && !t.texts[ch.New.ID] {
			t.fileTexts.add(ch.Path, t.commit)
		}
	}
	for _, p := range gone {
		t.fileTexts.leave(p, t.commit)
	}
}

// touch marks and returns the directories that a commit touches.
func (t *tree) touch(c *Commit) []*directory {
	var list []*directory
	for i := range c.Changes {
		ch := &c.Changes[i]
		if !ch.counts() {
			continue
		}
		d := t.dir(ch.Path.Dir())
		if !d.touched {
			d.touched = true
			list = append(list, d)
		}
	}
	return list
}

// counts reports whether the change is one to something that is known.
func (c *Change) counts() bool {
	return (c.Old.Counts || c.New.Counts) && c.Old != c.New
}

// change carries out one change to a file.
func (t *tree) change(c *Change, o *Outcome) {
	if !c.counts() {
		return
	}
	d := t.dir(c.Path.Dir())
	was, is := c.Old.Counts, c.New.Counts
	if was {
		t.enter(d, c.Path, c.Old, -1)
		o.Unknown = o.Unknown || c.Old.Absent
	}
	if is {
		t.enter(d, c.Path, c.New, 1)
		o.Unknown = o.Unknown || c.New.Absent
	}
	stale := is && !t.texts[c.New.ID]
	switch {
	case was && is:
		grade := cmp.Or(c.Grade, fresh.GradeContent)
		o.Grades.count(grade)
		o.ByByte++
		counts := t.opts.Counts(grade)
		if stale = stale && counts; stale {
			o.StaleFiles++
		}
		d.self = d.self || counts
	case was:
		o.Removed++
		d.self = true
	case stale:
		o.Added++
		d.self = true
	default:
		o.Carried++
		o.ByByte++ // its path is new
		d.self = true
	}
	switch {
	case c.Old.Absent || c.New.Absent:
		t.fileTexts.leave(c.Path, t.commit) // nobody can tell
	case was && is && stale:
		t.fileTexts.stale(c.Path, t.commit)
	}
}

// settle finds which directories went stale, those below first, and has each of them
// written anew.
func (t *tree) settle(touched []*directory, o *Outcome) {
	var list []*directory
	for _, d := range touched {
		for ; d != nil && !d.queued; d = d.parent {
			d.queued = true
			list = append(list, d)
		}
	}
	var written []sum
	for _, d := range upwards(list) {
		if t.judge(d, o) {
			written = append(written, d.text)
		}
		d.touched, d.self, d.moved, d.queued = false, false, false, false
	}
	// Not earlier: if two directories need the same text, both went stale.
	for _, text := range written {
		t.known[text] = true
	}
}

// judge finds whether a directory went stale, those below having been judged, and has it
// written anew if so.
func (t *tree) judge(d *directory, o *Outcome) (written bool) {
	switch {
	case !d.counts():
		t.rewrite(d, sum{})
		t.dirTexts.leave(d.path, t.commit)
		return false
	case !d.touched && !d.moved:
		return false
	}
	basis := d.basis()
	if d.text == (sum{}) {
		t.dirTexts.add(d.path, t.commit)
	}
	switch {
	case t.known[basis]:
		t.rewrite(d, basis) // a text was written from exactly this before
		return false
	case d.text == sum{}:
		o.NewDirs++
	case d.self:
		o.StaleSelf++
	case d.moved:
		o.StaleBelow++
	default:
		return false // it changed by what does not matter
	}
	if d.text != (sum{}) {
		t.dirTexts.stale(d.path, t.commit)
	}
	t.rewrite(d, basis)
	return true
}
