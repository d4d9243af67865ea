package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"ken/internal/cli"
)

// accompany returns what every archive holds beside the program.
func accompany(version string, made time.Time) ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, content})
	}
	root := cli.Tree(version)
	for _, make := range []func() ([]file, error){
		func() ([]file, error) { return manual(root, version, made) },
		func() ([]file, error) { return completions(root) },
	} {
		more, err := make()
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

// manual returns a page to each command.
func manual(root *cobra.Command, version string, made time.Time) ([]file, error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	made = made.UTC()
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "ken " + version, Manual: "ken", Date: &made}, dir); err != nil {
		return nil, fmt.Errorf("write the manual pages: %w", err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return nil, err
	}
	slices.Sort(pages)
	var files []file
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"man/" + filepath.Base(page), 0o644, content})
	}
	return files, nil
}

// completions returns those of every shell that there are some for.
func completions(root *cobra.Command) ([]file, error) {
	var files []file
	for _, shell := range []struct {
		name string
		gen  func(*bytes.Buffer) error
	}{
		{"ken.bash", func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) }},
		{"_ken", func(b *bytes.Buffer) error { return root.GenZshCompletion(b) }},
		{"ken.fish", func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) }},
		{"ken.ps1", func(b *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(b) }},
	} {
		var b bytes.Buffer
		if err := shell.gen(&b); err != nil {
			return nil, fmt.Errorf("write the completion %s: %w", shell.name, err)
		}
		files = append(files, file{"completions/" + shell.name, 0o644, b.Bytes()})
	}
	return files, nil
}
