package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The limits of ken find, ken uses and ken brief.
const (
	indexColdAtMost   = 3.0
	indexMemoryBudget = 500_000_000
	indexDiskBudget   = 200_000_000

	indexColdRounds = 3

	codegraphInit = "codegraph init"
)

// instant is how long an answer may take to feel instant: 50 ms with 1,000 files, 200 ms
// with 31,000, and in proportion between and beyond.
func instant(files int) time.Duration {
	more := max(0, files-1_000)
	return 50*time.Millisecond + time.Duration(more)*150*time.Millisecond/30_000
}

// indexStudy measures what ken's index costs, against ctags and CodeGraph, and what
// answers cost once it is there. Times are processor time.
func (b *bench) indexStudy(ctx context.Context) (string, error) {
	if len(b.repos) == 0 {
		return "", errors.New("-run index needs a repository: -repo DIR")
	}
	if err := errors.Join(b.buildKen(ctx), b.installCtags(ctx)); err != nil {
		return "", err
	}
	if b.study.codegraph {
		if err := b.installCodegraph(ctx); err != nil {
			return "", err
		}
	}
	for _, repo := range b.repos {
		s, err := b.indexSite(ctx, repo)
		if err != nil {
			return "", fmt.Errorf("%s: %w", repoName(repo), err)
		}
		for _, measure := range []func(context.Context) error{s.cold, s.codegraph, s.answers} {
			if err := measure(ctx); err != nil {
				return "", fmt.Errorf("%s: %w", s.name, err)
			}
		}
		if err := os.RemoveAll(s.tree.dir); err != nil {
			return "", err
		}
	}
	var text bytes.Buffer
	err := printTable(&text, b.rows)
	return text.String(), err
}

// An indexSite is a repository under measurement, and what ken is asked about it: words
// that a commit was about, and a file that the commit changed.
type indexSite struct {
	*bench
	name string
	tree tree
	task task
}

func (b *bench) indexSite(ctx context.Context, repo string) (*indexSite, error) {
	t, err := b.clone(ctx, repo, "HEAD")
	if err != nil {
		return nil, err
	}
	s := &indexSite{bench: b, name: repoName(repo), tree: t}
	if b.study.without != "" {
		if err := s.remove(ctx, strings.Split(b.study.without, ",")); err != nil {
			return nil, err
		}
		s.name += " without " + b.study.without
	}
	log, err := gitAnswer(ctx, t.dir, b.env, "log", "-300", "--no-merges", "-z", "--format=%x02%s", "--name-only", "--no-renames", "--diff-filter=M")
	if err != nil {
		return nil, err
	}
	tasks := selectTasks(log, s.tree.files, 300)
	if len(tasks) == 0 {
		return nil, errors.New("no commit of the last 300 can be asked about")
	}
	s.task = tasks[0]
	return s, settle(ctx, t.dir, b.env)
}

// remove commits a tree without some directories.
func (s *indexSite) remove(ctx context.Context, dirs []string) error {
	if err := git(ctx, s.tree.dir, s.env, nil, append([]string{"rm", "-r", "--quiet", "--sparse", "--"}, dirs...)...); err != nil {
		return err
	}
	s.tree.files = slices.DeleteFunc(s.tree.files, func(f string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(f, dir+"/") })
	})
	return git(ctx, s.tree.dir, s.env, nil, "-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "--quiet", "-m", "remove directories")
}

func (s *indexSite) command(args ...string) command {
	return command{args: args, dir: s.tree.dir, env: s.env}
}

// find is the question of the site.
func (s *indexSite) find(flags ...string) command {
	return s.command(append(append([]string{s.ken, "find"}, flags...), "--", s.task.query)...)
}

// forget removes what ken has kept.
func (s *indexSite) forget() error { return os.RemoveAll(s.kept()) }

func (s *indexSite) kept() string { return filepath.Join(s.tree.dir, ".git", "ken") }

func (s *indexSite) add(r row) {
	r.work += ", " + s.name
	r.files = len(s.tree.files)
	s.rows = append(s.rows, r)
}

// cold: ken knows nothing and answers one question, against ctags over the same files.
func (s *indexSite) cold(ctx context.Context) error {
	progress("find, cold, %s", s.name)
	tags := filepath.Join(s.tmp, "tags")
	d := comparison{
		ken:       s.find(),
		other:     s.command("ctags", "-R", "--exclude=.git", "-f", tags, "."),
		rounds:    min(s.rounds, indexColdRounds),
		processor: true,
		beforeKen: s.forget,
		after:     func(ctx context.Context, _ int) error { return s.mustAnswer(ctx) },
	}
	ken, other, _, err := d.measure(ctx)
	if err != nil {
		return err
	}
	memory, err := s.memoryCold(ctx)
	if err != nil {
		return err
	}
	otherMemory, err := d.other.alone(ctx)
	if err != nil {
		return err
	}
	disk, err := diskUsage(s.kept())
	if err != nil {
		return err
	}
	otherDisk, err := diskUsage(tags)
	if err != nil {
		return err
	}
	s.add(row{work: "find, cold", ken: ken, against: "ctags -R", other: other, atMost: indexColdAtMost})
	s.add(row{work: "find, cold, memory", memory: memory, against: "ctags -R", otherMemory: otherMemory, memoryBudget: indexMemoryBudget})
	s.add(row{work: "find, cold, disk", memory: disk, against: "ctags -R", otherMemory: otherDisk, memoryBudget: indexDiskBudget})
	return nil
}

