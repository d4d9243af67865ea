package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

// A group is a set of commands that ken --help lists under one title.
type group struct {
	title    string
	commands []string
}

// groups are the groups of commands in the order of ken --help. A command that
// is in none is plumbing: only ken help --all lists it.
var groups = []group{
	{"Start", []string{"up", "status", "find", "uses", "brief", "review", "serve"}},
	{"Summaries", []string{"summary", "survey"}},
	{"Intent", []string{"spec"}},
	{"Documents", []string{"docs"}},
	{"Workflows", []string{"state"}},
	{"Team", []string{"share", "worker"}},
	{"Set up", []string{"install", "allow", "doctor"}},
}

// ken --help lists commands in the order in which root adds them.
func init() { cobra.EnableCommandSorting = false }

// A glossaryTerm is a word that ken uses in a sense of its own.
type glossaryTerm struct{ word, meaning string }

// glossary explains the words that users meet. docs/manual/glossary.md has the
// same table.
var glossary = []glossaryTerm{
	{"summary", "a text about a file or directory, with its author and basis"},
	{"basis", "the exact content a summary was written from"},
	{"fresh, stale, unknown", "the basis matches what is there now; it does not; ken could not tell"},
	{"grade", "how much changed: format, body, interface, content"},
	{"outline", "what ken reads from the code itself: symbols, signatures, doc comments"},
	{"spec", "a text that says what some files are meant to do; it governs those files"},
	{"drift", "commits to governed files since the spec was edited or acknowledged"},
	{"ack", "a recorded statement that a spec still holds"},
	{"record", "a summary as it is stored and shared"},
	{"lease", "the time during which one agent or worker has a directory"},
	{"gone", "what a text was about is no longer there"},
	{"mention", "a name in a document or file that ken found as a word"},
	{"exact, likely, ambiguous", "how sure ken is that one place uses another"},
}

// help returns ken help, which also explains the words that ken uses.
func (p *program) help() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show help for a command, or explain the words that ken uses",
		Example: "  ken help spec ls\n  ken help glossary\n  ken help --all",
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			if len(args) == 1 && args[0] == "glossary" {
				p.printGlossary()
				return nil
			}
			if all {
				showPlumbing(root)
			}
			of, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(of, rest[0])
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
	c.Flags().BoolVar(&all, "all", false, "list the plumbing commands too")
	return c
}

func (p *program) printGlossary() {
	for _, t := range glossary {
		p.io.Printf("%-25s %s\n", t.word, t.meaning)
	}
}

// addGroups puts the commands into their groups and hides the plumbing.
func addGroups(root *cobra.Command) {
	for i, g := range groups {
		id := fmt.Sprint(i)
		root.AddGroup(&cobra.Group{ID: id, Title: g.title + ":"})
		for _, c := range root.Commands() {
			if slices.Contains(g.commands, c.Name()) {
				c.GroupID = id
			}
		}
	}
	for _, c := range root.Commands() {
		c.Hidden = c.GroupID == ""
	}
}

// showPlumbing lists the commands that are in no group.
func showPlumbing(root *cobra.Command) {
	const id = "plumbing"
	root.AddGroup(&cobra.Group{ID: id, Title: "Plumbing (for scripts and clients):"})
	for _, c := range root.Commands() {
		if c.GroupID == "" {
			c.GroupID = id
			c.Hidden = false
		}
	}
}
