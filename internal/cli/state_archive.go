package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/term"
	"ken/internal/workflow"
)

func (p *program) stateArchive(f *stateFlags) *cobra.Command {
	c := &cobra.Command{
		Use:     "archive",
		Short:   "List the snapshots of the archive",
		Example: `  ken state archive ls`,
		Args:    cobra.NoArgs,
		RunE:    needsSub,
	}
	c.AddCommand(&cobra.Command{
		Use:     "ls",
		Short:   "List the snapshots, oldest first",
		Example: `  ken state archive ls`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s StateSpace) error {
				list, err := s.Keeper().Archive(c.Context())
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(list)
				}
				p.printArchive(list)
				return nil
			})
		},
	})
	return c
}

func (p *program) printArchive(list *workflow.ArchiveList) {
	now := time.Now()
	for _, s := range list.Snapshots {
		verb := s.Verb
		if s.Foreign {
			verb = "foreign"
		}
		why := fmt.Sprintf("%s, %s, %s", term.Count(s.Files, "file"), term.Bytes(s.Bytes), term.Age(now, s.Time))
		if s.WorkflowID != "" {
			why += ", workflow " + s.WorkflowID
		}
		p.io.Line(term.Plain, verb, s.Name, why)
	}
	if len(list.Snapshots) == 0 {
		p.io.Printf("the archive is empty\n")
	}
}
