package prove

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// A Mention is a path of the repository in a document.
type Mention struct {
	Document repo.Path
	Name     string // as written in the document
	// Ended is the number of the commit that ended the mention, from 1 for the first commit after it, or 0 if it
	// holds after the last. Stale is set if the path was removed and the document still names it. Otherwise the
	// document was corrected or deleted.
	Ended int
	Stale bool
}

// A mentionReader follows the mentions of a history.
type mentionReader struct {
	*Prover
	files map[repo.Path]place // of the current tree
	dirs  map[repo.Path]int   // the number of files below each directory
	list  []Mention
	by    map[repo.Path][]int // mentions by the path that they mean
	asked []mentionCheck
}

// A mentionCheck is the question whether a document still has a mention of a removed path.
type mentionCheck struct {
	mention  int
	document repo.ID
}

// mentions reads the documents of the tree after the first commits, finds the paths in them that the tree has, and
// follows these through the other commits.
func (w *Prover) mentions(ctx context.Context, before []place, commits []repo.Commit, first int) ([]Mention, error) {
	m := &mentionReader{Prover: w, files: make(map[repo.Path]place), dirs: make(map[repo.Path]int), by: make(map[repo.Path][]int)}
	for _, p := range before {
		m.put(p)
	}
	for _, c := range commits[:first] {
		m.apply(0, c)
	}
	if err := m.read(ctx); err != nil {
		return nil, err
	}
	for i, c := range commits[first:] {
		m.apply(i+1, c)
	}
	return m.list, m.check(ctx)
}

// put adds a file to the tree.
func (m *mentionReader) put(p place) {
	m.files[p.path] = p
	for dir := p.path.Dir(); dir != ""; dir = dir.Dir() {
		m.dirs[dir]++
	}
}

// remove removes a file, and returns the paths that no longer exist: its own, and those of the directories that
// are now empty.
func (m *mentionReader) remove(p repo.Path) []repo.Path {
	delete(m.files, p)
	gone := []repo.Path{p}
	for dir := p.Dir(); dir != ""; dir = dir.Dir() {
		if m.dirs[dir]--; m.dirs[dir] == 0 {
			delete(m.dirs, dir)
			gone = append(gone, dir)
		}
	}
	return gone
}

// read finds the mentions in the documents of a tree.
func (m *mentionReader) read(ctx context.Context) error {
	documents := make(map[repo.ID][]repo.Path)
	var ids []repo.ID
	for _, p := range m.files {
		if !p.regular() || !mention.IsDocument(p.path) {
			continue
		}
		if documents[p.id] == nil {
			ids = append(ids, p.id)
		}
		documents[p.id] = append(documents[p.id], p.path)
	}
	var mu sync.Mutex
	err := m.eachContent(ctx, ids, func(id repo.ID, b []byte) {
		for _, document := range documents[id] {
			names := mention.PathsIn(document, b)
			mu.Lock()
			for _, name := range names {
				m.list = append(m.list, Mention{Document: document, Name: name})
			}
			mu.Unlock()
		}
	})
	if err != nil {
		return err
	}
	m.list = slices.DeleteFunc(m.list, func(n Mention) bool { return m.resolve(n) == "" })
	slices.SortFunc(m.list, func(a, b Mention) int {
		return cmp.Or(strings.Compare(string(a.Document), string(b.Document)), strings.Compare(a.Name, b.Name))
	})
	m.list = slices.Compact(m.list)
	for i, n := range m.list {
		target := m.resolve(n)
		m.by[target] = append(m.by[target], i)
	}
	return nil
}

// resolve returns the path that a mention means: relative to the directory of its document, or to a directory
// above it. It is "" if the tree has no such path.
func (m *mentionReader) resolve(n Mention) repo.Path {
	dir := n.Document.Dir()
	if strings.HasPrefix(n.Name, "/") {
		dir = ""
	}
	for {
		p := repo.Path(strings.TrimPrefix(path.Join("/", string(dir), n.Name), "/"))
		if _, ok := m.files[p]; ok && p != n.Document {
			return p
		}
		if m.dirs[p] > 0 {
			return p
		}
		if dir == "" {
			return ""
		}
		dir = dir.Dir()
	}
}

// apply replays one commit.
func (m *mentionReader) apply(number int, c repo.Commit) {
	var gone []repo.Path
	for _, ch := range c.Changes {
		_, was := m.files[ch.Path]
		is := newPlace(ch)
		switch {
		case is.id.IsZero():
			gone = append(gone, m.remove(ch.Path)...)
		case was:
			m.files[ch.Path] = is
		default:
			m.put(is)
		}
	}
	for _, p := range gone {
		if _, ok := m.files[p]; ok || m.dirs[p] > 0 {
			continue // the same commit restored it
		}
		list := m.by[p]
		delete(m.by, p)
		for _, i := range list {
			m.handleRemoval(number, i)
		}
	}
}

// handleRemoval handles a mention whose path a commit removed.
func (m *mentionReader) handleRemoval(number, i int) {
	n := &m.list[i]
	if target := m.resolve(*n); target != "" {
		m.by[target] = append(m.by[target], i)
		return
	}
	n.Ended = number
	if document, ok := m.files[n.Document]; ok && document.regular() {
		m.asked = append(m.asked, mentionCheck{i, document.id})
	}
}

// check reads the documents whose mentions lost their paths. A mention is stale if its document still has the
// name.
func (m *mentionReader) check(ctx context.Context) error {
	byDocument := make(map[repo.ID][]int)
	var ids []repo.ID
	for _, a := range m.asked {
		if byDocument[a.document] == nil {
			ids = append(ids, a.document)
		}
		byDocument[a.document] = append(byDocument[a.document], a.mention)
	}
	var mu sync.Mutex
	return m.eachContent(ctx, ids, func(id repo.ID, b []byte) {
		mu.Lock()
		defer mu.Unlock()
		for _, i := range byDocument[id] {
			m.list[i].Stale = bytes.Contains(b, []byte(m.list[i].Name))
		}
	})
}
