package git

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/testrepo"
)

// oddNames are the paths of random histories. Some are directories in one commit and files in another.
var oddNames = []string{
	"a", "dir/b", "dir/deep/er/c", "d", "d/e", "new\nline", "dir/car\rriage", "qu\"o\\te", "\xff\xfe", " lead", "tab\t.x", "ü", ":100644 x",
	".spec/spec.md", ".spec/x/spec.md", ".spec/x/notes.md", ".spec/y/z/spec.md", ".spec/n\nl/spec.md", ".spec/w w/spec.md", ".spec/\xe9/spec.md", "spec.md",
}

// randomHistory imports n random commits with merges, moves, wrong dates and unusual names. It returns them oldest first.
func randomHistory(t *testing.T, r *testrepo.Repo, rnd *rand.Rand, n int) []repo.ID {
	t.Helper()
	var in bytes.Buffer
	data := func(s string) { fmt.Fprintf(&in, "data %d\n%s\n", len(s), s) }
	text := func() string {
		var s strings.Builder
		kind := rnd.IntN(4)
		for i := range 12 {
			line := i
			if rnd.IntN(5) == 0 {
				line = rnd.IntN(100)
			}
			fmt.Fprintf(&s, "line %d of %d\n", line, kind)
		}
		return s.String()
	}
	has := make([]map[string]string, n) // the files of each commit
	for i := range n {
		var parents []int
		for range []int{1, 1, 1, 1, 1, 2, 2, 3, 5, 0}[rnd.IntN(10)] {
			if i > 0 {
				// Prefer new commits, so that the history gets long.
				p := i - 1 - min(rnd.IntN(i), rnd.IntN(i), rnd.IntN(i))
				if !slices.Contains(parents, p) {
					parents = append(parents, p)
				}
			}
		}
		fmt.Fprintf(&in, "commit refs/heads/c%d\nmark :%d\n", i, i+1)
		fmt.Fprintf(&in, "author A <a@x> %d %+05d\n", 1_600_000_000+rnd.IntN(1_000_000), []int{0, 200, -330, 1245}[rnd.IntN(4)])
		fmt.Fprintf(&in, "committer C <c@x> %d +0000\n", 1_600_000_000+i*60+rnd.IntN(2)*(rnd.IntN(20_000)-10_000))
		data([]string{
			fmt.Sprintf("commit %d", i), "", fmt.Sprintf("subject %d\nof two lines\n\nbody\n\nSession: s-%d\n", i, i),
			fmt.Sprintf("ack %d\n\nbecause\n\nspec-ok: x\nSpec-OK-Basis: 1 2\n  folded\nOther: y\n", i), "prose\n\nSession: not one\n\nthe end\n",
		}[rnd.IntN(5)])
		has[i] = make(map[string]string)
		for k, p := range parents {
			fmt.Fprintf(&in, "%s :%d\n", []string{"from", "merge"}[min(k, 1)], p+1)
			if k == 0 {
				has[i] = maps.Clone(has[p])
			}
		}
		for range rnd.IntN(5) {
			name := oddNames[rnd.IntN(len(oddNames))]
			names := slices.Sorted(maps.Keys(has[i]))
			put := func(name, content string) {
				fmt.Fprintf(&in, "M %s inline %s\n", []string{"100644", "100755"}[rnd.IntN(2)], fastQuote(name))
				data(content)
				makeWay(has[i], name, content)
			}
			switch action := rnd.IntN(7); {
			case action == 0 && len(names) > 0:
				old := names[rnd.IntN(len(names))]
				fmt.Fprintf(&in, "D %s\n", fastQuote(old))
				delete(has[i], old)
			case action == 1 && len(names) > 0:
				old := names[rnd.IntN(len(names))]
				if old != name && !strings.HasPrefix(name, old+"/") && !strings.HasPrefix(old, name+"/") {
					fmt.Fprintf(&in, "R %s %s\n", fastQuote(old), fastQuote(name))
					content := has[i][old]
					delete(has[i], old)
					makeWay(has[i], name, content)
				}
			case action == 2 && len(names) > 0: // possibly with another mode
				old := names[rnd.IntN(len(names))]
				put(old, has[i][old])
			default:
				put(name, text())
			}
		}
		in.WriteString("\n")
	}
	fastImport(t, r, &in)
	ids := make([]repo.ID, n)
	for i := range n {
		ids[i] = headOf(t, r, fmt.Sprintf("refs/heads/c%d", i))
	}
	return ids
}

