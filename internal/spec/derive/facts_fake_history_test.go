package derive_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// A fakeHistory is a History and Contents in memory. Every commit has its full tree.
type fakeHistory struct {
	commits []fakeCommit
	names   map[string]repo.CommitNumber
	ids     map[string]repo.ID // ids of commits in a git repository, by name
	gap     string
	gone    bool // Find does not find the head
	broken  error
	asked   [][]repo.CommitPath // the arguments of each call of At
	commit  int                 // the number of calls of Commit
	// verdicts replace the computed verdicts on files of merges.
	verdicts map[commitPath]repo.MergeVerdict
	repeated int // the number of files passed to Merged
}

// A fakeCommit is one commit.
type fakeCommit struct {
	name     string
	parents  []repo.CommitNumber
	tree     fakeTree
	date     string
	trailers []repo.Trailer
	moves    []repo.Move
	touches  map[repo.Path]repo.ChangeKind
}

type fakeTree map[repo.Path]fakeFile

// A fakeFile is a file. Two contents are similar if they agree up to the first dot.
type fakeFile struct {
	content string
	exec    bool
}

// idOf returns the blob id of a content.
func idOf(content string) repo.ID { return repo.SHA1.Blob([]byte(textOf(content))) }

// textOf returns the text of a content. Git finds the texts of similar contents similar, too. A content is
// stem.end.start; the last two may be left out. Changes of the start and of the end merge without a conflict.
func textOf(content string) string {
	stem, end, start := partsOf(content)
	text := strings.Repeat("a line of "+stem+"\n", 12) + stem + "." + end + "\n"
	if start != "" {
		text = "begins with " + start + "\n" + text
	}
	return text
}

func partsOf(content string) (stem, end, start string) {
	parts := strings.SplitN(content, ".", 3)
	parts = append(parts, "", "")
	return parts[0], parts[1], parts[2]
}

// at returns the spec path of @name, and other paths unchanged.
func at(word string) repo.Path {
	name, ok := strings.CutPrefix(word, "@")
	switch {
	case !ok:
		return repo.Path(word)
	case name == "":
		return ".spec/spec.md"
	default:
		return repo.Path(".spec/" + name + "/spec.md")
	}
}

// parseHistory parses a history with one line per commit:
//
//	name <- parent parent: changes | Trailer: value | Trailer: value
//
// Without an arrow, the parent is the commit of the line before; an arrow to
// nothing starts a root. A merge starts with the three-way merge of its parents; the
// first parent wins conflicts. The changes are
//
//	path=content  -path  path>path  path>path=content  path! (its mode)  path~commit (as it is there)
//
// where @name is the spec file in .spec/name. The trailer Date sets the date of the commit.
func parseHistory(text string) *fakeHistory {
	w := &fakeHistory{names: make(map[string]repo.CommitNumber)}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			w.line(line)
		}
	}
	return w
}

