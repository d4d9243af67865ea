package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// tunedOn names the repositories that ken's rules were tried on while they were
// written. Their figures stand in a table of their own.
var tunedOn = strings.Fields("ken flask ripgrep etcd hono gin click fastify javapoet commons-cli libgit2")

// tuned reports whether a repository is one of these.
func tuned(name string) bool { return slices.Contains(tunedOn, name) }

// A section is one repository's line of a table.
type section struct {
	repo  string
	cells []string
}

// bothTables returns two tables, of the repositories that ken was tuned on and of the
// others. The last line of each is the one that sum makes of the repositories in it.
func bothTables(header []string, sections []section, sum func(repos []string) []string) (string, error) {
	var text bytes.Buffer
	for _, half := range []struct {
		title string
		tuned bool
	}{{"Repositories that ken was not tuned on:", false}, {"Repositories that ken was tuned on:", true}} {
		lines := [][]string{header}
		var repos []string
		for _, s := range sections {
			if tuned(s.repo) == half.tuned {
				lines = append(lines, s.cells)
				repos = append(repos, s.repo)
			}
		}
		if len(repos) == 0 {
			continue
		}
		if sum != nil {
			lines = append(lines, sum(repos))
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "%s\n\n", half.title)
		if err := printMarkdown(&text, lines); err != nil {
			return "", err
		}
	}
	return text.String(), nil
}

// repoName is what a table calls the repository in a directory.
func repoName(dir string) string {
	return filepath.Base(strings.TrimSuffix(filepath.Clean(dir), "/.git"))
}

// printMarkdown writes an aligned Markdown table whose first line is the header.
func printMarkdown(w io.Writer, lines [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	for i, cells := range lines {
		fmt.Fprintf(t, "| %s\t|\n", strings.Join(cells, "\t| "))
		if i == 0 {
			fmt.Fprintln(t, strings.Repeat("| ---\t", len(cells))+"|")
		}
	}
	return t.Flush()
}
