package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/store"
)

// scanResult has the additions of a commit to a view.
type scanResult struct {
	view       *view         // of the union of both commits
	restore    []git.NewFile // records of the view that the commit lacks although no prune removed them
	removed    int           // records that a prune removed
	pruned     bool          // a trusted commit pruned
	taken      []Name        // records that this clone now uses
	mismatches []AuthorMismatch
}

// An AuthorMismatch counts records whose author is not their committer. Anyone who can push can write
// any author into a record; git names the committer.
type AuthorMismatch struct {
	Author    string `json:"author"`
	Committer string `json:"committer"` // Name <email>
	Records   int    `json:"records"`
}

// scan reads the difference between a commit and the commit of a view. With absorb it adds the trusted records to
// the store.
func (s *Share) scan(ctx context.Context, known *view, tip repo.ID, absorb bool) (*scanResult, error) {
	text, err := s.git.CommitFile(ctx, tip, formatFile)
	if err != nil {
		return nil, err
	}
	if err := checkFormat(string(text)); err != nil {
		return nil, err
	}
	changes, err := s.git.TreeChanges(ctx, known.Tip, tip)
	if err != nil {
		return nil, err
	}
	out := &scanResult{view: &view{View: known.View, bad: maps.Clone(known.bad), untrusted: maps.Clone(known.untrusted)}}
	out.view.Tip = tip
	read := make(map[Name]repo.ID)
	for _, c := range changes {
		delete(out.view.bad, c.Path)
		n, isRecord := recordAt(c.Path)
		switch {
		case c.New.IsZero():
		case !isRecord:
			if c.Path != formatFile {
				out.view.bad[c.Path] = Quarantined{PathJSON: c.Path.JSON(), Reason: "not a file of ken", Junk: true}
			}
		case c.NewMode != repo.Regular:
			out.view.bad[c.Path] = Quarantined{PathJSON: c.Path.JSON(), Reason: "not a regular file", Junk: true}
		default:
			read[n] = c.New
		}
	}
	who, err := s.committersOf(ctx, known, tip, read)
	if err != nil {
		return nil, err
	}
	out.pruned = who.pruned
	if err := s.read(ctx, out, read, who, absorb); err != nil {
		return nil, err
	}
	return out, s.compareLost(ctx, out, known, changes)
}

func checkFormat(text string) error {
	var version int
	_, err := fmt.Sscanf(text, "ken knowledge %d\n", &version)
	switch {
	case text == formatText:
		return nil
	case err == nil && version > 1:
		return &fault.Error{Hint: "upgrade ken", Err: fmt.Errorf("a newer ken wrote it (layout %d; this version reads 1)", version)}
	}
	return errors.New("it has no format file of ken")
}

// compareLost finds the records of a view that a commit removed or damaged. Without a prune they
// stay part of the union.
func (s *Share) compareLost(ctx context.Context, out *scanResult, known *view, changes []repo.Change) error {
	var removed []repo.ID
	for _, c := range changes {
		n, isRecord := recordAt(c.Path)
		_, wasBad := known.bad[c.Path]
		_, untrusted := known.untrusted[n]
		switch {
		case !isRecord || c.Old.IsZero() || wasBad:
		case !out.pruned || !c.New.IsZero():
			delete(out.view.bad, c.Path)
			out.restore = append(out.restore, git.NewFile{Path: c.Path, ID: c.Old})
		case untrusted:
			delete(out.view.untrusted, n)
		default:
			removed = append(removed, c.Old)
		}
	}
	sizes, err := s.git.Sizes(ctx, removed)
	if err != nil {
		return err
	}
	out.removed = len(removed)
	out.view.Records -= len(removed)
	for _, size := range sizes {
		out.view.Bytes -= max(size, 0)
	}
	return nil
}

// batch is the number of records that are added to the store at once.
const batch = 2000

// read reads records, and decides which of them this clone uses.
func (s *Share) read(ctx context.Context, out *scanResult, records map[Name]repo.ID, who *committers, absorb bool) error {
	names := slices.SortedFunc(maps.Keys(records), func(a, b Name) int { return slices.Compare(a[:], b[:]) })
	ids := make([]repo.ID, len(names))
	for i, n := range names {
		ids[i] = records[n]
	}
	var list []store.Record
	var failed error
	flush := func() {
		if failed == nil && len(list) > 0 && absorb {
			failed = s.store.AddRecords(ctx, list)
		}
		list = nil
	}
	missing := 0
	counts := make(map[AuthorMismatch]int)
	v := out.view
	err := s.git.EachBlob(ctx, ids, func(i int, content []byte, size int64) {
		n := names[i]
		path := n.Path()
		if size < 0 {
			missing++
			return
		}
		r, q := readRecord(n, content, size, s.opts.Now())
		if q.Reason != "" {
			v.bad[path] = q
			return
		}
		committer, trusted := who.trusted[path]
		if !trusted {
			u := who.untrusted[path]
			u.Name = n
			v.untrusted[n] = u
			return
		}
		delete(v.untrusted, n)
		out.taken = append(out.taken, n)
		v.Records++
		v.Bytes += size
		outlined := r.Directory != nil && r.Directory.IsOutline()
		if !outlined && !sameName(r.Author(), committer.Committer) {
			counts[AuthorMismatch{Author: r.Author(), Committer: committer.Committer}]++
		}
		list = append(list, r)
		if len(list) == batch {
			flush()
		}
	})
	flush()
	if failed != nil || err != nil {
		return errors.Join(failed, err)
	}
	if missing > 0 {
		return &fault.Error{Hint: "git fsck", Err: fmt.Errorf("%d objects are missing", missing)}
	}
	for b, n := range counts {
		b.Records = n
		out.mismatches = append(out.mismatches, b)
	}
	slices.SortFunc(out.mismatches, func(a, b AuthorMismatch) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), strings.Compare(a.Committer, b.Committer), strings.Compare(a.Author, b.Author))
	})
	return nil
}