func (h *fakeHistory) line(line string) {
	fields := strings.Split(line, "|")
	head, changes, ok := strings.Cut(fields[0], ":")
	if !ok {
		panic("no colon in " + line)
	}
	name, from, arrow := strings.Cut(head, "<-")
	m := fakeCommit{name: strings.TrimSpace(name)}
	switch {
	case arrow:
		for p := range strings.FieldsSeq(from) {
			m.parents = append(m.parents, h.num(p))
		}
	case len(h.commits) > 0:
		m.parents = []repo.CommitNumber{repo.CommitNumber(len(h.commits) - 1)}
	}
	for _, f := range fields[1:] {
		key, value, _ := strings.Cut(f, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if key == "Date" {
			m.date = value
			continue
		}
		m.trailers = append(m.trailers, repo.Trailer{Key: key, Value: value})
	}
	m.tree = h.merged(m.parents)
	for word := range strings.FieldsSeq(changes) {
		h.change(m.tree, word)
	}
	h.add(m)
}

func (h *fakeHistory) change(t fakeTree, word string) {
	if p, ok := strings.CutPrefix(word, "-"); ok {
		delete(t, at(p))
		return
	}
	if p, ok := strings.CutSuffix(word, "!"); ok {
		t[at(p)] = fakeFile{t[at(p)].content, !t[at(p)].exec}
		return
	}
	if p, from, ok := strings.Cut(word, "~"); ok {
		if x, there := h.commits[h.num(from)].tree[at(p)]; there {
			t[at(p)] = x
		} else {
			delete(t, at(p))
		}
		return
	}
	word, content, edit := strings.Cut(word, "=")
	if from, to, ok := strings.Cut(word, ">"); ok {
		t[at(to)] = t[at(from)]
		delete(t, at(from))
		word = to
	}
	if edit {
		t[at(word)] = fakeFile{content, t[at(word)].exec}
	}
}

func (h *fakeHistory) num(name string) repo.CommitNumber {
	n, ok := h.names[name]
	if !ok {
		panic("no commit " + name)
	}
	return n
}

// id returns the id of a commit.
func (h *fakeHistory) id(name string) repo.ID {
	if id, ok := h.ids[name]; ok {
		return id
	}
	return idOf("commit " + name)
}

// add appends a commit whose parents and tree are set.
func (h *fakeHistory) add(m fakeCommit) {
	n := repo.CommitNumber(len(h.commits))
	if m.date == "" {
		m.date = time.Date(2024, 1, 1, 0, int(n), 0, 0, time.UTC).Format(time.RFC3339)
	}
	m.touches = h.touches(m)
	m.moves = h.movesOf(n, m)
	h.commits = append(h.commits, m)
	h.names[m.name] = n
}

// ancestors returns commits and all their ancestors.
func (h *fakeHistory) ancestors(of ...repo.CommitNumber) map[repo.CommitNumber]bool {
	seen := make(map[repo.CommitNumber]bool)
	var visit func(n repo.CommitNumber)
	visit = func(n repo.CommitNumber) {
		if !seen[n] {
			seen[n] = true
			for _, p := range h.commits[n].parents {
				visit(p)
			}
		}
	}
	for _, n := range of {
		visit(n)
	}
	return seen
}

// merged returns the tree of a merge of parents: the tree that git would make, and the first parent's content
// where there is a conflict.
func (h *fakeHistory) merged(parents []repo.CommitNumber) fakeTree {
	t, conflicts := h.autoMerged(parents)
	for p := range conflicts {
		if x, ok := h.commits[parents[0]].tree[p]; ok {
			t[p] = x
		} else {
			delete(t, p)
		}
	}
	return t
}

// autoMerged returns the tree that git makes of parents, merged one after the other, and the paths with conflicts.
// Of several merge bases it takes the last.
func (h *fakeHistory) autoMerged(parents []repo.CommitNumber) (t fakeTree, conflicts map[repo.Path]bool) {
	conflicts = make(map[repo.Path]bool)
	if len(parents) == 0 {
		return fakeTree{}, conflicts
	}
	t = maps.Clone(h.commits[parents[0]].tree)
	for i, p := range parents[1:] {
		base := fakeTree{}
		first, second := h.ancestors(parents[:i+1]...), h.ancestors(p)
		for n := repo.CommitNumber(len(h.commits) - 1); n >= 0; n-- {
			if first[n] && second[n] {
				base = h.commits[n].tree
				break
			}
		}
		t = mergeTrees(base, t, h.commits[p].tree, conflicts)
	}
	return t, conflicts
}

// mergeTrees merges two trees. It follows the moves of both.
func mergeTrees(base, ours, theirs fakeTree, conflicts map[repo.Path]bool) fakeTree {
	t := make(fakeTree)
	ourNames, theirNames := renames(base, ours), renames(base, theirs)
	told := make(map[repo.Path]bool)
	for p, was := range base {
		a, b := ourNames[p], theirNames[p]
		x, inOurs := ours[a]
		y, inTheirs := theirs[b]
		told[a], told[b] = true, true
		switch {
		case !inOurs && !inTheirs:
		case !inOurs:
			if b != p || y.content != was.content {
				conflicts[b], t[b] = true, y
			}
		case !inTheirs:
			if a != p || x.content != was.content {
				conflicts[a], t[a] = true, x
			}
		default:
			to := a
			if a == p {
				to = b
			}
			content, clean := mergeContents(was.content, x.content, y.content)
			if !clean || a != p && b != p && a != b {
				conflicts[a], conflicts[b] = true, true
			}
			exec := x.exec
			if x.exec == was.exec {
				exec = y.exec
			}
			t[to] = fakeFile{content, exec}
		}
	}
	for p := range mergeKeys(ours, theirs) {
		if told[p] {
			continue
		}
		x, inOurs := ours[p]
		y, inTheirs := theirs[p]
		if _, taken := t[p]; taken || inOurs && inTheirs && x != y {
			conflicts[p] = true
		}
		t[p] = x
		if !inOurs {
			t[p] = y
		}
	}
	return t
}

// renames returns the path of each file of a tree in a later tree: the same path, or a new path with the same or a
// similar content.
func renames(base, later fakeTree) map[repo.Path]repo.Path {
	names := make(map[repo.Path]repo.Path)
	var gone, come []repo.Path
	for _, p := range slices.Sorted(maps.Keys(mergeKeys(base, later))) {
		_, was := base[p]
		_, is := later[p]
		switch {
		case was && !is:
			gone = append(gone, p)
		case is && !was:
			come = append(come, p)
		}
		names[p] = p
	}
	for _, alike := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return stem(a) == stem(b) },
	} {
		for _, to := range slices.Clone(come) {
			i := slices.IndexFunc(gone, func(p repo.Path) bool { return alike(base[p].content, later[to].content) })
			if i >= 0 {
				names[gone[i]] = to
				gone = slices.Delete(gone, i, i+1)
				come = slices.DeleteFunc(come, func(p repo.Path) bool { return p == to })
			}
		}
	}
	return names
}

