package git

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ken/internal/git/history"
	"ken/internal/repo"
)

// A view is what, beside the commits themselves, decides how git tells their
// history: where a shallow clone was cut off, and which commits were put in place of
// others. Git's own stand-ins are honoured, here as in every other call, so that ken
// tells the same history as git log.
type view struct {
	shallow []repo.ID // the commits whose parents were left out
	key     history.Key
	files   viewFiles
}

// viewFiles are the texts that a view was read from. Another git directory that holds
// them tells the same histories.
type viewFiles struct {
	shallow  string
	grafts   string
	replaced string // a ref in each line: id, name, and what else there is to tell
}

// historyView reads the view from files; only where commits were replaced, or refs
// are kept in a way we do not read, git is asked.
func (r *Repo) historyView(ctx context.Context) (view, error) {
	shallow, err := r.optionalFile("shallow")
	if err != nil {
		return view{}, err
	}
	grafts, err := r.optionalFile("info/grafts")
	if err != nil {
		return view{}, err
	}
	replaced, err := r.replacements(ctx)
	if err != nil {
		return view{}, err
	}
	v := view{files: viewFiles{shallow: shallow, grafts: grafts, replaced: replaced}}
	for line := range strings.Lines(shallow) {
		if id, ok := idAtStart(line, r.format); ok {
			v.shallow = append(v.shallow, id)
		}
	}
	parts := []string{fmt.Sprint(r.format), strings.Join(r.historyTrailers(), "\n"), shallow, grafts, replaced}
	if r.filter != nil {
		parts = append(parts, r.filter.Marker, string(r.filter.MoveDir), r.filter.MoveName)
	}
	v.key = history.NewKey(parts...)
	return v, nil
}

// HistoryView names how git tells histories here. While the name is the same, a
// commit stands on the same parents.
func (r *Repo) HistoryView(ctx context.Context) (string, error) {
	v, err := r.historyView(ctx)
	return hex.EncodeToString(v.key[:]), err
}

// optionalFile returns the text of a file in the common directory, "" for none.
func (r *Repo) optionalFile(name string) (string, error) {
	b, _, err := readFile(filepath.Join(r.common, filepath.FromSlash(name)), maxPackedRefs)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s of %s: %w", name, r.common, cause(err))
	}
	return string(b), nil
}

const replaceRefs = "refs/replace/"

// replacements describes the commits that were replaced, "" when none was.
func (r *Repo) replacements(ctx context.Context) (string, error) {
	refs, known, err := r.replacementsFromFiles()
	if err != nil {
		return "", err
	}
	if r.strange || !known {
		if refs, err = r.read(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)", replaceRefs); err != nil {
			return "", err
		}
	}
	if refs == "" {
		return "", nil
	}
	c, err := r.everything(ctx)
	if err != nil {
		return "", err
	}
	if on, ok := c.Bool("core.usereplacerefs"); ok && !on {
		return "", nil
	}
	return refs, nil
}

// replacementsFromFiles lists the refs that replace, one in a line; known is false
// when they are not plain.
func (r *Repo) replacementsFromFiles() (list string, known bool, err error) {
	packed, err := r.optionalFile("packed-refs")
	if err != nil {
		return "", false, err
	}
	var refs []string
	if strings.Contains(packed, " "+replaceRefs) {
		for line := range strings.Lines(packed) {
			if strings.Contains(line, " "+replaceRefs) {
				refs = append(refs, strings.TrimRight(line, "\n"))
			}
		}
	}
	dir := filepath.Join(r.common, filepath.FromSlash(replaceRefs))
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return "", false, fmt.Errorf("list %s: %w", dir, cause(err))
	}
	for _, e := range entries {
		text, err := readSmall(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", false, nil //nolint:nilerr // whatever it is, git is asked
		}
		refs = append(refs, strings.TrimSpace(text)+" "+replaceRefs+e.Name()+" loose")
	}
	slices.Sort(refs)
	return strings.Join(refs, "\n"), true, nil
}

// gap says why a history is not whole, "" if it is.
func (v view) gap(h *History) string {
	for _, id := range v.shallow {
		if _, ok := h.Find(id); ok {
			return fmt.Sprintf("this is a shallow clone: what came before %s is not here; to fetch it: git fetch --unshallow", id.Short())
		}
	}
	return ""
}
