package install

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ken/internal/fault"
	"ken/internal/repo"
)

var here = RepoDirs{Root: "/home/a/repo", GitDirs: []string{"/home/a/main/.git", "/home/a/main/.git/worktrees/repo"}}

func TestInstallDir(t *testing.T) {
	for name, tt := range map[string]struct {
		looked     HooksDir
		dispatcher bool
		want       HooksDir
	}{
		"git's own":           {HooksDir{Path: "/r/.git/hooks"}, false, HooksDir{Path: "/r/.git/hooks"}},
		"a configured one":    {HooksDir{Path: "/r/.githooks", Scope: "local"}, false, HooksDir{Path: "/r/.githooks", Scope: "local"}},
		"husky":               {HooksDir{Path: "/r/.husky/_", Scope: "local"}, false, HooksDir{Path: "/r/.husky", Scope: "local", Sourced: true}},
		"husky by its file":   {HooksDir{Path: "/r/tools/_", Scope: "local"}, true, HooksDir{Path: "/r/tools", Scope: "local", Sourced: true}},
		"husky of old":        {HooksDir{Path: "/r/.husky", Scope: "local"}, false, HooksDir{Path: "/r/.husky", Scope: "local"}},
		"a file of that name": {HooksDir{Path: "/r/.githooks"}, true, HooksDir{Path: "/r/.githooks"}},
		"only its name":       {HooksDir{Path: "/r/tools/_"}, false, HooksDir{Path: "/r/tools/_"}},
	} {
		if got := tt.looked.InstallDir(tt.dispatcher); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// CheckLink refuses only a directory in the repository that is a link out of it.
func TestCheckLink(t *testing.T) {
	for name, tt := range map[string]struct {
		dir, real string
		refused   bool
	}{
		"as it is":                     {"/home/a/repo/.githooks", "/home/a/repo/.githooks", false},
		"the root":                     {"/home/a/repo", "/home/a/repo", false},
		"within":                       {"/home/a/repo/.githooks", "/home/a/main/.git/hooks", false},
		"elsewhere, as configured":     {"/home/a/hooks", "/usr/share/hooks", false},
		"out of the work tree":         {"/home/a/repo/.githooks", "/home/a/hooks", true},
		"out of the git directory":     {"/home/a/main/.git/hooks", "/etc", true},
		"to a sibling of like name":    {"/home/a/repo/.githooks", "/home/a/repository/hooks", true},
		"in what only looks like it":   {"/home/a/repository", "/etc", false},
		"into the main work tree":      {"/home/a/repo/.githooks", "/home/a/main/hooks", true},
		"by way of the worktree's own": {"/home/a/main/.git/worktrees/repo/hooks", "/etc", true},
	} {
		err := here.CheckLink(HooksDir{Path: tt.dir}, tt.real)
		if (err != nil) != tt.refused {
			t.Errorf("%s: %v, want an error: %v", name, err, tt.refused)
		}
		if err != nil && !strings.HasSuffix(fault.HintOf(err), " "+tt.real) {
			t.Errorf("%s: the hint is %q, want it to end with %s", name, fault.HintOf(err), tt.real)
		}
	}
	if err := (RepoDirs{Root: "/"}).CheckLink(HooksDir{Path: "/hooks"}, "/etc/hooks"); err != nil {
		t.Errorf("a work tree at / contains every directory; got %v", err)
	}
}

// Notes asks git only about directories in the work tree, and returns its error.
func TestNotes(t *testing.T) {
	broken := errors.New("git does not answer")
	for name, tt := range map[string]struct {
		dir     HooksDir
		tracked bool
		err     error
		asked   []repo.Path
		notes   int
	}{
		"git's own":      {dir: HooksDir{Path: "/home/a/main/.git/hooks"}, tracked: true},
		"a user's":       {dir: HooksDir{Path: "/home/a/hooks", Scope: "global"}, notes: 1},
		"a machine's":    {dir: HooksDir{Path: "/home/a/repo/x", Scope: "system"}, notes: 1},
		"out of it":      {dir: HooksDir{Path: "/home/a/hooks", Scope: "local"}, notes: 1},
		"the worktree's": {dir: HooksDir{Path: "/home/a/main/.git/worktrees/repo/hooks", Scope: "worktree"}},
		"tracked":        {dir: HooksDir{Path: "/home/a/repo/.githooks", Scope: "local"}, tracked: true, asked: []repo.Path{".githooks"}, notes: 1},
		"not tracked":    {dir: HooksDir{Path: "/home/a/repo/.githooks", Scope: "local"}, asked: []repo.Path{".githooks"}},
		"the root":       {dir: HooksDir{Path: "/home/a/repo", Scope: "local"}, tracked: true, asked: []repo.Path{""}, notes: 1},
		"unknown":        {dir: HooksDir{Path: "/home/a/repo/.githooks"}, err: broken, asked: []repo.Path{".githooks"}},
	} {
		var asked []repo.Path
		notes, err := here.Notes(tt.dir, func(dir repo.Path) (bool, error) {
			asked = append(asked, dir)
			return tt.tracked, tt.err
		})
		if !errors.Is(err, tt.err) || len(notes) != tt.notes || !slices.Equal(asked, tt.asked) {
			t.Errorf("%s: got notes %q, error %v, and asked about %q; want %d notes, error %v, and %q", name, notes, err, asked, tt.notes, tt.err, tt.asked)
		}
	}
}

func TestNoDirectory(t *testing.T) {
	if hint := fault.HintOf(HooksDir{Path: "/dev/null", Scope: "global"}.NoDirectory()); !strings.HasSuffix(hint, "git config --global --unset core.hooksPath") {
		t.Errorf("the hint for a configured path is %q, want the command that unsets it", hint)
	}
	if hint := fault.HintOf(HooksDir{Path: "/r/.git/hooks"}.NoDirectory()); hint == "" || strings.Contains(hint, "core.hooksPath") {
		t.Errorf("the hint for the default path is %q, want none about core.hooksPath", hint)
	}
}
