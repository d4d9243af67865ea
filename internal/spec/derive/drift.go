package derive

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// MaxTouched is the most changed files that one answer looks at. A file counts once for each node that governs it.
// Tests lower it.
var MaxTouched = 500_000

// A touchedFile is a governed file with the commits that changed it since the last attestation: a version or a valid
// ack.
type touchedFile struct {
	file    *file
	touches []repo.Touch
}

// measureVersions finds the changes of governed files since the versions of each node, and the acks since the
// versions.
func (d *derivation) measureVersions(ctx context.Context) error {
	var some []*nodeState
	for _, s := range d.states {
		if len(s.versions) == 0 && !s.olderUnknown && len(s.unsureVersions) == 0 {
			continue // the spec is not committed, so its code cannot drift
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.govern(s); s.limitReason != "" {
			s.files = nil
		}
		some = append(some, s)
	}
	err := d.measure(ctx, some, (*nodeState).commits, func(s *nodeState, v *reachSet, i int) {
		s.top = v.top[i]
		s.attested = s.top
		s.unsureNewest = slices.ContainsFunc(s.unsureVersions, func(c repo.CommitNumber) bool { return !v.reaches(i, c) })
		s.gapAfterVersions = s.gapAfterAcks && d.gap != ""
		s.gapAfterAcks = s.gapAfterVersions && len(s.node.Code) > 0
		if d.touchedCount += len(s.touchedFiles); d.touchedCount > MaxTouched {
			s.touchedFiles, s.touched = nil, 0
			s.limitReason = fmt.Sprintf("limit reached: the specs govern more than %d changed files (counted once per spec); let fewer specs govern the same files", MaxTouched)
		}
		if s.touched == 0 {
			return
		}
		for _, c := range s.claims {
			if at := c.ack.commit; !v.reaches(i, at) || slices.Contains(s.top, at) {
				s.currentAcks = append(s.currentAcks, c)
			}
		}
	})
	for _, s := range some {
		if s.touched == 0 {
			s.currentAcks = nil // there is no drift that they could end
		}
	}
	return err
}

// measure finds the touched governed files of some nodes: those changed by commits that head reaches and set does
// not reach. It calls then for each node.
func (d *derivation) measure(ctx context.Context, some []*nodeState, set func(*nodeState) []repo.CommitNumber, then func(s *nodeState, v *reachSet, i int)) error {
	sets := make([][]repo.CommitNumber, len(some))
	for i, s := range some {
		sets[i] = set(s)
	}
	if d.counted == nil {
		d.counted = make([]int32, d.g.head+1)
	}
	known := make(map[string]*touchedResult)
	err := d.g.eachReachSet(ctx, sets, func(v *reachSet) {
		low := d.g.lowest(v)
		for i := range v.sets {
			if ctx.Err() != nil {
				return
			}
			s := some[v.first+i]
			key := s.touchedKey(sets[v.first+i])
			x := known[key]
			if x == nil {
				x = d.touchedSince(s.files, v, i, low[i])
			}
			if key != "" {
				known[key] = x
			}
			s.touchedFiles, s.touched = x.files, x.commits
			s.gapAfterAcks = slices.ContainsFunc(d.g.roots, func(c repo.CommitNumber) bool { return !v.reaches(i, c) })
			then(s, v, i)
		}
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	return d.judgeTouches(ctx, some)
}

// A touchedResult lists the files that were changed since a set of commits. Nodes share it, so it must not be
// modified.
type touchedResult struct {
	files   []touchedFile
	commits int
}

// touchedKey returns a key for the entries and versions of a node. Nodes with the same key share one result. The
// key is "" if moved files were added to the node.
func (s *nodeState) touchedKey(commits []repo.CommitNumber) string {
	if s.group == nil || len(s.files) != len(s.group.files) {
		return ""
	}
	return fmt.Sprintf("%p%d", s.group, commits)
}

// touchedSince returns the changes of files by commits that the i-th set of a reachSet does not reach. low is the
// lowest of those commits.
func (d *derivation) touchedSince(files []*file, v *reachSet, i int, low repo.CommitNumber) *touchedResult {
	x := &touchedResult{}
	d.measured++
	for _, f := range files {
		from, _ := slices.BinarySearchFunc(f.touches, low, func(t repo.Touch, c repo.CommitNumber) int { return cmp.Compare(t.Commit, c) })
		var touches []repo.Touch
		for _, t := range f.touches[from:] {
			if v.reaches(i, t.Commit) {
				continue
			}
			touches = append(touches, t)
			if d.counted[t.Commit] != d.measured {
				d.counted[t.Commit] = d.measured
				x.commits++
			}
		}
		if touches != nil {
			x.files = append(x.files, touchedFile{f, touches})
		}
	}
	return x
}

// compareContents decides the acks of the nodes whose code was touched, follows moved code, and finds the nodes
// whose code is unchanged after all.
func (d *derivation) compareContents(ctx context.Context) error {
	open := slices.DeleteFunc(slices.Clone(d.states), func(s *nodeState) bool { return s.touched == 0 })
	if len(open) == 0 {
		return nil
	}
	for _, s := range open {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.requestAcks(s)
		d.blobs.Request(d.g.head, s.node.Path)
		for _, v := range s.versions {
			d.blobs.Request(v.commit, v.path)
		}
		for _, b := range s.touchedFiles {
			d.blobs.Request(d.g.head, b.file.path)
			for _, c := range s.top {
				d.blobs.Request(c, b.file.path)
			}
			for _, c := range s.currentAcks {
				d.blobs.Request(c.ack.commit, b.file.path)
			}
		}
	}
	if err := d.blobs.Fetch(ctx); err != nil {
		return err
	}
	if d.blobs.Err != nil {
		for _, s := range open {
			s.blobErr, s.unacked = d.blobs.Err, len(s.currentAcks) > 0
			for _, c := range s.currentAcks {
				c.why = d.blobs.Err.Error()
			}
		}
		return nil
	}
	if err := d.followCode(ctx, open); err != nil { // before the acks: an ack after a move does not end it
		return err
	}
	if err := d.applyAcks(ctx, open); err != nil {
		return err
	}
	open = slices.DeleteFunc(open, func(s *nodeState) bool { return s.touched == 0 })
	return d.compare(ctx, open)
}

// applyAcks removes the touches that valid acks reach.
func (d *derivation) applyAcks(ctx context.Context, open []*nodeState) error {
	var acked []*nodeState
	for _, s := range open {
		d.judgeAcks(s)
		for _, c := range s.currentAcks {
			if c.state == AckValid {
				s.attested = append(slices.Clip(s.attested), c.ack.commit)
			}
		}
		if len(s.attested) > len(s.top) {
			acked = append(acked, s)
		}
	}
	return d.remeasure(ctx, acked)
}

// remeasure finds the changes since all attestations of some nodes.
func (d *derivation) remeasure(ctx context.Context, some []*nodeState) error {
	return d.measure(ctx, some, func(s *nodeState) []repo.CommitNumber { return s.attested }, func(s *nodeState, _ *reachSet, _ int) {
		s.gapAfterAcks = s.gapAfterAcks && d.gap != "" && len(s.node.Code) > 0
	})
}

// compare finds the nodes whose code at head is the same as in one commit that attests their present spec.
func (d *derivation) compare(ctx context.Context, open []*nodeState) error {
	for _, s := range open {
		if s.blobErr != nil {
			continue
		}
		for _, a := range d.attestations(s) {
			for _, b := range s.touchedFiles {
				d.blobs.Request(a.commit, b.file.path) // most of these are known already
			}
		}
	}
	if err := d.blobs.Fetch(ctx); err != nil {
		return err
	}
	candidates := make(map[*nodeState][]attestation)
	for _, s := range open {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.blobErr != nil {
			continue
		}
		movedPaths := s.movedPaths()
		for _, a := range d.attestations(s) {
			if d.mayBeSame(s, a.commit, movedPaths) {
				candidates[s] = append(candidates[s], a)
				for _, f := range s.files {
					d.blobs.Request(a.commit, f.path)
					d.blobs.Request(d.g.head, f.path)
				}
			}
		}
	}
	if err := d.blobs.Fetch(ctx); err != nil {
		return err
	}
	for s, list := range candidates {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.blobErr = d.blobs.Err
		s.same = s.blobErr == nil && slices.ContainsFunc(list, func(a attestation) bool { return d.sameCode(s, a.commit, nil) })
	}
	return nil
}

// An attestation is a commit that states that a spec holds: a version of the spec, or a valid ack.
type attestation struct {
	commit repo.CommitNumber
	path   repo.Path // the path of the spec there
}

// attestations returns the attestations whose spec has the content at head. It looks at all versions, since a spec
// may return to an old content, and at the valid acks.
func (d *derivation) attestations(s *nodeState) []attestation {
	var list []attestation
	for _, v := range s.versions {
		list = append(list, attestation{v.commit, v.path})
	}
	for _, c := range s.currentAcks {
		if c.state == AckValid {
			list = append(list, attestation{c.ack.commit, c.path})
		}
	}
	now := d.blobs.At(d.g.head, s.node.Path)
	return slices.DeleteFunc(list, func(a attestation) bool { return d.blobs.At(a.commit, a.path) != now })
}

// mayBeSame reports whether the touched files have the same content in a commit as at head. It ignores moved
// files.
func (d *derivation) mayBeSame(s *nodeState, c repo.CommitNumber, movedPaths map[repo.Path]bool) bool {
	return !slices.ContainsFunc(s.touchedFiles, func(b touchedFile) bool {
		p := b.file.path
		return !movedPaths[p] && d.blobs.knows(c, p) && d.blobs.At(c, p) != d.blobs.At(d.g.head, p)
	})
}

// sameCode reports whether the governed files have the same content in a commit as at head, compared by their
// present paths. It ignores the files in except.
func (d *derivation) sameCode(s *nodeState, c repo.CommitNumber, except map[repo.Path]bool) bool {
	then, now := make(map[repo.Path]repo.ID), make(map[repo.Path]repo.ID)
	for _, f := range s.files {
		if except[f.path] {
			continue
		}
		if id := d.blobs.At(d.g.head, f.path); !id.IsZero() {
			now[f.path] = id
		}
		id := d.blobs.At(c, f.path)
		if id.IsZero() {
			continue
		}
		p := s.movedTo(f.path)
		if _, taken := then[p]; taken {
			return false
		}
		then[p] = id
	}
	return maps.Equal(then, now)
}

// drift returns the number of commits that changed governed code since the last attestation.
func (s *nodeState) drift() int {
	if s.narrowed == nil && (s.driftGrade == nil || len(s.driftGrade.unchanged) == 0) {
		return s.touched
	}
	return len(s.driftCommits())
}

// changedFiles returns the touched files, except those in which all governed symbols are unchanged.
func (s *nodeState) changedFiles() []touchedFile {
	switch {
	case s.narrowed != nil:
		return s.narrowed
	case s.driftGrade == nil:
		return s.touchedFiles
	default:
		return slices.DeleteFunc(slices.Clone(s.touchedFiles), func(b touchedFile) bool { return s.driftGrade.unchanged[b.file.path] })
	}
}

// driftFiles returns the files with drift, by path.
func (s *nodeState) driftFiles() []DriftFile {
	var list []DriftFile
	for _, b := range s.changedFiles() {
		list = append(list, DriftFile{b.file.path, len(b.touches)})
	}
	slices.SortFunc(list, func(a, b DriftFile) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// voidProblems returns a problem for each ack of a node that does not count, unless another one in its commit does.
func (d *derivation) voidProblems(s *nodeState) []parse.Problem {
	var problems []parse.Problem
	for _, c := range s.currentAcks {
		if c.state == AckVoid && !slices.Contains(s.attested, c.ack.commit) {
			problems = append(problems, parse.Problem{
				Rule: parse.RuleAck, Message: fmt.Sprintf("the ack in %s does not count: %s", d.h.Commit(c.ack.commit).ID.Short(), c.why),
				Fix: "if the spec still holds: ken spec ack " + fault.Quote(s.node.ID) + " --reason TEXT",
			})
		}
	}
	return problems
}

// driftCommits returns the commits that drift counts, with the files that each changed.
func (s *nodeState) driftCommits() map[repo.CommitNumber][]repo.Path {
	at := make(map[repo.CommitNumber][]repo.Path)
	for _, b := range s.changedFiles() {
		for _, t := range b.touches {
			at[t.Commit] = append(at[t.Commit], b.file.path)
		}
	}
	return at
}
