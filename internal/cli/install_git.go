package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/install"
	"ken/internal/term"
)

func (p *program) installGit() *cobra.Command {
	var hooks bool
	var opts install.Options
	c := &cobra.Command{
		Use:        "git [--hooks] [--uninstall] [--dry-run]",
		SuggestFor: []string{"init"},
		Short:      "Set up a repository: configuration and git hooks",
		Long: `Creates .ken/config.yaml, in which every setting is a comment, and .ken/.gitignore. Adds
ken to the git hooks pre-commit, prepare-commit-msg, commit-msg and post-commit, in the
directory where git looks for hooks. Hooks that exist keep running. Running it again
changes nothing, and --uninstall restores every byte.`,
		Example: `  ken install git              # configuration and git hooks
  ken install git --hooks      # only the git hooks
  ken install git --dry-run    # print what would change`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			h, err := p.OpenHooks(c.Context(), p.dir)
			if err != nil {
				return err
			}
			done := &gitInstallation{}
			if !hooks {
				// Find errors before the first change.
				plan := opts
				plan.DryRun = true
				if _, err := h.Setup(c.Context(), plan); err != nil {
					return err
				}
			}
			if done.HooksResult, err = h.Install(c.Context(), opts); err != nil {
				return err
			}
			// Install the hooks first: only writing shows whether the directory is writable.
			if !hooks {
				if done.Files, err = h.Setup(c.Context(), opts); err != nil {
					return err
				}
			}
			return p.printGitInstallation(done)
		},
	}
	c.Flags().BoolVar(&hooks, "hooks", false, "install only the git hooks")
	c.Flags().BoolVar(&opts.Uninstall, "uninstall", false, "remove what ken installed")
	c.Flags().BoolVar(&opts.DryRun, "dry-run", false, "print what would change, and change nothing")
	return c
}

// gitInstallation is the result of ken install git.
type gitInstallation struct {
	Files []install.FileResult `json:"files,omitempty"`
	*install.HooksResult
}

func (p *program) printGitInstallation(done *gitInstallation) error {
	if p.io.JSON {
		return p.io.Encode(done)
	}
	for _, f := range done.Files {
		p.printAction(f.Action, f.Path, f.Note, done.DryRun)
	}
	for _, h := range done.Hooks {
		p.printAction(h.Action, h.Path, h.Note, done.DryRun)
	}
	for _, n := range done.Notes {
		p.io.Remarkf("ken: %s", term.Clean(n))
	}
	if done.DryRun {
		p.io.Remarkf("ken: nothing was changed")
	}
	return nil
}
