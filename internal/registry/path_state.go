package registry

import (
	"context"
	"errors"

	"ken/internal/repo"
	"ken/internal/store"
)

// A pathState is what stands at one tracked path now, compared with the index.
type pathState struct {
	state   contentState
	content repo.Content // ID zero only when it could not be established; MD5 zero when unread
	bytes   repo.ID      // of the bytes on disk, when they were read
	crlf    bool         // the bytes, when they were read, hold line endings git may convert
	raw     bool         // content.ID is bytes: the path is under a filter driver
	stat    repo.Stat    // vouches for content; zero when nothing may
	size    int64
	mode    repo.Mode
	kind    repo.Kind // KindUnknown when the bytes were not read
	err     error     // why, when unreadable
}

type contentState uint8

const (
	unreadable contentState = iota // could not be established
	same                           // what the index holds
	changed                        // other content than the index holds
	absent                         // tracked, and not there
	sparse                         // not there because git was told so
	conflicted                     // unmerged
)

// A view is everything seen of a work tree in one run: the snapshot, a look at
// every path, and the content of those paths whose look proved nothing.
type view struct {
	snap  *repo.Snapshot
	found []repo.Found
	// seen holds the path states that took more than a look. A path without one is
	// what the index says it is.
	seen map[int]pathState
	// policy names what everything is judged by.
	policy string
	// untracked lists every .gitattributes below the root that nobody has added.
	untracked []repo.Path
	// attributed says that git attributes may apply to some paths.
	attributed bool
	// full says that nobody's word is taken for what bytes are.
	full bool
	// sameAttributes says that git attributes are those of the last verification.
	sameAttributes bool
	// reattributed says that they are others. Then the index vouches for nothing: git
	// compared its entries with the bytes under the attributes of that time.
	reattributed bool
	// odd holds the rows that are exceptions, once they have been asked for.
	odd map[repo.Path]store.FileRow
	// raw holds those of them that are under a filter driver: their identity is
	// their bytes, for which the index cannot vouch.
	raw map[repo.Path]store.FileRow
	// doubted holds those of them that differed from an index which claimed to know the
	// file as it is, where git attributes may be the reason.
	doubted map[repo.Path]store.FileRow
}

// converts reports whether git may store other bytes than lie on the disk.
func (v *view) converts() bool { return v.attributed || v.snap.AttributesDigest != "" }

// outdated reports whether the md5 of a row may be of other bytes than stand at entry i,
// though their content id is the same.
func (v *view) outdated(i int, row store.FileRow) bool {
	return v.converts() && row.Mode != repo.Gitlink && row.Stat != v.found[i].Stat
}

// pathState returns what stands at entry i.
func (v *view) pathState(i int) pathState {
	if s, ok := v.seen[i]; ok {
		return s
	}
	e, f := &v.snap.Index.Entries[i], &v.found[i]
	// git compared this very stat with this very content, and not in the tick of
	// a later write.
	return pathState{state: same, content: repo.Content{ID: e.ID}, stat: f.Stat, size: f.Stat.Size, mode: e.Mode}
}

// moved reports whether entry i differs from the index in any way that
// `git status` would show, or from its row where only its bytes can tell.
func (v *view) moved(i int) bool {
	e := &v.snap.Index.Entries[i]
	if row, ok := v.raw[e.Path]; ok && v.pathState(i).state != sparse && v.pathState(i).content.ID != row.Content.ID {
		return true
	}
	if e.Flags.Has(repo.IntentToAdd) {
		return true
	}
	s, ok := v.seen[i]
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

// differsFromIndex reports whether entry i, seen as s, is not as the index has it. A row
// made of it then says so, since an index that stays the same proves nothing
// about such a path.
func (v *view) differsFromIndex(i int, s pathState) bool {
	return s.state != same && s.state != sparse || s.mode != v.snap.Index.Entries[i].Mode
}

// look reads the snapshot's work tree: one stat per path, and the bytes of
// those paths for which neither the index nor an earlier row can vouch. only
// lists the entries to look at; nil means all.
func (r *Registry) look(ctx context.Context, snap *repo.Snapshot, base store.Verification, only []int) (*view, error) {
	v := &view{snap: snap, seen: map[int]pathState{}}
	if err := v.stat(ctx, r.files, only); err != nil {
		return nil, err
	}
	// Attributes decide what bytes amount to, so they come first. Rows made
	// under others can vouch for nothing.
	if err := r.weighPolicy(ctx, v); err != nil {
		return nil, err
	}
	vouched := v.policy == base.Policy
	v.sameAttributes = sameAttributes(v.policy, base.Policy)
	v.reattributed = !v.sameAttributes && base.Policy != ""
	// An unsettled baseline does not know how many raw rows there are, and only one that
	// is not clean has rows that differ from the index.
	if vouched && (base.Raw > 0 || base.Index.IsZero() || !base.Clean && v.converts()) {
		if err := r.loadExceptions(ctx, v); err != nil {
			return nil, err
		}
	}
	suspects := v.suspects(only)
	if vouched {
		var err error
		if suspects, err = r.vouch(ctx, v, suspects); err != nil {
			return nil, err
		}
	}
	return v, r.read(ctx, v, suspects, nil)
}

// suspects returns the entries whose bytes alone can tell, and settles the rest.
func (v *view) suspects(only []int) []int {
	var suspects []int
	each(len(v.snap.Index.Entries), only, func(i int) {
		if v.proven(i) && v.raw == nil && v.doubted == nil && !v.reattributed {
			return
		}
		if _, done := v.seen[i]; done {
			return
		}
		switch s, g := v.glance(i); g {
		case asIndexed:
		case settled:
			v.seen[i] = s
		case unsure:
			suspects = append(suspects, i)
		}
	})
	return suspects
}

// weighPolicy establishes the content of every .gitattributes, tracked or not, and with
// it the policy that everything else is judged by.
func (r *Registry) weighPolicy(ctx context.Context, v *view) error {
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
		if v.found[i].Presence == repo.Unlooked {
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
	grader := ""
	if r.opts.Grader != nil {
		grader = r.opts.Grader.Version()
	}
	v.policy = r.opts.Policy.digest(grader, v.snap.AttributesDigest, paths, contents)
	return nil
}

// eachUntrackedAttributes calls f with the path of every .gitattributes that may lie beside
// or above tracked files without being tracked, before the first entry for which it counts.
// The one in the root is in the snapshot's digest.
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
		if _, tracked := find(entries, path); !tracked {
			f(i, path)
		}
	}
	last := repo.Path("")
	for i := range entries {
		if dir := entries[i].Path.Dir(); dir != last { // most files lie beside the one before
			last = dir
			add(i, dir)
		}
	}
}

