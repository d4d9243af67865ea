package derive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// RuleMoved is the rule that the code of an entry has not moved elsewhere.
const RuleMoved = "moved"

// A codeMove is a move of a governed file without an edit: the commit deleted the file and added another with the
// same content.
type codeMove struct {
	to     repo.Path
	commit repo.CommitNumber
}

// movedPaths returns the paths that files were moved from and to.
func (s *nodeState) movedPaths() map[repo.Path]bool {
	paths := make(map[repo.Path]bool, 2*len(s.moved))
	for from, to := range s.moved {
		paths[from], paths[to.to] = true, true
	}
	return paths
}

// movedTo returns the present path of a governed file.
func (s *nodeState) movedTo(p repo.Path) repo.Path {
	for range len(s.moved) {
		to, ok := s.moved[p]
		if !ok {
			break
		}
		p = to.to
	}
	return p
}

// followCode finds the new paths of governed files that were deleted, and counts the commits that changed them
// there. It needs one round for each time that a file was moved.
func (d *derivation) followCode(ctx context.Context, open []*nodeState) error {
	for todo := open; len(todo) > 0; {
		lost := make(map[*nodeState][]lostFile)
		for _, s := range todo {
			if err := ctx.Err(); err != nil {
				return err
			}
			lost[s] = d.lost(s)
			s.codeDeleted = s.codeDeleted || len(lost[s]) > 0
		}
		d.findAdded(lost)
		for _, s := range todo {
			for _, l := range lost[s] {
				for _, c := range l.deleted {
					d.blobs.Request(d.g.parentsOf(c)[0], l.path)
					d.requestArrivals(l, c)
				}
			}
		}
		if err := d.blobs.Fetch(ctx); err != nil {
			return err
		}
		clear(d.arrived)
		var extended []*nodeState
		for _, s := range todo {
			switch {
			case d.blobs.Err == nil:
				if d.recordMoves(s, lost[s]) {
					extended = append(extended, s)
				}
			case len(lost[s]) > 0:
				s.blobErr = d.blobs.Err
			}
		}
		if err := d.remeasure(ctx, extended); err != nil {
			return err
		}
		todo = extended
	}
	return nil
}

// A lostFile is a governed file that head does not have, and the commits that deleted it.
type lostFile struct {
	path    repo.Path
	deleted []repo.CommitNumber
}

// lost returns the governed files that were deleted since the last attestation, do not exist at head, and have not
// been followed. Files deleted by a merge are not followed.
func (d *derivation) lost(s *nodeState) []lostFile {
	var list []lostFile
	for _, b := range s.touchedFiles {
		l := lostFile{path: b.file.path}
		if _, followed := s.moved[l.path]; followed || !d.blobs.At(d.g.head, l.path).IsZero() {
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

// An addition lists the files that a commit added.
type addition struct {
	paths  []repo.Path
	byName map[string][]repo.Path // paths by base name, if there are more than maxAdded
	asked  map[string]bool        // the base names whose contents were requested
}

// maxAdded is the most added files of a commit that are all compared with its deleted files. If there are more,
// only files with the same base name are compared.
const maxAdded = 2_000

// of returns the paths that a commit may have moved a file to.
func (a *addition) of(from repo.Path) []repo.Path {
	if a.byName == nil {
		return a.paths
	}
	return a.byName[from.Base()]
}

// findAdded finds the files added by the commits that deleted files. The history maps paths to commits, not
// commits to paths, so findAdded scans all paths, once for all nodes.
func (d *derivation) findAdded(lost map[*nodeState][]lostFile) {
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

// requestArrivals requests the contents of the paths that a commit may have moved a file to. Each base name is
// requested once.
func (d *derivation) requestArrivals(l lostFile, c repo.CommitNumber) {
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
		d.blobs.Request(c, p)
		d.blobs.Request(d.g.head, p)
		d.watched[p] = true
	}
}

// An addedBlob is a content that a commit added under a base name. An empty name means any name.
type addedBlob struct {
	commit repo.CommitNumber
	id     repo.ID
	name   string
}

// An arrival has the paths of an added blob: those that exist at head and those that do not, each sorted.
type arrival struct{ there, gone []repo.Path }

// arrivals returns the files that a commit added and whose contents were requested.
func (d *derivation) arrivals(c repo.CommitNumber) map[addedBlob]*arrival {
	found, ok := d.arrived[c]
	if ok {
		return found
	}
	found = make(map[addedBlob]*arrival)
	d.arrived[c] = found
	for _, p := range d.added[c].paths {
		id := d.blobs.At(c, p)
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
			if d.blobs.At(d.g.head, p).IsZero() {
				found[at].gone = append(found[at].gone, p)
			} else {
				found[at].there = append(found[at].there, p)
			}
		}
	}
	return found
}

// recordMoves records the new paths of the lost files of a node. It reports whether the node governs more files
// after that.
func (d *derivation) recordMoves(s *nodeState, lost []lostFile) (extended bool) {
	if len(lost) == 0 {
		return false
	}
	h := &moveTargets{d, make(map[codeMove]bool), make(map[addedBlob]arrival)}
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
			s.moved = make(map[repo.Path]codeMove)
		}
		s.moved[l.path] = to
		if !files[to.to] {
			s.files = append(s.files, d.file(to.to))
			files[to.to], extended = true, true
		}
	}
	return extended
}

