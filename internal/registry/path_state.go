package registry

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
)

// A pathState is the current state of a tracked path, compared with the index.
type pathState struct {
	state   contentState
	content repo.Content // ID is zero if it is unknown; MD5 is zero if the bytes were not read
	bytes   repo.ID      // of the bytes on disk, if they were read
	crlf    bool         // the bytes were read and have line ends that git may convert
	raw     bool         // content.ID is the id of the bytes, because the path has a filter driver
	stat    repo.Stat    // a later equal stat proves that content is unchanged; zero if no stat may prove it
	size    int64
	mode    repo.Mode
	kind    repo.Kind // KindUnknown if the bytes were not read
	err     error     // why the state is unreadable
}

type contentState uint8

const (
	unreadable contentState = iota // unknown
	same                           // as in the index
	changed                        // other content than in the index
	absent                         // tracked, but not on disk
	sparse                         // not checked out, because of a git setting
	conflicted                     // unmerged
)

// A view is the state of a work tree in one run: the snapshot, the stats of all paths, and the content of the paths
// whose stat proves nothing.
type view struct {
	snap  *repo.Snapshot
	found []repo.FileStat
	// states has the path states for which a stat was not enough. All other paths are as in the index.
	states map[int]pathState
	// policy is the digest of the policy; see [Policy.digest].
	policy string
	// untracked lists every .gitattributes below the root that is not tracked.
	untracked []repo.Path
	// attributed says that git attributes may apply to some paths.
	attributed bool
	// full says that the content of every file is read, whatever its stat proves.
	full bool
	// sameAttributes says that the git attributes are those of the last verification.
	sameAttributes bool
	// attributesChanged says that they differ. Then the index proves nothing: git compared its entries with the files
	// under the former attributes.
	attributesChanged bool
	// exceptions has the exceptional rows after loadExceptions.
	exceptions map[repo.Path]store.FileRow
	// raw has those of them with a filter driver. Their content id is that of the bytes, which the index does not
	// have.
	raw map[repo.Path]store.FileRow
	// doubted has those of them that differed from the index although their stat was that of the index. Git
	// attributes may be the reason.
	doubted map[repo.Path]store.FileRow
}

// converts reports whether git may store other bytes than those on disk.
func (v *view) converts() bool { return v.attributed || v.snap.AttributesDigest != "" }

// outdated reports whether the md5 of a row may be of other bytes than those of entry i, though their content id is
// the same.
func (v *view) outdated(i int, row store.FileRow) bool {
	return v.converts() && row.Mode != repo.Gitlink && row.Stat != v.found[i].Stat
}

// pathState returns the state of entry i.
func (v *view) pathState(i int) pathState {
	if s, ok := v.states[i]; ok {
		return s
	}
	e, f := &v.snap.Index.Entries[i], &v.found[i]
	// Git recorded this stat for this content, and the file was not written later in the same clock tick.
	return pathState{state: same, content: repo.Content{ID: e.ID}, stat: f.Stat, size: f.Stat.Size, mode: e.Mode}
}

// readAny reports whether the bytes of any file were read.
func (v *view) readAny() bool {
	for _, s := range v.states {
		if !s.bytes.IsZero() {
			return true
		}
	}
	return false
}

// isModified reports whether entry i differs from the index in a way that `git status` would show, or differs from its
// row where only the bytes can show it.
func (v *view) isModified(i int) bool {
	e := &v.snap.Index.Entries[i]
	if row, ok := v.raw[e.Path]; ok && v.pathState(i).state != sparse && v.pathState(i).content.ID != row.Content.ID {
		return true
	}
	if e.Flags.Has(repo.IntentToAdd) {
		return true
	}
	s, ok := v.states[i]
	if !ok {
		return false
	}
	switch s.state {
	case same:
		return v.snap.FileMode && s.mode != e.Mode
	case sparse:
		return false
	default:
		return true
	}
}

// differsFromIndex reports whether entry i with state s differs from the index. Its row is then marked: an
// unchanged index proves nothing about such a path.
func (v *view) differsFromIndex(i int, s pathState) bool {
	return s.state != same && s.state != sparse || s.mode != v.snap.Index.Entries[i].Mode
}