// readUntrackedAttributes returns the ids of the bytes of every .gitattributes that stat
// found and nobody has added.
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

// loadExceptions asks the store for the rows that are exceptions, once.
func (r *Registry) loadExceptions(ctx context.Context, v *view) error {
	if v.odd != nil {
		return nil
	}
	var err error
	if v.odd, err = r.store.Exceptions(ctx, v.snap.Worktree, store.MarksUnproven); err != nil {
		return err
	}
	v.raw, v.doubted = map[repo.Path]store.FileRow{}, map[repo.Path]store.FileRow{}
	for path, row := range v.odd {
		switch {
		case row.Marks.Has(store.MarkRaw):
			v.raw[path] = row
		case row.Marks.Has(store.MarkDiffersFromIndex) && v.converts():
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

// stat fills found for the entries of only, leaving the others unlooked, and untracked.
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
	v.found = make([]repo.Found, len(entries))
	return v.statSome(ctx, files, only)
}

// statAll looks at all entries and, while it is in a directory, for a .gitattributes there.
func (v *view) statAll(ctx context.Context, files Files) error {
	entries := v.snap.Index.Entries
	ask := make([]repo.Entry, 0, len(entries)+len(entries)/8)
	var added []int // what of it is no entry
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

// statSome fills found for some entries.
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

// proven reports whether the index alone proves that entry i is what it holds:
// git compared this very stat with that content, and not in the tick of a later
// write.
func (v *view) proven(i int) bool {
	e, f := &v.snap.Index.Entries[i], &v.found[i]
	if e.Flags&(repo.Racy|repo.IntentToAdd|repo.Conflicted) != 0 || !f.Stat.MatchesIndex(e.Stat) {
		return false
	}
	return f.Presence == repo.File && (e.Mode.SameType(repo.Regular) || v.linkAsFile(e)) ||
		f.Presence == repo.Link && e.Mode == repo.Symlink
}

// linkAsFile reports whether git keeps the link e as a file with its target in
// it, because the file system has no links.
func (v *view) linkAsFile(e *repo.Entry) bool { return e.Mode == repo.Symlink && !v.snap.Symlinks }

// A statVerdict is how far a stat alone leads.
type statVerdict uint8

const (
	unsure    statVerdict = iota // only the bytes can tell
	asIndexed                    // what the index says
	settled                      // something else, and clear
)

// glance judges entry i by its stat alone.
func (v *view) glance(i int) (pathState, statVerdict) {
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
		return glanceGitlink(s, e, f, v.snap.Index.Submodules[e.Path]), settled
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
	if v.proven(i) && !v.reattributed {
		return s, asIndexed
	}
	return s, unsure
}

// glanceGitlink judges a submodule by the commit it has checked out. One that
// is not checked out is as the index says; what lies inside is its own affair.
func glanceGitlink(s pathState, e *repo.Entry, f *repo.Found, sub repo.Submodule) pathState {
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

// vouch settles the suspects whose row was made from the very stat that is
// there now, and returns the others.
func (r *Registry) vouch(ctx context.Context, v *view, suspects []int) ([]int, error) {
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
		v.seen[i] = pathState{
			state: v.stateOf(i, row.Content.ID, row.Marks.Has(store.MarkRaw)), content: row.Content, raw: row.Marks.Has(store.MarkRaw),
			stat: row.Stat, size: row.Stat.Size, mode: v.modeOf(e, f), kind: row.Kind,
		}
	}
	return left, nil
}

// modeOf is the mode git would record for what is on disk at entry e.
func (v *view) modeOf(e *repo.Entry, f *repo.Found) repo.Mode {
	switch {
	case f.Presence == repo.Link, v.linkAsFile(e):
		return repo.Symlink
	case f.Executable:
		return repo.Executable
	default:
		return repo.Regular
	}
}

// stateOf compares the content established for entry i with the index. Raw
// content never equals the blob that a filter made of it: there the index's own
// stat must prove that nothing moved, and what it cannot prove counts as moved.
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
