package spec

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/repo"
)

// RuleMoved is broken by an entry whose code went elsewhere.
const RuleMoved = "moved"

// A departure is a governed file that a commit moved as it was: it deleted the file
// and added another with the same content.
type departure struct {
	to     repo.Path
	commit repo.CommitNumber
}

// shifted returns the paths that were moved and those that something was moved to.
func (s *study) shifted() map[repo.Path]bool {
	paths := make(map[repo.Path]bool, 2*len(s.moved))
	for from, to := range s.moved {
		paths[from], paths[to.to] = true, true
	}
	return paths
}

// movedTo returns where a governed file is now.
func (s *study) movedTo(p repo.Path) repo.Path {
	for range len(s.moved) {
		to, ok := s.moved[p]
		if !ok {
			break
		}
		p = to.to
	}
	return p
}

// followCode finds where the governed files went that are no longer there, and
// counts what was done to them in their new place. A file that was moved twice
// takes two rounds.
func (d *derivation) followCode(ctx context.Context, open []*study) error {
	for todo := open; len(todo) > 0; {
		lost := make(map[*study][]lostFile)
		for _, s := range todo {
			if err := ctx.Err(); err != nil {
				return err
			}
			lost[s] = d.lost(s)
			s.follows = s.follows || len(lost[s]) > 0
		}
		d.findAdded(lost)
		for _, s := range todo {
			for _, l := range lost[s] {
				for _, c := range l.deleted {
					d.sheet.want(d.g.parentsOf(c)[0], l.path)
					d.wantArrivals(l, c)
				}
			}
		}
		if err := d.sheet.ask(ctx); err != nil {
			return err
		}
		clear(d.arrived)
		var grown []*study
		for _, s := range todo {
			switch {
			case d.sheet.err == nil:
				if d.depart(s, lost[s]) {
					grown = append(grown, s)
				}
			case len(lost[s]) > 0:
				s.unsure = d.sheet.err
			}
		}
		if err := d.remeasure(ctx, grown); err != nil {
			return err
		}
		todo = grown
	}
	return nil
}

// A lostFile is a governed file that is no longer there, and the commits that
// deleted it.
type lostFile struct {
	path    repo.Path
	deleted []repo.CommitNumber
}

// lost returns the governed files that were deleted since, are not there at head
// and have not been followed. What a merge deleted is not looked for.
func (d *derivation) lost(s *study) []lostFile {
	var list []lostFile
	for _, b := range s.behind {
		l := lostFile{path: b.file.path}
		if _, followed := s.moved[l.path]; followed || !d.sheet.at(d.g.head, l.path).IsZero() {
			continue
		}
		for _, t := range b.touches {
			if t.Kind == repo.Deleted && len(d.g.parentsOf(t.Commit)) == 1 {
				l.deleted = append(l.deleted, t.Commit)
			}
		}
		if l.deleted != nil {
			list = append(list, l)
		}
	}
	return list
}

// An addition is what a commit added.
type addition struct {
	paths  []repo.Path
	byName map[string][]repo.Path // their last elements, when there are many
	asked  map[string]bool        // by name: their contents were asked for
}

// maxAdded is how many files a commit may add for each of them to be compared with
// what it deleted. Where there are more, it is only those with the same name.
const maxAdded = 2_000

// of returns what may be where the commit moved a file to.
func (a *addition) of(from repo.Path) []repo.Path {
	if a.byName == nil {
		return a.paths
	}
	return a.byName[from.Base()]
}

