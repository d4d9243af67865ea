package derive_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// TestDeriveMatchesModel compares Derive with a naive model that reads whole trees and explicit sets of ancestors.
func TestDeriveMatchesModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawHistory(rt)
		s.drawVerdicts(rt)
		w, head := s.history, s.head
		for _, f := range w.deriveAt(t, w.id(w.commits[head].name), s.nodes) {
			want := s.model(f.Node)
			f.Problems = nil
			if got := w.brief(f); got != w.brief(want) {
				rt.Fatalf("%s\n%s at %s:\ngot  %s\nwant %s", s, f.Node.ID, w.commits[head].name, got, w.brief(want))
			}
			if fmt.Sprint(deref(f.Session)) != fmt.Sprint(deref(want.Session)) {
				rt.Fatalf("%s\n%s: session %q, want %q", s, f.Node.ID, deref(f.Session), deref(want.Session))
			}
		}
	})
}

// TestCommitNumbersDoNotMatter checks that the numbers of the commits do not influence the facts.
func TestCommitNumbersDoNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawHistory(rt)
		other := s.history.renumbered(rt)
		head := s.history.id(s.history.commits[s.head].name)
		one, two := s.history.deriveAt(t, head, s.nodes), other.deriveAt(t, head, s.nodes)
		for i := range one {
			if a, b := s.history.brief(one[i]), other.brief(two[i]); a != b {
				rt.Fatalf("%s\nthe facts of %s depend on the commit numbers:\n%s\n%s", s, one[i].Node.ID, a, b)
			}
		}
	})
}

// drawVerdicts draws random verdicts on the files of some merges. The facts must follow from them.
func (s *randomHistory) drawVerdicts(t *rapid.T) {
	if rapid.Bool().Draw(t, "as they are") {
		return
	}
	s.history.verdicts = make(map[commitPath]repo.MergeVerdict)
	for c, m := range s.history.commits {
		if len(m.parents) < 2 {
			continue
		}
		for _, p := range slices.Sorted(maps.Keys(m.touches)) {
			by := rapid.SampledFrom([]repo.MergeAuthor{
				repo.MergeByGit, repo.MergeByGit, repo.MergeByPerson, repo.MergeByPerson, repo.MergeUnknown,
			}).Draw(t, "author")
			s.history.verdicts[commitPath{repo.CommitNumber(c), p}] = repo.MergeVerdict{By: by, Why: "why not"}
		}
	}
}

func deref(s *string) string {
	if s == nil {
		return "<nil>"
	}
	return *s
}

// A randomHistory is a random history and the nodes to judge in it.
type randomHistory struct {
	history *fakeHistory
	head    repo.CommitNumber
	all     []*parse.Node // one for each spec path
	nodes   []*parse.Node // the nodes to judge
	acks    []madeAck

	moving bool // most changes are moves of specs
}

type madeAck struct {
	commit repo.CommitNumber
	id     string
	basis  *derive.Basis
}

var (
	randomSpecs = []string{"@x", "@y", "@p/x", "@q/x", "@p_x"}
	randomCode  = []string{"f", "g", "d/f", "d/g", "d/e/f"}
	randomIDs   = []string{"x", "y", "p_x", "q_x", "p_x-2"}
)

func (s *randomHistory) String() string {
	text := ""
	for _, m := range s.history.commits {
		text += m.name + " <-"
		for _, p := range m.parents {
			text += " " + s.history.commits[p].name
		}
		text += fmt.Sprintf(" (%s):", m.date)
		for _, p := range slices.Sorted(maps.Keys(m.tree)) {
			text += fmt.Sprintf(" %s=%v", p, m.tree[p])
		}
		text += fmt.Sprintf(" | %v | %v\n", m.moves, m.trailers)
	}
	return text
}

