// Package cli is the command line. Each command has a file: it turns flags into the options of a feature, calls the
// feature and prints the answer.
//
// The package has no rules about a repository. Package ken opens one; [Deps] has the functions that start servers, read
// hooks and write files.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/agenthook"
	"ken/internal/board"
	"ken/internal/fault"
	"ken/internal/install"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/term"
)

// Deps are the functions that commands need from the program.
type Deps struct {
	// OpenHooks opens the repository that contains dir for git hooks.
	OpenHooks func(ctx context.Context, dir string) (GitHooks, error)
	// Runs returns the surveys that workers run, nil without a team's store.
	Runs func(ctx context.Context, w *ken.Repository) *board.Part[board.Runs]
	// Serve serves the dashboard until ctx ends.
	Serve func(ctx context.Context, dir string, opts ServeOptions) error
	// AnswerHook returns the text for an agent, given the input of a hook in dir; "" for none.
	AnswerHook func(ctx context.Context, dir string, e agenthook.Event, c agenthook.Input) (string, error)
	// HookTime returns the timeout of hooks; nil is no timeout.
	HookTime func() (time.Duration, error)
	// Diagnose returns the facts for ken doctor about the repository of dir. ok is false outside
	// a repository.
	Diagnose func(ctx context.Context, dir string) (facts install.Facts, ok bool, err error)
	// InstallClient adds ken to the files of an agent's client, or removes it: those of the repository of dir, or the
	// user's own.
	InstallClient func(ctx context.Context, dir string, c install.Client, opts install.Options) (*install.ClientResult, error)
	// ServeMCP answers an agent on stdin and stdout until it disconnects.
	ServeMCP func(ctx context.Context, dir string) error
	// Session returns the session of the agent that runs the command, "" for none.
	Session func() string
	// Version is the version of this program.
	Version string
}

// A program is one run of the command line.
type program struct {
	Deps
	io  *term.IO
	dir string // -C
}

// errCheckFailed makes a command with --check exit with 3. It has no text, because the command
// has printed the reason.
var errCheckFailed = &fault.Error{Kind: fault.Stale, Err: errors.New("")}

// errFailed makes a command exit with 1. It has no text, because the command has printed what failed.
var errFailed = &fault.Error{Err: errors.New("")}

// Run runs one command line. It prints and returns its error.
func Run(ctx context.Context, deps Deps, io *term.IO, args []string) error {
	p := &program{Deps: deps, io: io}
	root := p.root()
	root.SetArgs(args)
	root.SetIn(io.In)
	root.SetOut(io.Out)
	root.SetErr(io.Err)
	ran, err := root.ExecuteContextC(ctx)
	if failed := io.Failed(); failed != nil {
		err = errors.Join(err, fmt.Errorf("cannot write the answer: %w", failed))
	}
	if err != nil {
		printError(ctx, io, err, ran)
	}
	return err
}

// Tree returns all commands, for documents about them. They cannot be run.
func Tree(version string) *cobra.Command {
	p := &program{Deps: Deps{Version: version}, io: &term.IO{}}
	root := p.root()
	showPlumbing(root)
	return root
}

// insertCommand inserts the command that was run into a hint that ends in "ken -C DIR …" or contains "ken … --dir DIR". The
// package that made the hint does not know the command.
func insertCommand(ran *cobra.Command, hint string) string {
	words := strings.TrimPrefix(ran.CommandPath(), ran.Root().Name())
	if with, open := strings.CutSuffix(hint, " …"); open && strings.Contains(with, "ken -C ") {
		return with + words
	}
	return strings.Replace(hint, "ken … --dir DIR", "ken"+words+" --dir DIR", 1)
}

// printError prints an error and its hint.
func printError(ctx context.Context, io *term.IO, err error, ran *cobra.Command) {
	if ctx.Err() != nil {
		io.Remarkf("ken: interrupted")
		return
	}
	if text := strings.TrimSpace(err.Error()); text != "" {
		io.Remarkf("ken: %s", term.CleanText(text))
	}
	if hint := fault.HintOf(err); hint != "" {
		io.Remarkf("hint: %s", term.CleanText(insertCommand(ran, hint)))
	}
}

