package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ken/internal/fault"
	"ken/internal/git/command"
	"ken/internal/git/config"
	"ken/internal/repo"
)

// Open finds the repository of the work tree that contains dir, as git does: it walks up to the first .git. It starts
// no process unless core.worktree is set or another user seems to own the repository.
//
// Like git, Open refuses a repository of another user before it reads any other file of it.
//
// Outside of a repository the error is a [fault.NoRepo]. A bare repository, a directory inside a git directory, and a
// .git that leads nowhere are errors with a hint.
func Open(ctx context.Context, dir string) (*Repo, error) {
	if ctx.Err() != nil {
		return nil, command.Stopped(ctx, "open "+dir)
	}
	start, err := canonical(dir)
	if err != nil {
		return nil, err
	}
	at, gitDir, err := discover(ctx, start)
	if err != nil {
		return nil, err
	}
	if gitDir == "" {
		return nil, &fault.Error{
			Kind: fault.NoRepo,
			Hint: "run ken inside a repository, or: ken -C DIR …",
			Err:  fmt.Errorf("not a git repository: %s", dir),
		}
	}
	foreign, err := checkOwner(ctx, at, gitDir)
	if err != nil {
		return nil, err
	}
	r, err := open(at, gitDir)
	if err != nil {
		return nil, err
	}
	r.foreign = foreign
	if err := r.findWorkTree(ctx); err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(r.root, start); err == nil && filepath.IsLocal(rel) && rel != "." {
		r.prefix = repo.Path(filepath.ToSlash(rel))
	}
	return r, nil
}

// ExistingDir returns dir or its nearest existing parent. [Open] needs a directory that exists.
func ExistingDir(dir string) string {
	for {
		info, err := os.Stat(dir)
		if above := filepath.Dir(dir); (err != nil || !info.IsDir()) && above != dir {
			dir = above
			continue
		}
		return dir
	}
}

// canonical returns dir as an absolute path without symbolic links.
func canonical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("open %s: %w", dir, cause(err))}
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("open %s: %w", dir, cause(err))}
	}
	if !info.IsDir() {
		return "", &fault.Error{
			Kind: fault.Usage,
			Hint: "name its directory: ken -C " + fault.Quote(filepath.Dir(dir)) + " …",
			Err:  fmt.Errorf("open %s: not a directory", dir),
		}
	}
	return abs, nil
}

// cause removes the path from a [fs.PathError], since the message already has it.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// discover walks up from start to the first directory with a git directory. gitDir is "" if there is none.
func discover(ctx context.Context, start string) (at, gitDir string, err error) {
	ceilings := filepath.SplitList(os.Getenv("GIT_CEILING_DIRECTORIES"))
	first, err := os.Stat(start)
	if err != nil {
		return "", "", fmt.Errorf("open %s: %w", start, cause(err))
	}
	across, _ := config.ParseBool(os.Getenv("GIT_DISCOVERY_ACROSS_FILESYSTEM"))
	for at = start; ; {
		gitDir, err := gitDirIn(at)
		if err != nil || gitDir != "" {
			return at, gitDir, err
		}
		if IsGitDir(at) {
			return "", "", insideGitDir(ctx, start, at)
		}
		up := filepath.Dir(at)
		if up == at || stopsAt(ceilings, up) {
			return "", "", nil
		}
		// Like git, stop at the boundary of the file system.
		if info, err := os.Stat(up); err != nil || !across && !sameDevice(first, info) {
			return "", "", nil
		}
		at = up
	}
}

func stopsAt(ceilings []string, dir string) bool {
	for _, c := range ceilings {
		if c == "" || !filepath.IsAbs(c) {
			continue
		}
		if real, err := filepath.EvalSymlinks(c); err == nil {
			c = real
		}
		if filepath.Clean(c) == dir {
			return true
		}
	}
	return false
}

// gitDirIn returns the git directory that dir's .git is or points to, "" if dir has no .git.
func gitDirIn(dir string) (string, error) {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("look for a repository at %s: %w", dotGit, cause(err))
	case info.IsDir():
		if !IsGitDir(dotGit) {
			// An empty .git is not a repository, and git looks further up. An unreadable .git is an
			// error.
			for _, name := range []string{".", "HEAD", "objects", "refs"} {
				if err := denied(filepath.Join(dotGit, name)); err != nil {
					return "", fmt.Errorf("read git directory %s: %w", dotGit, err)
				}
			}
			return "", nil
		}
		real, err := filepath.EvalSymlinks(dotGit)
		if err != nil {
			return "", fmt.Errorf("read git directory %s: %w", dotGit, cause(err))
		}
		return real, nil
	}
	return followPointer(dotGit)
}

// denied returns the error if ken has no permission to open the path, nil otherwise.
func denied(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrPermission):
		return err
	}
	return nil
}

// followPointer returns the git directory that a .git file names.
func followPointer(file string) (string, error) {
	text, err := readSmall(file)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, cause(err))
	}
	target, ok := strings.CutPrefix(text, "gitdir: ")
	target = strings.TrimRight(target, "\r\n")
	if !ok || target == "" {
		return "", &fault.Error{
			Hint: "look at it with: cat " + fault.Quote(file),
			Err:  fmt.Errorf("read %s: it does not name a git directory", file),
		}
	}
	target = filepath.FromSlash(target)
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(file), target)
	}
	real, err := filepath.EvalSymlinks(target)
	if err != nil || !IsGitDir(real) {
		return "", &fault.Error{
			Hint: "if the repository or the worktree was moved, run in the main worktree: git worktree repair " + fault.Quote(filepath.Dir(file)),
			Err:  fmt.Errorf("%s points to %s, which is not a git directory", file, target),
		}
	}
	return real, nil
}

