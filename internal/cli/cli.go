// Package cli is the command line: flags become options, options meet a deciding
// package, and the answer meets the screen. One file holds one command.
//
// It decides nothing about a repository and reads nothing of it; what opens one
// comes in from outside.
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
	"ken/internal/brief"
	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/fresh"
	"ken/internal/install"
	"ken/internal/prove"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/review"
	"ken/internal/share"
	"ken/internal/spec"
	"ken/internal/store"
	"ken/internal/survey"
	"ken/internal/term"
)

// A Workspace is an open repository, as a command needs it.
type Workspace interface {
	// Registry answers for the work tree; one per command.
	Registry() *registry.Registry
	// Spec answers for its specs.
	Spec() *spec.Reader
	// GatePolicy is how strict the gate over them is.
	GatePolicy() spec.GatePolicy
	// Survey answers for its directories; ranks go before those that are
	// configured.
	Survey(ranks map[repo.Path]survey.Rank) *survey.Survey
	// Standings says how the texts about directories stand, nil where nobody ever wrote one:
	// within some paths, or all. The report is what was just found of files; verified says
	// that it was also recorded.
	Standings(ctx context.Context, rep *registry.Report, verified bool, within []repo.Path) (*survey.DirCounts, error)
	// Unused reads every record, and returns those that are not used; RemoveUnused removes
	// them.
	Unused(ctx context.Context) ([]fresh.Unused, error)
	RemoveUnused(ctx context.Context) ([]fresh.Unused, error)
	// Writer returns who describes directories: the provider that is named, else
	// the one that is configured.
	Writer(provider, model string) (survey.Writer, error)
	Planner(provider, model string) (survey.Writer, error)
	// SurveyLimits fills in what is configured and was not given.
	SurveyLimits(opts survey.RunOptions) survey.RunOptions
	// Find lists the places that matter for some words, in the work tree or in a commit.
	Find(ctx context.Context, q find.Query, at string) (*find.Answer, error)
	// Brief says what to know about a path first.
	Brief(ctx context.Context, opts BriefOptions) (*brief.Brief, error)
	// Uses says who uses a file, a directory or a symbol.
	Uses(ctx context.Context, opts UsesOptions) (*find.UsesAnswer, error)
	// AllUses calls f with every use of one file by another, in the work tree or at a revision.
	AllUses(ctx context.Context, at string, f func(find.WholeEdge) error) error
	// Review judges a change; FailOn returns the kinds of lines that fail a check.
	Review(ctx context.Context, opts ReviewOptions) (*review.Review, error)
	FailOn() []review.Kind
	// Diff says what changed in a file or directory since its summary was written.
	Diff(ctx context.Context, p repo.Path) (*review.Diff, error)
	// Confirm says that what is said of files and directories still holds, for what
	// is there now or, of one path, for what was read.
	Confirm(ctx context.Context, paths []repo.Path, read string) ([]Confirmed, error)
	// CheckReceipt says whether a receipt of a file or a directory holds.
	CheckReceipt(ctx context.Context, receipt string) (*registry.ReceiptCheck, error)
	// Prove replays the history, and writes a plot of it if that is wanted.
	Prove(ctx context.Context, opts ProveOptions) (*prove.Report, error)
	// Docs judges what documents name.
	Docs(ctx context.Context, opts docs.Options) (*docs.Report, error)
	// QuickDocs is Docs without a long wait. The report is nil if the check would take
	// long.
	QuickDocs(ctx context.Context) (*docs.Report, error)
	// FixDocs corrects the mentions that moved. It returns the corrections and the mentions
	// that are left. If dry is set, it writes nothing.
	FixDocs(ctx context.Context, rep *docs.Report, dry bool) (docs.Fixed, error)
	// Dispatcher leases directories to agents.
	Dispatcher() *survey.Dispatcher
	// Next leases a directory to the user or agent who asks.
	Next(ctx context.Context, opts survey.NextOptions) (*survey.NextItem, error)
	// Submit takes in what an agent wrote, about a directory and its files.
	Submit(ctx context.Context, sub survey.Submission) (*survey.Submitted, error)
	// Share answers for what it shares with other clones.
	Share(ctx context.Context) (*share.Share, error)
	// Runs returns the surveys that workers run, nil without a team's store.
	Runs(ctx context.Context) *board.Part[board.Runs]
	// Base is that of Commits.
	Base(ctx context.Context, sync bool) (*store.TeamStatus, error)
	// AfterClose shares what is known, if that is wanted, and returns what a person should
	// be told if it could not be.
	AfterClose(ctx context.Context) string
	// Path turns an argument, relative to where the command was run, into a
	// path from the root. One that leads outside is an error.
	Path(arg string) (repo.Path, error)
	// RootPath is Path for a name that is from the root already.
	RootPath(arg string) (repo.Path, error)
	// Remarks says what the user should know about how the repository could
	// be opened, e.g. that it is read-only.
	Remarks() []string
	Close() error
}

