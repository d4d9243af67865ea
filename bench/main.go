// Command bench measures ken on whole repositories and prints one table. It runs whole processes, as users do.
//
// Every figure is a ratio to git or md5sum, measured in the same run, so that figures of different machines can be
// compared. docs/performance.md has the method and the last figures.
//
//	go run ./bench                       everything
//	go run ./bench -sizes 500 -run trust one row, quickly
//	go run ./bench -run spec -repo DIR   a real history beside the generated one
//	go run ./bench -check                status 1 if a limit is missed
//	go run ./bench -update FILE          also writes the table into a page
//
// Studies measure how good ken's answers are on real repositories, some of them against grep, BM25, ctags and
// CodeGraph. docs/evidence.md has their method and figures:
//
//	go run ./bench -run find -repo DIR                     which files will a commit change
//	go run ./bench -run where -questions FILE -repos DIR   where is X handled
//	go run ./bench -run edges -repo DIR                    who uses whom, against compilers
//	go run ./bench -run docs -repo DIR                     which stale mentions does ken docs list
//	go run ./bench -run index -repo DIR                    time, memory and disk of all that
//	go run ./bench -run review -repo DIR                   time of a review of twenty edited files
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	sizes  []int
	rounds int
	only   *regexp.Regexp
	dir    string // of the generated repositories
	keep   bool
	check  bool
	update string // a page to write the table into; "" for none
	ken    string // binary to measure; built from the tree when ""

	commits int      // of the generated history, or to ask about; 0 for the default of either
	repos   []string // real repositories
	study   studyOptions
}

// historyCommits is the length of the generated history, unless -commits says another.
const historyCommits = 100_000

var errMissed = errors.New("a limit was missed")

func main() {
	opts := options{sizes: []int{500, 10_000, 100_000}, only: regexp.MustCompile("")}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	flag.Func("sizes", "numbers of `files`, with commas (default 500,10000,100000)", opts.parseSizes)
	flag.Func("run", "measure only the work that matches a `regexp`, or run a study: "+studyNames(), func(s string) (err error) {
		opts.only, err = regexp.Compile(s)
		opts.study.name = s
		return err
	})
	flag.IntVar(&opts.rounds, "rounds", 10, "measured runs of each side")
	flag.StringVar(&opts.dir, "dir", filepath.Join(cache, "ken-bench"), "where the generated repositories are")
	flag.BoolVar(&opts.keep, "keep", true, "keep them for the next run")
	flag.BoolVar(&opts.check, "check", false, "exit with status 1 if a limit is missed")
	flag.StringVar(&opts.update, "update", "", "write the table into this `page`, between its two bench comments")
	flag.StringVar(&opts.ken, "ken", "", "measure this `binary` instead of building one")
	flag.IntVar(&opts.commits, "commits", 0, "`length` of the generated history for ken spec (default 100000), or commits to ask about with -run find (default 100)")
	flag.Func("repo", "a real repository in this `directory`, for ken spec and the studies; repeat it for more", func(s string) error {
		opts.repos = append(opts.repos, s)
		return nil
	})
	opts.study.flags()
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err = run(ctx, opts)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (o *options) parseSizes(s string) error {
	o.sizes = nil
	for field := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.ReplaceAll(field, "_", ""))
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of files", field)
		}
		o.sizes = append(o.sizes, n)
	}
	slices.Sort(o.sizes)
	return nil
}

func run(ctx context.Context, opts options) (err error) {
	if opts.rounds < 1 || opts.commits < 0 {
		return errors.New("at least one round and one commit are needed")
	}
	if err := os.MkdirAll(opts.dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "ken-bench-")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, os.RemoveAll(tmp))
		if !opts.keep {
			err = errors.Join(err, os.RemoveAll(opts.dir))
		}
	}()
	b := &bench{options: opts, tmp: tmp, env: environment(opts.dir), memory: make(map[int]int64)}
	if study := studies[opts.study.name]; study != nil {
		return b.runStudy(ctx, study)
	}
	b.commits = cmp.Or(b.commits, historyCommits)
	if err := b.build(ctx); err != nil {
		return err
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	if err := printTable(os.Stdout, b.rows); err != nil {
		return err
	}
	if opts.update != "" {
		if err := updatePage(opts.update, b.rows); err != nil {
			return err
		}
	}
	if opts.check && slices.ContainsFunc(b.rows, row.missed) {
		return errMissed
	}
	return nil
}

// progress prints a line with the time on stderr.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}
