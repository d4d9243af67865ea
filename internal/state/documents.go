package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"ken/internal/repo"
)

const (
	maxDocument = 4 << 20 // larger files are data, not documents
	textStart   = 8 << 10 // a NUL in here and it is no text
)

// Documents calls f with every text file among paths and below the directories
// among them, each once, sorted by path, and returns f's first error.
//
// A directory is walked without following links and without .git; of its files,
// those are left out that are not regular, larger than 4 MiB, or not text, and
// whatever skip says, directories too. A path that is named itself must be there,
// may be behind a link, and is an error if it is too large to be read; one that is
// no text is still left out.
func Documents(ctx context.Context, paths []string, skip func(path string) bool, f func(path string, content []byte) error) error {
	if skip == nil {
		skip = func(string) bool { return false }
	}
	named := make(map[string]bool) // every path found, and whether it was named
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
	found := make([]string, 0, len(named))
	for path := range named {
		found = append(found, path)
	}
	slices.Sort(found)
	for _, path := range found {
		if ctx.Err() != nil {
			return stopped(ctx, "read the documents")
		}
		content, err := document(path, named[path])
		switch {
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

// walk adds the regular files below top to found.
func walk(ctx context.Context, top string, skip func(string) bool, found map[string]bool) error {
	return filepath.WalkDir(filepath.Clean(top), func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return stopped(ctx, "read the documents")
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

// document reads a file: nil if it is to be left out.
func document(path string, named bool) ([]byte, error) {
	file, err := openDocument(path, named)
	if err != nil {
		if !named && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errLink)) {
			return nil, nil // it was replaced since the walk
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
	case info.Size() > maxDocument && named:
		return nil, fmt.Errorf("larger than %d MiB", maxDocument>>20)
	case info.Size() > maxDocument:
		return nil, nil
	}
	content := make([]byte, 0, max(info.Size(), 1))
	buf := bytes.NewBuffer(content)
	if _, err := io.Copy(buf, io.LimitReader(file, maxDocument)); err != nil {
		return nil, err
	}
	content = buf.Bytes()
	if bytes.IndexByte(content[:min(len(content), textStart)], 0) >= 0 {
		return nil, nil
	}
	return content, nil
}