// mergeContents merges two contents part by part.
func mergeContents(base, ours, theirs string) (merged string, clean bool) {
	pick := func(was, a, b string) (string, bool) {
		switch {
		case a == b || b == was:
			return a, true
		case a == was:
			return b, true
		}
		return a, false
	}
	if merged, clean = pick(base, ours, theirs); clean {
		return merged, true
	}
	s, end, start := partsOf(base)
	s1, end1, start1 := partsOf(ours)
	s2, end2, start2 := partsOf(theirs)
	if s1 != s || s2 != s {
		return ours, false
	}
	end, ok := pick(end, end1, end2)
	start, alsoOK := pick(start, start1, start2)
	if !ok || !alsoOK {
		return ours, false
	}
	merged = s + "." + end
	if start != "" {
		merged += "." + start
	}
	return merged, true
}

// byGit returns the verdict on a file of a merge, that the merge may have moved from other paths.
func (h *fakeHistory) byGit(c repo.CommitNumber, p repo.Path, from []repo.Path) repo.MergeVerdict {
	if m, ok := h.verdicts[commitPath{c, p}]; ok {
		return m
	}
	t, conflicts := h.autoMerged(h.commits[c].parents)
	now, has := h.commits[c].tree[p]
	paths := []repo.Path{p}
	if _, had := t[p]; !had && !conflicts[p] {
		paths = append(paths, from...)
	}
	for _, q := range paths {
		if was, had := t[q]; !conflicts[q] && had == has && was.content == now.content {
			return repo.MergeVerdict{By: repo.MergeByGit}
		}
	}
	return repo.MergeVerdict{By: repo.MergeByPerson}
}

// sources returns the paths from which a commit moved a spec to a path.
func (h *fakeHistory) sources(c repo.CommitNumber, to repo.Path) []repo.Path {
	var list []repo.Path
	for _, m := range h.commits[c].moves {
		if m.To == to {
			list = append(list, m.From)
		}
	}
	return list
}

// Merged returns the verdicts on files of merges.
func (h *fakeHistory) Merged(ctx context.Context, files []repo.MergedFile) ([]repo.MergeVerdict, error) {
	h.repeated += len(files)
	list := make([]repo.MergeVerdict, len(files))
	for i, f := range files {
		n, ok := h.Find(f.Commit)
		if !ok {
			return nil, errors.New("no commit " + f.Commit.String())
		}
		for k, p := range h.commits[n].parents {
			if f.Parents[k] != h.id(h.commits[p].name) {
				return nil, errors.New("other parents of " + f.Commit.String())
			}
		}
		list[i] = h.byGit(n, f.Path, f.From)
	}
	return list, ctx.Err()
}

func mergeKeys(trees ...fakeTree) map[repo.Path]bool {
	keys := make(map[repo.Path]bool)
	for _, t := range trees {
		for p := range t {
			keys[p] = true
		}
	}
	return keys
}

