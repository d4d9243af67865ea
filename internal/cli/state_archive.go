package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/fault"
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
	c.AddCommand(p.stateArchiveShow(f))
	c.AddCommand(&cobra.Command{
		Use:     "ls",
		Short:   "List the snapshots, oldest first",
		Example: `  ken state archive ls`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s *workflow.Manager) error {
				list, err := s.Archive(c.Context())
				if err != nil {
					return err
				}
				return p.answer(list, func() { p.printArchive(list) })
			})
		},
	})
	return c
}

func (p *program) stateArchiveShow(f *stateFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "show [SNAPSHOT]",
		Short: "List the files of a snapshot",
		Long: `Prints what the snapshot contains: the name, size and age of every entry, and why it
was moved. Without SNAPSHOT it is the latest one that ken made.`,
		Example: `  ken state reset
  ken state archive show   # the files that the reset moved`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.inState(c, f, func(s *workflow.Manager) error {
				snap, err := s.Snapshot(c.Context(), strings.Join(args, ""))
				if err != nil {
					return err
				}
				return p.answer(snap, func() { p.printSnapshot(f, snap) })
			})
		},
	}
}

func (p *program) printSnapshot(f *stateFlags, s *workflow.ArchivedSnapshot) {
	now := time.Now()
	p.printArchived(now, s.ArchivedItem)
	for _, e := range s.Entries {
		kind, tone, facts := e.Kind, term.Plain, []string{}
		switch {
		case e.Missing:
			kind, tone = "missing", term.Bad
			facts = append(facts, "no longer in the archive")
		case e.Target != "":
			facts = append(facts, "to "+term.Clean(e.Target))
		case e.Kind == "file":
			facts = append(facts, term.Bytes(e.Size))
		}
		if !e.Missing {
			facts = append(facts, term.Age(now, e.MTime))
		}
		why := strings.Join(facts, ", ")
		if e.Reason != "" {
			why += "; " + term.Clean(e.Reason)
		}
		p.io.Line(tone, kind, shown(e.Name), why)
	}
	if len(s.Entries) > 0 {
		p.io.Remarkf("hint: restore one of them with: %s", p.addDirFlags(f, "ken state restore "+fault.Quote(s.Name)+" NAME"))
	}
}

func (p *program) printArchive(list *workflow.ArchiveList) {
	now := time.Now()
	for _, s := range list.Snapshots {
		p.printArchived(now, s)
	}
	if len(list.Snapshots) == 0 {
		p.io.Printf("the archive is empty\n")
	}
}

// printArchived prints one line about a snapshot.
func (p *program) printArchived(now time.Time, s workflow.ArchivedItem) {
	verb := s.Verb
	if s.Foreign {
		verb = "foreign"
	}
	why := fmt.Sprintf("%s, %s, %s", english.Count(s.Files, "file"), term.Bytes(s.Bytes), term.Age(now, s.Time))
	if s.WorkflowID != "" {
		why += ", workflow " + s.WorkflowID
	}
	p.io.Line(term.Plain, verb, s.Name, why)
}
