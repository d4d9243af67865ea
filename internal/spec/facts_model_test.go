package spec_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/repo"
	"ken/internal/spec"
)

// What Derive says is what the page says, read word by word over whole trees and
// explicit sets of ancestors; and the numbers of the commits are nobody's business.
func TestDeriveIsTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawStory(rt)
		s.drawVerdicts(rt)
		w, head := s.world, s.head
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

// The order in which a history was gathered changes no answer.
func TestNumbersDecideNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawStory(rt)
		other := s.world.renumbered(rt)
		head := s.world.id(s.world.commits[s.head].name)
		one, two := s.world.deriveAt(t, head, s.nodes), other.deriveAt(t, head, s.nodes)
		for i := range one {
			if a, b := s.world.brief(one[i]), other.brief(two[i]); a != b {
				rt.Fatalf("%s\n%s:\n%s\n%s", s, one[i].Node.ID, a, b)
			}
		}
	})
}

// drawVerdicts says at random who made the files of some merges. Whatever git says, the
// facts follow from it.
func (s *story) drawVerdicts(t *rapid.T) {
	if rapid.Bool().Draw(t, "as they are") {
		return
	}
	s.world.verdicts = make(map[where]repo.MergeVerdict)
	for c, m := range s.world.commits {
		if len(m.parents) < 2 {
			continue
		}
		for _, p := range slices.Sorted(maps.Keys(m.touches)) {
			by := rapid.SampledFrom([]repo.MergeAuthor{
				repo.MergeByGit, repo.MergeByGit, repo.MergeByPerson, repo.MergeByPerson, repo.MergeUnknown,
			}).Draw(t, "author")
			s.world.verdicts[where{repo.CommitNumber(c), p}] = repo.MergeVerdict{By: by, Why: "why not"}
		}
	}
}

func deref(s *string) string {
	if s == nil {
		return "<nil>"
	}
	return *s
}

// A story is a history at random, and what is judged.
type story struct {
	world *world
	head  repo.CommitNumber
	all   []*spec.Node // in every place
	nodes []*spec.Node // those that are judged
	acks  []madeAck

	moving bool // most changes are moves of specs
}

type madeAck struct {
	commit repo.CommitNumber
	id     string
	basis  *spec.Basis
}

var (
	storySpecs = []string{"@x", "@y", "@p/x", "@q/x", "@p_x"}
	storyCode  = []string{"f", "g", "d/f", "d/g", "d/e/f"}
	storyIDs   = []string{"x", "y", "p_x", "q_x", "p_x-2"}
)

func (s *story) String() string {
	text := ""
	for _, m := range s.world.commits {
		text += m.name + " <-"
		for _, p := range m.parents {
			text += " " + s.world.commits[p].name
		}
		text += fmt.Sprintf(" (%s):", m.date)
		for _, p := range slices.Sorted(maps.Keys(m.tree)) {
			text += fmt.Sprintf(" %s=%v", p, m.tree[p])
		}
		text += fmt.Sprintf(" | %v | %v\n", m.moves, m.trailers)
	}
	return text
}

