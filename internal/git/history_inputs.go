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

// historyInputs are the inputs of a history other than the commits: the boundary of a shallow clone,
// grafts and replaced commits. Like git log, ken uses the replacements.
type historyInputs struct {
	shallow []repo.ID // commits whose parents this clone does not have
	key     history.Key
	files   historyInputFiles
}

// historyInputFiles has the texts of the inputs. With the same texts in another git directory, git
// shows the same history.
type historyInputFiles struct {
	shallow  string
	grafts   string
	replaced string // one ref per line: id, name, and "loose" for a ref with its own file
}

// historyInputs reads the inputs from files. It runs git only if commits are replaced or the layout of
// the refs is unknown.
func (r *Repo) historyInputs(ctx context.Context) (historyInputs, error) {
	shallow, err := r.optionalFile("shallow")
	if err != nil {
		return historyInputs{}, err
	}
	grafts, err := r.optionalFile("info/grafts")
	if err != nil {
		return historyInputs{}, err
	}
	replaced, err := r.replacements(ctx)
	if err != nil {
		return historyInputs{}, err
	}
	v := historyInputs{files: historyInputFiles{shallow: shallow, grafts: grafts, replaced: replaced}}
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

// HistoryView returns a text that changes when git would show other parents of a commit.
func (r *Repo) HistoryView(ctx context.Context) (string, error) {
	v, err := r.historyInputs(ctx)
	return hex.EncodeToString(v.key[:]), err
}

// optionalFile returns the text of a file in the common directory, "" if it does not exist.
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

// replacements lists the refs of replaced commits, "" if there are none.
func (r *Repo) replacements(ctx context.Context) (string, error) {
	refs, known, err := r.replacementsFromFiles()
	if err != nil {
		return "", err
	}
	if r.unknownLayout || !known {
		if refs, err = r.git().Read(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)", replaceRefs); err != nil {
			return "", err
		}
	}
	if refs == "" {
		return "", nil
	}
	c, err := r.allConfig(ctx)
	if err != nil {
		return "", err
	}
	if on, ok := c.Bool("core.usereplacerefs"); ok && !on {
		return "", nil
	}
	return refs, nil
}

// replacementsFromFiles lists the refs that replace commits, one per line. It returns known = false if
// only git can read them.
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
			return "", false, nil //nolint:nilerr // git lists the refs instead
		}
		refs = append(refs, strings.TrimSpace(text)+" "+replaceRefs+e.Name()+" loose")
	}
	slices.Sort(refs)
	return strings.Join(refs, "\n"), true, nil
}

// gap returns why a history is incomplete, "" if it is complete.
func (i historyInputs) gap(h *History) string {
	for _, id := range i.shallow {
		if _, ok := h.Find(id); ok {
			return fmt.Sprintf("this is a shallow clone: what came before %s is not here; to fetch it: git fetch --unshallow", id.Short())
		}
	}
	return ""
}
