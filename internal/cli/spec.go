package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// spec returns ken spec. Its verbs are built only for a command line that names it,
// as those of ken state are.
func (p *program) spec(args []string) *cobra.Command {
	const name = "spec"
	c := &cobra.Command{
		Use:   name,
		Short: "Read what each part of the system is meant to do, and whether its code moved on",
		Long: `The specs of a repository lie in .spec, a directory to a node, each with a spec.md:
what a part of the system is meant to do, and which code it governs.`,
		Args: cobra.NoArgs,
		RunE: needsSub,
	}
	if slices.Contains(args, name) {
		c.AddCommand(p.specList(), p.specHistory(), p.specDiff(), p.specShow(), p.specOwner(), p.specSearch(), p.specGraph(), p.specLint(), p.specNew(), p.specOverlay(), p.specAck(), p.specGate())
	}
	return c
}
