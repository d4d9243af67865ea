package lives

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The model of specs, in plain words. It reads plain git: rev-list, ls-tree, diff-tree -M and
// merge-tree --write-tree.
//
//   - The node at HEAD is followed back through every parent. Where its path is in no parent,
//     git's rename detection (50 %) between a parent and the commit says where it was: a move
//     is made in one commit. Where a parent of a merge has the path, nothing was moved there,
//     whatever git finds alike: the node is in every parent at the path.
//   - A branch that does not know a move has the node at an earlier path still. So a file at an
//     earlier path, in any commit that HEAD reaches, is the node too if it is the node when
//     followed back, if the node had not moved away from there in that commit, and if the path
//     is no node of its own at HEAD. A commit may have the node at several paths.
//   - A path that was deleted and made again goes on with its history; a path whose node moved
//     away begins anew. So it does below a merge that has not the path, in a parent that has
//     it, if a commit that only another parent reaches moved the node away.
//   - A commit is a version if spec.md differs from the parent's; a merge, if it differs from
//     every parent's, at whatever path the node is there, and from what git's own merge of the
//     parents makes.
//   - The latest versions are those that no other version has among its ancestors.
//   - A commit with the trailer Spec-OK for the id that the node has there is an ack. It is
//     void if one of the latest versions descends from it, or if it names a basis and spec or
//     governed code at that commit are not those of the basis.
//   - touched counts the commits that HEAD reaches and that no latest version and no valid ack
//     reaches, and that change a governed path: content or mode. A merge counts if a governed
//     path differs from every parent, and its content from git's own merge of the parents.
//   - drift is touched, or 0 if the governed contents at HEAD are those at one version, however
//     old, or valid ack at which spec.md is HEAD's.
//   - status is active where a worktree proposes a change (as ken lists it), else drift with
//     drift, merged with a version, pending otherwise.
//
// Decisions where the design leaves room:
//   - A spec that a parent of a merge has at another place, and that git could not merge by
//     itself, is not judged: both parents moved it, and it may be kept at both places.
//   - A spec is not judged if a merge puts it together with another one at the same path, or
//     moves it from there: one parent moved the spec away and then made a new one there, and
//     another parent did not.
//   - A commit on a branch whose result a merge threw away (-s ours) counts like any other. If
//     that branch moved the spec, it is not judged: nobody says which of the two histories it
//     has.
//   - The id of a node is the name of its directory. A node that is acked by that name in a
//     commit in which another node has the same name is not judged.
//   - Only a work tree whose specs are those of HEAD is judged.
//   - An octopus is merged by git's own merge of its parents one after another.
//   - Whether a merge is clean is asked for the path, not for the whole merge.
//   - An entry that names a file is followed to where the file moved with equal content, as
//     the design says, if that happened in one commit with one parent that no latest version
//     reaches; an ack after the move does not end that. Where there are several such moves, or a governed directory gained or lost a
//     file by a move, drift and touched are not judged.

type specModel struct {
	parents  map[string][]string
	trees    map[string]map[string]entry
	renames  map[[2]string]map[string]string // new path: old path
	merges   map[string]autoMerge
	trailers map[string][][2]string
	befores  map[treePath][]treePath
	away     map[[3]string]bool
	bases    map[string]string // a digest that ken wrote: the governed contents it stands for
}

// An entry is a file in a tree.
type entry struct{ mode, id string }

// An autoMerge is the result of git for the parents of a merge.
type autoMerge struct {
	tree     string
	files    map[string]entry
	conflict map[string]bool
	failed   bool
}

func newSpecModel() *specModel {
	return &specModel{
		parents: map[string][]string{}, trees: map[string]map[string]entry{}, renames: map[[2]string]map[string]string{},
		befores: map[treePath][]treePath{}, away: map[[3]string]bool{},
		merges: map[string]autoMerge{}, trailers: map[string][][2]string{}, bases: map[string]string{},
	}
}

