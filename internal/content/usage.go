package content

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ken/internal/repo"
)

// maxUsageEntries limits the entries that Usage counts.
const maxUsageEntries = 100_000

// Names lists the names in a directory, sorted; "" is the root. The list is empty if the
// directory does not exist.
func (t *Tree) Names(_ context.Context, dir repo.Path) ([]string, error) {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return nil, fmt.Errorf("look through the work tree: %w", err)
	}
	defer root.Close()
	at := string(dir)
	if at == "" {
		at = "."
	}
	switch info, err := root.Lstat(at); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look through the work tree: %w", err)
	case !info.IsDir():
		return nil, nil
	}
	entries, err := list(root, at)
	if err != nil {
		return nil, fmt.Errorf("look through the work tree: %w", err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// Usage sums up the files at and below a path. Links are not followed. The result tells if a directory could
// not be read.
func (t *Tree) Usage(ctx context.Context, p repo.Path) (repo.DiskUsage, error) {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return repo.DiskUsage{}, fmt.Errorf("look through the work tree: %w", err)
	}
	defer root.Close()
	var w repo.DiskUsage
	var own fs.FileInfo // the directory itself, used if it contains no file
	ahead := []string{string(p)}
	for seen := 0; len(ahead) > 0; seen++ {
		if err := ctx.Err(); err != nil {
			return repo.DiskUsage{}, err
		}
		if seen == maxUsageEntries {
			w.Missed = fmt.Sprintf("more than %d files", maxUsageEntries)
			break
		}
		at := ahead[len(ahead)-1]
		ahead = ahead[:len(ahead)-1]
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // missing in the work tree, or removed just now
		case err != nil:
			w.Missed = reason(err)
			continue
		case !info.IsDir():
			w.Files++
			w.Bytes += info.Size()
			if info.ModTime().After(w.Touched) {
				w.Touched = info.ModTime()
			}
			continue
		}
		if own == nil {
			own, w.Dir = info, true
		}
		entries, err := list(root, at)
		if err != nil {
			w.Missed = reason(err)
		}
		for _, e := range entries {
			ahead = append(ahead, at+"/"+e.Name())
		}
	}
	if w.Files == 0 && own != nil {
		w.Touched = own.ModTime()
	}
	return w, nil
}

// list returns the entries of a directory, sorted by name. With an error, it returns the entries
// that were read before.
func list(root *os.Root, at string) ([]fs.DirEntry, error) {
	d, err := root.Open(filepath.FromSlash(at))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// reason returns the text of an error without the path.
func reason(err error) string {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err.Error()
	}
	return err.Error()
}
