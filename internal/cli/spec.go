package cli

import (
	"github.com/spf13/cobra"
)

// spec returns ken spec.
func (p *program) spec() *cobra.Command {
	c := &cobra.Command{
		Use:   "spec",
		Short: "Read what each part of the system is meant to do, and whether its code moved on",
		Long: `The specs of a repository lie in .spec, a directory to a node, each with a spec.md:
what a part of the system is meant to do, and which code it governs.`,
		Args: cobra.NoArgs,
		RunE: needsSub,
	}
	c.AddCommand(p.specList(), p.specHistory(), p.specDiff(), p.specShow(), p.specOwner(), p.specSearch(), p.specGraph(), p.specLint(), p.specNew(), p.specOverlay(), p.specAck(), p.specGate())
	return c
}
