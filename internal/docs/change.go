package docs

import (
	"context"
	"path"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// A Change is the difference between two trees, by the files that differ.
type Change struct {
	From    repo.ID                 // the commit before the change
	To      repo.ID                 // the commit after it; the zero ID is the work tree
	Removed []repo.Path             // files of From that To lacks
	Moved   map[repo.Path]repo.Path // the new paths of those that moved
	Edited  []repo.Path             // files of both with different contents
}

// BrokenBy lists the mentions that a change broke: the path, symbol or command exists in From
// and not in To. It reads only documents of To that contain a removed name, and no history, so
// it costs little where a change removes little. A mention that is acknowledged, or that
// its document calls removed, is in the report with the reason in Hidden; [Report.Shown] lists the others.
// Documents counts only those that contain a removed name. Since is nil: the change itself is the answer.
func (c *Checker) BrokenBy(ctx context.Context, change Change) (*Report, error) {
	tree, err := c.treeAfter(ctx, &change)
	if err != nil {
		return nil, err
	}
	head := change.To
	if head.IsZero() {
		head = change.From
	}
	files := tree.tracked()
	j := newJudge(tree, &past{Repo: c.Git, head: head, contents: c.Git.Contents()}, c.Policy, files)
	gone, err := j.lossesOf(ctx, &change, files)
	if err != nil || gone.none() {
		return j.report, err
	}
	j.relevant = gone.mayBeNamedIn
	if err := j.readDocuments(ctx, files); err != nil {
		return nil, err
	}
	j.list = slices.DeleteFunc(j.list, func(m CheckedMention) bool { return !gone.has(&m.Mention) })
	if err := j.judgeByTree(ctx, files); err != nil {
		return nil, err
	}
	for i := range j.list {
		m := &j.list[i]
		if m.Verdict != "" {
			continue
		}
		m.Verdict, m.True = Gone, true
		m.Was = gone.file(&m.Mention)
		if to := gone.movedTo(m.Was); m.Kind == Path && to != "" && j.index.has(string(to)) {
			m.Verdict, m.To = Moved, to
		}
	}
	j.tally()
	return j.report, nil
}

// treeAfter returns the tree that a change leads to.
func (c *Checker) treeAfter(ctx context.Context, change *Change) (*workTree, error) {
	if !change.To.IsZero() {
		entries, err := c.Git.EntriesAt(ctx, change.To)
		if err != nil {
			return nil, err
		}
		files := make([]File, len(entries))
		for i, e := range entries {
			files[i] = File{Path: e.Path, ID: e.ID, Mode: e.Mode}
		}
		return &workTree{git: c.Git, committed: files}, nil
	}
	snapshot, err := c.Git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &workTree{git: c.Git, files: c.Files, snapshot: snapshot, edited: make([]bool, len(snapshot.Index.Entries)), removed: change.Removed}, nil
}

// losses are the names that a change removed.
type losses struct {
	change *Change
	paths  map[string]bool      // files and directories
	byBase map[string][]string  // the same by their last element
	words  map[string]repo.Path // symbols by the word that they are found by, with the file that declared them
	tasks  map[taskName]repo.Path
	hints  wordSet // words of which a document must have one
}

// A taskName is a command of a tool.
type taskName struct{ tool, name string }

func (l *losses) none() bool { return len(l.hints) == 0 }

// lossesOf finds what a change removed.
func (j *judge) lossesOf(ctx context.Context, change *Change, files []File) (*losses, error) {
	l := &losses{
		change: change, paths: make(map[string]bool), byBase: make(map[string][]string),
		words: make(map[string]repo.Path), tasks: make(map[taskName]repo.Path), hints: make(wordSet),
	}
	for _, p := range change.Removed {
		for q := string(p); q != "" && !l.paths[q] && !j.index.has(q); q = parent(q) {
			l.paths[q] = true
			l.byBase[path.Base(q)] = append(l.byBase[path.Base(q)], q)
			l.hint(strings.TrimSuffix(path.Base(q), path.Ext(q)))
		}
	}
	if err := j.lostSymbols(ctx, l, files); err != nil {
		return nil, err
	}
	return l, nil
}

// hint notes a word of a name that a document must have to mention it.
func (l *losses) hint(name string) {
	longest := ""
	eachWord([]byte(name), func(w []byte) {
		if len(w) > len(longest) {
			longest = string(w)
		}
	})
	if longest != "" {
		l.hints.add(longest)
	}
}

// lostSymbols finds the symbols and commands that the old contents of the changed files
// have and their new contents lack.
func (j *judge) lostSymbols(ctx context.Context, l *losses, files []File) error {
	var places []repo.CommitPath
	for _, p := range slices.Concat(l.change.Removed, l.change.Edited) {
		if isTaskFile(p) || outline.MayRead(p) && !IsDocument(p) {
			places = append(places, repo.CommitPath{Commit: l.change.From, Path: p})
		}
	}
	if len(places) == 0 {
		return nil
	}
	ids, err := j.past.contents.At(ctx, places)
	if err != nil {
		return err
	}
	names := make(wordSet)
	var read []repo.ID
	var paths []repo.Path
	for i, id := range ids {
		if !id.IsZero() {
			read = append(read, id)
			paths = append(paths, places[i].Path)
		}
	}
	err = j.past.eachContent(ctx, read, func(i int, content []byte, err error) {
		if err != nil {
			return
		}
		for tool, b := range books {
			if b.has(paths[i]) && len(content) <= maxBook {
				for name := range b.recipes(content).names {
					l.tasks[taskName{tool, name}] = paths[i]
				}
			}
		}
		o, err := outline.Of(paths[i], content)
		if err != nil {
			return
		}
		for k := range o.Symbols {
			if word := wordOf(o.Symbols[k].Name); word != "" && l.words[word] == "" {
				l.words[word] = paths[i]
				names.add(word)
			}
		}
	})
	if err != nil {
		return err
	}
	edited := make(map[repo.Path]bool, len(l.change.Edited))
	for _, p := range l.change.Edited {
		edited[p] = true
	}
	now := slices.DeleteFunc(slices.Clone(files), func(f File) bool { return !edited[f.Path] || IsDocument(f.Path) })
	if err := j.tree.Read(ctx, now, maxText, func(_ int, content []byte, err error) {
		if err == nil {
			names.mark(content)
		}
	}); err != nil {
		return err
	}
	for word, seen := range names {
		if seen.Load() {
			delete(l.words, word)
		} else {
			l.hints.add(word)
		}
	}
	for t := range l.tasks {
		l.hint(t.name)
	}
	return nil
}

// mayBeNamedIn reports whether a document has a word of something that was removed.
func (l *losses) mayBeNamedIn(content []byte) bool {
	found := false
	eachWord(content, func(word []byte) { found = found || l.hints[string(word)] != nil })
	return found
}

// has reports whether a mention may name something that was removed.
func (l *losses) has(m *Mention) bool { return l.file(m) != "" }

// file returns the path that a mention named, or the file that it was in; "" for none.
func (l *losses) file(m *Mention) repo.Path {
	switch m.Kind {
	case Symbol:
		return l.words[wordOf(m.Name)]
	case Command:
		return l.tasks[taskName{m.Tool, m.Name}]
	case Anchor:
		return ""
	case Path:
	}
	if m.Glob {
		return ""
	}
	for _, p := range readingOf(m.File, m, false).paths {
		if l.paths[p] {
			return repo.Path(p)
		}
	}
	name := strings.TrimPrefix(path.Clean("/"+m.Name), "/")
	for _, p := range l.byBase[path.Base(name)] {
		if strings.HasSuffix(p, "/"+name) {
			return repo.Path(p)
		}
	}
	return ""
}

// movedTo returns the new path of a file or directory that moved, "" for none.
func (l *losses) movedTo(p repo.Path) repo.Path {
	if to := l.change.Moved[p]; to != "" {
		return to
	}
	var left []repo.Removal
	for _, f := range l.change.Removed {
		left = append(left, repo.Removal{Path: f, MovedTo: l.change.Moved[f]})
	}
	return movedDir(p, left)
}
