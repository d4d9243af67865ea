package cli

import (
	"ken/internal/workflow"

	"github.com/spf13/cobra"
)

func (p *program) stateReset(f *stateFlags) *cobra.Command {
	return p.sweep(f, &cobra.Command{
		Use:   "reset",
		Short: "End a workflow: archive all its files",
		Long: `Moves everything that the contract does not exempt to one snapshot in the archive,
including the workflow document. The lock, the archive, deferred work, the journal
and the logs are exempt. The archive keeps the last 5 snapshots; state.archive_runs
in the configuration sets another number, and 0 deletes the files instead.`,
		Example: `  ken state reset --dry-run
  ken state reset`,
	}, (*workflow.Manager).Reset)
}
