package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"ken/internal/config"
	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/repo"
)

// maxStateDirs is how many directories a state directory may hold. A directory with more is
// something else, and looking for repositories in it would take long.
const maxStateDirs = 2000

// A statePlace is a directory that settings or a caller name as the state directory. A sweep of
// it moves everything in it, so it must not hold anything else.
type statePlace struct {
	dir     string    // absolute, as it was named
	from    string    // the caller's directory; "" is the current one
	git     *git.Repo // that dir lies in; nil outside of any
	archive string    // the name of the archive, which may hold anything

	configured bool // settings name it, not the caller
	own        bool // it is ken's own directory in a work tree
}

// check refuses a directory that holds files of a repository, a repository, a home, or the
// system's own files.
func (p statePlace) check(ctx context.Context) error {
	dir, err := resolved(p.dir)
	if err != nil {
		return fmt.Errorf("find %s: %w", repo.Path(p.dir), err)
	}
	looks := []func(context.Context, string) (string, error){p.settings, p.system, p.home, p.repository, p.tracked}
	if p.own {
		looks = looks[len(looks)-1:]
	}
	for _, look := range looks {
		what, err := look(ctx, dir)
		if err != nil {
			return err
		}
		if what == "" {
			continue
		}
		refused := &fault.Error{
			Kind: fault.Usage,
			Hint: "name the directory that holds the workflow's files, such as .ken/state",
			Err:  fmt.Errorf("%s is no state directory: %s", repo.Path(p.dir), what),
		}
		if p.configured {
			refused.Kind = fault.Failed
			refused.Hint = "set state.dir in " + config.Name + " to a directory that holds nothing but the workflow's files"
		}
		if p.own {
			dir := contract.Default().Dir
			refused.Hint = fmt.Sprintf("take them out of git with: git rm -r --cached %s && echo '%s/' >> .gitignore", dir, dir)
		}
		return refused
	}
	return nil
}

// isDefault reports whether the directory is ken's own in the work tree at root, and no link
// leads away from it.
func (p statePlace) isDefault(root string) (bool, error) {
	if p.dir != filepath.Join(root, contract.Default().Dir) {
		return false, nil
	}
	top, err := resolved(root)
	if err != nil {
		return false, fmt.Errorf("find %s: %w", repo.Path(root), err)
	}
	dir, err := resolved(p.dir)
	if err != nil {
		return false, fmt.Errorf("find %s: %w", repo.Path(p.dir), err)
	}
	return dir == filepath.Join(top, contract.Default().Dir), nil
}

// resolved follows the links on the way to a directory that need not exist.
func resolved(dir string) (string, error) {
	there, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		above, err := resolved(filepath.Dir(dir))
		return filepath.Join(above, filepath.Base(dir)), err
	}
	return there, err
}

func (p statePlace) settings(_ context.Context, dir string) (string, error) {
	for _, path := range []string{p.dir, dir} {
		if strings.EqualFold(filepath.Base(path), filepath.Dir(config.Name)) {
			return "it holds ken's settings", nil
		}
	}
	return "", nil
}

// Directories of the system. Whatever lies below the first ones is the system's too, unless it
// is part of a work tree or of the directory for temporary files.
var (
	systemTrees = []string{
		"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sbin", "/sys", "/usr",
		"/System", "/Library", "/Applications",
	}
	systemDirs = []string{
		"/home", "/media", "/mnt", "/opt", "/root", "/run", "/srv", "/tmp", "/var", "/var/cache", "/var/lib", "/var/log", "/var/spool", "/var/tmp",
		"/Users", "/Users/Shared", "/Volumes", "/private", "/private/etc", "/private/tmp", "/private/var",
	}
)

func (p statePlace) system(_ context.Context, dir string) (string, error) {
	if filepath.Dir(dir) == dir {
		return "it is the root of a file system", nil
	}
	trees, dirs := systemTrees, slices.Concat(systemTrees, systemDirs)
	if runtime.GOOS == "windows" {
		trees = nil
		for _, name := range []string{"SystemRoot", "ProgramFiles", "ProgramFiles(x86)", "ProgramData"} {
			if at := os.Getenv(name); at != "" {
				trees = append(trees, at)
			}
		}
		dirs = append(slices.Clone(trees), filepath.VolumeName(dir)+`\Users`)
	}
	const what = "it belongs to the system"
	if isOneOf(dir, append(dirs, os.TempDir())) && !isOneOf(dir, homes()) {
		return what, nil
	}
	temporary, err := resolved(os.TempDir())
	if err != nil || p.git != nil || within(temporary, dir) {
		return "", nil //nolint:nilerr // without a directory for temporary files, there is no exception for it
	}
	for _, tree := range trees {
		if within(tree, dir) {
			return what, nil
		}
	}
	return "", nil
}