// readView reads the work tree: one stat for each path, and the bytes of the paths for which neither the index nor a
// row proves the content. only lists the entries to read; nil means all. dry leaves out the bytes of huge files.
func (r *Registry) readView(
	ctx context.Context, snap *repo.Snapshot, base store.Verification, only []int, dry bool,
) (*view, error) {
	v := &view{snap: snap, states: map[int]pathState{}}
	if err := v.stat(ctx, r.files, only); err != nil {
		return nil, err
	}
	// Attributes decide how bytes are converted, so they come first. Rows made under others prove nothing.
	if err := r.readPolicy(ctx, v); err != nil {
		return nil, err
	}
	samePolicy := v.policy == base.Policy
	v.sameAttributes = sameAttributes(v.policy, base.Policy)
	v.attributesChanged = !v.sameAttributes && base.Policy != ""
	// Load the exceptions if there may be any: an invalidated verification has no count of raw rows, and only an
	// unclean one has rows that differ from the index.
	if samePolicy && (base.Raw > 0 || base.Index.IsZero() || !base.Clean) {
		if err := r.loadExceptions(ctx, v); err != nil {
			return nil, err
		}
	}
	suspects := v.suspects(only)
	if samePolicy {
		var err error
		if suspects, err = r.settleByRow(ctx, v, suspects); err != nil {
			return nil, err
		}
	}
	if dry {
		suspects = v.withoutHuge(suspects)
	}
	return v, r.read(ctx, v, suspects, nil)
}

// huge is the size of files that only a verification reads, which stores what it read. A run that writes nothing would
// read them each time.
const huge = 1 << 30

var errHuge = errors.New("not compared, since it has more than 1 GiB; to read it, run ken verify")

// withoutHuge settles the suspects that are too large to read each time, and returns the others.
func (v *view) withoutHuge(suspects []int) []int {
	return slices.DeleteFunc(suspects, func(i int) bool {
		if v.found[i].Stat.Size <= huge {
			return false
		}
		v.states[i] = pathState{state: unreadable, mode: v.snap.Index.Entries[i].Mode, err: errHuge}
		return true
	})
}

// suspects returns the entries whose bytes have to be read, and settles the others.
func (v *view) suspects(only []int) []int {
	var suspects []int
	each(len(v.snap.Index.Entries), only, func(i int) {
		if v.proven(i) && v.raw == nil && v.doubted == nil && !v.attributesChanged {
			return
		}
		if _, done := v.states[i]; done {
			return
		}
		switch s, g := v.judgeByStat(i); g {
		case asIndexed:
		case settled:
			v.states[i] = s
		case unsure:
			suspects = append(suspects, i)
		}
	})
	return suspects
}

// readPolicy reads every .gitattributes, tracked or not, and computes the digest of the policy from them.
func (r *Registry) readPolicy(ctx context.Context, v *view) error {
	entries := v.snap.Index.Entries
	v.attributed = v.snap.Attributed || len(v.untracked) > 0
	untracked, err := r.readUntrackedAttributes(ctx, v)
	if err != nil {
		return err
	}
	var which []int
	if v.snap.Attributed {
		for i := range entries {
			if entries[i].Path.Base() == ".gitattributes" {
				which = append(which, i)
			}
		}
	}
	var unlooked []int
	for _, i := range which {
		if v.found[i].Presence == repo.NotChecked {
			unlooked = append(unlooked, i)
		}
	}
	if err := v.statSome(ctx, r.files, unlooked); err != nil {
		return err
	}
	if err := r.read(ctx, v, v.suspects(append([]int{}, which...)), nil); err != nil {
		return err
	}
	paths, contents := make([]repo.Path, len(which)), make([]repo.ID, len(which))
	for k, i := range which {
		paths[k] = entries[i].Path
		contents[k] = v.pathState(i).content.ID
	}
	paths, contents = append(paths, v.untracked...), append(contents, untracked...)
	grader := "" // the version of the rules for grades
	if r.opts.Grade != nil {
		grader = strconv.Itoa(outline.Version)
	}
	v.policy = r.opts.Policy.digest(grader, v.snap.AttributesDigest, paths, contents)
	return nil
}

// eachUntrackedAttributes calls f with the path of every .gitattributes that may be in the directory of a tracked
// file or above it without being tracked, before the first entry to which it applies. The one in the root is part
// of the snapshot's digest.
func eachUntrackedAttributes(entries []repo.Entry, f func(i int, path repo.Path)) {
	asked := map[repo.Path]bool{"": true}
	var add func(i int, dir repo.Path)
	add = func(i int, dir repo.Path) {
		if asked[dir] {
			return
		}
		asked[dir] = true
		add(i, dir.Dir())
		path := dir + "/.gitattributes"
		if _, tracked := repo.FindEntry(entries, path); !tracked {
			f(i, path)
		}
	}
	last := repo.Path("")
	for i := range entries {
		if dir := entries[i].Path.Dir(); dir != last { // most files are in the directory of the file before
			last = dir
			add(i, dir)
		}
	}
}

