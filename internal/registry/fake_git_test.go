package registry_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"ken/internal/registry"
	"ken/internal/repo"
)

var _ registry.Git = (*fakeRepo)(nil)

func (r *fakeRepo) Snapshot(context.Context) (*repo.Snapshot, error) {
	if err := r.answer("Snapshot"); err != nil {
		return nil, err
	}
	r.calls.snapshots++
	s := &repo.Snapshot{
		Head:     repo.Head{Commit: r.head, Branch: "refs/heads/main"},
		FileMode: true, Symlinks: true,
		Index: repo.Index{Submodules: r.subs, Checksum: r.checksum()},
	}
	tree := map[repo.Path]repo.Entry{}
	said := !r.silent
	_, tracked := r.index[".gitattributes"]
	for _, p := range slices.Sorted(maps.Keys(r.index)) {
		e := *r.index[p]
		if e.Stat.Mtime >= r.indexed {
			e.Flags |= repo.Racy
		}
		s.Index.Entries = append(s.Index.Entries, e)
		said = said && e.Flags&(repo.IntentToAdd|repo.Conflicted) == 0
		s.Attributed = s.Attributed || p.Base() == ".gitattributes"
		tree[p] = e
	}
	if said {
		s.Index.Tree = treeOf(tree)
	}
	outside := r.info
	if f := r.disk[".gitattributes"]; f != nil && !tracked {
		outside += "\x00" + f.bytes
	}
	s.Attributed = s.Attributed || outside != ""
	if r.autocrlf {
		outside += "\x00autocrlf"
	}
	if outside != "" {
		s.AttributesDigest = blob(outside).String()
	}
	return s, nil
}

func (r *fakeRepo) checksum() repo.ID {
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(r.index)) {
		fmt.Fprintf(&b, "%+v\n", *r.index[p])
	}
	return blob(b.String())
}

func (r *fakeRepo) StillCurrent(_ context.Context, s *repo.Snapshot) (bool, error) {
	if err := r.answer("StillCurrent"); err != nil {
		return false, err
	}
	if r.beforeUnmoved != nil {
		r.beforeUnmoved()
	}
	return s.Head.Commit == r.head && s.Index.Checksum == r.checksum(), nil
}

func (r *fakeRepo) Upstream(_ context.Context, s *repo.Snapshot, _ repo.Upstream, _ repo.ID) (repo.Upstream, error) {
	if err := r.answer("Upstream"); err != nil {
		return repo.Upstream{}, err
	}
	if r.behind < 0 || s.Head.Commit.IsZero() {
		return repo.Upstream{}, nil
	}
	return repo.Upstream{Ref: "refs/remotes/origin/main", Commit: blob("upstream"), Known: true, Behind: r.behind}, nil
}

func (r *fakeRepo) Tree(_ context.Context, id repo.ID) (repo.ID, bool, error) {
	if err := r.answer("Tree"); err != nil {
		return repo.ID{}, false, err
	}
	c, ok := r.commits[id]
	if !ok {
		return repo.ID{}, false, nil
	}
	return treeOf(c.tree), true, nil
}

func (r *fakeRepo) IndexDiffers(_ context.Context, s *repo.Snapshot, tree repo.ID) (bool, error) {
	if err := r.answer("IndexDiffers"); err != nil {
		return false, err
	}
	entries := map[repo.Path]repo.Entry{}
	for _, e := range s.Index.Entries {
		if !e.Flags.Has(repo.IntentToAdd) {
			entries[e.Path] = e
		}
	}
	if tree.IsZero() {
		return len(entries) > 0, nil
	}
	return treeOf(entries) != tree, nil
}

func (r *fakeRepo) Reachable(_ context.Context, id repo.ID) (bool, error) {
	if err := r.answer("Reachable"); err != nil {
		return false, err
	}
	if _, here := r.commits[id]; !here {
		return false, nil
	}
	for c := r.head; !c.IsZero(); c = r.commits[c].parent {
		if c == id {
			return true, nil
		}
	}
	return !r.lost, nil
}

func (r *fakeRepo) Attributes(_ context.Context, paths []repo.Path) ([]repo.Attributes, error) {
	if err := r.answer("Attributes"); err != nil {
		return nil, err
	}
	r.calls.attributes++
	out := make([]repo.Attributes, len(paths))
	for i, p := range paths {
		out[i] = r.attributesOf(p)
	}
	return out, nil
}

// attributesOf reads .gitattributes from the root down, then info/attributes. A line is a glob for base names and
// one word for each attribute that ken uses.
func (r *fakeRepo) attributesOf(p repo.Path) repo.Attributes {
	var texts []string
	for dir := p.Dir(); ; dir = dir.Dir() {
		if f := r.disk[repo.Path(path.Join(string(dir), ".gitattributes"))]; f != nil {
			texts = append(texts, f.bytes)
		}
		if dir == "" {
			break
		}
	}
	slices.Reverse(texts)
	var a repo.Attributes
	if r.autocrlf {
		a.Convert = repo.ConvertAuto
	}
	yes, no := true, false
	for line := range strings.Lines(strings.Join(append(texts, r.info), "\n")) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		if ok, _ := path.Match(words[0], p.Base()); !ok {
			continue
		}
		switch words[1] {
		case "filter":
			a.Filtered = true
		case "text":
			a.Convert = repo.ConvertText
		case "auto":
			a.Convert = repo.ConvertAuto
		case "encoding":
			a.Convert = repo.ConvertGit
		case "binary":
			a.Binary, a.Convert = true, repo.ConvertNone
		case "generated":
			a.Generated = &yes
		case "-generated":
			a.Generated = &no
		case "vendored":
			a.Vendored = &yes
		case "-vendored":
			a.Vendored = &no
		}
	}
	return a
}

