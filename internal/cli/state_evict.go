package cli

import (
	"ken/internal/workflow"

	"github.com/spf13/cobra"
)

func (p *program) stateEvict(f *stateFlags) *cobra.Command {
	return p.sweep(f, &cobra.Command{
		Use:   "evict",
		Short: "Archive files that an earlier workflow left behind",
		Long: `Moves to the archive:

  - gate markers that the contract always evicts, whoever wrote them
  - reviews, summaries, verifications and their variants, unless the current session
    wrote them

The journal says which workflow wrote a file. If it has no record, a file older than
the start of the session counts as another workflow's. If the start is unknown, the
file stays. Plans, specs, decisions and the scratchpad always stay.`,
		Example: `  ken state evict --dry-run`,
	}, (*workflow.Manager).Evict)
}
