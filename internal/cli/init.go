package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/term"
)

// InstallOptions say what is done with the hooks.
type InstallOptions struct {
	Uninstall bool // take ken's part out instead of putting it in
	DryRun    bool // only say what would be done
}

// An Installation is what was done with the hooks.
type Installation struct {
	Hooks  []HookChange `json:"hooks"`
	DryRun bool         `json:"dry_run,omitempty"` // nothing was done
	Notes  []string     `json:"notes,omitempty"`   // what the user should know
}

// A HookChange is what was done with a hook.
type HookChange struct {
	Name   string `json:"name"`
	Path   string `json:"path"` // from the root, or absolute where it lies elsewhere
	Action string `json:"action"`
	Note   string `json:"note,omitempty"`
}

func (p *program) init() *cobra.Command {
	var hooks bool
	var opts InstallOptions
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

func (p *program) printInstallation(done *Installation) error {
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