// clean returns the bytes as git would store them. The filter driver keeps only the first line; the encoding is
// Latin-1.
func (r *fakeRepo) clean(p repo.Path, bytes string) string {
	a := r.attributesOf(p)
	if a.Filtered {
		first, _, _ := strings.Cut(bytes, "\n")
		return first
	}
	switch a.Convert {
	case repo.ConvertText:
		return strings.ReplaceAll(bytes, "\r\n", "\n")
	case repo.ConvertAuto:
		e := r.index[p]
		if strings.Contains(bytes, "\x00") || e != nil && strings.Contains(r.blobs[e.ID], "\r\n") {
			return bytes
		}
		return strings.ReplaceAll(bytes, "\r\n", "\n")
	case repo.ConvertGit:
		return strings.ReplaceAll(bytes, "\xe9", "é")
	default:
		return bytes
	}
}

func (r *fakeRepo) HasCRLF(_ context.Context, id repo.ID) (bool, error) {
	if err := r.answer("HasCRLF"); err != nil {
		return false, err
	}
	s, ok := r.blobs[id]
	if !ok {
		return false, fmt.Errorf("no blob %s", id)
	}
	return strings.Contains(s, "\r\n"), nil
}

func (r *fakeRepo) StoredIDs(_ context.Context, paths []repo.Path) ([]repo.ID, error) {
	if err := r.answer("StoredIDs"); err != nil {
		return nil, err
	}
	ids := make([]repo.ID, len(paths))
	for i, p := range paths {
		ids[i] = blob(r.clean(p, r.disk[p].bytes))
	}
	if r.afterCleaned != nil {
		r.afterCleaned()
	}
	return ids, nil
}

func (r *fakeRepo) ChangedBy(_ context.Context, rev string) (repo.ID, []repo.Path, error) {
	if err := r.answer("ChangedBy"); err != nil {
		return repo.ID{}, nil, err
	}
	id := r.head
	if rev != "HEAD" {
		id, _ = repo.ParseID(rev)
	}
	c, ok := r.commits[id]
	if !ok || r.shallow {
		return repo.ID{}, nil, errors.New("nobody can tell what it changed")
	}
	before := r.commits[c.parent].tree
	var paths []repo.Path
	for p, e := range c.tree {
		if before[p] != e {
			paths = append(paths, p)
		}
	}
	for p := range before {
		if _, kept := c.tree[p]; !kept {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return id, paths, nil
}

func (r *fakeRepo) At(_ context.Context, id repo.ID, p repo.Path) (repo.ID, bool, error) {
	if err := r.answer("At"); err != nil {
		return repo.ID{}, false, err
	}
	c, ok := r.commits[id]
	if !ok {
		return repo.ID{}, false, fmt.Errorf("no commit %s", id)
	}
	e, ok := c.tree[p]
	return e.ID, ok, nil
}

func (r *fakeRepo) Renamed(_ context.Context, s *repo.Snapshot, gone []repo.Path) (map[repo.Path][]repo.Path, error) {
	if err := r.answer("Renamed"); err != nil {
		return nil, err
	}
	staged := map[repo.Path]repo.Entry{}
	for _, e := range s.Index.Entries {
		staged[e.Path] = e
	}
	renames := r.renames(r.commits[r.head].tree, staged)
	for c := r.head; !c.IsZero(); c = r.commits[c].parent {
		for from, to := range r.renames(r.commits[r.commits[c].parent].tree, r.commits[c].tree) {
			renames[from] = append(renames[from], to...)
		}
	}
	went := map[repo.Path][]repo.Path{}
	for _, p := range gone {
		seen := map[repo.Path]bool{p: true}
		for next := []repo.Path{p}; len(next) > 0; next = next[1:] {
			for _, to := range renames[next[0]] {
				if seen[to] {
					continue
				}
				seen[to] = true
				if _, tracked := staged[to]; tracked {
					went[p] = append(went[p], to)
				} else {
					next = append(next, to)
				}
			}
		}
	}
	return went, nil
}

// renames pairs removed with added paths whose contents have a common beginning.
func (r *fakeRepo) renames(before, after map[repo.Path]repo.Entry) map[repo.Path][]repo.Path {
	pairs := map[repo.Path][]repo.Path{}
	taken := map[repo.Path]bool{}
	for _, from := range slices.Sorted(maps.Keys(before)) {
		if _, kept := after[from]; kept {
			continue
		}
		for _, to := range slices.Sorted(maps.Keys(after)) {
			_, old := before[to]
			if !old && !taken[to] && alike(r.blobs[before[from].ID], r.blobs[after[to].ID]) {
				taken[to] = true
				pairs[from] = append(pairs[from], to)
				break
			}
		}
	}
	return pairs
}

// alike reports whether at least half of the longer of two texts begins both.
func alike(a, b string) bool {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n > 0 && 2*n >= max(len(a), len(b))
}

func (r *fakeRepo) Untracked(context.Context) ([]repo.Path, error) {
	if err := r.answer("Untracked"); err != nil {
		return nil, err
	}
	var paths []repo.Path
	for p := range r.disk {
		if _, tracked := r.index[p]; !tracked {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// Lacking returns none: a repository in memory has all contents.
func (r *fakeRepo) Lacking(context.Context, []repo.ID) (map[repo.ID]bool, error) { return nil, nil }