// touches returns the paths that differ from every parent.
func (h *fakeHistory) touches(m fakeCommit) map[repo.Path]repo.ChangeKind {
	parents := make([]fakeTree, 0, len(m.parents))
	for _, p := range m.parents {
		parents = append(parents, h.commits[p].tree)
	}
	if len(parents) == 0 {
		parents = []fakeTree{{}}
	}
	found := make(map[repo.Path]repo.ChangeKind)
	for p := range mergeKeys(append(parents, m.tree)...) {
		now, is := m.tree[p]
		differs, added := true, true
		for _, t := range parents {
			was, had := t[p]
			differs = differs && (had != is || was != now)
			added = added && !had
		}
		switch before, had := parents[0][p]; {
		case !differs:
		case !is:
			found[p] = repo.Deleted
		case added:
			found[p] = repo.Added
		case had && before.content == now.content && before.exec != now.exec:
			found[p] = repo.ModeFlipped
		default:
			found[p] = repo.Modified
		}
	}
	return found
}

func isSpec(p repo.Path) bool { return p.Base() == "spec.md" && p.Dir().Under(".spec") }

// movesOf pairs the spec files that a commit added with those that a parent has and the commit does not: first
// those with the same content, then those with similar content.
func (h *fakeHistory) movesOf(n repo.CommitNumber, m fakeCommit) []repo.Move {
	var moves []repo.Move
	for _, parent := range m.parents {
		before := h.commits[parent].tree
		var from, to []repo.Path
		for _, p := range slices.Sorted(maps.Keys(mergeKeys(before, m.tree))) {
			_, had := before[p]
			_, has := m.tree[p]
			kind, touched := m.touches[p]
			switch {
			case !isSpec(p):
			case had && !has:
				from = append(from, p)
			case touched && kind == repo.Added:
				to = append(to, p)
			}
		}
		for _, alike := range []func(a, b string) bool{
			func(a, b string) bool { return a == b },
			func(a, b string) bool { return stem(a) == stem(b) },
		} {
			for _, t := range slices.Clone(to) {
				i := slices.IndexFunc(from, func(f repo.Path) bool { return alike(before[f].content, m.tree[t].content) })
				if i < 0 {
					continue
				}
				moves = append(moves, repo.Move{
					Commit: n, From: from[i], To: t, Same: before[from[i]].content == m.tree[t].content,
				})
				from = slices.Delete(from, i, i+1)
				to = slices.DeleteFunc(to, func(p repo.Path) bool { return p == t })
			}
		}
	}
	return moves
}

func stem(s string) string {
	before, _, _ := strings.Cut(s, ".")
	return before
}

var (
	_ derive.History  = (*fakeHistory)(nil)
	_ derive.Contents = (*fakeHistory)(nil)
)

func (h *fakeHistory) Len() repo.CommitNumber { return repo.CommitNumber(len(h.commits)) }

func (h *fakeHistory) Find(id repo.ID) (repo.CommitNumber, bool) {
	for i, m := range h.commits {
		if h.id(m.name) == id {
			return repo.CommitNumber(i), !h.gone
		}
	}
	return 0, false
}

func (h *fakeHistory) Commit(n repo.CommitNumber) repo.HistoryCommit {
	h.commit++
	m := h.commits[n]
	return repo.HistoryCommit{ID: h.id(m.name), Parents: m.parents, Date: m.date, Subject: "makes " + m.name, Trailers: m.trailers}
}

func (h *fakeHistory) Parents() repo.ParentTable {
	l := repo.ParentTable{Starts: []int32{0}}
	for _, m := range h.commits {
		l.Numbers = append(l.Numbers, m.parents...)
		l.Starts = append(l.Starts, int32(len(l.Numbers)))
	}
	return l
}

func (h *fakeHistory) Marked() []repo.CommitNumber {
	var list []repo.CommitNumber
	for i, m := range h.commits {
		if len(m.trailers) > 0 {
			list = append(list, repo.CommitNumber(i))
		}
	}
	return list
}

func (h *fakeHistory) Touching(path repo.Path) []repo.Touch {
	var list []repo.Touch
	for i, m := range h.commits {
		if kind, ok := m.touches[path]; ok {
			list = append(list, repo.Touch{Commit: repo.CommitNumber(i), Kind: kind})
		}
	}
	return list
}