// IsGitDir reports whether git takes dir for a git directory: it has a valid HEAD, and objects and refs are in dir or in
// the common directory.
func IsGitDir(dir string) bool {
	if !looksLikeHead(filepath.Join(dir, "HEAD")) {
		return false
	}
	common, err := commonDir(dir)
	if err != nil {
		return false
	}
	return isDir(filepath.Join(common, "objects")) && isDir(filepath.Join(common, "refs"))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func looksLikeHead(path string) bool {
	if target, err := os.Readlink(path); err == nil {
		return strings.HasPrefix(filepath.ToSlash(target), "refs/")
	}
	text, err := readSmall(path)
	if err != nil {
		return false
	}
	if ref, ok := strings.CutPrefix(text, "ref:"); ok {
		return strings.HasPrefix(strings.TrimLeft(ref, " \t\r\n"), "refs/")
	}
	_, sha1 := idAtStart(text, repo.SHA1)
	_, sha256 := idAtStart(text, repo.SHA256)
	return sha1 || sha256
}

// commonDir returns the directory with the refs, objects and config of a git directory: itself, or the one that its
// commondir file names.
func commonDir(gitDir string) (string, error) {
	file := filepath.Join(gitDir, "commondir")
	text, err := readSmall(file)
	if errors.Is(err, fs.ErrNotExist) {
		return gitDir, nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, cause(err))
	}
	dir := filepath.FromSlash(strings.TrimRight(text, "\r\n"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(gitDir, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("%s points to %s: %w", file, dir, cause(err))
	}
	return real, nil
}

// insideGitDir returns the error for a start directory without a work tree: gitDir is bare, or start is inside of it.
func insideGitDir(ctx context.Context, start, gitDir string) error {
	if _, err := checkOwner(ctx, gitDir, gitDir); err != nil {
		return err
	}
	r, err := open(gitDir, gitDir)
	if err == nil && filepath.Base(gitDir) != ".git" && r.gitDir == r.common {
		if bare, ok := r.own.Bool("core.bare"); bare || !ok {
			return bareError(gitDir)
		}
	}
	hint := "run ken in the work tree"
	if filepath.Base(gitDir) == ".git" {
		hint += ": ken -C " + fault.Quote(filepath.Dir(gitDir)) + " …"
	}
	return &fault.Error{
		Hint: hint,
		Err:  fmt.Errorf("%s is inside the git directory %s", start, gitDir),
	}
}

// A BareError is the cause of the error of Open for a bare repository.
type BareError struct{ GitDir string }

func (e *BareError) Error() string {
	return e.GitDir + " is a bare repository: it has no work tree"
}

func bareError(gitDir string) error {
	return &fault.Error{
		Hint: "add a work tree and run ken there: git -C " + fault.Quote(gitDir) + " worktree add ../work (about commits, these do: ken brief --at HEAD, ken review A..B)",
		Err:  &BareError{gitDir},
	}
}

// OpenAllowBare is Open for callers that only read commits. It also opens a bare repository; the root is then the git
// directory.
func OpenAllowBare(ctx context.Context, dir string) (r *Repo, bare bool, err error) {
	r, err = Open(ctx, dir)
	if e, ok := errors.AsType[*BareError](err); ok {
		r, err = openBare(ctx, e.GitDir)
		return r, true, err
	}
	return r, false, err
}

// openBare opens a bare repository if git allows it (safe.bareRepository).
func openBare(ctx context.Context, gitDir string) (*Repo, error) {
	if err := askWhetherSafe(ctx, gitDir); err != nil {
		return nil, err
	}
	r, err := open(gitDir, gitDir)
	if err != nil {
		return nil, err
	}
	r.foreign = !ownedByUser(gitDir)
	return r, nil
}

// open reads the config files of the repository at root.
func open(root, gitDir string) (*Repo, error) {
	common, err := commonDir(gitDir)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{common, gitDir} {
		if err := checkOwnFiles(dir); err != nil {
			return nil, err
		}
	}
	r := &Repo{root: root, gitDir: gitDir, common: common, trees: map[repo.ID]repo.ID{}}
	return r, r.readOwnConfig()
}

// findWorkTree sets the root if core.worktree is set. It returns an error for a bare repository.
func (r *Repo) findWorkTree(ctx context.Context) error {
	// In a linked worktree core.worktree and core.bare do not count, unless each worktree has its own config
	// file.
	perWorktree, _ := r.own.Bool("extensions.worktreeconfig")
	if r.gitDir != r.common && !perWorktree {
		return nil
	}
	tree, moved := r.own.Last("core.worktree")
	if bare, _ := r.own.Bool("core.bare"); bare && !moved {
		return bareError(r.gitDir)
	}
	if !moved {
		return nil
	}
	tree = filepath.FromSlash(tree)
	if !filepath.IsAbs(tree) {
		tree = filepath.Join(r.gitDir, tree)
	}
	if real, err := filepath.EvalSymlinks(tree); err == nil && real == r.root {
		return nil // core.worktree of a submodule names the root that discover found
	}
	// Git checks the owner here. Later calls name both directories, and then git no longer checks it.
	top, err := r.git().Read(ctx, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	root, err := filepath.EvalSymlinks(strings.TrimSuffix(top, "\n"))
	if err != nil {
		return fmt.Errorf("open work tree of %s: %w", r.gitDir, err)
	}
	r.root, r.detached = root, true
	return nil
}
