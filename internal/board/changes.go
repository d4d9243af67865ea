package board

import (
	"context"

	"ken/internal/repo"
)

// maxChanges is the number of stale files, of stale directories and of specs at the gate whose
// changes are read, and of stale files whose earlier paths are read. Pages list no more of each.
const maxChanges = 20

// changes reads the newest changes of the stale files and directories, and of the files of specs whose
// drift reached the gate. It returns nil if they cannot be read.
func (s *Source) changes(ctx context.Context, w *Worktree) map[repo.Path]Change {
	if s.Changes == nil {
		return nil
	}
	var paths []repo.Path
	if f := w.Files.Known; f != nil {
		paths = f.stalePaths()
	}
	if d := w.Survey.Known; d != nil {
		for _, dir := range d.Summaries.NeedAttention[:min(len(d.Summaries.NeedAttention), maxChanges)] {
			if raw, err := dir.Raw(); err == nil && raw != "." {
				paths = append(paths, raw)
			}
		}
	}
	if n := w.Spec.Known; n != nil {
		specs := 0
		for i := range n.Nodes {
			node := &n.Nodes[i]
			if !n.OverGate(node) || specs == maxChanges {
				continue
			}
			specs++
			for _, file := range node.DriftFiles {
				paths = append(paths, repo.Path(file.File))
			}
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return part("changes", func() (*map[repo.Path]Change, error) {
		m, err := s.Changes(ctx, paths)
		return &m, err
	}).OrZero()
}
