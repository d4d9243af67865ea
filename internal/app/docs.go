package app

import (
	"bytes"
	"context"
	"encoding/json"

	"ken/internal/docs"
	"ken/internal/repo"
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
	if opts.Paths == nil {
		w.keepStaleMentions(rep)
	}
	return rep, nil
}

// staleMemo is the name under which the stale mentions of the last check are kept.
const staleMemo = "stale-mentions"

// A staleMention is a mention that a check of all documents listed as stale.
type staleMention struct {
	Document []byte `json:"document"`
	Text     string `json:"text"`
}

// keepStaleMentions keeps what a check of all documents listed, for the survey: it quotes no
// stale mention of a README. Nothing is lost if this fails.
func (w *workspace) keepStaleMentions(rep *docs.Report) {
	list := []staleMention{}
	for _, m := range rep.Shown() {
		list = append(list, staleMention{[]byte(m.File), m.Text})
	}
	if text, err := json.Marshal(list); err == nil && !bytes.Equal(text, w.git.LoadMemo(staleMemo)) {
		_ = w.git.SaveMemo(staleMemo, text) // where it cannot be saved, outlines are made without it
	}
}

// staleMentions returns the mentions that the last check of all documents listed as stale, by
// document.
func (w *workspace) staleMentions() map[repo.Path][]string {
	var list []staleMention
	if json.Unmarshal(w.git.LoadMemo(staleMemo), &list) != nil {
		return nil
	}
	byDocument := make(map[repo.Path][]string)
	for _, m := range list {
		p := repo.Path(m.Document)
		byDocument[p] = append(byDocument[p], m.Text)
	}
	return byDocument
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
		w.keepStaleMentions(rep)
	}
	return rep, nil
}

// FixDocs corrects the mentions of a report that moved.
func (w *workspace) FixDocs(ctx context.Context, rep *docs.Report, dry bool) (docs.Fixed, error) {
	return w.docs().Fix(ctx, rep, dry)
}
