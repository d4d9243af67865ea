// Command study measures how good ken's answers are on real repositories. README.md has the method of each study, and
// docs/evidence.md the results. Run it in this directory:
//
//	go run . find DIR...                             which files will a commit change
//	go run . -questions testdata/questions.json find DIR...          where is X handled
//	go run . -questions testdata/questions.json -words find DIR...   the same in words of code
//	go run . edges DIR...                            which file uses which, against compilers
//	go run . symbols DIR...                          which files use a symbol, against compilers
//	go run . documents DIR...                        which stale mentions does ken docs list
//	go run . outlines DIR...                         sums of all outlines, to compare two versions of ken
//
// A study works on clones of its own, and changes nothing in the repositories that it is given.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A study is one run of the program.
type study struct {
	repos     []string // directories
	commits   int      // to ask about
	back      int      // commits before HEAD
	sampled   int      // symbols of each kind to ask about
	engines   string   // with commas; "" for all
	questions string   // a file; "" to ask about commits
	words     bool     // ask the words of the questions
	details   string   // a file; "" for none
	ken       string   // the program to study; built from the tree if ""

	tmp string // of what is made in this run
	env []string
}

// studies return their tables as Markdown, and sums as lines.
var studies = map[string]func(*study, context.Context) (string, error){
	"find":      (*study).find,
	"edges":     (*study).edges,
	"symbols":   (*study).symbols,
	"documents": (*study).documents,
	"outlines":  (*study).outlines,
}

func main() {
	st := new(study)
	flag.IntVar(&st.commits, "commits", 100, "find: the number of `commits` to ask about")
	flag.IntVar(&st.back, "back", 300, "find: first-parent `commits` between the tree that is searched and HEAD")
	flag.IntVar(&st.sampled, "symbols", 25, "symbols: ask about this `number` of top-level symbols, and of methods")
	flag.StringVar(&st.engines, "engines", "", "find: ask only these `engines`, with commas")
	flag.StringVar(&st.questions, "questions", "", "find: ask the questions in this JSON `file` about HEAD, not commits")
	flag.BoolVar(&st.words, "words", false, "find: ask the code words of -questions, not the questions")
	flag.StringVar(&st.details, "details", "", "write every answer into this `file`, as JSON lines")
	flag.StringVar(&st.ken, "ken", "", "study this `binary` instead of building one")
	flag.Usage = func() {
		names := strings.Join(slices.Sorted(maps.Keys(studies)), "|")
		fmt.Fprintf(flag.CommandLine.Output(), "usage: go run . [flags] %s DIR...\n", names)
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := st.run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "study:", err)
		os.Exit(1)
	}
}

func (st *study) run(ctx context.Context, args []string) (err error) {
	if len(args) < 2 || studies[args[0]] == nil {
		flag.Usage()
		return errors.New("name a study and at least one repository")
	}
	st.repos = args[1:]
	if st.tmp, err = os.MkdirTemp("", "ken-study-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(st.tmp)) }()
	st.env = environment(st.tmp)
	if st.details != "" {
		if err := os.WriteFile(st.details, nil, 0o644); err != nil {
			return err
		}
	}
	if err := st.buildKen(ctx); err != nil {
		return err
	}
	text, err := studies[args[0]](st, ctx)
	fmt.Print(text)
	return err
}

// buildKen builds ken from the directory above, unless -ken names a binary.
func (st *study) buildKen(ctx context.Context) (err error) {
	if st.ken != "" {
		st.ken, err = filepath.Abs(st.ken)
		return err
	}
	tags, err := os.ReadFile("../internal/outline/syntax/tags") // as the Makefile has it
	if err != nil {
		return err
	}
	st.ken = filepath.Join(st.tmp, "ken")
	cmd := exec.CommandContext(ctx, "go", "build", "-C", "..", "-tags", strings.TrimSpace(string(tags)), "-trimpath", "-o", st.ken, "./cmd/ken")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build ken: %w\n%s", err, tail(msg))
	}
	return nil
}

// environment returns an environment without the user's configuration of git and ken.
func environment(home string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "_")
		if !slices.Contains([]string{"GIT", "XDG", "KEN"}, name) {
			env = append(env, kv)
		}
	}
	return append(env, "HOME="+home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
}

// detail adds a line to the file of -details.
func (st *study) detail(v any) error {
	if st.details == "" {
		return nil
	}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(st.details, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// progress prints a line with the time on stderr.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}
