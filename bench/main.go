// Command bench measures ken on whole repositories and prints one table. It runs whole processes, as users do.
//
// Where another program does similar work, a figure is a ratio to that program, measured in the same run, so that
// figures of different machines can be compared. docs/performance.md has the method and the last figures.
//
//	go run ./bench                       everything
//	go run ./bench -sizes 500 -run trust one row, quickly
//	go run ./bench -check                status 1 if a limit is missed
//	go run ./bench -update FILE          also writes the table into a page
package main

import (
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
	sizes   []int
	rounds  int
	only    *regexp.Regexp
	dir     string // of the generated repositories
	check   bool
	update  string // a page to write the table into; "" for none
	ken     string // binary to measure; built from the tree when ""
	commits int    // of the generated history
}

var errMissed = errors.New("a limit was missed")

func main() {
	opts := options{sizes: []int{500, 10_000, 100_000}, only: regexp.MustCompile("")}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	flag.Func("sizes", "numbers of `files`, with commas (default 500,10000,100000)", opts.parseSizes)
	flag.Func("run", "measure only the work that matches a `regexp`", func(s string) (err error) {
		opts.only, err = regexp.Compile(s)
		return err
	})
	flag.IntVar(&opts.rounds, "rounds", 10, "measured runs of each side")
	flag.StringVar(&opts.dir, "dir", filepath.Join(cache, "ken-bench"), "where the generated repositories are kept")
	flag.BoolVar(&opts.check, "check", false, "exit with status 1 if a limit is missed")
	flag.StringVar(&opts.update, "update", "", "write the table into this `page`, between its two bench comments")
	flag.StringVar(&opts.ken, "ken", "", "measure this `binary` instead of building one")
	flag.IntVar(&opts.commits, "commits", 100_000, "`length` of the generated history")
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
	if opts.rounds < 1 || opts.commits < 1 {
		return errors.New("at least one round and one commit are needed")
	}
	if err := os.MkdirAll(opts.dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "ken-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	b := &bench{options: opts, tmp: tmp, env: environment(opts.dir)}
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
