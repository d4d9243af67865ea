package find

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/suggest"
)

// PathNotFoundError returns the error for a path that the tree does not have. If the history had the path, the error says
// where it moved or who deleted it. It also says whether the path is an untracked file. Otherwise its hint is the
// most similar path. verb is the command of the user. Files must have been called.
func (t *IndexedTree) PathNotFoundError(ctx context.Context, verb string, p repo.Path) error {
	paths := t.Paths()
	fail := func(hint, format string, args ...any) error {
		return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf(format, args...)}
	}
	asked := p
	p = StripLineNumber(p)
	if f := t.listed[p]; f != nil && f.Problem != "" {
		return fail("see its state: ken status "+fault.Quote(p.String()), "%s cannot be read: %s", p, f.Problem)
	}
	if file, symbol, ok := strings.Cut(string(p), "#"); ok && t.listed[repo.Path(file)] != nil {
		return fail("ken uses "+fault.Quote(p.String()), "%s is no path, but the symbol %s of a file", p, symbol)
	}
	if err := t.goneError(ctx, verb, p); err != nil {
		return err
	}
	if t.Work != nil && t.Workspace.OnDisk(ctx, p) {
		ignored, err := t.Workspace.Git.Ignored(ctx, []repo.Path{p})
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
	gone, err := t.removed(ctx, p)
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

// A DeletedError is returned for a file that git tracks and that is deleted on disk. Its last commit answers instead.
type DeletedError struct {
	Path repo.Path
	Head repo.ID
}

func (e *DeletedError) Error() string { return e.Path.String() + " is gone: deleted on disk" }

// Unknown says that an answer is of the last commit.
func (e *DeletedError) Unknown() fault.Unknown {
	return fault.Unknown{Why: e.Path.String() + " is deleted on disk; this is of " + e.Head.Short()}
}

// goneError returns an error if HEAD has a file that git no longer tracks, or that is deleted on disk.
func (t *IndexedTree) goneError(ctx context.Context, verb string, p repo.Path) error {
	if t.Work == nil {
		return nil
	}
	snap, err := t.Workspace.Git.Snapshot(ctx)
	if err != nil || snap.Head.Commit.IsZero() {
		return err
	}
	if _, committed, err := t.Workspace.Git.At(ctx, snap.Head.Commit, p); err != nil || !committed {
		return err
	}
	i, tracked := repo.FindEntry(snap.Index.Entries, p)
	switch {
	case tracked && snap.Index.Entries[i].Flags.Has(repo.Conflicted):
		return nil
	case tracked:
		return &DeletedError{Path: p, Head: snap.Head.Commit}
	}
	return &fault.Error{
		Kind: fault.Usage, Hint: "see it as it was: ken " + verb + " --at HEAD " + fault.Quote(p.String()),
		Err: fmt.Errorf("%s is gone: no longer tracked", p),
	}
}

// lineSuffix matches the lines that ken prints after a path: a.go:3 or a.go:3,8,+2.
var lineSuffix = regexp.MustCompile(`:[0-9][0-9,:+-]*$`)

// StripLineNumber returns the path of PATH:LINE.
func StripLineNumber(p repo.Path) repo.Path {
	return repo.Path(lineSuffix.ReplaceAllString(string(p), ""))
}

// nearestPath returns the path whose name differs by a typing mistake, "" for none. It prefers one in the same
// directory.
func nearestPath(p repo.Path, paths []repo.Path) repo.Path {
	const elsewhere = 10
	var nearest repo.Path
	least := 0
	for _, o := range paths {
		letters, meant := suggest.TypoDistance(o.Base(), p.Base())
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

// A removedPath is a former path in the history.
type removedPath struct {
	commit repo.ID
	by     string    // a description of the commit
	to     repo.Path // the current path; "" if the file was deleted
}

// removed returns the fate of a path that the tree does not have; nil if its history never had it.
func (t *IndexedTree) removed(ctx context.Context, p repo.Path) (*removedPath, error) {
	const steps = 5 // renames to follow
	head := t.Commit()
	if head.IsZero() {
		return nil, nil
	}
	var found *removedPath
	for range steps {
		commit, err := t.Workspace.Git.LastRemoval(ctx, head, p)
		if err != nil || commit.IsZero() {
			return found, err
		}
		removals, err := t.Workspace.Git.Removals(ctx, []repo.ID{commit})
		if err != nil {
			return nil, err
		}
		if found == nil {
			found = &removedPath{commit: commit, by: commit.Short()}
			err = t.Workspace.Git.Commits(ctx, []repo.ID{commit}, func(c repo.Commit) error {
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

// movedTo returns the new path of a file, or of most files of a directory; "" for none.
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
func (t *IndexedTree) hasDir(dir repo.Path) bool {
	for p := range t.listed {
		if p.Under(dir) {
			return true
		}
	}
	return false
}

// removedWords says which commit renamed or deleted each word of a short query that is a former path.
func (t *IndexedTree) removedWords(ctx context.Context, words []string) ([]string, error) {
	const few = 3
	words = strings.Fields(strings.Join(words, " "))
	if len(words) > few {
		return nil, nil
	}
	var list []string
	for _, word := range words {
		p, err := t.Workspace.Path(word)
		if err != nil || !strings.Contains(word, "/") || path.Ext(word) == "" {
			continue
		}
		if _, err := t.Files(ctx); err != nil { // a search in an unchanged tree lists no files
			return nil, err
		}
		if t.listed[p] != nil || t.hasDir(p) {
			continue
		}
		gone, err := t.removed(ctx, p)
		switch {
		case err != nil:
			return nil, err
		case gone != nil && gone.to != "":
			list = append(list, fmt.Sprintf("%s renamed %s to %s", gone.by, p, gone.to))
		case gone != nil:
			list = append(list, fmt.Sprintf("%s deleted %s", gone.by, p))
		}
	}
	return list, nil
}