func drawHistory(t *rapid.T) *randomHistory {
	s := &randomHistory{history: &fakeHistory{names: make(map[string]repo.CommitNumber)}}
	w := s.history
	for _, p := range randomSpecs {
		code := rapid.SampledFrom([]string{"code=f", "code=f,g", "code=d/", "code=d/f,f", "code=d/**/f", "code=.", ""}).Draw(t, "code of "+p)
		s.all = append(s.all, nodes(p+" session=front "+code)...)
	}
	slices.SortFunc(s.all, func(a, b *parse.Node) int { return cmp.Compare(a.Path, b.Path) })
	size := rapid.SampledFrom([]int{1, 2, 3, 5, 8, 10, 12, 14}).Draw(t, "commits")
	settled := rapid.Bool().Draw(t, "settled")
	s.moving = rapid.IntRange(0, 3).Draw(t, "moving") == 0
	for i := range size {
		m := fakeCommit{name: fmt.Sprintf("c%d", i)}
		s.drawParents(t, &m, i)
		m.tree = w.merged(m.parents)
		if settled && i == 0 { // otherwise most nodes are added late and have no drift
			for _, p := range slices.Concat(randomSpecs, randomCode) {
				s.history.change(m.tree, p+"=1.a")
			}
		}
		if len(m.parents) > 1 {
			s.drawMerge(t, &m)
		}
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			s.drawChange(t, &m)
		}
		m.date = time.Date(2024, 1, rapid.IntRange(1, 4).Draw(t, "day"), 0, 0, 0, 0, time.UTC).Format(time.RFC3339)
		if rapid.IntRange(0, 3).Draw(t, "session") == 0 {
			m.trailers = append(m.trailers, repo.Trailer{Key: "Session", Value: m.name})
		}
		s.drawAcks(t, &m)
		w.add(m)
	}
	head := repo.CommitNumber(size - 1)
	if rapid.IntRange(0, 4).Draw(t, "other head") == 0 {
		head = repo.CommitNumber(rapid.IntRange(0, size-1).Draw(t, "head"))
	}
	s.setHead(t, head)
	if rapid.IntRange(0, 9).Draw(t, "gap") == 0 {
		w.gap = "shallow"
	}
	return s
}

// setHead sets the head. The nodes to judge are those of this commit, and some that are not committed.
func (s *randomHistory) setHead(t *rapid.T, head repo.CommitNumber) {
	s.head, s.nodes = head, nil
	for _, n := range s.all {
		if _, there := s.history.commits[head].tree[n.Path]; there || rapid.IntRange(0, 9).Draw(t, "not committed") == 0 {
			s.nodes = append(s.nodes, n)
		}
	}
}

func (s *randomHistory) drawParents(t *rapid.T, m *fakeCommit, i int) {
	if i == 0 || rapid.IntRange(0, 24).Draw(t, "root") == 0 {
		return
	}
	n := rapid.SampledFrom([]int{1, 1, 1, 1, 2, 2, 3}).Draw(t, "parents")
	for len(m.parents) < min(n, i) {
		p := repo.CommitNumber(i - 1)
		if rapid.IntRange(0, 2).Draw(t, "fork") == 0 || len(m.parents) > 0 {
			p = repo.CommitNumber(rapid.IntRange(0, i-1).Draw(t, "parent"))
		}
		if slices.Contains(m.parents, p) {
			break
		}
		m.parents = append(m.parents, p)
	}
}

// drawMerge changes some files of a merge to the content of one parent.
func (s *randomHistory) drawMerge(t *rapid.T, m *fakeCommit) {
	for _, word := range slices.Concat(randomSpecs, randomCode) {
		if rapid.IntRange(0, 3).Draw(t, "take") > 0 {
			continue
		}
		from := s.history.commits[rapid.SampledFrom(m.parents).Draw(t, "side")].tree
		if x, ok := from[at(word)]; ok {
			m.tree[at(word)] = x
		} else {
			delete(m.tree, at(word))
		}
	}
}

