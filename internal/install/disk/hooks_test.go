package disk

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"ken/internal/git"
	"ken/internal/install"
	"ken/internal/testrepo"
)

// Install does not overwrite a hook that changed after ken read it.
func TestInstallKeepsChangedHook(t *testing.T) {
	const at, theirs = ".git/hooks/pre-commit", "#!/bin/sh\necho theirs\n"
	for name, before := range map[string]string{
		"one that is made": "", "one that is added to": "#!/bin/sh\necho before\n", "one that is set aside": "#!/usr/bin/perl\n",
	} {
		r := testrepo.New(t)
		r.Remove(".git/hooks")
		if before != "" {
			r.Write(at, before)
			r.Chmod(at, 0o755)
		}
		g, err := git.Open(t.Context(), r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		place, err := Hooks{Git: g}.hooksDir(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen, err := place.read("pre-commit")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := place.Plan([]install.Hook{seen}, install.Options{})
		if err != nil || plan.Idle() {
			t.Fatalf("%s: Plan returned %v, %v; want a change", name, plan, err)
		}
		r.Write(at, theirs)
		if err := place.apply(plan[0]); err == nil {
			t.Errorf("%s: %s, want an error", name, plan[0].Action)
		}
		if got := r.Read(at); got != theirs {
			t.Errorf("%s: it has %q", name, got)
		}
		if _, err := os.Lstat(r.Path(at + install.AsideSuffix)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: it was set aside: %v", name, err)
		}
	}
}

// Renaming a hook does not overwrite another file.
func TestSetAsideOverwritesNothing(t *testing.T) {
	r := testrepo.New(t)
	r.Write("hooks/pre-commit", "one")
	r.Write("hooks/pre-commit"+install.AsideSuffix, "other")
	root, err := os.OpenRoot(r.Path("hooks"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := setAside(root, "pre-commit"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("setAside returned the error %v; want %v", err, fs.ErrExist)
	}
	if one, other := r.Read("hooks/pre-commit"), r.Read("hooks/pre-commit"+install.AsideSuffix); one != "one" || other != "other" {
		t.Errorf("%q and %q", one, other)
	}
}