func drawStory(t *rapid.T) *story {
	s := &story{world: &world{names: make(map[string]repo.CommitNumber)}}
	w := s.world
	for _, p := range storySpecs {
		code := rapid.SampledFrom([]string{"code=f", "code=f,g", "code=d/", "code=d/f,f", "code=d/**/f", "code=.", ""}).Draw(t, "code of "+p)
		s.all = append(s.all, nodes(p+" session=front "+code)...)
	}
	slices.SortFunc(s.all, func(a, b *spec.Node) int { return cmp.Compare(a.Path, b.Path) })
	size := rapid.SampledFrom([]int{1, 2, 3, 5, 8, 10, 12, 14}).Draw(t, "commits")
	settled := rapid.Bool().Draw(t, "settled")
	s.moving = rapid.IntRange(0, 3).Draw(t, "moving") == 0
	for i := range size {
		m := moment{name: fmt.Sprintf("c%d", i)}
		s.drawParents(t, &m, i)
		m.tree = w.merged(m.parents)
		if settled && i == 0 { // else most nodes come late, and little can be ahead of them
			for _, p := range slices.Concat(storySpecs, storyCode) {
				s.world.change(m.tree, p+"=1.a")
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
	s.stand(t, head)
	if rapid.IntRange(0, 9).Draw(t, "gap") == 0 {
		w.gap = "shallow"
	}
	return s
}

// stand moves the head, where the nodes are those that are there, and perhaps some
// that are not committed.
func (s *story) stand(t *rapid.T, head repo.CommitNumber) {
	s.head, s.nodes = head, nil
	for _, n := range s.all {
		if _, there := s.world.commits[head].tree[n.Path]; there || rapid.IntRange(0, 9).Draw(t, "not committed") == 0 {
			s.nodes = append(s.nodes, n)
		}
	}
}

func (s *story) drawParents(t *rapid.T, m *moment, i int) {
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

// drawMerge lets a merge take sides.
func (s *story) drawMerge(t *rapid.T, m *moment) {
	for _, word := range slices.Concat(storySpecs, storyCode) {
		if rapid.IntRange(0, 3).Draw(t, "take") > 0 {
			continue
		}
		from := s.world.commits[rapid.SampledFrom(m.parents).Draw(t, "side")].tree
		if x, ok := from[at(word)]; ok {
			m.tree[at(word)] = x
		} else {
			delete(m.tree, at(word))
		}
	}
}

func (s *story) drawChange(t *rapid.T, m *moment) {
	list := storyCode
	if s.moving || rapid.IntRange(0, 2).Draw(t, "spec") == 0 {
		list = storySpecs
	}
	if s.moving { // few paths, so that specs come back to them
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
		s.world.change(m.tree, p+"="+content)
	case kind == 4:
		s.world.change(m.tree, "-"+p)
	case kind == 5:
		s.world.change(m.tree, p+"!")
	default:
		to := rapid.SampledFrom(list).Draw(t, "to")
		if _, taken := m.tree[at(to)]; taken {
			return
		}
		s.world.change(m.tree, p+">"+to)
		if kind == 7 && rapid.Bool().Draw(t, "edited") {
			s.world.change(m.tree, to+"="+content)
		}
	}
}

func (s *story) drawAcks(t *rapid.T, m *moment) {
	for range max(0, rapid.IntRange(-3, 2).Draw(t, "acks")) {
		a := madeAck{commit: repo.CommitNumber(len(s.world.commits)), id: rapid.SampledFrom(storyIDs).Draw(t, "ack")}
		m.trailers = append(m.trailers, repo.Trailer{Key: "Spec-OK", Value: a.id})
		if rapid.Bool().Draw(t, "based") {
			b := s.drawBasis(t, m)
			a.basis = &b
			m.trailers = append(m.trailers, repo.Trailer{Key: "Spec-OK-Basis", Value: b.String()})
		}
		s.acks = append(s.acks, a)
	}
}

// drawBasis returns what is true of one node in this commit or, of some, in another.
func (s *story) drawBasis(t *rapid.T, m *moment) spec.Basis {
	tree := m.tree
	if len(s.world.commits) > 0 && rapid.IntRange(0, 3).Draw(t, "stale") == 0 {
		tree = rapid.SampledFrom(s.world.commits).Draw(t, "basis").tree
	}
	n := rapid.SampledFrom(s.all).Draw(t, "based on")
	return spec.Basis{Spec: idOf(tree[n.Path].content), Governed: digestOf(n, tree)}
}

func digestOf(n *spec.Node, tree layout) (d digest) {
	files := make(map[repo.Path]repo.ID)
	for p, x := range tree {
		if governs(n, p) {
			files[p] = idOf(x.content)
		}
	}
	return spec.GovernedDigest(files)
}

func governs(n *spec.Node, p repo.Path) bool {
	return slices.ContainsFunc(n.Code, func(e spec.Entry) bool { return e.Matches(p) })
}

// renumbered returns the same history in another order. Its merges have the same
// verdicts: of several merge bases a world takes the one with the highest number.
func (w *world) renumbered(t *rapid.T) *world {
	other := &world{names: make(map[string]repo.CommitNumber), gap: w.gap, verdicts: make(map[where]repo.MergeVerdict)}
	left := slices.Clone(w.commits)
	for len(left) > 0 {
		var ready []int
		for i, m := range left {
			if !slices.ContainsFunc(m.parents, func(p repo.CommitNumber) bool {
				_, done := other.names[w.commits[p].name]
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
			parents[k] = other.names[w.commits[p].name]
		}
		m.parents = parents
		for p := range m.touches {
			other.verdicts[where{repo.CommitNumber(len(other.commits)), p}] = w.byGit(w.names[m.name], p)
		}
		other.add(m)
	}
	return other
}