// load reads the commits that HEAD reaches and returns them.
func (l *life) load(place string) []string {
	m := l.specs
	var all, fresh []string
	for line := range strings.Lines(l.git(place, "rev-list", "--parents", "HEAD")) {
		f := strings.Fields(line)
		if _, ok := m.parents[f[0]]; !ok {
			m.parents[f[0]] = f[1:]
			fresh = append(fresh, f[0])
		}
		all = append(all, f[0])
	}
	if len(fresh) > 0 {
		out := l.git(place, append([]string{"log", "--no-walk=unsorted", "--format=%x00%H%n%(trailers:only,unfold)"}, fresh...)...)
		for part := range strings.SplitSeq(out, "\x00") {
			lines := strings.Split(strings.TrimSpace(part), "\n")
			for _, line := range lines[1:] {
				if key, value, ok := strings.Cut(line, ": "); ok {
					m.trailers[lines[0]] = append(m.trailers[lines[0]], [2]string{key, strings.TrimSpace(value)})
				}
			}
		}
	}
	for _, c := range fresh {
		m.trees[c] = l.listTree(place, c)
	}
	return all
}

func (l *life) listTree(place, treeish string) map[string]entry {
	found := map[string]entry{}
	for line := range strings.SplitSeq(l.git(place, "ls-tree", "-r", "-z", treeish), "\x00") {
		if meta, name, ok := strings.Cut(line, "\t"); ok {
			f := strings.Fields(meta)
			found[name] = entry{f[0], f[2]}
		}
	}
	return found
}

// renamed returns the renames between two trees, by the new path.
func (l *life) renamed(place, from, to string) map[string]string {
	key := [2]string{from, to}
	if found, ok := l.specs.renames[key]; ok {
		return found
	}
	found := map[string]string{}
	f := strings.Split(l.git(place, "diff-tree", "-r", "-z", "-M50%", "-l0", "--diff-filter=R", "--name-status", from, to), "\x00")
	for i := 0; i+2 < len(f); i += 3 {
		found[f[i+2]] = f[i+1]
	}
	l.specs.renames[key] = found
	return found
}

