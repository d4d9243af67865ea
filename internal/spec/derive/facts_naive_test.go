package derive_test

import (
	"cmp"
	"maps"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

type (
	digest = fresh.Digest
	nums   = map[repo.CommitNumber]bool
)

// A commitPath is a path in a commit.
type commitPath struct {
	commit repo.CommitNumber
	path   repo.Path
}

// A naive derives the facts about one node without regard to cost.
type naive struct {
	*randomHistory
	node     *parse.Node
	reach    nums
	places   map[commitPath]bool // the paths of the node in the commits
	versions []repo.CommitNumber
	names    map[repo.CommitNumber]repo.Path // the path of the node in each version
	doubtful []repo.CommitNumber             // merges that may be versions
	top      []repo.CommitNumber
}

// model derives the facts about a node.
func (s *randomHistory) model(n *parse.Node) derive.Facts {
	m := &naive{
		randomHistory: s, node: n, reach: s.history.ancestors(s.head), places: make(map[commitPath]bool), names: make(map[repo.CommitNumber]repo.Path),
	}
	m.locate()
	m.findVersions()
	before := false
	if s.history.gap != "" {
		before = len(m.versions)+len(m.doubtful) > 0
		m.versions = slices.DeleteFunc(m.versions, func(c repo.CommitNumber) bool { return len(s.history.commits[c].parents) == 0 })
	}
	m.top = m.maximal(m.versions)

	f := derive.Facts{Node: n}
	covered := s.history.ancestors(m.top...)
	above := slices.ContainsFunc(m.doubtful, func(c repo.CommitNumber) bool { return !covered[c] })
	if !before && len(m.doubtful) == 0 {
		f.Version = new(len(m.versions))
	}
	for _, c := range m.newest(m.versions) {
		f.Versions = append(f.Versions, derive.VersionRow{Commit: s.history.id(s.history.commits[c].name)})
	}
	hidden := before && m.open(m.top)
	if !hidden && !above {
		f.Session = new("front")
		if rows := m.newest(m.versions); len(rows) > 0 {
			for _, t := range s.history.commits[rows[0]].trailers {
				if t.Key == "Session" {
					f.Session = &t.Value
				}
			}
		}
	}
	if len(m.versions) == 0 && !before && len(m.doubtful) == 0 {
		f.Drift, f.Touched = new(0), new(0)
		return f
	}
	m.judge(&f, before, above)
	return f
}

// locate finds the paths of the node: back from head, and back from the commits of other branches that moved it
// between its paths.
func (m *naive) locate() {
	ends := []commitPath{{m.head, m.node.Path}}
	for {
		clear(m.places)
		for _, end := range ends {
			m.trace(end.commit, end.path)
		}
		moved := m.markOldPaths()
		if len(moved) == 0 {
			return
		}
		ends = append(ends, moved...)
	}
}

// paths returns the path of the node and all paths from which it was moved there, directly or indirectly.
func (m *naive) paths() map[repo.Path]bool {
	paths := map[repo.Path]bool{m.node.Path: true}
	for size := 0; size < len(paths); {
		size = len(paths)
		for c := range m.reach {
			for _, move := range m.history.commits[c].moves {
				if paths[move.To] {
					paths[move.From] = true
				}
			}
		}
	}
	return paths
}

// earlier returns the paths from which commits that c reaches moved the node to a path, one after another.
func (m *naive) earlier(c repo.CommitNumber, p repo.Path) map[repo.Path]bool {
	found, seen := make(map[repo.Path]bool), make(map[commitPath]bool)
	var visit func(c repo.CommitNumber, p repo.Path)
	visit = func(c repo.CommitNumber, p repo.Path) {
		for a := range m.history.ancestors(c) {
			for _, move := range m.history.commits[a].moves {
				if from := (commitPath{a, move.From}); move.To == p && !seen[from] {
					seen[from], found[move.From] = true, true
					visit(a, move.From)
				}
			}
		}
	}
	visit(c, p)
	return found
}

// trace finds the paths of the node back from one commit.
func (m *naive) trace(c repo.CommitNumber, p repo.Path) {
	if m.places[commitPath{c, p}] {
		return
	}
	m.places[commitPath{c, p}] = true
	commit := m.history.commits[c]
	back := func(p repo.Path) {
		for _, parent := range commit.parents {
			m.trace(parent, p)
		}
	}
	came, left := false, false
	for _, move := range commit.moves {
		if move.To == p {
			came = true
			back(move.From)
		}
		left = left || move.From == p
	}
	if came || left {
		return
	}
	for _, parent := range commit.parents {
		if !m.tookMove(c, parent, p) {
			m.trace(parent, p)
		}
	}
}

// tookMove reports whether a merge removed a path of a parent because of a move that the parent does not have and
// that was not undone.
func (m *naive) tookMove(c, parent repo.CommitNumber, p repo.Path) bool {
	commit := m.history.commits[c]
	_, after := commit.tree[p]
	_, before := m.history.commits[parent].tree[p]
	if len(commit.parents) < 2 || after || !before {
		return false
	}
	known, all := m.history.ancestors(parent), m.history.ancestors(c)
	for away := range all {
		if known[away] || !slices.ContainsFunc(m.history.commits[away].moves, func(x repo.Move) bool { return x.From == p }) {
			continue
		}
		cameBack := false
		for back := range all {
			cameBack = cameBack || m.history.ancestors(back)[away] &&
				slices.ContainsFunc(m.history.commits[back].moves, func(x repo.Move) bool { return x.To == p })
		}
		if !cameBack {
			return true
		}
	}
	return false
}

// markOldPaths finds the commits that still have the node at an old path. It returns the commits that moved it to
// an old path.
func (m *naive) markOldPaths() (moved []commitPath) {
	earlier := m.earlier(m.head, m.node.Path)
	old := func(p repo.Path) bool {
		return earlier[p] && !slices.ContainsFunc(m.nodes, func(n *parse.Node) bool { return n.Path == p })
	}
	gone := make(map[commitPath]bool)
	held := make(map[commitPath]bool) // commits that have the node, followed forward over moves
	paths := m.paths()
	for _, c := range slices.Sorted(maps.Keys(m.reach)) {
		commit := m.history.commits[c]
		for p := range paths {
			known, still, from, to := false, false, false, false
			for _, parent := range commit.parents {
				known = known || m.places[commitPath{parent, p}]
				still = still || held[commitPath{parent, p}]
			}
			gone[commitPath{c, p}] = m.goneBefore(gone, commit.parents, p)
			for _, move := range commit.moves {
				from, to = from || move.From == p, to || move.To == p
				for _, parent := range commit.parents {
					if move.To != p || !held[commitPath{parent, move.From}] {
						continue
					}
					held[commitPath{c, p}] = true
					if old(p) && !m.places[commitPath{c, p}] {
						m.places[commitPath{c, p}] = true
						moved = append(moved, commitPath{c, p})
					}
				}
			}
			stays := !gone[commitPath{c, p}] && !from && !to
			if old(p) && known && stays {
				m.places[commitPath{c, p}] = true
			}
			if m.places[commitPath{c, p}] || still && stays {
				held[commitPath{c, p}] = true
			}
			gone[commitPath{c, p}] = (gone[commitPath{c, p}] || from) && !to
		}
	}
	return moved
}

// goneBefore reports whether a path was moved away in one of some parents. It was not if another parent still has
// the path and has every move of it that the first one has.
func (m *naive) goneBefore(gone map[commitPath]bool, parents []repo.CommitNumber, p repo.Path) bool {
	moves := func(c repo.CommitNumber) nums {
		found := make(nums)
		for a := range m.history.ancestors(c) {
			if slices.ContainsFunc(m.history.commits[a].moves, func(x repo.Move) bool { return x.From == p || x.To == p }) {
				found[a] = true
			}
		}
		return found
	}
	knowsAll := func(c repo.CommitNumber) bool {
		known := moves(c)
		for _, other := range parents {
			for a := range moves(other) {
				if gone[commitPath{other, p}] && !known[a] {
					return false
				}
			}
		}
		return true
	}
	isGone := func(c repo.CommitNumber) bool { return gone[commitPath{c, p}] }
	cameBack := func(c repo.CommitNumber) bool { return !isGone(c) && knowsAll(c) }
	return slices.ContainsFunc(parents, isGone) && !slices.ContainsFunc(parents, cameBack)
}

// findVersions finds the commits that gave the node a new content: no parent has it, at any path of the node, and
// git did not merge it.
func (m *naive) findVersions() {
	for c := range m.reach {
		commit := m.history.commits[c]
		doubtful := false
		for _, p := range slices.Sorted(maps.Keys(commit.touches)) {
			kind := commit.touches[p]
			edit := kind == repo.Modified || kind == repo.Added
			pure := slices.ContainsFunc(commit.moves, func(move repo.Move) bool { return move.To == p && move.Same })
			if !edit || pure || !m.places[commitPath{c, p}] || m.takesSide(c, p) {
				continue
			}
			switch m.author(c, p) {
			case repo.MergeByGit:
			case repo.MergeUnknown:
				doubtful = true
			case repo.MergeByPerson:
				// Prefer the path at head.
				if m.names[c] == "" || p == m.node.Path {
					m.names[c] = p
				}
			}
		}
		if m.names[c] != "" {
			m.versions = append(m.versions, c)
		}
		if doubtful {
			m.doubtful = append(m.doubtful, c)
		}
	}
}

// author returns who made the content of a file in a commit.
func (m *naive) author(c repo.CommitNumber, p repo.Path) repo.MergeAuthor {
	if len(m.history.commits[c].parents) < 2 {
		return repo.MergeByPerson
	}
	return m.history.byGit(c, p, m.history.sources(c, p)).By
}

// takesSide reports whether a merge has the content of the node in one of its parents.
func (m *naive) takesSide(c repo.CommitNumber, p repo.Path) bool {
	commit := m.history.commits[c]
	if len(commit.parents) < 2 {
		return false
	}
	for _, parent := range commit.parents {
		for q, x := range m.history.commits[parent].tree {
			if isSpec(q) && m.places[commitPath{parent, q}] && x.content == commit.tree[p].content {
				return true
			}
		}
	}
	return false
}

// before reports whether a is a proper ancestor of b.
func (m *naive) before(a, b repo.CommitNumber) bool { return a != b && m.history.ancestors(b)[a] }

func (m *naive) maximal(list []repo.CommitNumber) []repo.CommitNumber {
	var top []repo.CommitNumber
	for _, a := range list {
		if !slices.ContainsFunc(list, func(b repo.CommitNumber) bool { return m.before(a, b) }) {
			top = append(top, a)
		}
	}
	return top
}

// newest repeatedly takes the newest commit that is no ancestor of a remaining one.
func (m *naive) newest(list []repo.CommitNumber) []repo.CommitNumber {
	var order []repo.CommitNumber
	for rest := slices.Clone(list); len(rest) > 0; {
		next := slices.MaxFunc(m.maximal(rest), func(a, b repo.CommitNumber) int {
			x, y := m.history.commits[a], m.history.commits[b]
			return cmp.Or(cmp.Compare(x.date, y.date), cmp.Compare(m.history.id(x.name).String(), m.history.id(y.name).String()))
		})
		order = append(order, next)
		rest = slices.DeleteFunc(rest, func(c repo.CommitNumber) bool { return c == next })
	}
	return order
}

// open reports whether a root is reached from none of the commits.
func (m *naive) open(from []repo.CommitNumber) bool {
	covered := m.history.ancestors(from...)
	for c := range m.reach {
		if len(m.history.commits[c].parents) == 0 && !covered[c] {
			return true
		}
	}
	return false
}

// since returns the commits that touched governed paths and that the given commits do not reach. It leaves out
// merges that git made.
func (m *naive) since(from []repo.CommitNumber, governed func(repo.Path) bool) map[repo.Path][]repo.CommitNumber {
	covered := m.history.ancestors(from...)
	found := make(map[repo.Path][]repo.CommitNumber)
	for _, c := range slices.Sorted(maps.Keys(m.reach)) {
		for p := range m.history.commits[c].touches {
			if governed(p) && !covered[c] && m.author(c, p) != repo.MergeByGit {
				found[p] = append(found[p], c)
			}
		}
	}
	return found
}

func count(found map[repo.Path][]repo.CommitNumber) int {
	all := make(nums)
	for _, list := range found {
		for _, c := range list {
			all[c] = true
		}
	}
	return len(all)
}

func (m *naive) judge(f *derive.Facts, before, above bool) {
	type attestation struct {
		commit repo.CommitNumber
		path   repo.Path
	}
	var all []attestation
	for _, c := range m.versions {
		all = append(all, attestation{c, m.names[c]})
	}
	from := slices.Clone(m.top)
	mine := func(p repo.Path) bool { return governs(m.node, p) }
	if count(m.since(m.top, mine)) > 0 {
		for _, a := range m.currentAcks() {
			f.Acks = append(f.Acks, derive.Ack{Commit: m.history.id(m.history.commits[a.commit].name), State: a.state})
			if a.state == derive.AckValid {
				from = append(from, a.commit)
				all = append(all, attestation{a.commit, a.path})
			}
		}
	}
	followed, moved := m.follow(m.top)
	governed := func(p repo.Path) bool { return mine(p) || slices.Contains(followed, p) }
	found := m.since(from, governed)
	if before && len(m.node.Code) > 0 && m.open(from) {
		return
	}
	unsure := above
	for p, list := range found {
		unsure = unsure || slices.ContainsFunc(list, func(c repo.CommitNumber) bool { return m.author(c, p) == repo.MergeUnknown })
	}
	f.Touched = new(count(found))
	f.Drift = f.Touched
	if unsure && *f.Touched > 0 {
		f.Touched, f.Drift = nil, nil
	}
	head := m.history.commits[m.head].tree
	for _, a := range all {
		tree := m.history.commits[a.commit].tree
		now, committed := head[m.node.Path]
		if !committed || tree[a.path].content != now.content {
			continue
		}
		if maps.Equal(contentsUnder(tree, governed, moved), contentsUnder(head, governed, nil)) {
			f.Drift = new(0)
		}
	}
	if f.Drift != nil && *f.Drift > 0 {
		for _, p := range slices.Sorted(maps.Keys(found)) {
			f.DriftFiles = append(f.DriftFiles, derive.DriftFile{Path: p, Commits: len(found[p])})
		}
	}
}

// contentsUnder returns the governed contents by their present paths.
func contentsUnder(tree fakeTree, governed func(repo.Path) bool, moved map[repo.Path]repo.Path) map[repo.Path]string {
	set := make(map[repo.Path]string)
	for p, x := range tree {
		if !governed(p) {
			continue
		}
		for range len(moved) {
			if to, ok := moved[p]; ok {
				p = to
			}
		}
		if _, twice := set[p]; twice {
			set["two files of one name"] = ""
		}
		set[p] = x.content
	}
	return set
}

type currentAck struct {
	commit repo.CommitNumber
	path   repo.Path
	state  derive.AckState
}

// currentAcks returns the acks of the node that no version reaches, newest first.
func (m *naive) currentAcks() []currentAck {
	var list []currentAck
	for _, a := range m.acks {
		tree := m.history.commits[a.commit].tree
		var files []repo.LoadedFile
		for p := range tree {
			files = append(files, repo.LoadedFile{Path: p})
		}
		var path repo.Path
		for _, n := range parse.Load(files) {
			if n.ID == a.id {
				path = n.Path
			}
		}
		if !m.reach[a.commit] || path == "" || !m.places[commitPath{a.commit, path}] ||
			slices.ContainsFunc(m.top, func(v repo.CommitNumber) bool { return m.before(a.commit, v) }) {
			continue
		}
		state := derive.AckValid
		if a.basis != nil && (a.basis.Spec != idOf(tree[path].content) || a.basis.Governed != digestOf(m.node, tree)) {
			state = derive.AckVoid
		}
		list = append(list, currentAck{a.commit, path, state})
	}
	var commits []repo.CommitNumber
	for _, a := range list {
		if !slices.Contains(commits, a.commit) {
			commits = append(commits, a.commit)
		}
	}
	order := m.newest(commits)
	slices.SortStableFunc(list, func(a, b currentAck) int {
		return cmp.Compare(slices.Index(order, a.commit), slices.Index(order, b.commit))
	})
	return list
}

// follow finds the new paths of deleted governed files, round by round.
func (m *naive) follow(from []repo.CommitNumber) (followed []repo.Path, moved map[repo.Path]repo.Path) {
	type arrival struct {
		path   repo.Path
		commit repo.CommitNumber
	}
	moved = make(map[repo.Path]repo.Path)
	taken := make(map[arrival]bool)
	head := m.history.commits[m.head].tree
	for grown := true; grown; {
		grown = false
		known := func(p repo.Path) bool { return governs(m.node, p) || slices.Contains(followed, p) }
		found := m.since(from, known)
		var lost []repo.Path
		for _, p := range slices.Sorted(maps.Keys(found)) {
			if _, there := head[p]; !there && governs(m.node, p) {
				lost = append(lost, p)
			}
		}
		for _, p := range followed {
			if _, there := head[p]; !there && found[p] != nil {
				lost = append(lost, p)
			}
		}
		for _, p := range lost {
			if moved[p] != "" {
				continue
			}
			var options []arrival
			for _, c := range found[p] {
				commit := m.history.commits[c]
				if commit.touches[p] != repo.Deleted || len(commit.parents) != 1 {
					continue
				}
				was := m.history.commits[commit.parents[0]].tree[p].content
				for q, kind := range commit.touches {
					if kind == repo.Added && commit.tree[q].content == was && !taken[arrival{q, c}] {
						options = append(options, arrival{q, c})
					}
				}
			}
			if len(options) == 0 {
				continue
			}
			gone := func(p repo.Path) bool { _, there := head[p]; return !there }
			best := slices.MinFunc(options, func(a, b arrival) int {
				return cmp.Or(
					compareBool(gone(a.path), gone(b.path)),
					compareBool(a.path.Base() != p.Base(), b.path.Base() != p.Base()),
					cmp.Compare(a.path, b.path),
					cmp.Compare(m.history.id(m.history.commits[a.commit].name).String(), m.history.id(m.history.commits[b.commit].name).String()),
				)
			})
			taken[best] = true
			moved[p] = best.path
			if !known(best.path) {
				followed = append(followed, best.path)
				grown = true
			}
		}
	}
	return followed, moved
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
