package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// outlines returns a line for each file of the work trees that has an outline: a digest of the outline, and the name
// of the file. The lines of two versions of ken are compared with diff.
func (st *study) outlines(ctx context.Context) (string, error) {
	var out strings.Builder
	for _, dir := range st.repos {
		err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.Name() == ".git" {
				return fs.SkipDir
			}
			path, err := filepath.Rel(dir, name)
			if err != nil {
				return err
			}
			hasOutline := entry.Type().IsRegular() && outline.MayHaveOutline(repo.Path(filepath.ToSlash(path)))
			if !hasOutline {
				return ctx.Err()
			}
			sum, err := outlineSum(name, repo.Path(filepath.ToSlash(path)))
			fmt.Fprintf(&out, "%s %q\n", sum, filepath.Base(dir)+"/"+filepath.ToSlash(path))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

// outlineSum returns the digest of the outline of a file, "none" if it has none.
func outlineSum(name string, path repo.Path) (string, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	read, err := outline.Parse(path, content)
	if err != nil {
		return "none", nil //nolint:nilerr // a file that cannot be parsed has no outline
	}
	text, err := json.Marshal(read)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(text)), nil
}
