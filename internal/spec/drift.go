package spec

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A behind is a governed file and the commits that touched it and that nothing
// attests.
type behind struct {
	file    *file
	touches []repo.Touch
}

// measureVersions finds what was touched since each node's versions, and which acks
// stand.
func (d *derivation) measureVersions(ctx context.Context) error {
	var some []*study
	for _, s := range d.studies {
		if len(s.versions) == 0 && !s.before && len(s.doubtful) == 0 {
			continue // it is not committed yet: nothing can be ahead of it
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.govern(s); s.beyond != "" {
			s.files = nil
		}
		some = append(some, s)
	}
	err := d.measure(ctx, some, (*study).commits, func(s *study, v *cover, i int) {
		s.top = v.top[i]
		s.attested = s.top
		s.above = slices.ContainsFunc(s.doubtful, func(c repo.CommitNumber) bool { return !v.by(i, c) })
		s.hidden = s.unseen && d.gap != ""
		s.unseen = s.hidden && len(s.node.Code) > 0
		if d.looked += len(s.behind); d.looked > maxBehind {
			s.behind, s.touched = nil, 0
			s.beyond = fmt.Sprintf("limit reached: the specs govern more than %d changed files (counted once per spec); let fewer specs govern the same files", maxBehind)
		}
		if s.touched == 0 {
			return
		}
		for _, c := range s.claims {
			if at := c.ack.commit; !v.by(i, at) || slices.Contains(s.top, at) {
				s.standing = append(s.standing, c)
			}
		}
	})
	for _, s := range some {
		if s.touched == 0 {
			s.standing = nil // there is nothing that they could quiet
		}
	}
	return err
}

// measure finds which of the governed files of some nodes were touched by commits
// that head reaches and a set of commits of each node does not.
func (d *derivation) measure(ctx context.Context, some []*study, set func(*study) []repo.CommitNumber, then func(s *study, v *cover, i int)) error {
	sets := make([][]repo.CommitNumber, len(some))
	for i, s := range some {
		sets[i] = set(s)
	}
	if d.counted == nil {
		d.counted = make([]int32, d.g.head+1)
	}
	known := make(map[string]*since)
	err := d.g.cover(ctx, sets, func(v *cover) {
		low := d.g.lowest(v)
		for i := range v.sets {
			if ctx.Err() != nil {
				return
			}
			s := some[v.first+i]
			key := s.sinceKey(sets[v.first+i])
			x := known[key]
			if x == nil {
				x = d.since(s.files, v, i, low[i])
			}
			if key != "" {
				known[key] = x
			}
			s.behind, s.touched = x.behind, x.touched
			s.unseen = slices.ContainsFunc(d.g.roots, func(c repo.CommitNumber) bool { return !v.by(i, c) })
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

// A since is what was touched of some files that a set of commits does not reach. It is
// not to be changed: nodes share it.
type since struct {
	behind  []behind
	touched int
}

// sinceKey names what of a node decides what was touched since some commits: nodes with
// the same entries and versions are measured once. It is "" where the files are the
// node's own, because some were followed.
func (s *study) sinceKey(commits []repo.CommitNumber) string {
	if s.group == nil || len(s.files) != len(s.group.files) {
		return ""
	}
	return fmt.Sprintf("%p%d", s.group, commits)
}

// since finds what was touched of files by commits that the i-th set of a cover does not
// reach; low is the lowest of those.
func (d *derivation) since(files []*file, v *cover, i int, low repo.CommitNumber) *since {
	x := &since{}
	d.measured++
	for _, f := range files {
		from, _ := slices.BinarySearchFunc(f.touches, low, func(t repo.Touch, c repo.CommitNumber) int { return cmp.Compare(t.Commit, c) })
		var touches []repo.Touch
		for _, t := range f.touches[from:] {
			if v.by(i, t.Commit) {
				continue
			}
			touches = append(touches, t)
			if d.counted[t.Commit] != d.measured {
				d.counted[t.Commit] = d.measured
				x.touched++
			}
		}
		if touches != nil {
			x.behind = append(x.behind, behind{f, touches})
		}
	}
	return x
}

// weigh decides the acks of the nodes whose code was touched, follows code that was
// moved, and finds the nodes whose code is again what it was.
func (d *derivation) weigh(ctx context.Context) error {
	open := slices.DeleteFunc(slices.Clone(d.studies), func(s *study) bool { return s.touched == 0 })
	if len(open) == 0 {
		return nil
	}
	for _, s := range open {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.wantAcks(s)
		d.sheet.want(d.g.head, s.node.Path)
		for _, v := range s.versions {
			d.sheet.want(v.commit, v.path)
		}
		for _, b := range s.behind {
			d.sheet.want(d.g.head, b.file.path)
			for _, c := range s.top {
				d.sheet.want(c, b.file.path)
			}
			for _, c := range s.standing {
				d.sheet.want(c.ack.commit, b.file.path)
			}
		}
	}
	if err := d.sheet.ask(ctx); err != nil {
		return err
	}
	if d.sheet.err != nil {
		for _, s := range open {
			s.unsure, s.unacked = d.sheet.err, len(s.standing) > 0
			for _, c := range s.standing {
				c.why = d.sheet.err.Error()
			}
		}
		return nil
	}
	if err := d.quiet(ctx, open); err != nil {
		return err
	}
	open = slices.DeleteFunc(open, func(s *study) bool { return s.touched == 0 })
	if err := d.followCode(ctx, open); err != nil {
		return err
	}
	return d.compare(ctx, open)
}

// quiet takes off what valid acks reach.
func (d *derivation) quiet(ctx context.Context, open []*study) error {
	var acked []*study
	for _, s := range open {
		d.judgeAcks(s)
		for _, c := range s.standing {
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

// remeasure finds what was touched since all that attests some nodes.
func (d *derivation) remeasure(ctx context.Context, some []*study) error {
	return d.measure(ctx, some, func(s *study) []repo.CommitNumber { return s.attested }, func(s *study, _ *cover, _ int) {
		s.unseen = s.unseen && d.gap != "" && len(s.node.Code) > 0
	})
}

// compare finds the nodes whose code at head is what it was in one commit that
// attests them with the spec that they have.
func (d *derivation) compare(ctx context.Context, open []*study) error {
	for _, s := range open {
		if s.unsure != nil {
			continue
		}
		for _, a := range d.attestations(s) {
			for _, b := range s.behind {
				d.sheet.want(a.commit, b.file.path) // mostly that was asked before
			}
		}
	}
	if err := d.sheet.ask(ctx); err != nil {
		return err
	}
	hopeful := make(map[*study][]attestation)
	for _, s := range open {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.unsure != nil {
			continue
		}
		shifted := s.shifted()
		for _, a := range d.attestations(s) {
			if d.mayHold(s, a.commit, shifted) {
				hopeful[s] = append(hopeful[s], a)
				for _, f := range s.files {
					d.sheet.want(a.commit, f.path)
					d.sheet.want(d.g.head, f.path)
				}
			}
		}
	}
	if err := d.sheet.ask(ctx); err != nil {
		return err
	}
	for s, list := range hopeful {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.unsure = d.sheet.err
		s.same = s.unsure == nil && slices.ContainsFunc(list, func(a attestation) bool { return d.holds(s, a.commit, nil) })
	}
	return nil
}

// An attestation is a commit that says that a node's spec, as it is there, holds.
type attestation struct {
	commit repo.CommitNumber
	path   repo.Path // of the spec
}

// attestations returns those whose spec is the one at head: of all versions, since a spec
// may be again what it was long ago, and of the acks that stand.
func (d *derivation) attestations(s *study) []attestation {
	var list []attestation
	for _, v := range s.versions {
		list = append(list, attestation{v.commit, v.path})
	}
	for _, c := range s.standing {
		if c.state == AckValid {
			list = append(list, attestation{c.ack.commit, c.path})
		}
	}
	now := d.sheet.at(d.g.head, s.node.Path)
	return slices.DeleteFunc(list, func(a attestation) bool { return d.sheet.at(a.commit, a.path) != now })
}

// mayHold reports whether the files that were touched are what they were in a
// commit, as far as they were not shifted.
func (d *derivation) mayHold(s *study, c repo.CommitNumber, shifted map[repo.Path]bool) bool {
	return !slices.ContainsFunc(s.behind, func(b behind) bool {
		p := b.file.path
		return !shifted[p] && d.sheet.knows(c, p) && d.sheet.at(c, p) != d.sheet.at(d.g.head, p)
	})
}

// holds reports whether the governed files are what they were in a commit, under
// the names that they have now. Some of them may not matter.
func (d *derivation) holds(s *study, c repo.CommitNumber, but map[repo.Path]bool) bool {
	then, now := make(map[repo.Path]repo.ID), make(map[repo.Path]repo.ID)
	for _, f := range s.files {
		if but[f.path] {
			continue
		}
		if id := d.sheet.at(d.g.head, f.path); !id.IsZero() {
			now[f.path] = id
		}
		id := d.sheet.at(c, f.path)
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

// drift is how many commits there are that changed governed code and that nothing
// attests.
func (s *study) drift() int {
	if s.extent == nil || len(s.extent.quiet) == 0 {
		return s.touched
	}
	commits := make(map[repo.CommitNumber]bool)
	for _, b := range s.loud() {
		for _, t := range b.touches {
			commits[t.Commit] = true
		}
	}
	return len(commits)
}

// loud returns the files that were touched since, but for those of which only parts
// are governed that have not moved.
func (s *study) loud() []behind {
	if s.extent == nil {
		return s.behind
	}
	return slices.DeleteFunc(slices.Clone(s.behind), func(b behind) bool { return s.extent.quiet[b.file.path] })
}

// driftFiles returns the files that are behind, by path.
func (s *study) driftFiles() []Behind {
	var list []Behind
	for _, b := range s.loud() {
		list = append(list, Behind{b.file.path, len(b.touches)})
	}
	slices.SortFunc(list, func(a, b Behind) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// voidProblems tells of acks that were meant for a node and do not count.
func (d *derivation) voidProblems(s *study) []Problem {
	var problems []Problem
	for _, c := range s.standing {
		if c.state == AckVoid {
			problems = append(problems, Problem{
				Rule: RuleAck, Message: fmt.Sprintf("the ack in %s does not count: %s", d.h.Commit(c.ack.commit).ID.Short(), c.why),
				Fix: "if the spec still holds: ken spec ack " + fault.Quote(s.node.ID) + " --reason TEXT",
			})
		}
	}
	return problems
}
