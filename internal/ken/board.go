package ken

import (
	"context"

	"ken/internal/board"
	"ken/internal/share"
)

// BoardSource returns how a board reads the specs, the renames and the shared records of the work tree. Status and the
// dashboard add the other parts: the dashboard shows all files and directories, and status only those that need attention.
func (r *Repository) BoardSource() board.Source {
	return board.Source{
		Specs:       r.Spec().List,
		Gate:        r.Config.Spec.Gate.Threshold,
		RenamedFrom: r.Registry.RenamedFrom,
		Ignored: func(ctx context.Context) ([]share.Ignored, error) {
			s, err := r.Share(ctx)
			if err != nil {
				return nil, err
			}
			return s.LastIgnored(), nil
		},
	}
}
