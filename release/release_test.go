package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/cli"
)

var made = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestArchivesAreTheSameEachTime(t *testing.T) {
	files := []file{{"ken", 0o755, []byte("program")}, {"man/ken.1", 0o644, []byte("page")}}
	for kind, fill := range map[string]func(*os.File) error{
		"tar": tarred("ken_1", files, made), "zip": zipped("ken_1", files, made),
	} {
		dir := t.TempDir()
		var got [2][]byte
		for i := range got {
			name := filepath.Join(dir, "archive")
			if err := write(name, fill); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got[i] = content
		}
		if !bytes.Equal(got[0], got[1]) {
			t.Errorf("two archives of the same files differ: %s", kind)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".release-*")); left != nil {
			t.Errorf("%s left %v", kind, left)
		}
	}
}

func TestEveryCommandHasAPage(t *testing.T) {
	root := cli.Tree("v1")
	files, err := manual(root, "v1", made)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]bool{}
	for _, f := range files {
		pages[f.name] = true
	}
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		if c.IsAvailableCommand() || !c.HasParent() {
			if page := "man/" + strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"; !pages[page] {
				t.Errorf("there is no %s", page)
			}
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(root)
	if len(pages) < 40 {
		t.Errorf("there are %d pages, and ken has more commands", len(pages))
	}
}

// The script is run as it is shipped, on an archive with a program that says its name.
func TestInstall(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the script is for systems with a shell")
	}
	stem := "ken_1_" + runtime.GOOS + "_" + runtime.GOARCH
	dist := t.TempDir()
	program := []byte("#!/bin/sh\necho ken of the archive\n")
	files := []file{
		{"ken", 0o755, program}, {"man/ken.1", 0o644, []byte("page")}, {"LICENSE", 0o644, []byte("ours")}, {noticesName, 0o644, []byte("theirs")},
	}
	for _, name := range []string{"ken.bash", "_ken", "ken.fish", "ken.ps1"} {
		files = append(files, file{"completions/" + name, 0o644, []byte(name)})
	}
	archive := filepath.Join(dist, stem+".tar.gz")
	if err := write(archive, tarred(stem, files, made)); err != nil {
		t.Fatal(err)
	}
	if err := sums(dist, []string{stem + ".tar.gz"}); err != nil {
		t.Fatal(err)
	}
	install := func(more ...string) (string, string, error) {
		prefix := filepath.Join(t.TempDir(), "a b")
		args := append([]string{"install.sh", "--from", dist, "--to", filepath.Join(prefix, "bin")}, more...)
		out, err := exec.CommandContext(t.Context(), "sh", args...).CombinedOutput()
		return prefix, string(out), err
	}

	to, out, err := install()
	if err != nil || !strings.Contains(out, "ken of the archive") {
		t.Fatalf("install: %v\n%s", err, out)
	}
	beside := []string{
		"share/man/man1/ken.1", "share/bash-completion/completions/ken", "share/zsh/site-functions/_ken",
		"share/fish/vendor_completions.d/ken.fish", "share/doc/ken/LICENSE", "share/doc/ken/" + noticesName,
	}
	for _, name := range append([]string{"bin/ken"}, beside...) {
		if _, err := os.Stat(filepath.Join(to, name)); err != nil {
			t.Error(err)
		}
	}

	pages := t.TempDir()
	to, out, err = install("--no-share", "--man", pages)
	if err != nil {
		t.Fatalf("install: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(to, "share")); err == nil {
		t.Error("--no-share installed more than the program")
	}
	if _, err := os.Stat(filepath.Join(pages, "man1", "ken.1")); err != nil {
		t.Error(err)
	}
	elsewhere := t.TempDir()
	if _, out, err = install("--share", elsewhere); err != nil {
		t.Fatalf("install: %v\n%s", err, out)
	}
	for _, name := range beside {
		if _, err := os.Stat(filepath.Join(elsewhere, strings.TrimPrefix(name, "share/"))); err != nil {
			t.Error(err)
		}
	}
	for _, from := range []string{"http://127.0.0.1:1", "ftp://example.org"} {
		if _, out, err := install("--from", from); err == nil || !strings.Contains(out, "want an address with https://") {
			t.Errorf("--from %s: %v\n%s", from, err, out)
		}
	}
	if _, out, err := install("--help"); err != nil || !strings.HasPrefix(out, "usage: sh install.sh ") {
		t.Errorf("--help: %v\n%s", err, out)
	}
	if _, out, err := install("--nothing", "x"); err == nil || !strings.Contains(out, "--help") {
		t.Errorf("an unknown option: %v\n%s", err, out)
	}

	content, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(archive, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if to, out, err := install(); err == nil || !strings.Contains(out, "not what SHA256SUMS says") {
		t.Errorf("a torn archive was installed: %v\n%s", err, out)
	} else if _, err := os.Stat(to); err == nil {
		t.Errorf("a torn archive left something in %s", to)
	}

	if err := os.WriteFile(filepath.Join(dist, "SHA256SUMS"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, out, err := install(); err == nil || !strings.Contains(out, "names no archive") {
		t.Errorf("an archive that no checksum is for was installed: %v\n%s", err, out)
	}
}
