package app

import (
	"context"
	"encoding/hex"
	"encoding/json"

	"ken/internal/cli"
	"ken/internal/docs"
	"ken/internal/repo"
)

// quickDocsFiles is up to how many tracked files documents are checked within ken status.
// With more, the check can take seconds, and only an answer that is kept is used.
const quickDocsFiles = 2000

// QuickDocs returns the answer that ken docs kept, or checks the documents of a small
// repository. Otherwise it returns the commit of the last check, zero if there was none.
//
// clean says that every tracked file was just found to be as the index has it. Then the
// kept answer needs no second look at the files.
func (w *workspace) QuickDocs(ctx context.Context, clean bool) (*docs.Report, repo.ID, error) {
	snapshot, err := w.git.Snapshot(ctx)
	if err != nil {
		return nil, repo.ID{}, err
	}
	if len(snapshot.Index.Entries) <= quickDocsFiles {
		rep, err := w.Docs(ctx, cli.DocsOptions{})
		return rep, repo.ID{}, err
	}
	ground, err := w.quickGround(ctx, snapshot, clean)
	if err != nil {
		return nil, repo.ID{}, err
	}
	if kept := w.keptDocs(ctx, ground); kept != nil {
		w.remarks = append(w.remarks, kept.Remarks...)
		return kept.Report, repo.ID{}, nil
	}
	var last keptDocs
	kept := w.git.LoadMemo(memoDocs)
	if len(kept) <= memoSum || json.Unmarshal(kept[memoSum:], &last) != nil || last.Report == nil {
		return nil, repo.ID{}, nil
	}
	return nil, last.Report.Head, nil
}

// quickGround is docsGround. For a clean work tree it is the one of an answer that was
// made from a clean work tree, too.
func (w *workspace) quickGround(ctx context.Context, s *repo.Snapshot, clean bool) (docsGround, error) {
	if !clean || s.Index.Checksum.IsZero() {
		g, _, err := w.docsGround(ctx, s)
		return g, err
	}
	h, ignored, err := w.docsHash(ctx, s)
	if err != nil {
		return docsGround{}, err
	}
	return docsGround{key: hex.EncodeToString(h.Sum(nil)), sure: ignored}, nil
}