// sameName reports whether an author, who can lack an address, is a committer.
func sameName(author, committer string) bool {
	name, _, _ := strings.Cut(committer, " <")
	return author == committer || author == name
}

// readRecord reads the file of a record. If this clone ignores the file, the Quarantined has a reason.
func readRecord(n Name, content []byte, size int64, now time.Time) (store.Record, Quarantined) {
	ignore := func(junk bool, err error) (store.Record, Quarantined) {
		return store.Record{}, Quarantined{PathJSON: n.Path().JSON(), Reason: err.Error(), Junk: junk}
	}
	if size > MaxSize {
		return ignore(true, fmt.Errorf("%d bytes are more than %d", size, MaxSize))
	}
	if NameOf(content) != n {
		return ignore(true, errors.New("content does not match its hash"))
	}
	r, err := Decode(content)
	if err != nil {
		return ignore(!errors.Is(err, ErrNewer), err)
	}
	err = r.Check(now)
	if err == nil {
		return r, Quarantined{}
	}
	_, q := ignore(false, err)
	if errors.Is(err, fresh.ErrFutureDate) {
		q.Due = r.At().Add(-fresh.MaxClockSkew)
	}
	return store.Record{}, q
}

// committers are the committers of files.
type committers struct {
	trusted   map[repo.Path]git.CommitInfo // the first trusted one
	untrusted map[repo.Path]Untrusted      // the first untrusted one
	pruned    bool                         // a trusted commit pruned
}

// pruneTrailer marks the commits of ken share push --prune.
const pruneTrailer = "Ken-Prune"

// committersOf finds the committers of the files that a commit has and the commit of a view does not. It adds
// records to the map that were untrusted, and that a trusted committer has added since.
func (s *Share) committersOf(ctx context.Context, known *view, tip repo.ID, records map[Name]repo.ID) (*committers, error) {
	out := &committers{trusted: make(map[repo.Path]git.CommitInfo), untrusted: make(map[repo.Path]Untrusted)}
	blobs := make(map[repo.Path]repo.ID)
	see := func(c git.CommitInfo) error {
		why := s.opts.Policy.DistrustReason(c)
		pruned := slices.ContainsFunc(c.Trailers, func(t repo.Trailer) bool { return strings.EqualFold(t.Key, pruneTrailer) })
		if why == "" && pruned {
			out.pruned = true
		}
		for _, f := range c.Changes {
			switch {
			case f.New.IsZero():
			case why == "":
				first, ok := out.trusted[f.Path]
				if !ok || c.At.Before(first.At) {
					out.trusted[f.Path] = c
				}
				blobs[f.Path] = f.New
			default:
				u := Untrusted{Committer: c.Committer, Commit: c.ID, At: c.At, Reason: why}
				first, ok := out.untrusted[f.Path]
				if !ok || cmp.Or(u.At.Compare(first.At), cmp.Compare(u.Commit.String(), first.Commit.String())) < 0 {
					out.untrusted[f.Path] = u
				}
			}
		}
		return nil
	}
	walk := func(from repo.ID) error {
		return s.git.WalkCommits(ctx, tip, from, s.opts.Policy.Trust == Signed, []string{"Signed-off-by", pruneTrailer}, see)
	}
	if err := walk(known.Tip); err != nil {
		return nil, err
	}
	unseen := func(n Name) bool {
		_, trusted := out.trusted[n.Path()]
		_, untrusted := out.untrusted[n.Path()]
		return !trusted && !untrusted
	}
	if !known.Tip.IsZero() && slices.ContainsFunc(slices.Collect(maps.Keys(records)), unseen) {
		// A removed file came back, so an earlier commit added it.
		pruned := out.pruned
		if err := walk(repo.ID{}); err != nil {
			return nil, err
		}
		out.pruned = pruned
	}
	for n := range known.untrusted {
		id, ok := blobs[n.Path()]
		if ok && records[n].IsZero() {
			records[n] = id
		}
	}
	return out, nil
}
