package ken

import (
	"context"

	"ken/internal/board"
	"ken/internal/registry"
	"ken/internal/share"
	"ken/internal/survey"
)

// Status returns what ken status says about files and directories, without files that are new or not checked out. The
// counts of directories are nil if no directory was ever described. It records nothing.
func (r *Repository) Status(ctx context.Context) (*registry.Report, *survey.DirCounts, error) {
	rep, err := r.Registry.Status(ctx, registry.VerifyOptions{OmitNew: true, OmitSparse: true})
	if err != nil {
		return nil, nil, err
	}
	directories, err := r.Surveys().DirCounts(ctx, rep, false, nil)
	return rep, directories, err
}

// BoardSource returns how a board reads the specs, the renames and the shared records of the work tree. ken status and
// the dashboard add the other parts: the dashboard shows all files and directories, ken status those that need
// attention.
func (r *Repository) BoardSource() board.Source {
	return board.Source{
		Specs:       r.Spec().List,
		Gate:        int(r.Config.Spec.Threshold),
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