// findAdded finds what the commits that deleted files have added. The history knows
// the commits of a path and not the paths of a commit, so that this takes a look at
// every path; it is taken for all nodes together.
func (d *derivation) findAdded(lost map[*study][]lostFile) {
	missing := make(map[repo.CommitNumber]*addition)
	for _, list := range lost {
		for _, l := range list {
			for _, c := range l.deleted {
				if d.added[c] == nil {
					d.added[c] = &addition{asked: make(map[string]bool)}
					missing[c] = d.added[c]
				}
			}
		}
	}
	if len(missing) == 0 {
		return
	}
	for _, p := range d.h.Below("") {
		for _, t := range d.h.Touching(p) {
			if a := missing[t.Commit]; t.Kind == repo.Added && a != nil {
				a.paths = append(a.paths, p)
			}
		}
	}
	for _, a := range missing {
		if len(a.paths) <= maxAdded {
			continue
		}
		a.byName = make(map[string][]repo.Path)
		for _, p := range a.paths {
			a.byName[p.Base()] = append(a.byName[p.Base()], p)
		}
	}
}

// wantArrivals asks what a commit put where it may have moved a file to, once for
// all files of that name.
func (d *derivation) wantArrivals(l lostFile, c repo.CommitNumber) {
	a := d.added[c]
	name := ""
	if a.byName != nil {
		name = l.path.Base()
	}
	if a.asked[name] {
		return
	}
	a.asked[name] = true
	for _, p := range a.of(l.path) {
		d.sheet.want(c, p)
		d.sheet.want(d.g.head, p)
		d.watched[p] = true
	}
}

// An addedBlob is where a commit put some content under some name: what of it is there
// at head, and what is gone again. Under no name it is all of it.
type addedBlob struct {
	commit repo.CommitNumber
	id     repo.ID
	name   string
}

// An arrival is the places of an added blob, each list by path.
type arrival struct{ there, gone []repo.Path }

// arrivals returns what a commit added, as far as that was asked for.
func (d *derivation) arrivals(c repo.CommitNumber) map[addedBlob]*arrival {
	found, ok := d.arrived[c]
	if ok {
		return found
	}
	found = make(map[addedBlob]*arrival)
	d.arrived[c] = found
	for _, p := range d.added[c].paths {
		id := d.sheet.at(c, p)
		if id.IsZero() {
			continue
		}
		names := []string{p.Base(), ""}
		if d.added[c].byName != nil {
			names = names[:1]
		}
		for _, name := range names {
			at := addedBlob{c, id, name}
			if found[at] == nil {
				found[at] = &arrival{}
			}
			if d.sheet.at(d.g.head, p).IsZero() {
				found[at].gone = append(found[at].gone, p)
			} else {
				found[at].there = append(found[at].there, p)
			}
		}
	}
	return found
}

// depart notes where the lost files of a node went, and reports whether that made
// it govern more files.
func (d *derivation) depart(s *study, lost []lostFile) (grown bool) {
	if len(lost) == 0 {
		return false
	}
	h := &moveTargets{d, make(map[departure]bool), make(map[addedBlob]arrival)}
	for _, to := range s.moved {
		h.taken[to] = true
	}
	files := make(map[repo.Path]bool)
	for _, f := range s.files {
		files[f.path] = true
	}
	for _, l := range lost {
		to, ok := h.destination(l)
		if !ok {
			continue
		}
		h.taken[to] = true
		if s.moved == nil {
			s.moved = make(map[repo.Path]departure)
		}
		s.moved[l.path] = to
		if !files[to.to] {
			s.files = append(s.files, d.file(to.to))
			files[to.to], grown = true, true
		}
	}
	return grown
}

// moveTargets is where the files of one node arrive. A place that one of them has
// taken is not looked at again, so that many with one content cost no more than
// others.
type moveTargets struct {
	d     *derivation
	taken map[departure]bool
	left  map[addedBlob]arrival // what may not be taken yet
}

// destination returns where a lost file went: of several places with its content,
// one that is still there, has its name, or comes first.
func (h *moveTargets) destination(l lostFile) (best departure, ok bool) {
	bestRank := 0
	for _, c := range l.deleted {
		was := h.d.sheet.at(h.d.g.parentsOf(c)[0], l.path)
		for rank := range 4 {
			at := addedBlob{c, was, ""}
			if rank%2 == 0 {
				at.name = l.path.Base()
			}
			p, found := h.first(at, rank >= 2)
			if !found {
				continue
			}
			if !ok || cmp.Or(cmp.Compare(rank, bestRank), cmp.Compare(p, best.to)) < 0 {
				best, bestRank, ok = departure{p, c}, rank, true
			}
			break
		}
	}
	return best, ok
}

