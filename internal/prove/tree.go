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

// A replayTree is the state after some commits: a text about every file and directory that counts. A commit is
// applied by its changes alone, so the size of the tree does not matter.
type replayTree struct {
	opts    Options
	dirs    map[repo.Path]*directory
	texts   map[repo.ID]bool // contents with a text
	known   map[sum]bool     // texts about directories, by their basis
	files   int              // the number of files that count
	counted int              // the number of directories that count

	commit              int // the number of the current commit, from 1
	fileTexts, dirTexts cohort
}

// A directory is a directory with files or directories that count.
type directory struct {
	path   repo.Path
	parent *directory

	files int
	names sum // of the files and their contents
	// The number of children that count, and the sum of their names and texts.
	children int
	below    sum

	text sum // the basis of its summary; zero while it does not count

	// The changes by the current commit.
	touched bool // a file that counts was added, removed or changed
	self    bool // the change is large enough to make its summary stale
	moved   bool // the summary of a child changed
	queued  bool
}

// A sum is a digest of a set. The order of additions does not matter, and an element can be removed again.
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

func newTree(opts Options) *replayTree {
	t := &replayTree{opts: opts, dirs: make(map[repo.Path]*directory), texts: make(map[repo.ID]bool), known: make(map[sum]bool)}
	t.fileTexts, t.dirTexts = newCohort(), newCohort()
	t.dirs[""] = &directory{}
	return t
}

// dir returns the directory at a path. It creates it if needed.
func (t *replayTree) dir(p repo.Path) *directory {
	d, ok := t.dirs[p]
	if !ok {
		d = &directory{path: p, parent: t.dir(p.Dir())}
		t.dirs[p] = d
	}
	return d
}

// put adds a file if it counts.
func (t *replayTree) put(p repo.Path, f File) {
	if f.Counts {
		t.updateFile(t.dir(p.Dir()), p, f, 1)
	}
}

// updateFile adds a file to its directory, or removes it if sign is -1.
func (t *replayTree) updateFile(d *directory, p repo.Path, f File, sign int) {
	t.files += sign
	d.files += sign
	name := sumOf(p.Base(), f.ID.String())
	if sign > 0 {
		d.names.add(name)
	} else {
		d.names.sub(name)
	}
}

// basis returns the digest of the content that a text about a directory is written from.
func (d *directory) basis() sum { return sumOf(d.names.bytes(), d.below.bytes()) }

// counts reports whether the directory needs a text.
func (d *directory) counts() bool { return d.files > 0 || d.children > 0 }

// writeAll writes the text of every directory.
func (t *replayTree) writeAll() {
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

// rewrite sets the text of a directory, zero for none, and updates its parent.
func (t *replayTree) rewrite(d *directory, text sum) {
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

// apply replays a commit: it finds the stale texts and writes them again.
func (t *replayTree) apply(c *Commit) Outcome {
	o := Outcome{Commit: c.ID, Subject: c.Subject, Merge: c.Merge, Texts: t.files + t.counted}
	touched := t.touch(c)
	for i := range c.Changes {
		t.change(&c.Changes[i], &o)
	}
	t.followMoves(c)
	t.rewriteStale(touched, &o)
	for i := range c.Changes {
		if f := c.Changes[i].New; f.Counts {
			t.texts[f.ID] = true
		}
	}
	return o
}

// followAll starts to follow the texts of the current tree.
func (t *replayTree) followAll(files []Entry) {
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

// followMoves updates the paths of texts whose files a commit moved, drops those of deleted files, and starts to
// follow those of new files.
func (t *replayTree) followMoves(c *Commit) {
	gone := make(map[repo.ID]repo.Path)
	for i := range c.Changes {
		ch := &c.Changes[i]
		if !ch.Old.Counts || ch.New.Counts {
			continue
		}
		if _, twice := gone[ch.Old.ID]; twice {
			t.fileTexts.stopFollowing(ch.Path, t.commit)
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
		t.fileTexts.stopFollowing(p, t.commit)
	}
}

// touch marks and returns the directories that a commit touches.
func (t *replayTree) touch(c *Commit) []*directory {
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

// counts reports whether the file counts before or after the change.
func (c *Change) counts() bool {
	return (c.Old.Counts || c.New.Counts) && c.Old != c.New
}

// change applies one change of a file.
func (t *replayTree) change(c *Change, o *Outcome) {
	if !c.counts() {
		return
	}
	d := t.dir(c.Path.Dir())
	was, is := c.Old.Counts, c.New.Counts
	if was {
		t.updateFile(d, c.Path, c.Old, -1)
		o.Unknown = o.Unknown || c.Old.Absent
	}
	if is {
		t.updateFile(d, c.Path, c.New, 1)
		o.Unknown = o.Unknown || c.New.Absent
	}
	stale := is && !t.texts[c.New.ID]
	switch {
	case was && is:
		grade := cmp.Or(c.Grade, fresh.GradeContent)
		o.Grades.count(grade)
		o.ByChecksum++
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
		o.ByChecksum++ // the path is new
		d.self = true
	}
	switch {
	case c.Old.Absent || c.New.Absent:
		t.fileTexts.stopFollowing(c.Path, t.commit) // git lacks the content
	case was && is && stale:
		t.fileTexts.stale(c.Path, t.commit)
	}
}

// rewriteStale finds the stale directories, bottom up, and writes their texts again.
func (t *replayTree) rewriteStale(touched []*directory, o *Outcome) {
	var list []*directory
	for _, d := range touched {
		for ; d != nil && !d.queued; d = d.parent {
			d.queued = true
			list = append(list, d)
		}
	}
	var written []sum
	for _, d := range upwards(list) {
		if t.rewriteIfStale(d, o) {
			written = append(written, d.text)
		}
		d.touched, d.self, d.moved, d.queued = false, false, false, false
	}
	// Not earlier: if two directories need the same text, both became stale.
	for _, text := range written {
		t.known[text] = true
	}
}

// rewriteIfStale decides whether a directory became stale, after those below it, and writes its text again if so.
func (t *replayTree) rewriteIfStale(d *directory, o *Outcome) (written bool) {
	switch {
	case !d.counts():
		t.rewrite(d, sum{})
		t.dirTexts.stopFollowing(d.path, t.commit)
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
		t.rewrite(d, basis) // a text was written from exactly this content before
		return false
	case d.text == sum{}:
		o.NewDirs++
	case d.self:
		o.StaleSelf++
	case d.moved:
		o.StaleBelow++
	default:
		return false // only changes that do not count
	}
	if d.text != (sum{}) {
		t.dirTexts.stale(d.path, t.commit)
	}
	t.rewrite(d, basis)
	return true
}
