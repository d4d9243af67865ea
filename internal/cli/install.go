package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/install"
	"ken/internal/term"
)

// A ClientSpace is where clients keep their files.
type ClientSpace interface {
	// Install puts ken into the files of a client, or takes it out.
	Install(ctx context.Context, c install.Client, opts install.Options) (*install.ClientResult, error)
}

func (p *program) install() *cobra.Command {
	var opts install.Options
	var user, project bool
	c := &cobra.Command{
		Use:   "install CLIENT [--user] [--uninstall] [--dry-run]",
		Short: "Register ken with an agent's client: the MCP server and hooks",
		Long: `Puts ken into the files by which a client knows its MCP servers and hooks: those of
this repository, for everybody who works in it, or with --user those of your own.
Everything else in them stays as it is, comments included. Doing it twice is doing
it once, and --uninstall leaves every byte as it was. --dry-run prints the
difference.

Clients: ` + strings.Join(install.ClientNames(), ", "),
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: install.ClientNames(),
		RunE: func(c *cobra.Command, args []string) error {
			hint := "one of: " + strings.Join(install.ClientNames(), ", ")
			if len(args) == 0 {
				return &fault.Error{Kind: fault.Usage, Hint: hint, Err: errors.New("name a client")}
			}
			which, err := install.FindClient(args[0])
			if err != nil {
				if near := install.NearestClient(args[0]); near != "" {
					hint = "did you mean " + near + "? " + hint
				}
				return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf("%w %q", err, args[0])}
			}
			if user && project {
				return usage(c, errors.New("--user and --project contradict each other"))
			}
			if user {
				opts.Scope = install.User
			}
			s, err := p.OpenClients(c.Context(), p.dir)
			if err != nil {
				return err
			}
			done, err := s.Install(c.Context(), which, opts)
			if err != nil {
				return err
			}
			return p.printClient(done)
		},
	}
	c.Flags().BoolVar(&user, "user", false, "your own files, for every repository")
	c.Flags().BoolVar(&project, "project", false, "the files of this repository (default)")
	c.Flags().BoolVar(&opts.Uninstall, "uninstall", false, "take out what ken put in, and nothing else")
	c.Flags().BoolVar(&opts.DryRun, "dry-run", false, "print the difference, and change nothing")
	return c
}

func (p *program) printClient(done *install.ClientResult) error {
	if p.io.JSON {
		return p.io.Encode(done)
	}
	changed := false
	for _, f := range done.Files {
		tone, action := term.Good, f.Action
		if f.Action == "kept" || f.Action == "absent" {
			tone = term.Dim
		} else {
			changed = true
		}
		if done.DryRun {
			action = install.Would(action)
		}
		p.io.Line(tone, action, f.Path, "")
		if f.Diff != "" {
			p.io.Printf("%s", plain(f.Diff))
		}
		if f.Note != "" {
			p.io.Remarkf("ken: %s: %s", term.Clean(f.Path), f.Note)
		}
	}
	switch {
	case done.DryRun:
		p.io.Remarkf("ken: nothing was changed")
	case changed:
		p.io.Remarkf("ken: %s reads it when it starts", done.Client)
	}
	return nil
}
