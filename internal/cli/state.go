package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/statedir"
	"ken/internal/term"
	"ken/internal/workflow"
)

// stateFlags are the flags of all ken state commands.
type stateFlags struct {
	dir  string
	wait time.Duration
}

func (f *stateFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "dir", "", "use the state directory `DIR`, also outside a repository")
	flags.DurationVar(&f.wait, "wait", 10*time.Second, "wait for the lock of the directory for at most this `TIME`")
}

// state returns ken state.
func (p *program) state() *cobra.Command {
	f := &stateFlags{}
	c := &cobra.Command{
		Use:   "state",
		Short: "Manage the working files of an agent workflow",
		Long: `The state directory (.ken/state, or --dir) contains the working files of an agent
workflow: plans, reviews, markers. A contract says which file names are allowed
there, who writes them and how long they live. ken state contract prints it.
Commands that clear the directory move files to an archive inside it, and
ken state restore brings them back.`,
		Example: `  ken state audit                        # list files that do not belong there
  ken state put plan.md -m "1. parse"    # write a file of the workflow
  ken state init --type dev              # start the next workflow`,
		Args: cobra.NoArgs,
		RunE: needsSub,
	}
	f.bind(c.PersistentFlags())
	c.AddCommand(
		p.stateAudit(f), p.stateCleanup(f), p.stateReset(f), p.stateEvict(f),
		p.stateRestore(f), p.stateArchive(f),
		p.stateInit(f), p.stateUpdate(f), p.stateGet(f), p.statePut(f),
		p.stateCheck(f), p.stateLint(f), p.stateDefer(f),
		p.stateContract(f), p.stateSlug(),
	)
	return c
}

// inState opens the state directory, calls do and closes the directory.
func (p *program) inState(c *cobra.Command, f *stateFlags, do func(*workflow.Manager) error) error {
	if f.wait < 0 {
		return usageError(c, fmt.Errorf("--wait %v is negative", f.wait))
	}
	if flag := c.Flag("dir"); flag != nil && flag.Changed && f.dir == "" {
		return usageError(c, errors.New("--dir is empty"))
	}
	s, err := statedir.Open(c.Context(), statedir.Options{From: p.dir, Dir: f.dir, Wait: max(f.wait, 1)})
	if err != nil {
		return err
	}
	err = errors.Join(do(s), s.Close())
	if hint := fault.HintOf(err); hint != "" {
		return &fault.Error{Kind: fault.KindOf(err), Hint: p.addDirFlags(f, hint), Err: err}
	}
	return err
}

// addDirFlags adds -C and --dir to a command in a hint.
func (p *program) addDirFlags(f *stateFlags, hint string) string {
	command := "ken "
	if p.dir != "" {
		command += "-C " + fault.Quote(p.dir) + " "
	}
	command += "state "
	if f.dir != "" {
		command += "--dir " + fault.Quote(f.dir) + " "
	}
	return strings.ReplaceAll(hint, "ken state ", command)
}

// commandWith returns the command that the user gave, with more appended.
func commandWith(c *cobra.Command, more string) string {
	text := c.CommandPath()
	c.Flags().Visit(func(f *pflag.Flag) {
		if c.InheritedFlags().Lookup(f.Name) == nil {
			text += " --" + f.Name + "=" + fault.Quote(f.Value.String())
		}
	})
	return text + more
}

// withContract is inState for commands that need only the contract. Outside a repository
// that is the default contract.
func (p *program) withContract(c *cobra.Command, f *stateFlags, do func(*workflow.Manager) error) error {
	err := p.inState(c, f, do)
	if fault.KindOf(err) == fault.NoRepo {
		return p.inState(c, &stateFlags{dir: ".", wait: f.wait}, do)
	}
	return err
}

// sweep returns a command that moves files, or lists them with --dry-run.
func (p *program) sweep(
	f *stateFlags, c *cobra.Command,
	act func(s *workflow.Manager, ctx context.Context, dry bool) (*workflow.Sweep, error),
) *cobra.Command {
	var dry bool
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		return p.inState(c, f, func(s *workflow.Manager) error {
			done, err := act(s, c.Context(), dry)
			if err != nil {
				return err
			}
			return p.printSweep(f, done, "ken state "+c.Name())
		})
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "list what would move; move nothing")
	return c
}

// printSweep prints the moved entries, and returns an error if a move failed.
func (p *program) printSweep(f *stateFlags, s *workflow.Sweep, next string) error {
	err := p.answer(s, func() {
		p.printMoves(f, s.Moves, s.Archive)
		if len(s.Moves) == 0 {
			p.io.Printf("nothing to move\n")
		} else if s.DryRun {
			p.io.Remarkf("hint: move them with: %s", p.addDirFlags(f, next))
		}
	})
	if err != nil {
		return err
	}
	return p.afterMoves(s.Pruned, s.Remarks, s.Failures())
}

// afterMoves prints remarks about moves, and returns an error if moves failed.
func (p *program) afterMoves(pruned, remarks []string, failed int) error {
	if len(pruned) > 0 {
		p.remark("removed old snapshots from the archive: " + strings.Join(pruned, ", "))
	}
	for _, r := range remarks {
		p.remark(r)
	}
	if failed > 0 {
		return &fault.Error{Err: fmt.Errorf("%s could not be moved", english.Count(failed, "entry")), Hint: "check the permissions of the directory, and run the command again"}
	}
	return nil
}

// remark prints text on one line of stderr.
func (p *program) remark(text string) { p.io.Remarkf("ken: %s", term.Clean(text)) }

func (p *program) printMoves(f *stateFlags, moves []workflow.Moved, archive *string) {
	for _, m := range moves {
		tone, why := term.Plain, m.Reason
		switch m.Status {
		case workflow.WouldArchive:
			tone = term.Warn
		case workflow.MoveFailed:
			tone, why = term.Bad, m.Error
		case workflow.Restored:
			tone = term.Good
		case workflow.Archived, workflow.Deleted:
		}
		p.io.Line(tone, string(m.Status), shown(m.Name), why)
	}
	if archive != nil {
		p.remark(p.addDirFlags(f, fmt.Sprintf("moved to %s; undo with: ken state restore %s", *archive, fault.Quote(repo.Path(*archive).Base()))))
	}
}

// shown returns a name as a line of output shows it.
func shown(n workflow.Name) string {
	if n.B64 != "" {
		return n.Name // quoted already
	}
	return repo.Path(n.Name).String()
}

// pairs parses arguments of the form key=value.
func pairs(c *cobra.Command, args []string) ([]workflow.Pair, error) {
	var out []workflow.Pair
	for _, a := range args {
		pair, err := workflow.ParsePair(a)
		if err != nil {
			return nil, usageError(c, err)
		}
		out = append(out, pair)
	}
	return out, nil
}

// printDocument prints the workflow document as YAML or JSON.
func (p *program) printDocument(d *workflow.Document) error {
	if p.io.JSON {
		return p.io.Encode(d)
	}
	text, err := d.YAML()
	if err != nil {
		return err
	}
	p.io.Printf("%s", text)
	return nil
}