// Commits is a repository that is asked about commits alone, and may have no work tree.
type Commits interface {
	// Brief is that of a Workspace, with a revision.
	Brief(ctx context.Context, opts BriefOptions) (*brief.Brief, error)
	Path(arg string) (repo.Path, error)
	// Review is that of a Workspace, for two commits.
	Review(ctx context.Context, opts ReviewOptions) (*review.Review, error)
	FailOn() []review.Kind
	// Share answers for what it shares with other clones.
	Share(ctx context.Context) (*share.Share, error)
	// Base keeps this clone in step with the base of its team, or only says how it stands; nil
	// where there is none. What is known without the base comes with the error, too.
	Base(ctx context.Context, sync bool) (*store.TeamStatus, error)
	Remarks() []string
	Close() error
}

// BriefOptions say what a brief is about.
type BriefOptions struct {
	Path   repo.Path
	Budget int    // tokens; the default when 0
	At     string // a revision; the work tree when ""
}

// Confirmed tells what became of a confirmation. Verdict, Reasons, Basis and Above are
// about directories.
type Confirmed struct {
	registry.Written
	Basis   fresh.Digest    `json:"basis,omitzero"`
	Verdict *survey.Verdict `json:"verdict,omitempty"`
	Reasons []string        `json:"reasons,omitempty"`
	Above   []string        `json:"above,omitempty"` // directories that hold again because of it
}

// Deps is what commands need from outside.
type Deps struct {
	// Open opens the repository that dir lies in. Progress may be nil.
	Open func(ctx context.Context, dir string, progress func(done, total int)) (Workspace, error)
	// OpenCommits opens it for questions about commits.
	OpenCommits func(ctx context.Context, dir string) (Commits, error)
	// OpenAddresses opens it for what its configuration may contact.
	OpenAddresses func(ctx context.Context, dir string) (AddressSpace, error)
	// OpenState opens the state directory that is meant.
	OpenState func(ctx context.Context, opts StateOptions) (StateSpace, error)
	// OpenHooks opens the repository of dir for git hooks.
	OpenHooks func(ctx context.Context, dir string) (HookSpace, error)
	// Board sums up the worktree that dir lies in, or every one.
	Board func(ctx context.Context, dir string, all bool) (*board.Board, error)
	// Serve shows it in a browser until ctx ends.
	Serve func(ctx context.Context, dir string, opts ServeOptions) error
	// AnswerHook returns the text for an agent, given the input of a hook in dir; "" for none.
	AnswerHook func(ctx context.Context, dir string, e agenthook.Event, c agenthook.Input) (string, error)
	// HookTime returns the timeout of hooks; nil is no timeout.
	HookTime func() (time.Duration, error)
	// Diagnose returns the facts for ken doctor about the repository of dir. ok is false outside
	// a repository.
	Diagnose func(ctx context.Context, dir string) (facts install.Facts, ok bool, err error)
	// ToolFiles finds the files of other tools in the repository of dir.
	ToolFiles func(ctx context.Context, dir string) ([]install.ToolFiles, error)
	// OpenClients finds the files of agents' clients, for the repository of dir.
	OpenClients func(ctx context.Context, dir string) (ClientSpace, error)
	// ServeMCP answers an agent on stdin and stdout until it hangs up.
	ServeMCP func(ctx context.Context, dir string) error
	// OpenRuns opens the runs of the repository that dir lies in.
	OpenRuns func(ctx context.Context, dir string) (RunSpace, error)
	// Work describes directories of surveys that were handed out, until ctx ends.
	Work func(ctx context.Context, dir string, opts WorkOptions) error
	// Session names the agent's session that runs the command, "" for none.
	Session func() string
	// Version names this program.
	Version string
}