// readUntrackedAttributes returns the ids of the bytes of every untracked .gitattributes that stat found.
func (r *Registry) readUntrackedAttributes(ctx context.Context, v *view) ([]repo.ID, error) {
	if len(v.untracked) == 0 {
		return nil, nil
	}
	wants := make([]repo.ReadRequest, len(v.untracked))
	for k, path := range v.untracked {
		wants[k].Path = path
	}
	readings, err := r.files.Read(ctx, wants)
	if err != nil {
		return nil, err
	}
	ids := make([]repo.ID, len(wants))
	for k, g := range readings {
		ids[k] = g.Raw.ID
	}
	return ids, nil
}

// loadExceptions loads the exceptional rows from the store, once.
func (r *Registry) loadExceptions(ctx context.Context, v *view) error {
	if v.exceptions != nil {
		return nil
	}
	var err error
	if v.exceptions, err = r.store.Exceptions(ctx, v.snap.Worktree, store.MarksUnproven); err != nil {
		return err
	}
	v.raw, v.doubted = map[repo.Path]store.FileRow{}, map[repo.Path]store.FileRow{}
	for path, row := range v.exceptions {
		switch {
		case row.Marks.Has(store.MarkRaw):
			v.raw[path] = row
		case row.Marks.Has(store.MarkDiffersFromIndex):
			v.doubted[path] = row
		}
	}
	if len(v.raw) == 0 {
		v.raw = nil
	}
	if len(v.doubted) == 0 {
		v.doubted = nil
	}
	return nil
}

// stat sets found for the entries of only, and untracked. The other entries stay without a stat.
func (v *view) stat(ctx context.Context, files Files, only []int) error {
	entries := v.snap.Index.Entries
	if only == nil {
		return v.statAll(ctx, files)
	}
	var ask []repo.Entry
	eachUntrackedAttributes(entries, func(_ int, path repo.Path) { ask = append(ask, repo.Entry{Path: path}) })
	found, err := files.Stat(ctx, ask)
	if err != nil {
		return err
	}
	for k, f := range found {
		if f.Presence != repo.Absent {
			v.untracked = append(v.untracked, ask[k].Path)
		}
	}
	v.found = make([]repo.FileStat, len(entries))
	return v.statSome(ctx, files, only)
}

// statAll stats all entries and, in every directory, a .gitattributes.
func (v *view) statAll(ctx context.Context, files Files) error {
	entries := v.snap.Index.Entries
	ask := make([]repo.Entry, 0, len(entries)+len(entries)/8)
	var added []int // indexes of paths that are not entries
	done := 0
	eachUntrackedAttributes(entries, func(i int, path repo.Path) {
		ask = append(ask, entries[done:i]...)
		done = i
		added = append(added, len(ask))
		ask = append(ask, repo.Entry{Path: path})
	})
	ask = append(ask, entries[done:]...)
	found, err := files.Stat(ctx, ask)
	if err != nil {
		return err
	}
	v.found = found[:0]
	for k, f := range found {
		switch {
		case len(added) == 0 || added[0] != k:
			v.found = append(v.found, f)
			continue
		case f.Presence != repo.Absent:
			v.untracked = append(v.untracked, ask[k].Path)
		}
		added = added[1:]
	}
	return nil
}

// statSome sets found for some entries.
func (v *view) statSome(ctx context.Context, files Files, which []int) error {
	picked := make([]repo.Entry, len(which))
	for k, i := range which {
		picked[k] = v.snap.Index.Entries[i]
	}
	found, err := files.Stat(ctx, picked)
	if err != nil {
		return err
	}
	for k, i := range which {
		v.found[i] = found[k]
	}
	return nil
}

// each calls f for every index in only, or for all n when only is nil.
func each(n int, only []int, f func(i int)) {
	if only == nil {
		for i := range n {
			f(i)
		}
		return
	}
	for _, i := range only {
		f(i)
	}
}

var (
	errDirectory = errors.New("a directory is in its place")
	errSpecial   = errors.New("something that is neither a file nor a link is in its place")
)

// proven reports whether the index alone proves that entry i is unchanged: git compared this stat with that
// content, and not in the clock tick of a later write.
func (v *view) proven(i int) bool {
	e, f := &v.snap.Index.Entries[i], &v.found[i]
	if e.Flags&(repo.Racy|repo.IntentToAdd|repo.Conflicted) != 0 || !f.Stat.MatchesIndex(e.Stat) {
		return false
	}
	return f.Presence == repo.RegularFile && (e.Mode.SameType(repo.Regular) || v.linkAsFile(e)) ||
		f.Presence == repo.Link && e.Mode == repo.Symlink
}

// linkAsFile reports whether git checks out the link e as a file with its target in it, because the file system has
// no links.
func (v *view) linkAsFile(e *repo.Entry) bool { return e.Mode == repo.Symlink && !v.snap.Symlinks }