// merged returns the result of git for the parents of a commit.
func (l *life) merged(place, c string) autoMerge {
	if found, ok := l.specs.merges[c]; ok {
		return found
	}
	m := autoMerge{conflict: map[string]bool{}}
	parents := l.specs.parents[c]
	ours := parents[0]
	for i, p := range parents[1:] {
		out, err := l.run(l.at(place), "", nil, "git", "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, p)
		f := strings.Split(out, "\x00")
		if len(f) == 0 || len(f[0]) != 40 {
			m.failed = true
			break
		}
		m.tree = f[0]
		if err != nil {
			for _, name := range f[1:] {
				if name != "" {
					m.conflict[name] = true
				}
			}
		}
		if i+2 < len(parents) {
			ours = strings.TrimSpace(l.git(place, "commit-tree", "-p", ours, "-p", p, "-m", "between", m.tree))
		}
	}
	if !m.failed {
		m.files = l.listTree(place, m.tree)
	}
	l.specs.merges[c] = m
	return m
}

// automatic reports whether git itself makes the entry at a path of a merge.
func (l *life) automatic(place, c, name string, now entry) bool {
	m := l.merged(place, c)
	if m.failed || m.conflict[name] {
		return false
	}
	e, there := m.files[name]
	if !there && now.id != "" {
		from := l.renamed(place, m.tree, c)[name] // the merger moved it besides
		if m.conflict[from] {
			return false
		}
		e = m.files[from]
	}
	return e.id == now.id
}

func isSpec(name string) bool {
	return strings.HasPrefix(name, ".spec/") && path.Base(name) == "spec.md"
}

// A trace is the life of one node.
type trace struct {
	versions map[string]bool
	paths    map[string]map[string]bool // commit: paths of the node there
	unclear  bool                       // a decision above says that it is not judged
}

// A treePath is a path in a commit, whether or not it is there.
type treePath struct{ commit, name string }

// follow finds the node in the commits that HEAD reaches.
func (l *life) follow(place, head, name string) trace {
	m := l.specs
	node := l.walkBack(place, treePath{head, name})
	var open []map[treePath]bool
	for old := range l.earlierPaths(place, head, name) {
		if _, own := m.trees[head][old]; own {
			continue
		}
		for c := range m.reach(head) {
			if _, there := m.trees[c][old]; there && !l.movedAway(place, c, "", old) {
				open = append(open, l.walkBack(place, treePath{c, old}))
			}
		}
	}
	for grows := true; grows; {
		grows = false
		for _, places := range open {
			size := len(node)
			if m.meet(node, places) {
				maps.Copy(node, places)
			}
			grows = grows || len(node) > size
		}
	}

	t := trace{versions: map[string]bool{}, paths: map[string]map[string]bool{}}
	for at := range node {
		c := at.commit
		now, there := m.trees[c][at.name]
		if !there {
			continue
		}
		if t.paths[c] == nil {
			t.paths[c] = map[string]bool{}
		}
		t.paths[c][at.name] = true
		merge := len(m.parents[c]) > 1
		before := l.before(place, at)
		if merge { // it may take any side
			before = slices.Collect(maps.Keys(node))
		}
		same := func(old treePath) bool {
			return slices.Contains(m.parents[c], old.commit) && m.trees[old.commit][old.name].id == now.id
		}
		changed := !slices.ContainsFunc(before, same)
		lacks := func(p string) bool { _, has := m.trees[p][at.name]; return !has }
		if merge && slices.ContainsFunc(m.parents[c], lacks) && l.merged(place, c).conflict[at.name] {
			t.unclear = true
		}
		threwMove := func(p string) bool { return lacks(p) && l.movedAway(place, p, "", at.name) }
		if merge && slices.ContainsFunc(m.parents[c], threwMove) {
			t.unclear = true
		}
		if merge && l.mixes(place, at) {
			t.unclear = true
		}
		if changed && merge && l.automatic(place, c, at.name, now) {
			changed = false
		}
		if changed {
			t.versions[c] = true
		}
	}
	return t
}

// mixes reports whether the parents of a merge have different specs at a path: one has begun
// anew there, and another has not. The merge may have moved it from that path.
func (l *life) mixes(place string, at treePath) bool {
	for _, from := range l.before(place, at) {
		anew, old := false, false
		for _, p := range l.specs.parents[at.commit] {
			if _, there := l.specs.trees[p][from.name]; there {
				away := l.movedAway(place, p, "", from.name)
				anew = anew || away
				old = old || !away
			}
		}
		if anew && old {
			return true
		}
	}
	return false
}

// meet reports whether a file is in both sets.
func (m *specModel) meet(a, b map[treePath]bool) bool {
	for at := range a {
		if _, there := m.trees[at.commit][at.name]; there && b[at] {
			return true
		}
	}
	return false
}

// walkBack returns where the node at a path of a commit was.
func (l *life) walkBack(place string, from treePath) map[treePath]bool {
	seen := map[treePath]bool{}
	work := []treePath{from}
	for len(work) > 0 {
		here := work[len(work)-1]
		work = work[:len(work)-1]
		if !seen[here] {
			seen[here] = true
			work = append(work, l.before(place, here)...)
		}
	}
	return seen
}

// before returns where the node that is at a path of a commit was in the parents of the
// commit.
func (l *life) before(place string, at treePath) []treePath {
	m := l.specs
	if list, ok := m.befores[at]; ok {
		return list
	}
	c, name := at.commit, at.name
	has := func(q string) bool { _, there := m.trees[q][name]; return there }
	var list []treePath
	for _, p := range m.parents[c] {
		from := name
		source := l.renamed(place, p, c)[name]
		added := has(c) && !slices.ContainsFunc(m.parents[c], has)
		if added && isSpec(source) {
			from = source
		}
		if !has(c) && has(p) && l.movedAway(place, c, p, name) {
			continue // the path begins anew
		}
		list = append(list, treePath{p, from})
	}
	m.befores[at] = list
	return list
}

// movedAway reports whether a commit that c reaches, and its parent does not, moved a node away
// from a path, and none after it moved one back: what is there now has begun anew. Without a
// parent all commits count that c reaches.
func (l *life) movedAway(place, c, parent, name string) bool {
	m := l.specs
	key := [3]string{c, parent, name}
	if is, ok := m.away[key]; ok {
		return is
	}
	known := map[string]bool{}
	if parent != "" {
		known = m.reach(parent)
	}
	var away, back []string
	for x := range m.reach(c) {
		_, after := m.trees[x][name]
		for _, p := range m.parents[x] {
			_, before := m.trees[p][name]
			moves := l.moves(place, p, x)
			if before && !after && !known[x] && slices.Contains(slices.Collect(maps.Values(moves)), name) {
				away = append(away, x)
			}
			if !before && after && isSpec(moves[name]) {
				back = append(back, x)
			}
		}
	}
	m.away[key] = slices.ContainsFunc(away, func(a string) bool {
		return !slices.ContainsFunc(back, func(b string) bool { return m.reach(b)[a] })
	})
	return m.away[key]
}

// moves returns the renames between a parent and a commit that the commit made: those to
// paths that none of its parents has.
func (l *life) moves(place, p, c string) map[string]string {
	found := maps.Clone(l.renamed(place, p, c))
	maps.DeleteFunc(found, func(to, _ string) bool {
		return slices.ContainsFunc(l.specs.parents[c], func(q string) bool { _, has := l.specs.trees[q][to]; return has })
	})
	return found
}

// earlierPaths returns the paths from which commits that c reaches moved a node to a path,
// one after another.
func (l *life) earlierPaths(place, c, name string) map[string]bool {
	type at struct{ commit, name string }
	found := map[string]bool{}
	seen := map[at]bool{}
	work := []at{{c, name}}
	for len(work) > 0 {
		here := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[here] {
			continue
		}
		seen[here] = true
		for x := range l.specs.reach(here.commit) {
			if _, there := l.specs.trees[x][here.name]; !there {
				continue
			}
			has := func(q string) bool { _, is := l.specs.trees[q][here.name]; return is }
			if slices.ContainsFunc(l.specs.parents[x], has) {
				continue
			}
			for _, p := range l.specs.parents[x] {
				if source := l.renamed(place, p, x)[here.name]; isSpec(source) {
					found[source] = true
					work = append(work, at{x, source})
				}
			}
		}
	}
	delete(found, name)
	return found
}

// reach returns the commits that some commits reach, themselves included.
func (m *specModel) reach(from ...string) map[string]bool {
	seen := map[string]bool{}
	work := slices.Clone(from)
	for len(work) > 0 {
		c := work[len(work)-1]
		work = work[:len(work)-1]
		if !seen[c] {
			seen[c] = true
			work = append(work, m.parents[c]...)
		}
	}
	return seen
}

// latest returns the versions that are ancestors of no other version.
func (m *specModel) latest(versions map[string]bool) []string {
	below := map[string]bool{}
	for v := range versions {
		for c := range m.reach(m.parents[v]...) {
			below[c] = true
		}
	}
	var top []string
	for v := range versions {
		if !below[v] {
			top = append(top, v)
		}
	}
	slices.Sort(top)
	return top
}

// entriesOf reads the list under code: in a spec of the form that lives write.
func entriesOf(spec string) []string {
	var list []string
	inside := false
	for line := range strings.Lines(spec) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "code:":
			inside = true
		case inside && strings.HasPrefix(line, "  - "):
			list = append(list, strings.TrimPrefix(line, "  - "))
		default:
			inside = false
		}
	}
	return list
}

