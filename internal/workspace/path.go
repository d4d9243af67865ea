package workspace

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// Path resolves an argument as git does: relative to the directory in which the command was run.
func (w *Workspace) Path(arg string) (repo.Path, error) {
	return w.resolve(arg, string(w.Git.Prefix()))
}

// RootPath resolves a path that is relative to the root.
func (w *Workspace) RootPath(arg string) (repo.Path, error) { return w.resolve(arg, "") }

func (w *Workspace) resolve(arg, prefix string) (repo.Path, error) {
	name := arg
	if p, ok := repo.Unquote(arg); ok {
		name = string(p)
	}
	slashed := filepath.ToSlash(name)
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(w.Git.Root(), realDir(name))
		if err != nil {
			return "", outside(arg)
		}
		slashed = filepath.ToSlash(rel)
	} else {
		slashed = path.Join(prefix, slashed)
	}
	clean := path.Clean(slashed)
	switch {
	case arg == "":
		return "", &fault.Error{Kind: fault.Usage, Err: errors.New("the path is empty")}
	case clean == ".." || strings.HasPrefix(clean, "../"):
		return "", outside(arg)
	case clean == ".":
		return "", nil
	default:
		return repo.Path(clean), nil
	}
}

// realDir resolves the symbolic links above an absolute name. The name itself may be a link that git tracks.
func realDir(name string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, filepath.Base(name))
}

func outside(arg string) error {
	return &fault.Error{
		Kind: fault.Usage,
		Hint: "name a file inside the repository, or: ken -C DIR …",
		Err:  fmt.Errorf("outside the repository: %s", arg),
	}
}
