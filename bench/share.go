package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The work, and its limit.
const (
	shareWork    = "share push, 10 new"
	shareAtMost  = 2.0
	shareRecords = 100_000 // one for each file
	shareNew     = 10
)

// shareWorks fills the row of ken share: ten new records on top of many, against git's own push of ten files to the
// same remote.
func (b *bench) shareWorks(ctx context.Context) error {
	if !b.only.MatchString(shareWork) {
		return nil
	}
	s, err := b.shareSite(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", shareWork, err)
	}
	progress("%s, %d records", shareWork, shareRecords)
	d := comparison{
		ken: s.command("share", "push"), other: s.git("push", "--quiet", "origin", "refs/heads/work"), rounds: b.rounds,
		before: func(ctx context.Context, round int) error {
			word := fmt.Sprint("round ", round, " at ", time.Now().UnixNano())
			return errors.Join(s.learn(ctx, shareNew, word), s.work(ctx, word))
		},
		check: func(_ int, stdout []byte) error {
			if !bytes.Contains(stdout, []byte("10 records")) {
				return fmt.Errorf("ken share push did not push 10 records: %s", stdout)
			}
			return nil
		},
	}
	ken, other, err := d.measure(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", shareWork, err)
	}
	s.add(row{work: shareWork, ken: ken, against: "git push of one commit of 10 files", other: other, atMost: shareAtMost})
	return nil
}

// A shareSite is a clone that shares its records with a remote.
type shareSite struct{ site }

// shareSite makes one, with all its records shared.
func (b *bench) shareSite(ctx context.Context) (*shareSite, error) {
	from, err := b.repository(ctx, plan{files: shareRecords, commits: 1})
	if err != nil {
		return nil, err
	}
	s := &shareSite{*from}
	remote := filepath.Join(b.tmp, "share.git")
	s.dir = filepath.Join(b.tmp, "share")
	s.unit = "records"
	s.env = append(b.env[:len(b.env):len(b.env)], "GIT_COMMITTER_NAME=Bench", "GIT_COMMITTER_EMAIL=bench@example.com")
	progress("sharing %d records", shareRecords)
	for _, args := range [][]string{
		{"clone", "--quiet", "--bare", from.dir, remote},
		{"clone", "--quiet", remote, s.dir},
		{"-C", s.dir, "branch", "work", "main"},
		{"-C", s.dir, "push", "--quiet", "origin", "work"},
	} {
		if err := git(ctx, b.tmp, s.env, nil, args...); err != nil {
			return nil, err
		}
	}
	if err := s.learn(ctx, shareRecords, "first"); err != nil {
		return nil, err
	}
	_, err = s.command("share", "push").run(ctx)
	return s, err
}

// learn records summaries of so many files.
func (s *shareSite) learn(ctx context.Context, n int, word string) error {
	type update struct {
		Path    string `json:"path"`
		Summary string `json:"summary"`
	}
	list := make([]update, n)
	for i := range list {
		text := fmt.Sprintf("What file %d is for, in a line or two of ordinary length: %s.", i, word)
		list[i] = update{Path: s.plan.path(i), Summary: text}
	}
	b, err := json.Marshal(list)
	if err != nil {
		return err
	}
	file := filepath.Join(s.tmp, "updates.json")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		return err
	}
	_, err = s.command("summary", "close", "-F", file).run(ctx)
	return err
}

// work commits ten files to a branch.
func (s *shareSite) work(ctx context.Context, word string) error {
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit refs/heads/work\ncommitter Bench <bench@example.com> %d +0000\ndata 4\nwork\n"+
		"from refs/heads/work^0\n", time.Now().Unix())
	for i := range shareNew {
		text := fmt.Sprintf("What file %d is for: %s.\n%s\n", i, word, strings.Repeat("and more of it ", 25))
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", s.plan.path(i*shareRecords/shareNew), len(text), text)
	}
	return git(ctx, s.dir, s.env, &in, "fast-import", "--quiet", "--date-format=raw")
}
