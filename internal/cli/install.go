package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/install"
	"ken/internal/term"
)

func (p *program) install() *cobra.Command {
	var opts install.Options
	var user, project bool
	c := &cobra.Command{
		Use:   "install CLIENT [--user] [--uninstall] [--dry-run]",
		Short: "Add ken to an agent's client or to git",
		Long: `Adds ken's MCP server and hooks to the files in which a client lists them: the files of
this repository, for everybody who works in it, or with --user your own. Everything
else in them stays, comments included. Running it again changes nothing, and
--uninstall restores every byte. ken install git adds ken to the hooks of git.

Clients: ` + strings.Join(install.ClientNames(), ", "),
		Example: `  ken install claude               # for everybody in this repository
  ken install codex --dry-run      # print the difference
  ken install cursor --uninstall   # remove it again
  ken install git                  # the git hooks of this repository, and a configuration`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: install.ClientNames(),
		RunE: func(c *cobra.Command, args []string) error {
			hint := "clients: " + strings.Join(install.ClientNames(), ", ") + "; git hooks: ken install git"
			if len(args) == 0 {
				return &fault.Error{Kind: fault.Usage, Hint: hint, Err: errors.New("no client given")}
			}
			which, err := install.FindClient(args[0])
			if err != nil {
				if near := install.NearestClient(args[0]); near != "" {
					hint = "did you mean: ken install " + near + " (" + hint + ")"
				}
				return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf("%w %q", err, args[0])}
			}
			if user && project {
				return usageError(c, errors.New("set only one of --user and --project"))
			}
			if user {
				opts.Scope = install.User
			}
			done, err := p.InstallClient(c.Context(), p.dir, which, opts)
			if err != nil {
				return err
			}
			return p.printClient(done)
		},
	}
	c.Flags().BoolVar(&user, "user", false, "change your own files, for all repositories")
	c.Flags().BoolVar(&project, "project", false, "change the files of this repository (default)")
	c.Flags().BoolVar(&opts.Uninstall, "uninstall", false, "remove what ken installed")
	c.Flags().BoolVar(&opts.DryRun, "dry-run", false, "print the difference, and change nothing")
	c.AddCommand(p.installGit())
	return c
}

// printAction prints what was done to a file, or would be done. It reports whether that is a change.
func (p *program) printAction(action, path, note string, dryRun bool) bool {
	changed := action != "kept" && action != "absent"
	tone := term.Dim
	if changed {
		tone = term.Good
	}
	if dryRun {
		action = install.Would(action)
	}
	p.io.Line(tone, action, path, note)
	return changed
}

func (p *program) printClient(done *install.ClientResult) error {
	if p.io.JSON {
		return p.io.Encode(done)
	}
	changed, added := false, false
	for _, f := range done.Files {
		changed = p.printAction(f.Action, f.Path, "", done.DryRun) || changed
		added = added || f.Action == "created" || f.Action == "added"
		if f.Diff != "" {
			p.io.Printf("%s", term.CleanText(f.Diff))
		}
		if f.Note != "" {
			p.io.Remarkf("ken: %s: %s", term.Clean(f.Path), f.Note)
		}
	}
	switch {
	case done.DryRun:
		p.io.Remarkf("ken: nothing was changed")
	case changed:
		p.io.Remarkf("ken: %s loads the change when it starts", done.Client)
		if done.Scope == install.Project && added {
			p.io.Remarkf("ken: if you commit the files, the client of a colleague without ken reports that the server did not start; for yourself alone: ken install %s --user", done.Client)
		}
	}
	return nil
}