func (h *fakeHistory) Below(dir repo.Path) []repo.Path {
	found := make(map[repo.Path]bool)
	for _, m := range h.commits {
		for p := range m.touches {
			if p.Under(dir) {
				found[p] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func (h *fakeHistory) Since(first repo.CommitNumber) []repo.PathTouches {
	var list []repo.PathTouches
	for _, p := range h.Below("") {
		touches := slices.DeleteFunc(h.Touching(p), func(t repo.Touch) bool { return t.Commit < first })
		if len(touches) > 0 {
			list = append(list, repo.PathTouches{Path: p, Touches: touches})
		}
	}
	return list
}

func (h *fakeHistory) Moves() []repo.Move {
	var list []repo.Move
	for _, m := range h.commits {
		list = append(list, m.moves...)
	}
	return list
}

func (h *fakeHistory) Gap() string { return h.gap }

func (h *fakeHistory) At(ctx context.Context, places []repo.CommitPath) ([]repo.ID, error) {
	h.asked = append(h.asked, places)
	if err := cmpErr(ctx.Err(), h.broken); err != nil {
		return nil, err
	}
	ids := make([]repo.ID, len(places))
	for i, p := range places {
		n, ok := h.Find(p.Commit)
		if !ok {
			return nil, errors.New("no commit " + p.Commit.String())
		}
		if x, there := h.commits[n].tree[p.Path]; there {
			ids[i] = idOf(x.content)
		}
	}
	return ids, nil
}

func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// nodes parses nodes such as "@x code=a.go,lib/".
func nodes(lines ...string) []*parse.Node {
	var files []repo.LoadedFile
	for _, line := range lines {
		var front strings.Builder
		words := strings.Fields(line)
		for _, f := range words[1:] {
			key, value, _ := strings.Cut(f, "=")
			if key == "code" {
				fmt.Fprintf(&front, "code:\n")
				for e := range strings.SplitSeq(value, ",") {
					fmt.Fprintf(&front, "  - %q\n", e)
				}
				continue
			}
			fmt.Fprintf(&front, "%s: %q\n", key, value)
		}
		files = append(files, repo.LoadedFile{Path: at(words[0]), Content: []byte("---\n" + front.String() + "---\n")})
	}
	return parse.Load(files)
}

// derive returns the facts about nodes at the last commit.
func (h *fakeHistory) derive(t testing.TB, list ...string) []derive.Facts {
	t.Helper()
	return h.deriveAt(t, h.head(), nodes(list...))
}

func (h *fakeHistory) head() repo.ID {
	if len(h.commits) == 0 {
		return repo.ID{}
	}
	return h.id(h.commits[len(h.commits)-1].name)
}

func (h *fakeHistory) deriveAt(t testing.TB, head repo.ID, list []*parse.Node) []derive.Facts {
	t.Helper()
	facts, err := derive.Derive(t.Context(), list, derive.Options{Head: head}, h, h)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// name returns the name of a commit.
func (h *fakeHistory) name(id repo.ID) string {
	n, ok := h.Find(id)
	if !ok {
		return "?"
	}
	return h.commits[n].name
}

// brief summarizes facts: version, drift, touched, the versions newest first, the acks, the files with drift, the
// problems.
func (h *fakeHistory) brief(f derive.Facts) string {
	number := func(n *int) string {
		if n == nil {
			return "?"
		}
		return fmt.Sprint(*n)
	}
	words := []string{"v" + number(f.Version), "d" + number(f.Drift), "t" + number(f.Touched)}
	var rows []string
	for _, r := range f.Versions {
		rows = append(rows, h.name(r.Commit))
	}
	if rows != nil {
		words = append(words, strings.Join(rows, ","))
	}
	for _, a := range f.Acks {
		words = append(words, fmt.Sprintf("%s:%s", h.name(a.Commit), a.State))
	}
	for _, b := range f.DriftFiles {
		words = append(words, fmt.Sprintf("%s-%d", b.Path, b.Commits))
	}
	for _, p := range f.Problems {
		if p.Rule != parse.RuleAck { // the acks show this already
			words = append(words, "! "+p.Message+"; "+p.Fix)
		}
	}
	return strings.Join(words, " ")
}