// ExitStatus returns the exit status for an error; docs/manual lists them.
func ExitStatus(ctx context.Context, err error) int {
	if err == nil {
		return 0
	}
	if ctx.Err() != nil {
		return 130
	}
	switch fault.KindOf(err) {
	case fault.Usage:
		return 2
	case fault.Stale:
		return 3
	case fault.NoRepo:
		return 4
	case fault.Locked:
		return 5
	case fault.Interrupted:
		return 130
	default:
		return 1
	}
}

// root returns the tree of commands.
func (p *program) root() *cobra.Command {
	status := p.status()
	cmd := &cobra.Command{
		Use:   "ken",
		Short: "Keep what coding agents know about a git repository, and check that it is still true",
		Long: `ken keeps what coding agents know about a git repository, and checks that it is
still true. Every summary is stored with the exact content it was written from, so
ken can compute whether it still holds.

ken without a command is ken status. ken help --all lists the plumbing commands
too, and ken help glossary explains the words that ken uses.`,
		Example: `  ken up               # check this repository, and describe its directories
  ken                  # how do things stand, and what needs attention?
  ken brief main.go    # what to know before you touch a file`,
		Args:          cobra.NoArgs,
		RunE:          status.RunE,
		Version:       p.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.SetVersionTemplate("ken {{.Version}}\n")
	cmd.PersistentFlags().StringVarP(&p.dir, "directory", "C", "", "run as if ken was started in `DIR`")
	cmd.PersistentFlags().BoolVar(&p.io.JSON, "json", false, "print one JSON document")
	cmd.Flags().AddFlagSet(status.Flags())
	cmd.AddCommand(
		p.up(), status, p.find(), p.uses(), p.brief(), p.review(), p.serve(),
		p.summary(), p.survey(), p.spec(), p.docs(), p.state(),
		p.share(), p.worker(),
		p.install(), p.allow(), p.doctor(),
		p.verify(), p.hook(), p.mcp(), p.version(),
	)
	cmd.SetHelpCommand(p.help())
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultCompletionCmd()
	addGroups(cmd)
	answerUsage(cmd)
	return cmd
}

// withRepository opens the repository, runs f in it, and closes it again.
func (p *program) withRepository(ctx context.Context, f func(*ken.Repository) error) (err error) {
	show := p.io.Progress("reading files")
	w, err := ken.OpenWithTeam(ctx, ken.Options{Dir: p.dir, Progress: show.Update})
	if err != nil {
		return err
	}
	defer func() {
		show.Done()
		err = p.closeRepository(w, err)
	}()
	return f(w)
}

// withBareRepository is withRepository for a repository that may have no work tree.
func (p *program) withBareRepository(ctx context.Context, f func(*ken.Repository) error) (err error) {
	w, err := ken.OpenAllowBare(ctx, p.dir)
	if err != nil {
		return err
	}
	defer func() { err = p.closeRepository(w, err) }()
	return f(w)
}

// closeRepository closes a repository, prints its remarks, and adds an error of closing to err.
func (p *program) closeRepository(w *ken.Repository, err error) error {
	err = errors.Join(err, w.Close())
	for _, r := range w.Remarks() { // closing may add some
		p.io.Remarkf("ken: %s", r)
	}
	return err
}

// answer prints an answer: the document with --json, else what text prints.
func (p *program) answer(document any, text func()) error {
	if p.io.JSON {
		return p.io.Encode(document)
	}
	text()
	return nil
}

// failCheck returns errCheckFailed if a check failed and its answer was printed without an error.
func failCheck(err error, failed bool) error {
	if err == nil && failed {
		return errCheckFailed
	}
	return err
}

// paths resolves arguments; nil when there are none.
func paths(w *ken.Repository, args, b64 []string) ([]repo.Path, error) {
	var out []repo.Path
	for _, a := range args {
		path, err := w.Path(a)
		if err != nil {
			return nil, err
		}
		out = append(out, path)
	}
	for _, s := range b64 {
		path, err := repo.PathFromBase64(s)
		if err != nil {
			return nil, &fault.Error{Kind: fault.Usage, Hint: "copy path_b64 from the output of ken with --json", Err: err}
		}
		out = append(out, path)
	}
	return out, nil
}

// pathB64 adds the flag for a path in base64.
func pathB64(c *cobra.Command, into *[]string) {
	c.Flags().StringArrayVar(into, "path-b64", nil, "a `PATH` from the root in base64, for names that are not UTF-8")
}
