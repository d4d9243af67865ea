package app

import (
	"context"

	"ken/internal/docs"
)

// docs returns the checker of the work tree's documents.
func (w *workspace) docs() *docs.Checker {
	return &docs.Checker{Git: w.git, Files: w.files, Cache: w.answers(), Policy: w.cfg.Docs}
}

// Docs judges the documents of the work tree.
func (w *workspace) Docs(ctx context.Context, opts docs.Options) (*docs.Report, error) {
	rep, err := w.docs().Check(ctx, opts)
	if err != nil {
		return nil, err
	}
	w.remarks = append(w.remarks, rep.Remarks...)
	return rep, nil
}

// quickDocsFiles is the number of tracked files up to which ken status checks documents.
// With more, the check can take seconds.
const quickDocsFiles = 2000

// QuickDocs returns the cached report, or checks the documents of a small repository.
// Otherwise the report is nil.
func (w *workspace) QuickDocs(ctx context.Context) (*docs.Report, error) {
	rep, files, err := w.docs().Cached(ctx)
	if err != nil {
		return nil, err
	}
	if rep == nil && files <= quickDocsFiles {
		return w.Docs(ctx, docs.Options{})
	}
	if rep != nil {
		w.remarks = append(w.remarks, rep.Remarks...)
	}
	return rep, nil
}

// FixDocs corrects the mentions of a report that moved.
func (w *workspace) FixDocs(ctx context.Context, rep *docs.Report, dry bool) (docs.Fixed, error) {
	return w.docs().Fix(ctx, rep, dry)
}
