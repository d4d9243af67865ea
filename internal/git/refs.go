package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ken/internal/fault"
	"ken/internal/repo"
)

var (
	// errUnusual says that only git understands a file. The package does not return it to callers.
	errUnusual = errors.New("unusual layout")
	errNoRef   = errors.New("no such ref")
)

// maxSymrefs is the number of symbolic refs that git follows.
const maxSymrefs = 5

const maxPackedRefs = 1 << 30

// ResolveRef returns the object of a full ref name; ok is false if the ref does not exist. A broken ref is an
// error.
func (r *Repo) ResolveRef(ctx context.Context, name string) (id repo.ID, ok bool, err error) {
	if !validRef(name) {
		return repo.ID{}, false, nil
	}
	if !r.unknownLayout {
		id, _, err = r.follow(name)
		switch {
		case err == nil:
			return id, true, nil
		case errors.Is(err, errNoRef):
			return repo.ID{}, false, nil
		case !errors.Is(err, errUnusual):
			return repo.ID{}, false, err
		}
	}
	id, ok, err = r.resolveByGit(ctx, name)
	if err == nil && !ok && r.looseExists(name) {
		err = r.brokenRef(name)
	}
	return id, ok, err
}

// follow resolves a ref from its files. It also returns the name of the last ref in the chain, even with
// errNoRef.
func (r *Repo) follow(name string) (repo.ID, string, error) {
	for range maxSymrefs + 1 {
		text, err := r.loose(name)
		if errors.Is(err, errNoRef) {
			id, err := r.packed(name)
			return id, name, err
		}
		if err != nil {
			return repo.ID{}, name, err
		}
		target, symbolic := strings.CutPrefix(text, "ref:")
		if !symbolic {
			id, ok := idAtStart(text, r.format)
			if !ok || id.IsZero() {
				return repo.ID{}, name, errUnusual
			}
			return id, name, nil
		}
		name = strings.Trim(target, " \t\r\n")
		if !strings.HasPrefix(name, "refs/") || !validRef(name) {
			return repo.ID{}, name, errUnusual
		}
	}
	return repo.ID{}, name, errUnusual
}

// loose returns the text of a loose ref, errNoRef if there is none.
func (r *Repo) loose(name string) (string, error) {
	file := r.refFile(name)
	// Old versions of git made HEAD a symbolic link to its branch.
	if info, err := os.Lstat(file); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", errUnusual
	}
	text, err := readSmall(file)
	switch {
	case err == nil:
		return text, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, errNotRegular) && isDir(file):
		return "", errNoRef
	case errors.Is(err, errNotRegular):
		return "", errUnusual
	}
	return "", fmt.Errorf("read ref %s: %w", name, err)
}

// refFile returns the file of a loose ref. Refs of a single worktree are in its git directory, others in the
// common directory.
func (r *Repo) refFile(name string) string {
	dir := r.common
	if !strings.HasPrefix(name, "refs/") || strings.HasPrefix(name, "refs/bisect/") ||
		strings.HasPrefix(name, "refs/worktree/") || strings.HasPrefix(name, "refs/rewritten/") {
		dir = r.gitDir
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

func (r *Repo) looseExists(name string) bool {
	info, err := os.Lstat(r.refFile(name))
	return err == nil && !info.IsDir()
}

// packed finds a ref in packed-refs. Git writes that file before it deletes loose refs, so a ref that was just
// packed is in it.
func (r *Repo) packed(name string) (repo.ID, error) {
	b, _, err := readFile(filepath.Join(r.common, "packed-refs"), maxPackedRefs)
	if errors.Is(err, fs.ErrNotExist) {
		return repo.ID{}, errNoRef
	}
	if err != nil {
		return repo.ID{}, fmt.Errorf("read packed refs: %w", err)
	}
	return findPacked(string(b), name, r.format)
}

// findPacked finds a ref in the text of packed-refs: lines of id, space, name.
func findPacked(text, name string, f repo.ObjectFormat) (repo.ID, error) {
	want := " " + name + "\n"
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for at := 0; ; {
		i := strings.Index(text[at:], want)
		if i < 0 {
			return repo.ID{}, errNoRef
		}
		i += at
		// A comment can contain the name, too. A ref has exactly an id before its name.
		start := strings.LastIndexByte(text[:i], '\n') + 1
		if i-start == 2*f.Size() {
			if id, ok := idAtStart(text[start:], f); ok && !id.IsZero() {
				return id, nil
			}
			return repo.ID{}, errUnusual
		}
		at = i + len(want) - 1
	}
}

// resolveByGit resolves a ref by running git.
func (r *Repo) resolveByGit(ctx context.Context, name string) (repo.ID, bool, error) {
	out, found, err := r.git().Probe(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
	if err != nil || !found {
		return repo.ID{}, false, err
	}
	id, err := repo.ParseID(strings.TrimSuffix(out, "\n"))
	if err != nil {
		return repo.ID{}, false, fmt.Errorf("git rev-parse: %w", err)
	}
	return id, !id.IsZero(), nil
}

func (r *Repo) brokenRef(name string) error {
	return &fault.Error{
		Hint: "see what git says of it: git -C " + fault.Quote(r.root) + " fsck",
		Err:  fmt.Errorf("read ref %s: it is broken", name),
	}
}

// idAtStart parses the id at the start of a text. Like git, it accepts only white space after the id.
func idAtStart(text string, f repo.ObjectFormat) (repo.ID, bool) {
	n := 2 * f.Size()
	if len(text) < n || len(text) > n && strings.IndexByte(" \t\r\n", text[n]) < 0 {
		return repo.ID{}, false
	}
	id, err := repo.ParseID(text[:n])
	return id, err == nil
}

// validRef reports whether git allows the name of a ref. Invalid names are never used as file names.
func validRef(name string) bool {
	if name == "" || strings.HasSuffix(name, ".") || strings.Contains(name, "@{") || name == "@" {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") || strings.Contains(part, "..") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r)
	})
}
