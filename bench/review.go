package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The limit of ken review: it takes at most twice what git takes to list the same change.
const (
	reviewAtMost  = 2.0
	reviewedFiles = 20
)

// reviewStudy measures ken review of twenty edited files that are not committed.
func (b *bench) reviewStudy(ctx context.Context) (string, error) {
	if len(b.repos) == 0 {
		return "", errors.New("-run review needs a repository: -repo DIR")
	}
	if err := b.buildKen(ctx); err != nil {
		return "", err
	}
	for _, repo := range b.repos {
		if err := b.reviewSite(ctx, repo); err != nil {
			return "", fmt.Errorf("%s: %w", repoName(repo), err)
		}
	}
	var text bytes.Buffer
	err := printTable(&text, b.rows)
	return text.String(), err
}

func (b *bench) reviewSite(ctx context.Context, repo string) error {
	t, err := b.clone(ctx, repo, "HEAD")
	if err != nil {
		return err
	}
	if err := settle(ctx, t.dir, b.env); err != nil {
		return err
	}
	if err := t.editBodies(reviewedFiles); err != nil {
		return err
	}
	progress("review, %s", repoName(repo))
	ken := command{args: []string{b.ken, "review", "HEAD"}, dir: t.dir, env: b.env}
	first, err := ken.run(ctx) // builds the index
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("%d files changed", reviewedFiles); !strings.HasPrefix(string(first.stdout), want) {
		return fmt.Errorf("ken review answered %.80q, want %q", first.stdout, want)
	}
	const git = "git status && git diff --stat"
	other := command{args: []string{"sh", "-c", git + " HEAD"}, dir: t.dir, env: b.env}
	took, gitTook, _, err := comparison{ken: ken, other: other, rounds: b.rounds, processor: true}.measure(ctx)
	if err != nil {
		return err
	}
	work := fmt.Sprintf("review of %d edited files, warm, processor time, %s", reviewedFiles, repoName(repo))
	b.rows = append(b.rows, row{work: work, files: len(t.files), ken: took, against: git, other: gitTook, atMost: reviewAtMost})
	return os.RemoveAll(t.dir)
}

// editBodies changes one statement in each of some source files, spread over the tree.
func (t tree) editBodies(n int) error {
	edits := [][2]string{{"return nil\n", "return (nil)\n"}, {"return None\n", "return (None)\n"}, {"return null\n", "return (null)\n"}, {"return;\n", "return ;;\n"}}
	type edit struct {
		name string
		text []byte
	}
	var list []edit
	err := t.texts(func(name string, text []byte) {
		for _, e := range edits {
			if bytes.Contains(text, []byte(e[0])) {
				list = append(list, edit{name, bytes.Replace(text, []byte(e[0]), []byte(e[1]), 1)})
				return
			}
		}
	})
	if err != nil {
		return err
	}
	if len(list) < n {
		return fmt.Errorf("only %d source files can be edited, want %d", len(list), n)
	}
	for i := range n {
		e := list[i*len(list)/n]
		if err := os.WriteFile(filepath.Join(t.dir, e.name), e.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
