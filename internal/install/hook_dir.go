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

// Seat returns the directory that ken's part belongs in where git looks for hooks in
// d. As a rule that is d; but husky writes anew what lies where git looks, and has a
// shell read what lies above. dispatcher says that d holds a file h, by which husky is
// known under any name.
func (d HooksDir) InstallDir(dispatcher bool) HooksDir {
	above := path.Dir(d.Path)
	if path.Base(d.Path) == "_" && (path.Base(above) == ".husky" || dispatcher) {
		return HooksDir{Path: above, Scope: d.Scope, Sourced: true}
	}
	return d
}

// NoDirectory is the error for something else than a directory at d, by which people
// switch hooks off.
func (d HooksDir) NoDirectory() error {
	hint := "move the file away"
	if d.Scope != "" {
		hint = "core.hooksPath switches hooks off; to switch them on: git config --" + d.Scope + " --unset core.hooksPath"
	}
	return &fault.Error{Hint: hint, Err: fmt.Errorf("find the git hooks: %s is not a directory", repo.Path(d.Path))}
}

// A RepoDirs is the directories of the repository whose hooks they are: absolute, with
// slashes and without links.
type RepoDirs struct {
	Root    string   // of the work tree
	GitDirs []string // its own, and the one it shares
}

// Admit refuses a directory of the repository's that is a link out of it: what
// somebody configured is meant, but a link in a repository may lead anywhere. real is
// where d leads.
func (r RepoDirs) CheckLink(d HooksDir, real string) error {
	if !r.holds(d.Path) || r.holds(real) {
		return nil
	}
	return &fault.Error{
		Hint: "if you want the hooks there: git config core.hooksPath " + fault.Quote(real),
		Err:  fmt.Errorf("%s is a link out of the repository, to %s", r.shown(d.Path), repo.Path(real)),
	}
}

// Notes says whom a change in d reaches beside this repository's user. tracks is asked
// whether git tracks anything in a directory, where that matters.
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

// holds reports whether a path lies in the work tree or in a git directory.
func (r RepoDirs) holds(name string) bool {
	_, ok := below(r.Root, name)
	for _, dir := range r.GitDirs {
		_, is := below(dir, name)
		ok = ok || is
	}
	return ok
}

// shown is a path from the root, or absolute where it lies elsewhere.
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

// below returns the path from dir of what lies in it; that of dir itself is "".
func below(dir, name string) (rel repo.Path, ok bool) {
	if name == dir {
		return "", true
	}
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/")
	return repo.Path(rest), ok
}
