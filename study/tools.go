package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The programs of others that studies run, at fixed versions, so that figures can be
// repeated.
const (
	codegraphPackage = "@colbymchenry/codegraph"
	codegraphVersion = "1.6.1"

	typescriptPackage = "typescript"
	typescriptVersion = "5.9.3"

	pyrightPackage = "pyright"
	pyrightVersion = "1.1.414"
)

// npmDir is where this run installs packages of npm.
func (st *study) npmDir() string { return filepath.Join(st.tmp, "npm") }

// installNpm installs a package into a directory of this run.
func (st *study) installNpm(ctx context.Context, name, version string) error {
	if _, err := os.Stat(filepath.Join(st.npmDir(), "node_modules", name)); err == nil {
		return nil
	}
	progress("npm install %s@%s", name, version)
	cmd := exec.CommandContext(ctx, "npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", st.npmDir(), name+"@"+version)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s is needed: npm install %s@%s: %w\n%s", name, name, version, err, tail(out))
	}
	return nil
}

func (st *study) installCodegraph(ctx context.Context) error {
	return st.installNpm(ctx, codegraphPackage, codegraphVersion)
}

// installCtags makes sure that ctags is Universal Ctags. It installs Debian's otherwise.
func (st *study) installCtags(ctx context.Context) error {
	universal := func() bool {
		out, err := exec.CommandContext(ctx, "ctags", "--version").Output()
		return err == nil && strings.HasPrefix(string(out), "Universal Ctags")
	}
	if universal() {
		return nil
	}
	progress("apt-get install universal-ctags")
	out, err := exec.CommandContext(ctx, "apt-get", "install", "--yes", "universal-ctags").CombinedOutput()
	if err != nil || !universal() {
		return fmt.Errorf("universal-ctags is needed: apt-get install universal-ctags: %w\n%s", err, tail(out))
	}
	return nil
}