// governs reports whether an entry names a path.
func governs(entries []string, name string) bool {
	for _, e := range entries {
		if e == name || strings.HasSuffix(e, "/") && strings.HasPrefix(name, e) {
			return true
		}
	}
	return false
}

// governed returns the governed contents of a tree. moved says under which name a file of an
// entry goes on.
func governed(files map[string]entry, entries []string, moved map[string]string) string {
	var list []string
	names := map[string]string{}
	for old, now := range moved {
		names[now] = old
	}
	for name, e := range files {
		if !governs(entries, name) {
			continue
		}
		if first, ok := names[name]; ok {
			name = first
		}
		list = append(list, name+" "+e.id)
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// wroteAck notes which contents the digest of a new ack stands for.
func (l *life) wroteAck(o op) {
	head, ok := l.try(o.place, "rev-parse", "HEAD")
	if !ok {
		return
	}
	c := strings.TrimSpace(head)
	l.load(o.place)
	for _, t := range l.specs.trailers[c] {
		blob, digest, ok := strings.Cut(t[1], " ")
		if t[0] != "Spec-OK-Basis" || !ok {
			continue
		}
		content, _ := l.try(o.place, "cat-file", "blob", blob)
		l.specs.bases[t[1]] = governed(l.specs.trees[c], entriesOf(content), nil)
		_ = digest // ken's own; the whole trailer is the key
	}
}

// A specFact has the facts of the model about a node.
type specFact struct {
	version, drift, touched int
	unsure                  string // why drift and touched are not judged
	unclear                 bool   // nothing is judged
}

func (l *life) specFacts(place, head, name string, all []string) specFact {
	m := l.specs
	t := l.follow(place, head, name)
	fact := specFact{version: len(t.versions)}
	here := m.trees[head][name]
	content, _ := l.try(place, "cat-file", "blob", here.id)
	entries := entriesOf(content)

	top := m.latest(t.versions)
	attested := slices.Clone(top)
	for _, c := range all {
		if l.acked(place, c, &t) && !m.belowAny(c, top) {
			attested = append(attested, c)
		}
	}
	fact.unclear = t.unclear
	quiet := m.reach(attested...)
	since := slices.DeleteFunc(slices.Clone(all), func(c string) bool { return quiet[c] })
	covered := m.reach(top...)
	sinceVersions := slices.DeleteFunc(slices.Clone(all), func(c string) bool { return covered[c] })
	moved, unsure := l.movedCode(sinceVersions, entries, head)
	fact.unsure = unsure
	watched := slices.Clone(entries)
	watched = append(watched, slices.Collect(maps.Values(moved))...)

	for _, c := range since {
		if l.touches(place, c, watched) {
			fact.touched++
		}
	}
	fact.drift = fact.touched
	for _, a := range append(attested, slices.Collect(maps.Keys(t.versions))...) {
		for at := range t.paths[a] {
			sameSpec := m.trees[a][at].id == here.id
			if sameSpec && governed(m.trees[a], watched, moved) == governed(m.trees[head], watched, moved) {
				fact.drift = 0
			}
		}
	}
	return fact
}

// belowAny reports whether one of the tops descends from a commit.
func (m *specModel) belowAny(c string, tops []string) bool {
	for _, v := range tops {
		if v != c && m.reach(v)[c] {
			return true
		}
	}
	return false
}

// acked reports whether a commit acks the node and, if it names a basis, stands on it.
func (l *life) acked(place, c string, t *trace) bool {
	m := l.specs
	trailers := m.trailers[c]
	for i, tr := range trailers {
		if tr[0] != "Spec-OK" {
			continue
		}
		for at := range t.paths[c] {
			if path.Base(path.Dir(at)) != tr[1] {
				continue
			}
			for other := range m.trees[c] {
				if isSpec(other) && other != at && path.Base(path.Dir(other)) == tr[1] {
					t.unclear = true
				}
			}
			if i+1 >= len(trailers) || trailers[i+1][0] != "Spec-OK-Basis" {
				return true
			}
			basis := trailers[i+1][1]
			blob, _, _ := strings.Cut(basis, " ")
			content, _ := l.try(place, "cat-file", "blob", blob)
			want, registered := m.bases[basis]
			return registered && m.trees[c][at].id == blob && governed(m.trees[c], entriesOf(content), nil) == want
		}
	}
	return false
}

// movedCode follows files that entries name to where they moved with equal content.
func (l *life) movedCode(since, entries []string, head string) (map[string]string, string) {
	m := l.specs
	moved := map[string]string{}
	unsure := ""
	for _, e := range entries {
		now := e
		if strings.HasSuffix(e, "/") {
			for _, c := range since {
				if len(m.parents[c]) != 1 {
					continue
				}
				for gone, to := range m.pureMoves(c) {
					if strings.HasPrefix(gone, e) || slices.ContainsFunc(to, func(n string) bool { return strings.HasPrefix(n, e) }) {
						unsure = "a file moved in or out of " + e
					}
				}
			}
			continue
		}
		for range 5 {
			if _, there := m.trees[head][now]; there {
				break
			}
			var targets []string
			for _, c := range since {
				if len(m.parents[c]) == 1 {
					targets = append(targets, m.pureMoves(c)[now]...)
				}
			}
			slices.Sort(targets)
			targets = slices.Compact(targets)
			if len(targets) > 1 {
				unsure = e + " moved more than once"
			}
			if len(targets) != 1 {
				break
			}
			now = targets[0]
		}
		if now == e {
			continue
		}
		if _, there := m.trees[head][now]; !there {
			unsure = e + " moved and went"
			continue
		}
		moved[e] = now
		if other := slices.ContainsFunc(entries, func(x string) bool { return x != e && governs([]string{x}, now) }); other {
			unsure = e + " moved into another entry"
		}
	}
	return moved, unsure
}

// pureMoves returns the paths that a commit with one parent took away, each with the paths
// that it added with the same content.
func (m *specModel) pureMoves(c string) map[string][]string {
	before, after := m.trees[m.parents[c][0]], m.trees[c]
	found := map[string][]string{}
	for name, e := range before {
		if _, still := after[name]; still {
			continue
		}
		for to, x := range after {
			if _, was := before[to]; !was && x.id == e.id {
				found[name] = append(found[name], to)
			}
		}
	}
	return found
}

// touches reports whether a commit changes a governed path.
func (l *life) touches(place, c string, entries []string) bool {
	m := l.specs
	parents := m.parents[c]
	names := map[string]bool{}
	for name := range m.trees[c] {
		names[name] = true
	}
	for _, p := range parents {
		for name := range m.trees[p] {
			names[name] = true
		}
	}
	for name := range names {
		if !governs(entries, name) {
			continue
		}
		now := m.trees[c][name]
		changed := true
		for _, p := range parents {
			if m.trees[p][name] == now {
				changed = false
			}
		}
		if len(parents) == 0 {
			changed = now.id != ""
		}
		if changed && len(parents) > 1 && l.automatic(place, c, name, now) {
			changed = false
		}
		if changed {
			return true
		}
	}
	return false
}

type specDoc struct {
	Nodes []struct {
		ID       string     `json:"id"`
		Path     string     `json:"path"`
		Status   string     `json:"status"`
		Version  *int       `json:"version"`
		Drift    *int       `json:"drift"`
		Touched  *int       `json:"touched"`
		Dirty    bool       `json:"dirty"`
		Ghost    bool       `json:"ghost"`
		Overlays []struct{} `json:"overlays"`
	} `json:"nodes"`
}

// compareSpecs compares the facts of ken about specs with the model.
func (l *life) compareSpecs(place string) {
	if dirty, ok := l.try(place, "status", "--porcelain", "--", ".spec"); !ok || dirty != "" {
		return
	}
	head, ok := l.try(place, "rev-parse", "-q", "--verify", "HEAD")
	var doc specDoc
	if !ok || !l.ken(place, &doc, "spec", "ls") {
		return
	}
	head = strings.TrimSpace(head)
	all := l.load(place)
	if l.dead {
		return
	}
	listed := map[string]bool{}
	for _, n := range doc.Nodes {
		if n.Ghost {
			continue
		}
		listed[n.Path] = true
		if _, there := l.specs.trees[head][n.Path]; !there {
			l.differs(place, "spec ls: "+n.Path+" is no spec at HEAD", n.Status)
			continue
		}
		if raw, err := os.ReadFile(filepath.Join(l.at(place), n.Path)); err == nil && strings.Contains(string(raw), "<<<<<<<") {
			if n.Status != "unknown" {
				l.differs(place, "spec ls: "+n.ID+" is in conflict: unknown", n.Status)
			}
			continue
		}
		l.compared++
		w := l.specFacts(place, head, n.Path, all)
		if w.unclear {
			continue
		}
		got := fmt.Sprintf("version %s, touched %s, drift %s, %s", number(n.Version), number(n.Touched), number(n.Drift), n.Status)
		want := fmt.Sprintf("version %d", w.version)
		same := n.Version != nil && *n.Version == w.version
		if w.unsure == "" {
			status := "pending"
			switch {
			case len(n.Overlays) > 0:
				status = "active"
			case w.drift > 0:
				status = "drift"
			case w.version > 0:
				status = "merged"
			}
			want += fmt.Sprintf(", touched %d, drift %d, %s", w.touched, w.drift, status)
			same = same && n.Touched != nil && *n.Touched == w.touched && n.Drift != nil && *n.Drift == w.drift && n.Status == status
		}
		if !same {
			l.differs(place, "spec ls: "+n.ID+" has "+want, got)
		}
	}
	for name := range l.specs.trees[head] {
		if isSpec(name) && !listed[name] {
			l.differs(place, "spec ls lists "+name, "nothing")
		}
	}
}

func number(n *int) string {
	if n == nil {
		return "null"
	}
	return fmt.Sprint(*n)
}