// makeWay adds a file. It removes a directory of the same name, and files that are parents of name.
func makeWay(files map[string]string, name, content string) {
	maps.DeleteFunc(files, func(p, _ string) bool {
		return strings.HasPrefix(p, name+"/") || strings.HasPrefix(name, p+"/")
	})
	files[name] = content
}

func fastQuote(name string) string {
	var q strings.Builder
	q.WriteByte('"')
	for i := range len(name) {
		fmt.Fprintf(&q, `\%03o`, name[i])
	}
	q.WriteByte('"')
	return q.String()
}

func fastImport(t *testing.T, r *testrepo.Repo, in *bytes.Buffer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "fast-import", "--quiet", "--force")
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, r.Env(), in
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
}

// A model reads the history of a repository with simple git commands, one commit at a time.
type model struct {
	t       *testing.T
	r       *testrepo.Repo
	commits map[repo.ID]*modelCommit
}

type modelCommit struct {
	repo.HistoryCommit
	parents []repo.ID
	files   map[repo.Path]string // mode and id
	changes map[repo.Path]repo.ChangeKind
	moves   []repo.Move
}

func newModel(t *testing.T, r *testrepo.Repo) *model {
	t.Helper()
	return &model{t: t, r: r, commits: make(map[repo.ID]*modelCommit)}
}

// commit reads a commit and its ancestors.
func (m *model) commit(id repo.ID) *modelCommit {
	m.t.Helper()
	if c, ok := m.commits[id]; ok {
		return c
	}
	c := &modelCommit{files: make(map[repo.Path]string), changes: make(map[repo.Path]repo.ChangeKind)}
	m.commits[id] = c
	c.ID = id
	show := strings.SplitN(m.r.Git("show", "-s", "--format=%P%n%aI%n%s%n%(trailers:only,unfold)", id.String()), "\n", 4)
	for _, p := range strings.Fields(show[0]) {
		parent, err := repo.ParseID(p)
		if err != nil {
			m.t.Fatal(err)
		}
		c.parents = append(c.parents, parent)
	}
	c.Date, c.Subject = strings.TrimSuffix(show[1], "+00:00"), show[2]
	if c.Date != show[1] {
		c.Date += "Z"
	}
	for line := range strings.SplitSeq(strings.Join(show[3:], ""), "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if ok && slices.Contains([]string{"session", "spec-ok", "spec-ok-basis"}, strings.ToLower(key)) {
			c.Trailers = append(c.Trailers, repo.Trailer{Key: key, Value: value})
		}
	}
	for item := range strings.SplitSeq(strings.TrimSuffix(m.r.Git("ls-tree", "-r", "-z", "--full-tree", id.String()), "\x00"), "\x00") {
		if what, name, ok := strings.Cut(item, "\t"); ok {
			c.files[repo.Path(name)] = what
		}
	}
	m.change(c)
	m.move(c)
	return c
}

func (m *model) change(c *modelCommit) {
	parents := make([]*modelCommit, 0, 1)
	for _, p := range c.parents {
		parents = append(parents, m.commit(p))
	}
	if len(parents) == 0 {
		parents = append(parents, &modelCommit{})
	}
	all := maps.Clone(c.files)
	for _, p := range parents {
		maps.Copy(all, p.files)
	}
	for path := range all {
		now := c.files[path]
		differs, had := true, false
		for _, p := range parents {
			differs = differs && p.files[path] != now
			had = had || p.files[path] != ""
		}
		if !differs {
			continue
		}
		_, nowID, _ := strings.Cut(now, " ")
		_, wasID, _ := strings.Cut(parents[0].files[path], " ")
		switch {
		case now == "":
			c.changes[path] = repo.Deleted
		case !had:
			c.changes[path] = repo.Added
		case nowID == wasID:
			c.changes[path] = repo.ModeFlipped
		default:
			c.changes[path] = repo.Modified
		}
	}
}

func (m *model) move(c *modelCommit) {
	for _, p := range c.parents {
		out := m.r.Git("diff-tree", "-r", "-z", "-M50%", "-l1000", "--name-status", p.String(), c.ID.String(), "--", ".spec")
		words := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
		for len(words) > 1 {
			if words[0][0] != 'R' {
				words = words[2:]
				continue
			}
			move := repo.Move{From: repo.Path(words[1]), To: repo.Path(words[2])}
			words = words[3:]
			_, was, _ := strings.Cut(m.commit(p).files[move.From], " ")
			_, now, _ := strings.Cut(c.files[move.To], " ")
			move.Same = was == now
			kind, changed := c.changes[move.To]
			if !testFilter.Follows(move.From) || !testFilter.Follows(move.To) || !changed || kind != repo.Added {
				continue
			}
			if at := slices.IndexFunc(c.moves, func(x repo.Move) bool { return x.From == move.From && x.To == move.To }); at >= 0 {
				c.moves[at].Same = c.moves[at].Same || move.Same
			} else {
				c.moves = append(c.moves, move)
			}
		}
	}
}