// moveTargets finds the new paths of the files of one node. Each path is taken by one file. Taken paths are
// dropped from left, so that many files with the same content take linear time.
type moveTargets struct {
	d     *derivation
	taken map[codeMove]bool
	left  map[addedBlob]arrival // the paths that may still be free
}

// destination returns the move of a lost file. Of several paths with its content it prefers one that exists at
// head, then one with the same base name, then the first.
func (m *moveTargets) destination(l lostFile) (best codeMove, ok bool) {
	bestRank := 0
	for _, c := range l.deleted {
		was := m.d.blobs.At(m.d.g.parentsOf(c)[0], l.path)
		for rank := range 4 {
			at := addedBlob{c, was, ""}
			if rank%2 == 0 {
				at.name = l.path.Base()
			}
			p, found := m.first(at, rank >= 2)
			if !found {
				continue
			}
			if !ok || cmp.Or(cmp.Compare(rank, bestRank), cmp.Compare(p, best.to)) < 0 {
				best, bestRank, ok = codeMove{p, c}, rank, true
			}
			break
		}
	}
	return best, ok
}

// first returns the first path of an added blob that is not taken.
func (m *moveTargets) first(at addedBlob, gone bool) (p repo.Path, ok bool) {
	left, known := m.left[at]
	if !known {
		if all := m.d.arrivals(at.commit)[at]; all != nil {
			left = *all
		}
	}
	list := &left.there
	if gone {
		list = &left.gone
	}
	for len(*list) > 0 && m.taken[codeMove{(*list)[0], at.commit}] {
		*list = (*list)[1:]
	}
	m.left[at] = left
	if len(*list) == 0 {
		return "", false
	}
	return (*list)[0], true
}

// movedProblems returns a problem for each entry whose code was moved to a path that the node does not govern.
func (d *derivation) movedProblems(s *nodeState) []parse.Problem {
	if len(s.moved) == 0 {
		return nil
	}
	var list []parse.Problem
	for _, e := range s.node.Code {
		var gone []repo.Path
		for _, f := range s.files[:s.entries] {
			to := s.movedTo(f.path)
			if to != f.path && e.Matches(f.path) && !s.governs(to) && !d.blobs.At(d.g.head, to).IsZero() {
				gone = append(gone, f.path)
			}
		}
		if len(gone) > 0 {
			list = append(list, d.movedProblem(s, e, gone))
		}
	}
	return list
}

// movedCode returns the moves of governed files to paths that head has and no entry matches, sorted by the new path.
func (d *derivation) movedCode(s *nodeState) []MovedFile {
	var list []MovedFile
	for from := range s.moved {
		to := s.movedTo(from)
		if !s.governs(to) && !d.blobs.At(d.g.head, to).IsZero() {
			list = append(list, MovedFile{From: from, To: to})
		}
	}
	slices.SortFunc(list, func(a, b MovedFile) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From))
	})
	return slices.CompactFunc(list, func(a, b MovedFile) bool { return a.To == b.To })
}

func (s *nodeState) governs(p repo.Path) bool {
	return slices.ContainsFunc(s.node.Code, func(e parse.Entry) bool { return e.Matches(p) })
}

func (d *derivation) movedProblem(s *nodeState, e parse.Entry, gone []repo.Path) parse.Problem {
	const most = 3
	p := parse.Problem{Rule: RuleMoved}
	if dir, ok := d.newDir(s, e, gone); ok {
		to := parse.Entry{Path: string(dir), Kind: parse.DirEntry}
		p.Message = fmt.Sprintf("code: %s moved to %s", e, to)
		p.Fix = fmt.Sprintf("replace %s by %s", e, to)
		return p
	}
	var moves, write []string
	for _, from := range gone[:min(len(gone), most)] {
		to := s.movedTo(from)
		entry := parse.Entry{Path: string(to), Symbol: e.Symbol}
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

// newDir returns the directory that all files of an entry were moved to. ok is false if they were not all moved to
// one.
func (d *derivation) newDir(s *nodeState, e parse.Entry, gone []repo.Path) (dir repo.Path, ok bool) {
	if e.Kind == parse.GlobEntry || e.Path == "" {
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
		if e.Matches(f.path) && (!d.blobs.knows(d.g.head, f.path) || !d.blobs.At(d.g.head, f.path).IsZero()) {
			return "", false
		}
	}
	return dir, true
}
