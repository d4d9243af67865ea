package app

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/repo"
	"ken/internal/suggest"
)

// noPath returns the error for a path that the tree does not have. It says what became of the path
// if the tree's history had it, and whether it lies in the work tree untracked. Otherwise its hint is
// the path that was probably meant. verb is the command that asked; paths are those of the tree.
func (w *workspace) noPath(ctx context.Context, verb string, t *findTree, p repo.Path, paths []repo.Path) error {
	fail := func(hint, format string, args ...any) error {
		return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf(format, args...)}
	}
	asked := p
	p = find.WithoutLines(p)
	if file, symbol, ok := strings.Cut(string(p), "#"); ok && t.listed[repo.Path(file)] != nil {
		return fail("ken uses "+fault.Quote(p.String()), "%s is no path, but the symbol %s of a file", p, symbol)
	}
	_, isCommit := t.Tree.(*commitTree)
	if !isCommit && w.onDisk(p) {
		ignored, err := w.git.Ignored(ctx, []repo.Path{p})
		if err != nil {
			return err
		}
		if ignored[0] {
			return fail("read the file itself", "%s is untracked, and git ignores it", p)
		}
		return fail("track it first: git add "+fault.Quote(p.String()), "%s is untracked", p)
	}
	if meant := nearestPath(p, paths); meant != "" && meant.Dir() == p.Dir() {
		return fail("did you mean "+fault.Quote(meant.String())+"?", "git tracks no file or directory %s", asked)
	}
	gone, err := w.removed(ctx, t, p)
	switch {
	case err != nil:
		return err
	case gone != nil && gone.to != "":
		return fail("ken "+verb+" "+fault.Quote(gone.to.String()), "git tracks no file or directory %s: %s renamed it to %s", asked, gone.by, gone.to)
	case gone != nil:
		return fail("see it as it was: ken "+verb+" --at "+gone.commit.Short()+"~ "+fault.Quote(p.String()), "git tracks no file or directory %s: %s deleted it", asked, gone.by)
	}
	if meant := nearestPath(p, paths); meant != "" {
		return fail("did you mean "+fault.Quote(meant.String())+"?", "git tracks no file or directory %s", asked)
	}
	return fail("list the tracked paths: git ls-files", "git tracks no file or directory %s", asked)
}

func (w *workspace) onDisk(p repo.Path) bool {
	if w.bare {
		return false
	}
	_, err := os.Lstat(filepath.Join(w.git.Root(), filepath.FromSlash(string(p))))
	return err == nil
}

// nearestPath returns the path whose name differs by a typing mistake, "" for none. One in the same
// directory is nearer than others.
func nearestPath(p repo.Path, paths []repo.Path) repo.Path {
	const elsewhere = 10
	var nearest repo.Path
	least := 0
	for _, o := range paths {
		letters, meant := suggest.Slip(o.Base(), p.Base())
		if !meant {
			continue
		}
		if o.Dir() != p.Dir() {
			letters += elsewhere
		}
		if nearest == "" || letters < least {
			nearest, least = o, letters
		}
	}
	return nearest
}

// A removedPath is a path that the history had.
type removedPath struct {
	commit repo.ID
	by     string    // the commit in words
	to     repo.Path // the path of the tree that it has now; "" if it was deleted
}

// removed returns what became of a path that the tree does not have; nil if its history never
// had it.
func (w *workspace) removed(ctx context.Context, t *findTree, p repo.Path) (*removedPath, error) {
	const steps = 5 // from name to name
	head, err := t.Head(ctx)
	if err != nil || head.IsZero() {
		return nil, err
	}
	var found *removedPath
	for range steps {
		commit, err := w.git.LastRemoval(ctx, head, p)
		if err != nil || commit.IsZero() {
			return found, err
		}
		removals, err := w.git.Removals(ctx, []repo.ID{commit})
		if err != nil {
			return nil, err
		}
		if found == nil {
			found = &removedPath{commit: commit, by: commit.Short()}
			err = w.git.Commits(ctx, []repo.ID{commit}, func(c repo.Commit) error {
				day, _, _ := strings.Cut(c.Date, "T")
				found.by = fmt.Sprintf("%s (%s, %s)", commit.Short(), c.Subject, day)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		to := movedTo(p, removals[0])
		switch {
		case to == "":
			return found, nil
		case t.listed[to] != nil || t.hasDir(to):
			found.to = to
			return found, nil
		}
		p = to
	}
	return found, nil
}

// movedTo returns where a commit moved a file, or most files of a directory; "" for nowhere.
func movedTo(p repo.Path, removals []repo.Removal) repo.Path {
	dirs := make(map[repo.Path]int)
	var best repo.Path
	total := 0
	for _, m := range removals {
		if m.Path == p {
			return m.MovedTo
		}
		rest, below := strings.CutPrefix(string(m.Path), string(p)+"/")
		if !below {
			continue
		}
		total++
		if dir, ok := strings.CutSuffix(string(m.MovedTo), "/"+rest); ok {
			dirs[repo.Path(dir)]++
			if dirs[repo.Path(dir)] > dirs[best] {
				best = repo.Path(dir)
			}
		}
	}
	if 2*dirs[best] <= total {
		return ""
	}
	return best
}

// hasDir reports whether the tree has files below a path.
func (t *findTree) hasDir(dir repo.Path) bool {
	for p := range t.listed {
		if p.Under(dir) {
			return true
		}
	}
	return false
}

// removedWords says of each word of a short query that is an old path what became of it.
func (w *workspace) removedWords(ctx context.Context, t *findTree, words []string) ([]string, error) {
	const few = 3
	words = strings.Fields(strings.Join(words, " "))
	if len(words) > few {
		return nil, nil
	}
	var remarks []string
	for _, word := range words {
		p, err := w.Path(word)
		if err != nil || !strings.Contains(word, "/") || path.Ext(word) == "" {
			continue
		}
		if _, err := t.Files(ctx); err != nil { // a find of an unchanged tree lists no files
			return nil, err
		}
		if t.listed[p] != nil || t.hasDir(p) {
			continue
		}
		gone, err := w.removed(ctx, t, p)
		switch {
		case err != nil:
			return nil, err
		case gone != nil && gone.to != "":
			remarks = append(remarks, fmt.Sprintf("%s renamed %s to %s", gone.by, p, gone.to))
		case gone != nil:
			remarks = append(remarks, fmt.Sprintf("%s deleted %s", gone.by, p))
		}
	}
	return remarks, nil
}