// reachable returns the commits that heads reach.
func (m *model) reachable(heads []repo.ID) map[repo.ID]*modelCommit {
	found := make(map[repo.ID]*modelCommit)
	for todo := slices.Clone(heads); len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if found[id] == nil {
			found[id] = m.commit(id)
			todo = append(todo, found[id].parents...)
		}
	}
	return found
}

// check compares a history with the model, for the commits that heads reach.
func (m *model) check(h *History, heads []repo.ID) {
	m.t.Helper()
	t := m.t
	want := m.reachable(heads)
	byPath := make(map[repo.Path]map[repo.ID]repo.ChangeKind)
	marked := make(map[repo.ID]bool)
	moves := make(map[string]bool)
	for id, w := range want {
		n, ok := h.Find(id)
		if !ok {
			t.Fatalf("the history does not have commit %s", id)
		}
		got := h.Commit(n)
		var parents []repo.ID
		for _, p := range got.Parents {
			if p >= n {
				t.Errorf("commit %s has number %d, its parent has %d; want a lower number", id, n, p)
			}
			parents = append(parents, h.Commit(p).ID)
		}
		if !slices.Equal(parents, w.parents) || got.ID != id || got.Date != w.Date || got.Subject != w.Subject || !slices.Equal(got.Trailers, w.Trailers) {
			t.Errorf("%s is\n%+v with parents %v, want\n%+v with %v", id, got, parents, w.HistoryCommit, w.parents)
		}
		for path, kind := range w.changes {
			if byPath[path] == nil {
				byPath[path] = make(map[repo.ID]repo.ChangeKind)
			}
			byPath[path][id] = kind
		}
		if slices.ContainsFunc(w.Trailers, func(t repo.Trailer) bool { return strings.EqualFold(t.Key, "Spec-OK") }) {
			marked[id] = true
		}
		for _, move := range w.moves {
			moves[fmt.Sprint(id, move.From, move.To, move.Same)] = true
		}
	}
	for path, w := range byPath {
		got := make(map[repo.ID]repo.ChangeKind)
		touches := h.Touching(path)
		for _, touch := range touches {
			if id := h.Commit(touch.Commit).ID; want[id] != nil {
				got[id] = touch.Kind
			}
		}
		if !maps.Equal(got, w) || !slices.IsSortedFunc(touches, func(a, b repo.Touch) int { return cmp.Compare(a.Commit, b.Commit) }) {
			t.Errorf("Touching(%s) returned %v, want %v", path, got, w)
		}
	}
	m.checkPaths(h, byPath)
	gotMarked := make(map[repo.ID]bool)
	for _, n := range h.Marked() {
		if id := h.Commit(n).ID; want[id] != nil {
			gotMarked[id] = true
		}
	}
	if !maps.Equal(gotMarked, marked) || !slices.IsSorted(h.Marked()) {
		t.Errorf("Marked returned %v, want %v", gotMarked, marked)
	}
	gotMoves := make(map[string]bool)
	for _, move := range h.Moves() {
		if id := h.Commit(move.Commit).ID; want[id] != nil {
			gotMoves[fmt.Sprint(id, move.From, move.To, move.Same)] = true
		}
	}
	if !maps.Equal(gotMoves, moves) || !slices.IsSortedFunc(h.Moves(), func(a, b repo.Move) int { return cmp.Compare(a.Commit, b.Commit) }) {
		t.Errorf("Moves returned\n%v, want\n%v", gotMoves, moves)
	}
}

func (m *model) checkPaths(h *History, byPath map[repo.Path]map[repo.ID]repo.ChangeKind) {
	m.t.Helper()
	all := h.Below("")
	for path := range byPath {
		if !slices.Contains(all, path) {
			m.t.Errorf("Below(\"\") does not have %s", path)
		}
	}
	if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		m.t.Errorf("Below(\"\") is not sorted: %q", all)
	}
	for _, dir := range []repo.Path{".spec", ".spec/x", "d", "di", "dir", "dir/deep", "a", "zzz", "\xff"} {
		want := slices.DeleteFunc(slices.Clone(all), func(p repo.Path) bool { return p == dir || !p.Under(dir) })
		if got := h.Below(dir); !slices.Equal(got, want) {
			m.t.Errorf("Below(%s) returned %q, want %q", dir, got, want)
		}
	}
}
