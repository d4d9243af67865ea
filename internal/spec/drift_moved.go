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
	commit Num
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
			lost[s] = d.lost(s)
		}
		d.findAdded(lost)
		for _, s := range todo {
			for _, l := range lost[s] {
				for _, c := range l.deleted {
					d.sheet.want(d.g.parentsOf(c)[0], l.path)
					for _, p := range d.added[c] {
						if d.eligible(l.path, p, c) {
							d.sheet.want(c, p)
							d.sheet.want(d.g.head, p)
						}
					}
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
	deleted []Num
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

// findAdded finds what the commits that deleted files have added. The history knows
// the commits of a path and not the paths of a commit, so that this takes a look at
// every path; it is taken for all nodes together.
func (d *derivation) findAdded(lost map[*study][]lostFile) {
	missing := make(map[Num]bool)
	for _, list := range lost {
		for _, l := range list {
			for _, c := range l.deleted {
				if _, looked := d.added[c]; !looked {
					d.added[c] = nil
					missing[c] = true
				}
			}
		}
	}
	if len(missing) == 0 {
		return
	}
	for _, p := range d.h.Below("") {
		for _, t := range d.h.Touching(p) {
			if t.Kind == repo.Added && missing[t.Commit] {
				d.added[t.Commit] = append(d.added[t.Commit], p)
			}
		}
	}
}

// maxAdded is how many files a commit may add for each of them to be compared with
// what it deleted. Where there are more, it is only those with the same name.
const maxAdded = 2_000

// eligible reports whether a commit may be taken to have moved a file to a path that
// it added.
func (d *derivation) eligible(from, to repo.Path, c Num) bool {
	return len(d.added[c]) <= maxAdded || to.Base() == from.Base()
}

// arrivals returns what a commit added, by its content, as far as that was asked for.
func (d *derivation) arrivals(c Num) map[repo.ID][]repo.Path {
	found, ok := d.arrived[c]
	if !ok {
		found = make(map[repo.ID][]repo.Path)
		for _, p := range d.added[c] {
			if id := d.sheet.at(c, p); !id.IsZero() {
				found[id] = append(found[id], p)
			}
		}
		d.arrived[c] = found
	}
	return found
}

// depart notes where the lost files of a node went, and reports whether that made
// it govern more files.
func (d *derivation) depart(s *study, lost []lostFile) (grown bool) {
	taken := make(map[departure]bool)
	for _, to := range s.moved {
		taken[to] = true
	}
	files := make(map[repo.Path]bool)
	if len(lost) > 0 {
		for _, f := range s.files {
			files[f.path] = true
		}
	}
	for _, l := range lost {
		to, ok := d.destination(l, taken)
		if !ok {
			continue
		}
		taken[to] = true
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

// destination returns where a lost file went: of several places with its content,
// one that is still there, has its name, or comes first.
func (d *derivation) destination(l lostFile, taken map[departure]bool) (best departure, ok bool) {
	rank := func(to departure) int {
		r := 0
		if d.sheet.at(d.g.head, to.to).IsZero() {
			r = 2
		}
		if to.to.Base() != l.path.Base() {
			r++
		}
		return r
	}
	for _, c := range l.deleted {
		was := d.sheet.at(d.g.parentsOf(c)[0], l.path)
		for _, p := range d.arrivals(c)[was] {
			to := departure{p, c}
			if taken[to] || !d.eligible(l.path, p, c) {
				continue
			}
			if !ok || cmp.Or(cmp.Compare(rank(to), rank(best)), cmp.Compare(to.to, best.to)) < 0 {
				best, ok = to, true
			}
		}
	}
	return best, ok
}

// movedProblems tells of the entries whose code has moved to where no entry of the
// node leads, and what to write.
func (d *derivation) movedProblems(s *study) []Problem {
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
		p.Fix = fmt.Sprintf("write %s in place of %s", to, e)
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
		p.Fix = fmt.Sprintf("write %s in place of %s", write[0], e)
	} else {
		p.Fix = fmt.Sprintf("add %s, or leave it to another node", strings.Join(write, ", "))
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