func (p statePlace) home(_ context.Context, dir string) (string, error) {
	all := homes()
	if isOneOf(dir, all) {
		return "it is a home directory", nil
	}
	for _, home := range all {
		if there, err := resolved(home); err == nil && there != dir && within(dir, there) && exists(there) {
			return "it holds the home directory " + repo.Path(home).String(), nil
		}
	}
	return "", nil
}

// homes lists the home directories of the caller and, where the system keeps a list, of its
// other users. A system may give / to users without a home; that is refused already.
func homes() []string {
	var out []string
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		out = append(out, home)
	}
	users, _ := os.ReadFile("/etc/passwd")
	for line := range strings.Lines(string(users)) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) < 7 || !filepath.IsAbs(fields[5]) || fields[5] == "/" {
			continue
		}
		out = append(out, fields[5])
	}
	parents := []string{"/home", "/Users"}
	if runtime.GOOS == "windows" && len(out) > 0 {
		parents = []string{filepath.Dir(out[0])}
	}
	for _, parent := range parents {
		entries, _ := os.ReadDir(parent)
		for _, e := range entries {
			out = append(out, filepath.Join(parent, e.Name()))
		}
	}
	return append(out, "/root", "/var/root") // where there is no list
}

// repository finds a repository that dir is, is part of the insides of, or holds.
func (p statePlace) repository(ctx context.Context, dir string) (string, error) {
	for _, path := range []string{p.dir, dir} {
		for element := range strings.SplitSeq(filepath.ToSlash(path), "/") {
			if strings.EqualFold(element, ".git") {
				return "it belongs to git", nil
			}
		}
	}
	// A work tree may lie inside of a bare repository, so what is above its root does not matter.
	for at := dir; filepath.Dir(at) != at && !exists(filepath.Join(at, ".git")); at = filepath.Dir(at) {
		if isBare(at) {
			return "it belongs to the repository " + repo.Path(at).String(), nil
		}
	}
	if exists(filepath.Join(dir, ".git")) {
		return "it is the root of a work tree", nil
	}
	root, err := p.callersRoot()
	if err != nil {
		return "", err
	}
	if root != "" && within(dir, root) {
		return "it holds the repository " + repo.Path(root).String(), nil
	}
	return p.repositoryBelow(ctx, dir)
}

// callersRoot is the root of the repository that the caller is in, "" outside of any.
func (p statePlace) callersRoot() (string, error) {
	from, err := filepath.Abs(p.from)
	if err != nil {
		return "", err
	}
	at, err := resolved(from)
	if err != nil {
		return "", err
	}
	for ; filepath.Dir(at) != at; at = filepath.Dir(at) {
		if exists(filepath.Join(at, ".git")) || isBare(at) {
			return at, nil
		}
	}
	return "", nil
}

// repositoryBelow looks through the directories in dir, except for the archive.
func (p statePlace) repositoryBelow(ctx context.Context, dir string) (string, error) {
	queue := []string{dir}
	for seen := 0; seen < len(queue); seen++ {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if seen >= maxStateDirs {
			return fmt.Sprintf("it holds more than %d directories", maxStateDirs), nil
		}
		at := queue[seen]
		below, err := directoriesIn(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil && at == dir: // the verb itself says so
			return "", nil //nolint:nilerr // nothing can be moved out of it either
		case err != nil:
			return "it holds a directory that cannot be read: " + repo.Path(at).String(), nil
		}
		if at != dir && (exists(filepath.Join(at, ".git")) || isBare(at)) {
			return "it holds the repository " + repo.Path(at).String(), nil
		}
		for _, name := range below {
			if at != dir || name != p.archive {
				queue = append(queue, filepath.Join(at, name))
			}
		}
	}
	return "", nil
}

// directoriesIn lists the directories in one, which may hold very many files.
func directoriesIn(dir string) (names []string, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(1000)
		for _, e := range entries {
			if e.IsDir() {
				names = append(names, e.Name())
			}
		}
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// tracked finds a file of git's index in dir.
func (p statePlace) tracked(ctx context.Context, dir string) (string, error) {
	if p.git == nil {
		return "", nil
	}
	root, err := resolved(p.git.Root())
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "", nil //nolint:nilerr // it lies elsewhere
	}
	s, err := p.git.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	for _, e := range s.Index.Entries {
		if e.Path.Under(repo.Path(filepath.ToSlash(rel))) {
			return "it holds files that git tracks, such as " + e.Path.String(), nil
		}
	}
	return "", nil
}

// isBare reports a git directory by what git itself looks for.
func isBare(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs"))
}

// within reports whether path is dir or lies below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// isOneOf reports whether dir is one of some directories, by whatever name.
func isOneOf(dir string, others []string) bool {
	info, err := os.Stat(dir)
	for _, other := range others {
		if dir == filepath.Clean(other) {
			return true
		}
		if err != nil {
			continue
		}
		if there, err := os.Stat(other); err == nil && os.SameFile(info, there) {
			return true
		}
	}
	return false
}