// A program is one run of the command line.
type program struct {
	Deps
	io  *term.IO
	dir string // -C
}

// errWanting ends a check whose answer was found wanting: the answer is printed
// already, so there is nothing left to say.
var errWanting = &fault.Error{Kind: fault.Stale, Err: errors.New("")}

// errFailed is errWanting for what could not be done.
var errFailed = &fault.Error{Err: errors.New("")}

// Run runs one command line and returns its error, already told to the user.
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
		tell(ctx, io, err, ran)
	}
	return err
}

// Tree returns all commands, to be described and not to be run.
func Tree(version string) *cobra.Command {
	p := &program{Deps: Deps{Version: version}, io: &term.IO{}}
	root := p.root()
	showPlumbing(root)
	return root
}

// about fills in which command a hint means that ends in "ken -C DIR …" or names
// "ken … --dir DIR": whoever gave it does not know which one was run.
func about(ran *cobra.Command, hint string) string {
	words := strings.TrimPrefix(ran.CommandPath(), ran.Root().Name())
	if with, open := strings.CutSuffix(hint, " …"); open && strings.Contains(with, "ken -C ") {
		return with + words
	}
	return strings.Replace(hint, "ken … --dir DIR", "ken"+words+" --dir DIR", 1)
}

// tell prints an error and its hint.
func tell(ctx context.Context, io *term.IO, err error, ran *cobra.Command) {
	if ctx.Err() != nil {
		io.Remarkf("ken: interrupted")
		return
	}
	if text := strings.TrimSpace(err.Error()); text != "" {
		io.Remarkf("ken: %s", plain(text))
	}
	if hint := fault.HintOf(err); hint != "" {
		io.Remarkf("hint: %s", plain(about(ran, hint)))
	}
}

// plain is [term.CleanText].
func plain(text string) string { return term.CleanText(text) }

// ExitStatus is the process's answer to a caller, as docs/manual promises it.
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
		Short: "Keep what coding agents know about a git repository, and prove that it is still true",
		Long: `ken keeps what coding agents know about a git repository, and proves that it is
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
		p.summary(), p.diff(), p.confirm(), p.close(),
		p.survey(),
		p.spec(),
		p.docs(),
		p.state(),
		p.share(), p.worker(),
		p.init(), p.install(), p.allow(), p.doctor(), p.prove(),
		p.verify(), p.board(), p.receipt(), p.hook(), p.mcp(), p.version(),
	)
	cmd.SetHelpCommand(p.help())
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultCompletionCmd()
	addGroups(cmd)
	answerUsage(cmd)
	return cmd
}

// within opens the repository, runs f in it, and closes it again.
func (p *program) within(ctx context.Context, f func(Workspace) error) (err error) {
	show := p.io.Progress("reading files")
	w, err := p.Open(ctx, p.dir, show.Update)
	if err != nil {
		return err
	}
	defer func() {
		show.Done()
		err = errors.Join(err, w.Close())
		for _, r := range w.Remarks() { // those of closing, too
			p.io.Remarkf("ken: %s", r)
		}
	}()
	return f(w)
}

// paths resolves arguments; nil when there are none.
func paths(w Workspace, args, b64 []string) ([]repo.Path, error) {
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

// pathB64 adds the flag that names a path by its bytes.
func pathB64(c *cobra.Command, into *[]string) {
	c.Flags().StringArrayVar(into, "path-b64", nil, "a `PATH` from the root in base64, for names that are not UTF-8")
}
