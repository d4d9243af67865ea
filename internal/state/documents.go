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

// Documents calls f with every text file among paths and below the directories among them,
// each once, sorted by path, and returns f's first error. Relative paths are relative to from,
// and so are the paths that f and left get.
//
// In directories it follows no links, and omits .git, the directory at the absolute path skip,
// and files that are not regular or not text. It calls left for texts that are too large or in
// UTF-16. A file in paths must exist and be readable as text, and may be a link.
func Documents(
	ctx context.Context, from string, paths []string, skip string,
	left func(path string, why error), f func(path string, content []byte) error,
) error {
	named := make(map[string]bool) // all files, and whether paths has them
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(from, path)
		}
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", repo.Path(path), cause(err))
		}
		if !info.IsDir() {
			named[filepath.Clean(path)] = true
		} else if err := walk(ctx, path, skip, named); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(named)) {
		if ctx.Err() != nil {
			return cancelledError(ctx, "read the documents")
		}
		shown := path
		if rel, err := filepath.Rel(from, path); from != "" && err == nil {
			shown = rel
		}
		content, err := document(path, named[path])
		switch {
		case errors.Is(err, errDocument) && !named[path]:
			left(shown, err)
		case errors.Is(err, errNoText) && !named[path]:
		case err != nil:
			return fmt.Errorf("read %s: %w", repo.Path(path), cause(err))
		case content != nil:
			if err := f(shown, content); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	errNoText   = errors.New("it is not text")
	errDocument = errors.New("it cannot be read as a document")
)

// walk adds the regular files below top to found.
func walk(ctx context.Context, top, skip string, found map[string]bool) error {
	return filepath.WalkDir(filepath.Clean(top), func(path string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return cancelledError(ctx, "read the documents")
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", repo.Path(path), cause(err))
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		skipped := e.Name() == ".git" || abs == skip // .git of a linked worktree is a file
		switch {
		case e.IsDir() && skipped:
			return fs.SkipDir
		case e.Type().IsRegular() && !skipped && !found[path]:
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