// codegraph: the same against CodeGraph, each once.
func (s *indexSite) codegraph(ctx context.Context) error {
	if !s.study.codegraph {
		return nil
	}
	progress("find, cold, %s, against %s", s.name, codegraphInit)
	if err := s.forget(); err != nil {
		return err
	}
	ken, err := s.find().run(ctx)
	if err != nil {
		return err
	}
	// Its program starts another, whose memory is the larger.
	other, err := s.bench.codegraph(s.tree, "init", s.tree.dir).run(ctx)
	if err != nil {
		return err
	}
	kept := filepath.Join(s.tree.dir, ".codegraph")
	disk, err := diskUsage(s.kept())
	if err != nil {
		return err
	}
	otherDisk, err := diskUsage(kept)
	if err != nil {
		return err
	}
	memory, err := s.memoryCold(ctx)
	if err != nil {
		return err
	}
	s.add(row{work: "find, cold", ken: ken.cpu, against: codegraphInit, other: other.cpu})
	s.add(row{work: "find, cold, memory", memory: memory, against: codegraphInit, otherMemory: other.memory, memoryBudget: indexMemoryBudget})
	s.add(row{work: "find, cold, disk", memory: disk, against: codegraphInit, otherMemory: otherDisk, memoryBudget: indexDiskBudget})
	return os.RemoveAll(kept)
}

// memoryCold is what ken itself holds at most while it builds the index.
func (s *indexSite) memoryCold(ctx context.Context) (int64, error) {
	if err := s.forget(); err != nil {
		return 0, err
	}
	return s.find().alone(ctx)
}

// answers measures questions when nothing has changed, after an edit of one file, and after
// a commit of that edit.
func (s *indexSite) answers(ctx context.Context) error {
	limit := instant(len(s.tree.files))
	for _, q := range []struct {
		name string
		ken  command
	}{
		{"find", s.find()},
		{"uses", s.command(s.ken, "uses", s.task.want[0])},
		{"brief PATH", s.command(s.ken, "brief", s.task.want[0])},
		{"brief", s.command(s.ken, "brief")},
	} {
		for _, when := range []struct {
			name   string
			duel   comparison
			budget time.Duration
		}{
			{"warm", comparison{ken: q.ken, other: s.gitStatus()}, limit},
			{"one edit", s.edited(q.ken, false), 2 * limit},
			{"one commit", s.edited(q.ken, true), 2 * limit},
		} {
			progress("%s, %s, %s", q.name, when.name, s.name)
			when.duel.rounds = s.rounds
			when.duel.processor = true
			ken, other, _, err := when.duel.measure(ctx)
			if err != nil {
				return err
			}
			s.add(row{work: q.name + ", " + when.name, ken: ken, against: gitStatus, other: other, budget: when.budget})
		}
	}
	return s.mustAnswer(ctx)
}

func (s *indexSite) gitStatus() command {
	return s.command("git", "status", "--porcelain=v2", "--branch", "-z")
}

// edited asks after an edit of one file, another one each round, and after its commit if
// that is wanted. Putting it back is not timed, and neither is what ken then does about it.
func (s *indexSite) edited(ken command, commit bool) comparison {
	files := slices.DeleteFunc(slices.Clone(s.tree.files), func(f string) bool {
		info, err := os.Lstat(filepath.Join(s.tree.dir, f))
		return err != nil || !info.Mode().IsRegular() || !isSource(f)
	})
	var name string
	var text []byte
	return comparison{
		ken: ken, other: s.gitStatus(),
		before: func(ctx context.Context, round int) (err error) {
			file := files[round*7919%len(files)]
			name = filepath.Join(s.tree.dir, file)
			if text, err = os.ReadFile(name); err != nil {
				return err
			}
			err = os.WriteFile(name, fmt.Appendf(slices.Clone(text), "\n%s edited in round %d\n", commentSign(file), round), 0o644)
			if err != nil || !commit {
				return err
			}
			return git(ctx, s.tree.dir, s.env, nil, "-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "--quiet", "--all", "-m", "edit a file")
		},
		after: func(ctx context.Context, _ int) error {
			if commit {
				if err := git(ctx, s.tree.dir, s.env, nil, "reset", "--quiet", "--soft", "HEAD~1"); err != nil {
					return err
				}
				if err := git(ctx, s.tree.dir, s.env, nil, "reset", "--quiet"); err != nil {
					return err
				}
			}
			if err := os.WriteFile(name, text, 0o644); err != nil {
				return err
			}
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(name, old, old); err != nil {
				return err
			}
			if err := git(ctx, s.tree.dir, s.env, nil, "update-index", "--refresh"); err != nil {
				return err
			}
			_, err := ken.run(ctx)
			return err
		},
	}
}

func commentSign(file string) string {
	if slices.Contains([]string{".py", ".rb", ".sh"}, path.Ext(file)) {
		return "#"
	}
	return "//"
}

// mustAnswer makes sure that ken finds something: a figure for an answer that was not
// given would be worth nothing.
func (s *indexSite) mustAnswer(ctx context.Context) error {
	r, err := s.find("--json").run(ctx)
	if err != nil {
		return err
	}
	found, err := kenPlaces(r.stdout)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("ken find %q found nothing", s.task.query)
	}
	return err
}

// diskUsage returns how many bytes the files in a directory have, or a single file.
func diskUsage(name string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(name, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
