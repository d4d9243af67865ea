package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/agenthook"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/install"
	"ken/internal/registry"
	"ken/internal/spec"
	"ken/internal/term"
)

// GitHooks runs and installs the git hooks of a repository.
type GitHooks interface {
	// Gate judges the staged changes; nil in a repository without specs. strict says
	// that an unknown verdict stops the commit.
	Gate(ctx context.Context) (gated *spec.GateResult, strict bool, err error)
	// AddSession adds a session to the message that git prepared in a file.
	AddSession(ctx context.Context, file, source, session string) error
	// Finish adds the session to a message that the user wrote after AddSession.
	Finish(ctx context.Context, file, session string) error
	// Close closes the commit at HEAD; nil if the repository was never verified, and
	// while git replays commits.
	Close(ctx context.Context) (*registry.CloseResult, error)
	// Setup creates the files of ken install git, or removes them.
	Setup(ctx context.Context, opts install.Options) ([]install.FileResult, error)
	// Install adds ken to the git hooks, or removes it.
	Install(ctx context.Context, opts install.Options) (*install.HooksResult, error)
}

// errStopCommit has the errors that stop a commit, by exit status. They have no text, since
// printHookGate has printed the findings.
var errStopCommit = map[int]error{
	1: &fault.Error{Kind: fault.Failed, Err: errors.New("")},
	3: &fault.Error{Kind: fault.Stale, Err: errors.New("")},
}

// hook returns the command ken hook.
func (p *program) hook() *cobra.Command {
	c := &cobra.Command{
		Use:   "hook",
		Short: "Run a hook of git or of an agent's client",
		Long: `Git and agents' clients run these commands after ken install git --hooks and ken install.
Only pre-commit stops a commit, and only because of the gate. If ken itself fails, it
prints one line, and the commit or the agent continues.`,
		Example: `  ken hook pre-commit   # ask the gate about the staged changes`,
		Args:    cobra.NoArgs,
		RunE:    needsSub,
	}
	c.AddCommand(p.hookPreCommit(), p.hookPrepareCommitMsg(), p.hookCommitMsg(), p.hookPostCommit())
	for _, e := range agenthook.Events {
		c.AddCommand(p.hookAgent(e))
	}
	c.AddCommand(p.retiredHook())
	return c
}

func (p *program) hookPreCommit() *cobra.Command {
	var exit int
	c := &cobra.Command{
		Use:     "pre-commit",
		Short:   "Stop a commit of code whose spec has drifted too far",
		Example: `  ken hook pre-commit`,
		Args:    cobra.ArbitraryArgs,
		RunE: p.neverFail("the commit", func(c *cobra.Command, _ []string) error {
			if errStopCommit[exit] == nil {
				return fmt.Errorf("--exit %d: expected 1 or 3", exit)
			}
			h, err := p.OpenHooks(c.Context(), p.dir)
			if err != nil {
				return err
			}
			gated, strict, err := h.Gate(c.Context())
			if err != nil || gated == nil {
				return err
			}
			if !p.printHookGate(gated, strict) {
				return errStopCommit[exit]
			}
			return nil
		}),
	}
	c.Flags().IntVar(&exit, "exit", 1, "exit with `STATUS` to stop a commit: 1 or 3")
	return c
}

func (p *program) hookPrepareCommitMsg() *cobra.Command {
	return &cobra.Command{
		Use:     "prepare-commit-msg FILE [SOURCE [COMMIT]]",
		Short:   "Add the agent's session to a commit message",
		Example: `  ken hook prepare-commit-msg .git/COMMIT_EDITMSG`,
		Args:    cobra.RangeArgs(1, 3),
		RunE: p.neverFail("the commit", func(c *cobra.Command, args []string) error {
			session := p.Session()
			if session == "" {
				return nil
			}
			h, err := p.OpenHooks(c.Context(), p.dir)
			if err != nil {
				return err
			}
			source := ""
			if len(args) > 1 {
				source = args[1]
			}
			return h.AddSession(c.Context(), args[0], source, session)
		}),
	}
}