func (s *randomHistory) drawChange(t *rapid.T, m *fakeCommit) {
	list := randomCode
	if s.moving || rapid.IntRange(0, 2).Draw(t, "spec") == 0 {
		list = randomSpecs
	}
	if s.moving { // few paths, so that specs return to earlier paths
		list = list[:3]
	}
	p := rapid.SampledFrom(list).Draw(t, "path")
	_, there := m.tree[at(p)]
	content := rapid.SampledFrom([]string{"1.a", "1.b", "1.a.p", "1.a.q", "2.a"}).Draw(t, "content")
	least := 0
	if s.moving {
		least = 3
	}
	switch kind := rapid.IntRange(least, 7).Draw(t, "change"); {
	case kind < 4 || !there:
		s.history.change(m.tree, p+"="+content)
	case kind == 4:
		s.history.change(m.tree, "-"+p)
	case kind == 5:
		s.history.change(m.tree, p+"!")
	default:
		to := rapid.SampledFrom(list).Draw(t, "to")
		if _, taken := m.tree[at(to)]; taken {
			return
		}
		s.history.change(m.tree, p+">"+to)
		if kind == 7 && rapid.Bool().Draw(t, "edited") {
			s.history.change(m.tree, to+"="+content)
		}
	}
}

func (s *randomHistory) drawAcks(t *rapid.T, m *fakeCommit) {
	for range max(0, rapid.IntRange(-3, 2).Draw(t, "acks")) {
		a := madeAck{commit: repo.CommitNumber(len(s.history.commits)), id: rapid.SampledFrom(randomIDs).Draw(t, "ack")}
		m.trailers = append(m.trailers, repo.Trailer{Key: "Spec-OK", Value: a.id})
		if rapid.Bool().Draw(t, "based") {
			b := s.drawBasis(t, m)
			a.basis = &b
			m.trailers = append(m.trailers, repo.Trailer{Key: "Spec-OK-Basis", Value: b.String()})
		}
		s.acks = append(s.acks, a)
	}
}

// drawBasis returns the basis of a node in this commit, or sometimes in another one.
func (s *randomHistory) drawBasis(t *rapid.T, m *fakeCommit) derive.Basis {
	tree := m.tree
	if len(s.history.commits) > 0 && rapid.IntRange(0, 3).Draw(t, "stale") == 0 {
		tree = rapid.SampledFrom(s.history.commits).Draw(t, "basis").tree
	}
	n := rapid.SampledFrom(s.all).Draw(t, "based on")
	return derive.Basis{Spec: idOf(tree[n.Path].content), Governed: digestOf(n, tree)}
}

func digestOf(n *parse.Node, tree fakeTree) (d digest) {
	files := make(map[repo.Path]repo.ID)
	for p, x := range tree {
		if governs(n, p) {
			files[p] = idOf(x.content)
		}
	}
	return derive.GovernedDigest(files)
}

func governs(n *parse.Node, p repo.Path) bool {
	return slices.ContainsFunc(n.Code, func(e parse.Entry) bool { return e.Matches(p) })
}

// renumbered returns the same history with other commit numbers. It copies the verdicts, because a fakeHistory
// takes the merge base with the highest number.
func (h *fakeHistory) renumbered(t *rapid.T) *fakeHistory {
	other := &fakeHistory{names: make(map[string]repo.CommitNumber), gap: h.gap, verdicts: make(map[commitPath]repo.MergeVerdict)}
	left := slices.Clone(h.commits)
	for len(left) > 0 {
		var ready []int
		for i, m := range left {
			if !slices.ContainsFunc(m.parents, func(p repo.CommitNumber) bool {
				_, done := other.names[h.commits[p].name]
				return !done
			}) {
				ready = append(ready, i)
			}
		}
		i := rapid.SampledFrom(ready).Draw(t, "next")
		m := left[i]
		left = slices.Delete(left, i, i+1)
		parents := make([]repo.CommitNumber, len(m.parents))
		for k, p := range m.parents {
			parents[k] = other.names[h.commits[p].name]
		}
		m.parents = parents
		n := h.names[m.name]
		for p := range m.touches {
			other.verdicts[commitPath{repo.CommitNumber(len(other.commits)), p}] = h.byGit(n, p, h.sources(n, p))
		}
		other.add(m)
	}
	return other
}