// A statVerdict is the conclusion from a stat alone.
type statVerdict uint8

const (
	unsure    statVerdict = iota // the bytes have to be read
	asIndexed                    // as in the index
	settled                      // known to differ from the index
)

// judgeByStat judges entry i by its stat alone.
func (v *view) judgeByStat(i int) (pathState, statVerdict) {
	e, f := &v.snap.Index.Entries[i], &v.found[i]
	s := pathState{mode: e.Mode, size: f.Stat.Size}
	switch {
	case e.Flags.Has(repo.Conflicted):
		s.state = conflicted
		return s, settled
	case f.Presence == repo.Unreadable:
		s.err = f.Err
		return s, settled
	case f.Presence == repo.Absent && e.Flags.Has(repo.SkipWorktree):
		s.state, s.content.ID = sparse, e.ID
		return s, settled
	case f.Presence == repo.Absent:
		s.state = absent
		return s, settled
	case e.Mode == repo.Gitlink:
		return judgeGitlink(s, e, f, v.snap.Index.Submodules[e.Path]), settled
	case f.Presence == repo.Directory:
		s.state, s.err = absent, errDirectory
		return s, settled
	case f.Presence == repo.Special:
		s.state, s.err = absent, errSpecial
		return s, settled
	}
	if row, ok := v.raw[e.Path]; ok {
		if row.Stat.IsZero() || row.Stat != f.Stat {
			return s, unsure
		}
		s.content, s.raw, s.stat, s.kind, s.mode = row.Content, true, row.Stat, row.Kind, v.modeOf(e, f)
		s.state = v.stateOf(i, row.Content.ID, true)
		return s, settled
	}
	if row, ok := v.doubted[e.Path]; ok && row.Content.ID != e.ID {
		return s, unsure
	}
	if v.proven(i) && !v.attributesChanged {
		return s, asIndexed
	}
	return s, unsure
}

// judgeGitlink judges a submodule by its checked-out commit. One that is not checked out is as in the index.
// Changes inside of it do not count.
func judgeGitlink(s pathState, e *repo.Entry, f *repo.FileStat, sub repo.Submodule) pathState {
	switch {
	case f.Presence != repo.Directory:
		s.state, s.err = absent, errors.New("the submodule is not there")
	case sub.Err != nil:
		s.state, s.err = unreadable, sub.Err
	case sub.Head.IsZero() || sub.Head == e.ID:
		s.state, s.content.ID = same, e.ID
	default:
		s.state, s.content.ID = changed, sub.Head
	}
	s.kind = repo.KindGitlink
	return s
}

// settleByRow settles the suspects whose row was made from the same stat, and returns the others.
func (r *Registry) settleByRow(ctx context.Context, v *view, suspects []int) ([]int, error) {
	if len(suspects) == 0 {
		return nil, nil
	}
	paths := make([]repo.Path, len(suspects))
	for k, i := range suspects {
		paths[k] = v.snap.Index.Entries[i].Path
	}
	rows, err := r.store.RowsOf(ctx, v.snap.Worktree, paths)
	if err != nil {
		return nil, err
	}
	left := suspects[:0]
	for _, i := range suspects {
		e, f := &v.snap.Index.Entries[i], &v.found[i]
		row, ok := rows[e.Path]
		if !ok || row.Stat.IsZero() || row.Stat != f.Stat || row.Content.MD5.IsZero() ||
			row.Marks&(store.MarkConverted|store.MarkConvertible) != 0 {
			left = append(left, i)
			continue
		}
		v.states[i] = pathState{
			state: v.stateOf(i, row.Content.ID, row.Marks.Has(store.MarkRaw)), content: row.Content, raw: row.Marks.Has(store.MarkRaw),
			stat: row.Stat, size: row.Stat.Size, mode: v.modeOf(e, f), kind: row.Kind,
		}
	}
	return left, nil
}

// modeOf returns the mode that git would record for the file of entry e.
func (v *view) modeOf(e *repo.Entry, f *repo.FileStat) repo.Mode {
	switch {
	case f.Presence == repo.Link, v.linkAsFile(e):
		return repo.Symlink
	case f.Executable:
		return repo.Executable
	default:
		return repo.Regular
	}
}

// stateOf compares the content of entry i with the index. Raw content never equals the blob that a filter made of
// it: there the stat in the index must prove that nothing changed; otherwise it counts as changed.
func (v *view) stateOf(i int, id repo.ID, raw bool) contentState {
	e := &v.snap.Index.Entries[i]
	switch {
	case e.Flags.Has(repo.IntentToAdd):
		return changed
	case id == e.ID, raw && v.proven(i):
		return same
	default:
		return changed
	}
}
