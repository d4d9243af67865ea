package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"ken/internal/repo"
)

const (
	maxDocument = 4 << 20 // larger files are not documents
	textStart   = 8 << 10 // a file with a NUL in its beginning is not text
)

// DocumentOptions tunes Documents. The zero value is ready to use.
type DocumentOptions struct {
	Skip       func(path string) bool       // omits a file or a whole directory
	Unreadable func(path string, why error) // is called for a text that could not be read
}

// Documents calls f with every text file among paths and below the directories
// among them, each once, sorted by path, and returns f's first error.
//
// In directories it follows no links, and omits .git and files that are not regular or
// not text. It calls Unreadable for texts that are too large or in UTF-16. A file in paths must
// exist and be readable as text, and may be a link.
func Documents(ctx context.Context, paths []string, opts DocumentOptions, f func(path string, content []byte) error) error {
	skip, left := opts.Skip, opts.Unreadable
	if skip == nil {
		skip = func(string) bool { return false }
	}
	if left == nil {
		left = func(string, error) {}
	}
	named := make(map[string]bool) // all files, and whether paths has them
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", repo.Path(path), cause(err))
		}
		if !info.IsDir() {
			named[filepath.Clean(path)] = true
			continue
		}
		if err := walk(ctx, path, skip, named); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(named)) {
		if ctx.Err() != nil {
			return cancelledError(ctx, "read the documents")
		}
		content, err := document(path, named[path])
		switch {
		case errors.Is(err, errDocument) && !named[path]:
			left(path, err)
		case errors.Is(err, errNoText) && !named[path]:
		case err != nil:
			return fmt.Errorf("read %s: %w", repo.Path(path), cause(err))
		case content == nil:
		default:
			if err := f(path, content); err != nil {
				return err
			}
		}
	}
	return nil
}

// Documents calls f with every text file in paths and in the directories among them, except for files in the state
// directory, which are data. Relative paths are relative to from, and so are the paths that f and left get. It calls left
// for files in directories that could not be read.
func (d *Dir) Documents(ctx context.Context, from string, paths []string, left func(path string, why error), f func(path string, content []byte) error) error {
	inside := func(path string) bool {
		abs, err := filepath.Abs(path)
		return err == nil && abs == d.path
	}
	var full []string
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(from, path)
		}
		full = append(full, path)
	}
	shown := func(path string) string {
		if rel, err := filepath.Rel(from, path); from != "" && err == nil {
			return rel
		}
		return path
	}
	opts := DocumentOptions{Skip: inside, Unreadable: func(path string, why error) { left(shown(path), why) }}
	return Documents(ctx, full, opts, func(path string, content []byte) error { return f(shown(path), content) })
}

var (
	errNoText   = errors.New("it is not text")
	errDocument = errors.New("it cannot be read as a document")
)

// walk adds the regular files below top to found.
func walk(ctx context.Context, top string, skip func(string) bool, found map[string]bool) error {
	return filepath.WalkDir(filepath.Clean(top), func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return cancelledError(ctx, "read the documents")
		case err != nil:
			return fmt.Errorf("read %s: %w", repo.Path(path), cause(err))
		case e.IsDir() && (e.Name() == ".git" || skip(path)):
			return fs.SkipDir
		case found[path], !e.Type().IsRegular(), e.Name() == ".git", skip(path): // .git of a linked worktree is a file
		default:
			found[path] = false
		}
		return nil
	})
}

// document reads a file; nil to omit it.
func document(path string, named bool) ([]byte, error) {
	file, err := openDocument(path, named)
	if err != nil {
		if !named && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errLink)) {
			return nil, nil // replaced since the walk
		}
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && named {
		err = regular(info.Mode())
	}
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, nil
	}
	content, err := io.ReadAll(io.LimitReader(file, maxDocument))
	if err != nil {
		return nil, err
	}
	switch start := content[:min(len(content), textStart)]; {
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		return nil, fmt.Errorf("%w: it is in UTF-16", errDocument)
	case bytes.IndexByte(start, 0) >= 0:
		return nil, errNoText
	case info.Size() > maxDocument:
		return nil, fmt.Errorf("%w: larger than %d MiB", errDocument, maxDocument>>20)
	}
	return content, nil
}