func (p *program) hookCommitMsg() *cobra.Command {
	return &cobra.Command{
		Use:     "commit-msg FILE",
		Short:   "Add the session to a message written in an editor",
		Example: `  ken hook commit-msg .git/COMMIT_EDITMSG`,
		Args:    cobra.ExactArgs(1),
		RunE: p.neverFail("the commit", func(c *cobra.Command, args []string) error {
			session := p.Session()
			if session == "" { // no trailer to add
				return nil
			}
			h, err := p.OpenHooks(c.Context(), p.dir)
			if err != nil {
				return err
			}
			return h.Finish(c.Context(), args[0], session)
		}),
	}
}

func (p *program) hookPostCommit() *cobra.Command {
	return &cobra.Command{
		Use:     "post-commit",
		Short:   "Verify what a commit changed, and list the summaries that it made stale",
		Example: `  ken hook post-commit`,
		Args:    cobra.ArbitraryArgs,
		RunE: p.neverFail("the commit", func(c *cobra.Command, _ []string) error {
			ctx, cancel, err := p.hookContext(c.Context())
			if err != nil {
				return err
			}
			defer cancel()
			h, err := p.OpenHooks(ctx, p.dir)
			if err != nil {
				return err
			}
			closed, err := h.Close(ctx)
			if err != nil || closed == nil {
				return err
			}
			stale := staleIn(closed)
			if len(stale) == 0 {
				return nil
			}
			p.io.Remarkf("ken: the commit made these summaries stale: %s", english.First(stale, shownPaths))
			p.io.Remarkf("hint: list what to write: ken summary close; see what changed since a summary: ken summary diff PATH")
			return nil
		}),
	}
}

// staleIn lists the files of a commit whose summaries are stale.
func staleIn(c *registry.CloseResult) []string {
	var list []string
	for _, n := range c.NeedsSummary {
		if n.Summary == fresh.Stale {
			list = append(list, n.Display())
		}
	}
	return list
}

// neverFail runs a hook. It turns errors and panics into a line on stderr, so that neither
// a commit nor an agent fails because ken did.
func (p *program) neverFail(what string, run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("internal error: %v", r)
			}
			if err == nil || err == errStopCommit[1] || err == errStopCommit[3] { //nolint:errorlint // compares identities
				return
			}
			p.io.Remarkf("ken: %s failed, and %s continues without it: %s", c.CommandPath(), what, oneLine(err.Error()))
			err = nil
		}()
		return run(c, args)
	}
}

func oneLine(text string) string { return term.Clean(strings.Join(strings.Fields(text), " ")) }

// printHookGate prints the findings of the gate on stderr, where git shows them, and reports
// whether the commit may pass. It prints nothing if there are none.
func (p *program) printHookGate(g *spec.GateResult, strict bool) bool {
	if g.Merge {
		p.io.Remarkf("ken: %s", g.Notice)
	}
	if len(g.Blocked) > 0 {
		p.io.Remarkf("ken: the spec gate refuses this commit")
	}
	for _, b := range g.Blocked {
		p.io.Remarkf("blocked     %s", term.Clean(fmt.Sprintf("%s  drift %d  %s", b.Node, b.Drift, english.First(b.Paths, shownPaths))))
	}
	for _, u := range g.Unknown {
		p.io.Remarkf("unknown     %s  %s", term.Clean(u.What), oneLine(u.Why))
		if u.Command != "" {
			p.io.Remarkf("hint: %s", term.Clean(u.Command))
		}
	}
	for _, b := range g.Blocked {
		p.io.Remarkf("hint: %s", term.Clean(gateHint(b)))
	}
	switch {
	case len(g.Blocked) > 0:
		return false
	case len(g.Unknown) > 0 && strict:
		p.io.Remarkf("ken: the gate could not judge this commit, and stops it (spec.gate_unknown: block)")
		return false
	case len(g.Unknown) > 0:
		p.io.Remarkf("ken: the gate could not judge this commit, and lets it pass")
	}
	return true
}