// first returns the first place of an added blob that is not taken.
func (h *moveTargets) first(at addedBlob, gone bool) (p repo.Path, ok bool) {
	left, known := h.left[at]
	if !known {
		if all := h.d.arrivals(at.commit)[at]; all != nil {
			left = *all
		}
	}
	list := &left.there
	if gone {
		list = &left.gone
	}
	for len(*list) > 0 && h.taken[departure{(*list)[0], at.commit}] {
		*list = (*list)[1:]
	}
	h.left[at] = left
	if len(*list) == 0 {
		return "", false
	}
	return (*list)[0], true
}

// movedProblems tells of the entries whose code has moved to where no entry of the
// node leads, and what to write.
func (d *derivation) movedProblems(s *study) []Problem {
	if len(s.moved) == 0 {
		return nil
	}
	var list []Problem
	for _, e := range s.node.Code {
		var gone []repo.Path
		for _, f := range s.files[:s.entries] {
			to := s.movedTo(f.path)
			if to != f.path && e.Matches(f.path) && !s.governs(to) && !d.sheet.at(d.g.head, to).IsZero() {
				gone = append(gone, f.path)
			}
		}
		if len(gone) > 0 {
			list = append(list, d.movedProblem(s, e, gone))
		}
	}
	return list
}

func (s *study) governs(p repo.Path) bool {
	return slices.ContainsFunc(s.node.Code, func(e Entry) bool { return e.Matches(p) })
}

func (d *derivation) movedProblem(s *study, e Entry, gone []repo.Path) Problem {
	const most = 3
	p := Problem{Rule: RuleMoved}
	if dir, ok := d.newDir(s, e, gone); ok {
		to := Entry{Path: string(dir), Kind: DirEntry}
		p.Message = fmt.Sprintf("code: %s moved to %s", e, to)
		p.Fix = fmt.Sprintf("replace %s by %s", e, to)
		return p
	}
	var moves, write []string
	for _, from := range gone[:min(len(gone), most)] {
		to := s.movedTo(from)
		entry := Entry{Path: string(to), Symbol: e.Symbol}
		moves = append(moves, fmt.Sprintf("%s moved to %s", from, to))
		write = append(write, entry.String())
	}
	p.Message = "code: " + strings.Join(moves, ", ")
	if more := len(gone) - len(moves); more > 0 {
		p.Message += fmt.Sprintf(", and %d more", more)
	}
	if e.Matches(gone[0]) && string(gone[0]) == e.Path {
		p.Fix = fmt.Sprintf("replace %s by %s", e, write[0])
	} else {
		p.Fix = fmt.Sprintf("add %s, or let another spec govern it", strings.Join(write, ", "))
	}
	return p
}

// newDir returns the directory to which all that an entry names was moved, ok false
// when it was not, or not all of it to one.
func (d *derivation) newDir(s *study, e Entry, gone []repo.Path) (dir repo.Path, ok bool) {
	if e.Kind == GlobEntry || e.Path == "" {
		return "", false
	}
	for i, from := range gone {
		rest, below := strings.CutPrefix(string(from), e.Path+"/")
		to, same := strings.CutSuffix(string(s.movedTo(from)), "/"+rest)
		if !below || !same || i > 0 && to != string(dir) {
			return "", false
		}
		dir = repo.Path(to)
	}
	for _, f := range s.files[:s.entries] {
		if e.Matches(f.path) && (!d.sheet.knows(d.g.head, f.path) || !d.sheet.at(d.g.head, f.path).IsZero()) {
			return "", false
		}
	}
	return dir, true
}
