package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ken/internal/fault"
	"ken/internal/install"
	"ken/internal/repo"
	"ken/internal/term"
	"ken/internal/workflow"
)

// A StateSpace is an open state directory, as a command needs it.
type StateSpace interface {
	Keeper() *workflow.Keeper
	// Mentions lists how documents write the directory's path.
	Mentions() []string
	// Documents hands every text file among paths to f, directories walked,
	// and tells left of texts in those that could not be read.
	Documents(ctx context.Context, paths []string, left func(path string, why error), f func(path string, content []byte) error) error
	// ToolFiles lists what other tools keep in the work tree around it, if there is
	// one.
	ToolFiles(ctx context.Context) ([]install.ToolFiles, error)
	Close() error
}

// StateOptions says which state directory is meant.
type StateOptions struct {
	From string        // -C
	Dir  string        // --dir, from From; what the configuration says when ""
	Wait time.Duration // for the lock
}

// stateFlags are the flags that every verb of ken state shares.
type stateFlags struct {
	dir  string
	wait time.Duration
}

func (f *stateFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "dir", "", "the state `DIR`ectory; any, also outside of a repository")
	flags.DurationVar(&f.wait, "wait", 10*time.Second, "how long to wait for the directory's lock")
}

// state returns ken state.
func (p *program) state() *cobra.Command {
	f := &stateFlags{}
	c := &cobra.Command{
		Use:   "state",
		Short: "Keep the working directory of an agent workflow under contract",
		Long: `The state directory (.ken/state, or --dir) holds the working files of an agent
workflow. A contract says which names may lie there, who writes them and how long
they live; ken state contract prints it. Sweeps move into the archive inside the
directory, from which ken state restore brings everything back.`,
		Args: cobra.NoArgs,
		RunE: needsSub,
	}
	f.bind(c.PersistentFlags())
	c.AddCommand(
		p.stateAudit(f), p.stateCleanup(f), p.stateReset(f), p.stateEvict(f),
		p.stateRestore(f), p.stateArchive(f),
		p.stateInit(f), p.stateUpdate(f), p.stateGet(f), p.statePut(f),
		p.stateCheck(f), p.stateRepair(f), p.stateLint(f),
		p.statePause(f), p.stateResume(f), p.stateDefer(f), p.stateLog(f),
		p.stateContract(f), p.stateSlug(),
	)
	return c
}

// inState opens the state directory, runs f in it, and closes it again.
func (p *program) inState(c *cobra.Command, f *stateFlags, do func(StateSpace) error) error {
	if f.wait < 0 {
		return usage(c, fmt.Errorf("--wait %v is in the past", f.wait))
	}
	if flag := c.Flag("dir"); flag != nil && flag.Changed && f.dir == "" {
		return usage(c, errors.New("--dir names nothing"))
	}
	s, err := p.OpenState(c.Context(), StateOptions{From: p.dir, Dir: f.dir, Wait: max(f.wait, 1)})
	if err != nil {
		return err
	}
	err = errors.Join(do(s), s.Close())
	if hint := fault.HintOf(err); hint != "" {
		return &fault.Error{Kind: fault.KindOf(err), Hint: p.here(f, hint), Err: err}
	}
	return err
}

// here makes a command in a hint one for the same directory.
func (p *program) here(f *stateFlags, hint string) string {
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

// again is the command that was given, with one more flag.
func again(c *cobra.Command, more string) string {
	text := c.CommandPath()
	c.Flags().Visit(func(f *pflag.Flag) {
		if c.InheritedFlags().Lookup(f.Name) == nil {
			text += " --" + f.Name + "=" + fault.Quote(f.Value.String())
		}
	})
	return text + more
}

// anywhere is inState for what needs no directory, only the contract in force,
// which outside of any repository is the default one.
func (p *program) anywhere(c *cobra.Command, f *stateFlags, do func(StateSpace) error) error {
	err := p.inState(c, f, do)
	if fault.KindOf(err) == fault.NoRepo {
		return p.inState(c, &stateFlags{dir: ".", wait: f.wait}, do)
	}
	return err
}

// printSweep prints what moved, and fails if something that should have did not.
func (p *program) printSweep(f *stateFlags, s *workflow.Sweep, next string) error {
	if p.io.JSON {
		if err := p.io.Encode(s); err != nil {
			return err
		}
	} else {
		p.printMoves(f, s.Moves, s.Archive)
		if len(s.Moves) == 0 {
			p.io.Printf("nothing to move\n")
		} else if s.DryRun {
			p.io.Remarkf("hint: move it with: %s", p.here(f, next))
		}
	}
	return p.afterMoves(s.Pruned, s.Remarks, s.Failures())
}

// afterMoves prints what else is to be known about moves, and returns an error for
// what could not be moved.
func (p *program) afterMoves(pruned, remarks []string, failed int) error {
	if len(pruned) > 0 {
		p.remark("the archive made room and dropped " + strings.Join(pruned, ", "))
	}
	for _, r := range remarks {
		p.remark(r)
	}
	if failed > 0 {
		return &fault.Error{Err: fmt.Errorf("%s could not be moved", entries(failed)), Hint: "see who may write there, and run it again"}
	}
	return nil
}

// remark tells something in one line, whatever it quotes.
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
		p.remark(p.here(f, fmt.Sprintf("in %s; bring it back with: ken state restore %s", *archive, fault.Quote(base(*archive)))))
	}
}

// shown is an entry's name as a line shows it.
func shown(n workflow.Name) string {
	if n.B64 != "" {
		return n.Name // quoted already
	}
	return repo.Path(n.Name).String()
}

func base(path string) string { return repo.Path(path).Base() }

// pairs reads the arguments key=value.
func pairs(c *cobra.Command, args []string) ([]workflow.Pair, error) {
	var out []workflow.Pair
	for _, a := range args {
		pair, err := workflow.ParsePair(a)
		if err != nil {
			return nil, usage(c, err)
		}
		out = append(out, pair)
	}
	return out, nil
}

// printDocument prints the workflow document: as YAML to read, or as JSON.
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
