package cli

import (
	"github.com/spf13/cobra"
)

// spec returns ken spec.
func (p *program) spec() *cobra.Command {
	c := &cobra.Command{
		Use:   "spec",
		Short: "Say what parts of the code are meant to do, and see where code and spec differ",
		Long: `A spec is a text that says what some files are meant to do. Specs are files in
.spec, one directory each: .spec/parser/spec.md is the spec "parser". Its
frontmatter lists the code that it governs. ken counts the commits to that code
since the spec was edited or acknowledged: its drift.`,
		Args: cobra.NoArgs,
		RunE: needsSub,
	}
	c.AddCommand(p.specList(), p.specHistory(), p.specShow(), p.specDrift(), p.specOwner(), p.specLint(), p.specNew(), p.specOverlay(), p.specAck(), p.specGate())
	return c
}
