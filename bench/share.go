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
	shareRecords = 100_000
	shareNew     = 10
	shareFiles   = 100_000

	gitPush = "git push of one commit of 10 files"
)

// shareWorks fills the row of ken share: what ten new records on top of many cost, held
// against git's own push of ten files to the same remote.
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
		ken:    command{args: []string{b.ken, "share", "push"}, dir: s.dir, env: s.env},
		other:  command{args: []string{"git", "push", "--quiet", "origin", "refs/heads/work"}, dir: s.other, env: s.env},
		rounds: b.rounds,
		before: func(ctx context.Context, round int) error {
			return errors.Join(s.learn(ctx, shareNew, fmt.Sprint("round ", round, " at ", time.Now().UnixNano())), s.work(ctx))
		},
		after: func(ctx context.Context, _ int) error { return s.arrived(ctx) },
	}
	ken, other, _, err := d.measure(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", shareWork, err)
	}
	b.rows = append(b.rows, row{work: shareWork, files: shareRecords, unit: "records", ken: ken, against: gitPush, other: other, atMost: shareAtMost})
	return nil
}

// A shareSite is a remote, and two clones of it: one that ken shares what it knows from, and
// one that commits are pushed from.
type shareSite struct {
	*bench
	remote, dir, other string
	env                []string
	files              []string
	pushed             string // where the remote's knowledge was
}

// shareSite makes one, with all its records shared.
func (b *bench) shareSite(ctx context.Context) (*shareSite, error) {
	from, err := repository(ctx, b.dir, b.env, shareFiles)
	if err != nil {
		return nil, err
	}
	at := filepath.Join(b.tmp, "share")
	s := &shareSite{
		bench: b, remote: filepath.Join(at, "remote.git"), dir: filepath.Join(at, "ken"), other: filepath.Join(at, "git"),
		env: append(b.env, "GIT_COMMITTER_NAME=Bench", "GIT_COMMITTER_EMAIL=bench@example.com"),
	}
	progress("sharing %d records", shareRecords)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		dir  string
		args []string
	}{
		{at, []string{"clone", "--quiet", "--bare", from, s.remote}},
		{at, []string{"clone", "--quiet", s.remote, s.dir}},
		{at, []string{"clone", "--quiet", "--bare", s.remote, s.other}},
		{s.other, []string{"branch", "work", "main"}},
		{s.other, []string{"push", "--quiet", "origin", "work"}},
	} {
		if err := git(ctx, step.dir, s.env, nil, step.args...); err != nil {
			return nil, err
		}
	}
	for i := range shareFiles {
		s.files = append(s.files, fileName(i))
	}
	for i := range shareRecords / shareFiles {
		if err := s.learn(ctx, shareFiles, fmt.Sprint("first ", i)); err != nil {
			return nil, err
		}
	}
	_, err = command{args: []string{b.ken, "share", "push"}, dir: s.dir, env: s.env}.run(ctx)
	return s, err
}

// learn has texts about so many files kept.
func (s *shareSite) learn(ctx context.Context, n int, word string) error {
	type update struct {
		Path    string `json:"path"`
		Summary string `json:"summary"`
	}
	list := make([]update, n)
	for i := range list {
		list[i] = update{s.files[i], fmt.Sprintf("What file %d is for, in a line or two of ordinary length, as they are written: %s.", i, word)}
	}
	b, err := json.Marshal(list)
	if err != nil {
		return err
	}
	file := filepath.Join(s.tmp, "updates.json")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		return err
	}
	_, err = command{args: []string{s.ken, "close", "-F", file}, dir: s.dir, env: s.env}.run(ctx)
	return err
}

// work commits ten files, in the same words.
func (s *shareSite) work(ctx context.Context) error {
	var in bytes.Buffer
	now := time.Now()
	fmt.Fprintf(&in, "commit refs/heads/work\ncommitter Bench <bench@example.com> %d +0000\ndata 4\nwork\nfrom refs/heads/work^0\n", now.Unix())
	for i := range shareNew {
		text := fmt.Sprintf("What file %d is for, in a line or two of ordinary length, as they are written, %d.\n%s\n", i, now.UnixNano(), strings.Repeat("and more of it ", 20))
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", s.files[i*shareFiles/shareNew], len(text), text)
	}
	return git(ctx, s.other, s.env, &in, "fast-import", "--quiet", "--date-format=raw")
}

// arrived makes sure that the remote has got what was pushed.
func (s *shareSite) arrived(ctx context.Context) error {
	tip, err := gitAnswer(ctx, s.remote, s.env, "rev-parse", "refs/ken/knowledge")
	if err != nil {
		return err
	}
	if tip == s.pushed {
		return errors.New("nothing was pushed")
	}
	s.pushed = tip
	return nil
}
