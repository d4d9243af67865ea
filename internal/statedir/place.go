package statedir

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

// maxStateDirs is the largest number of directories in a state directory. A directory with
// more is something else, and searching it for repositories would take long.
const maxStateDirs = 2000

// A place is a directory that the configuration or the caller selects as the state
// directory. Commands move its files, so it must not contain anything else.
type place struct {
	dir     string    // absolute, links not resolved
	from    string    // the caller's directory; "" is the current one
	git     *git.Repo // the repository of dir; nil outside a repository
	archive string    // the name of the archive, which is not searched

	configured bool // the configuration names it, not the caller
	own        bool // it is ken's default directory of the work tree
}

// check refuses a directory that contains tracked files, a repository, a home directory, or
// files of the system.
func (p place) check(ctx context.Context) error {
	dir, err := resolved(p.dir)
	if err != nil {
		return fmt.Errorf("find %s: %w", repo.Path(p.dir), err)
	}
	what := ""
	if !p.own { // only ken and git write to ken's own directory
		what, err = p.unsuitable(ctx, dir)
	}
	if what == "" && err == nil {
		what, err = p.tracked(ctx, dir)
	}
	if what == "" || err != nil {
		return err
	}
	refused := &fault.Error{
		Kind: fault.Usage,
		Hint: "pass a directory with only workflow files, such as --dir .ken/state",
		Err:  fmt.Errorf("%s cannot be a state directory: %s", repo.Path(p.dir), what),
	}
	if p.configured {
		refused.Kind = fault.Failed
		refused.Hint = "set state.dir in " + config.Name + " to a directory with only workflow files"
	}
	if p.own {
		refused.Hint = "stop tracking them with: git rm -r --cached " + fault.Quote(":/"+contract.Default().Dir)
	}
	return refused
}

// unsuitable says why a directory is not one of workflow files, "" if it may be.
func (p place) unsuitable(ctx context.Context, dir string) (string, error) {
	for _, path := range []string{p.dir, dir} {
		if strings.EqualFold(filepath.Base(path), filepath.Dir(config.Name)) {
			return "it contains ken's settings", nil
		}
	}
	if filepath.Dir(dir) == dir {
		return "it is the root of a file system", nil
	}
	if p.isSystem(dir) {
		return "it belongs to the system", nil
	}
	if what := home(dir); what != "" {
		return what, nil
	}
	return p.repository(ctx, dir)
}

// isKnown reports whether the directory is meant for workflow files: ken's own one, the
// configured one, or that of devt, which has its name.
func (p place) isKnown(root, configured string) (bool, error) {
	if p.own || p.configured {
		return true, nil
	}
	dir, err := resolved(p.dir)
	if err != nil {
		return false, fmt.Errorf("find %s: %w", repo.Path(p.dir), err)
	}
	if contract.IsDevt(filepath.ToSlash(dir)) {
		return true, nil
	}
	return p.is(root, configured)
}

// is reports whether the directory is rel in the work tree at root, and not behind a link.
func (p place) is(root, rel string) (bool, error) {
	if root == "" || p.dir != filepath.Join(root, rel) {
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
	return dir == filepath.Join(top, rel), nil
}

// resolved resolves the links in the path of a directory that need not exist.
func resolved(dir string) (string, error) {
	there, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		above, err := resolved(filepath.Dir(dir))
		return filepath.Join(above, filepath.Base(dir)), err
	}
	return there, err
}

// Directories of the system. Directories below systemTrees belong to it too, unless they are
// in a work tree or in the directory for temporary files.
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

func (p place) isSystem(dir string) bool {
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
	if isOneOf(dir, append(dirs, os.TempDir())) && !isOneOf(dir, homes()) {
		return true
	}
	temporary, err := resolved(os.TempDir())
	if err != nil || p.git != nil || within(temporary, dir) {
		return false
	}
	return slices.ContainsFunc(trees, func(tree string) bool { return within(tree, dir) })
}

// home says which home directory dir is or contains.
func home(dir string) string {
	all := homes()
	if isOneOf(dir, all) {
		return "it is a home directory"
	}
	for _, home := range all {
		if there, err := resolved(home); err == nil && there != dir && within(dir, there) && exists(there) {
			return "it contains the home directory " + repo.Path(home).String()
		}
	}
	return ""
}

// homes lists the home directories of the caller and of the other users. Some users have /
// as their home, which is refused already.
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
	return append(out, "/root", "/var/root") // for systems without a list of users
}

// repository finds a repository that dir is, belongs to, or contains.
func (p place) repository(ctx context.Context, dir string) (string, error) {
	for _, path := range []string{p.dir, dir} {
		for element := range strings.SplitSeq(filepath.ToSlash(path), "/") {
			if strings.EqualFold(element, ".git") {
				return "it belongs to git", nil
			}
		}
	}
	// Stop at the root of a work tree, which may be inside a bare repository.
	for at := dir; filepath.Dir(at) != at && !exists(filepath.Join(at, ".git")); at = filepath.Dir(at) {
		if git.IsGitDir(at) {
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
		return "it contains the repository " + repo.Path(root).String(), nil
	}
	return p.repositoryBelow(ctx, dir)
}

// callersRoot returns the root of the caller's repository, "" outside a repository.
func (p place) callersRoot() (string, error) {
	from, err := filepath.Abs(p.from)
	if err != nil {
		return "", err
	}
	at, err := resolved(from)
	if err != nil {
		return "", err
	}
	for ; filepath.Dir(at) != at; at = filepath.Dir(at) {
		if exists(filepath.Join(at, ".git")) || git.IsGitDir(at) {
			return at, nil
		}
	}
	return "", nil
}

// repositoryBelow searches the directories in dir, except for the archive.
func (p place) repositoryBelow(ctx context.Context, dir string) (string, error) {
	queue := []string{dir}
	for seen := 0; seen < len(queue); seen++ {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if seen >= maxStateDirs {
			return fmt.Sprintf("it contains more than %d directories", maxStateDirs), nil
		}
		at := queue[seen]
		below, err := directoriesIn(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil && at == dir: // the command itself reports it
			return "", nil //nolint:nilerr // the command cannot move anything either
		case err != nil:
			return "it contains an unreadable directory: " + repo.Path(at).String(), nil
		}
		if at != dir && (exists(filepath.Join(at, ".git")) || git.IsGitDir(at)) {
			return "it contains the repository " + repo.Path(at).String(), nil
		}
		for _, name := range below {
			if at != dir || name != p.archive {
				queue = append(queue, filepath.Join(at, name))
			}
		}
	}
	return "", nil
}

// directoriesIn lists the directories in dir, which may contain very many files.
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

// tracked finds a tracked file in dir.
func (p place) tracked(ctx context.Context, dir string) (string, error) {
	if p.git == nil {
		return "", nil
	}
	root, err := resolved(p.git.Root())
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "", nil //nolint:nilerr // dir is outside the work tree
	}
	s, err := p.git.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	for _, e := range s.Index.Entries {
		if e.Path.Under(repo.Path(filepath.ToSlash(rel))) {
			return "git tracks files in it, such as " + e.Path.String(), nil
		}
	}
	return "", nil
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// isOneOf reports whether dir is one of others, by name or by identity.
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

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
