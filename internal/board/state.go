package board

import (
	"context"

	"ken/internal/contract"
	"ken/internal/workflow"
)

// buckets is the order of the buckets: those that should be empty first.
var buckets = []contract.Bucket{contract.AdHoc, contract.Unknown, contract.Ephemeral, contract.PatternAllowed, contract.Canonical}

// state reads the state directory.
func (s *Source) state(ctx context.Context) (*State, error) {
	dir, err := s.State(ctx)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	audit, err := dir.Audit(ctx)
	if err != nil {
		return nil, err
	}
	out := &State{Dir: audit.Dir, Counts: audit.Counts, TotalBytes: audit.TotalBytes}
	for _, name := range buckets {
		out.Buckets = append(out.Buckets, Bucket{Name: name, Entries: audit.Entries(name)})
	}
	out.Workflow = part("workflow", func() (*workflow.Document, error) {
		if audit.Counts.Total == 0 {
			return workflow.NewDocument(), nil
		}
		return dir.Get(ctx)
	})
	if s.Archive {
		out.readArchive(ctx, dir)
	}
	return out, nil
}

// readArchive reads the archive and the plan of a cleanup.
func (s *State) readArchive(ctx context.Context, dir StateDir) {
	s.Cleanup = part("cleanup", func() (*[]workflow.Moved, error) {
		sweep, err := dir.Cleanup(ctx, workflow.CleanupOptions{})
		if err != nil {
			return nil, err
		}
		return &sweep.Moves, nil
	})
	s.Snapshots = part("snapshots", func() (*[]Snapshot, error) {
		list, err := dir.Archive(ctx)
		if err != nil {
			return nil, err
		}
		s.Keep = list.Keep
		return &list.Snapshots, nil
	})
}
