package install

import (
	"fmt"
	"path"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A HooksDir is a directory of git hooks.
type HooksDir struct {
	Path    string // absolute, with slashes
	Scope   string // the scope of the core.hooksPath that names it, such as local; "" if none does
	Sourced bool   // a shell reads its files, whatever their mode and interpreter line
}

// InstallDir returns the directory in which ken installs hooks if git looks for them in d. That is
// d, except with husky: it overwrites the files in d, and a shell reads those in the
// directory above. dispatcher says that d contains a file h, as husky's directory does.
func (d HooksDir) InstallDir(dispatcher bool) HooksDir {
	above := path.Dir(d.Path)
	if path.Base(d.Path) == "_" && (path.Base(above) == ".husky" || dispatcher) {
		return HooksDir{Path: above, Scope: d.Scope, Sourced: true}
	}
	return d
}

// NoDirectory returns the error for a d that is not a directory. People set such a path to
// switch hooks off.
func (d HooksDir) NoDirectory() error {
	hint := "move the file away"
	if d.Scope != "" {
		hint = "core.hooksPath switches hooks off; to switch them on: git config --" + d.Scope + " --unset core.hooksPath"
	}
	return &fault.Error{Hint: hint, Err: fmt.Errorf("find the git hooks: %s is not a directory", repo.Path(d.Path))}
}

// RepoDirs are the directories of a repository: absolute, with slashes and without links.
type RepoDirs struct {
	Root    string   // of the work tree
	GitDirs []string // that of the worktree, and the one that all worktrees share
}

// CheckLink returns an error for a directory in the repository that is a link out of it, since
// a repository may contain links to anywhere. A configured directory outside is fine. real is d without
// links.
func (r RepoDirs) CheckLink(d HooksDir, real string) error {
	if !r.holds(d.Path) || r.holds(real) {
		return nil
	}
	return &fault.Error{
		Hint: "if you want the hooks there: git config core.hooksPath " + fault.Quote(real),
		Err:  fmt.Errorf("%s is a link out of the repository, to %s", r.shown(d.Path), repo.Path(real)),
	}
}

// Notes says who else uses the hooks in d. tracks reports whether git tracks a file in a
// directory.
func (r RepoDirs) Notes(d HooksDir, tracks func(repo.Path) (bool, error)) ([]string, error) {
	if d.Scope == "global" || d.Scope == "system" {
		return []string{"core.hooksPath is set in the " + d.Scope + " configuration: the hooks apply to other repositories too"}, nil
	}
	if !r.holds(d.Path) {
		return []string{fmt.Sprintf("core.hooksPath is outside the repository, at %s: the hooks apply to every repository that uses it", r.shown(d.Path))}, nil
	}
	dir, ok := below(r.Root, d.Path)
	if !ok {
		return nil, nil
	}
	tracked, err := tracks(dir)
	if err != nil || !tracked {
		return nil, err
	}
	return []string{fmt.Sprintf("git tracks %s: commit the change to install the hooks for everybody", r.shown(d.Path))}, nil
}

// holds reports whether a path is in the work tree or in a git directory.
func (r RepoDirs) holds(name string) bool {
	_, ok := below(r.Root, name)
	for _, dir := range r.GitDirs {
		_, is := below(dir, name)
		ok = ok || is
	}
	return ok
}

// shown returns a path relative to the root, or an absolute path outside it.
func (r RepoDirs) shown(name string) string {
	rel, ok := below(r.Root, name)
	switch {
	case !ok:
		return repo.Path(name).String()
	case rel == "":
		return "."
	}
	return rel.String()
}

// below returns a path relative to dir; ok is false outside it. dir itself is "".
func below(dir, name string) (rel repo.Path, ok bool) {
	if name == dir {
		return "", true
	}
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/")
	return repo.Path(rest), ok
}
