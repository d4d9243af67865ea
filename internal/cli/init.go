package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/hook"
	"ken/internal/term"
)

func (p *program) init() *cobra.Command {
	var hooks bool
	var opts hook.Options
	c := &cobra.Command{
		Use:   "init --hooks [--uninstall] [--dry-run]",
		Short: "Set a repository up: its git hooks",
		Long: `--hooks puts ken's part into the hooks pre-commit, prepare-commit-msg and commit-msg,
wherever git looks for them. A hook that is there already keeps running, behind it.
Doing it twice is doing it once, and --uninstall leaves every byte as it was.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !hooks {
				return &fault.Error{Kind: fault.Usage, Hint: "to install the git hooks: ken init --hooks", Err: errors.New("say what to set up")}
			}
			h, err := p.OpenHooks(c.Context(), p.dir)
			if err != nil {
				return err
			}
			done, err := h.Install(c.Context(), opts)
			if err != nil {
				return err
			}
			return p.printInstallation(done)
		},
	}
	c.Flags().BoolVar(&hooks, "hooks", false, "the git hooks")
	c.Flags().BoolVar(&opts.Uninstall, "uninstall", false, "take out what ken put in, and nothing else")
	c.Flags().BoolVar(&opts.DryRun, "dry-run", false, "say what would change, and change nothing")
	return c
}

func (p *program) printInstallation(done *hook.Installation) error {
	if p.io.JSON {
		return p.io.Encode(done)
	}
	for _, h := range done.Hooks {
		tone := term.Good
		if h.Action == "kept" || h.Action == "absent" {
			tone = term.Dim
		}
		p.io.Line(tone, h.Action, h.Path, h.Note)
	}
	for _, n := range done.Notes {
		p.io.Remarkf("ken: %s", term.Clean(n))
	}
	if done.DryRun {
		p.io.Remarkf("ken: nothing was changed")
	}
	return nil
}
