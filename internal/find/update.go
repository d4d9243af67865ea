package find

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
)

const (
	maxCommits = 5000 // the maximum number of commits that are searched
	// MaxTouched is the maximum number of files in a commit that counts for each of them.
	MaxTouched = 200
	// MaxTogether is the maximum number of files in a commit that counts as one change.
	MaxTogether = 30
)

// Update updates the index to a tree. It reads only files whose content is not indexed, and only new commits. shallow
// reports that the clone hides older commits.
func Update(ctx context.Context, w *searchindex.Writer, t Tree) (shallow bool, err error) {
	if err := updateTree(ctx, w, t); err != nil {
		return false, err
	}
	return updateCommits(ctx, w, t)
}

// updateTree updates the files, unless the tree has the state of the last update.
func updateTree(ctx context.Context, w *searchindex.Writer, t Tree) error {
	state, err := t.State(ctx) // before the files are listed, so that a later change has another state
	if err != nil {
		return err
	}
	before, err := w.Note("files")
	if err != nil || state != "" && state == before {
		return err
	}
	unread, err := updateFiles(ctx, w, t)
	if err != nil {
		return err
	}
	if err := unread.write(w); err != nil {
		return err
	}
	if len(unread[WhyAbsent]) > 0 {
		state = "" // git may fetch a content at any time
	}
	if state == before {
		return nil
	}
	return w.SetNote("files", state)
}

// updateFiles updates the files, and returns those that it could not read.
func updateFiles(ctx context.Context, w *searchindex.Writer, t Tree) (unreadFiles, error) {
	files, err := t.Files(ctx)
	if err != nil {
		return nil, err
	}
	known, err := w.Files(ctx)
	if err != nil {
		return nil, err
	}
	last, err := UnreadPaths(w.Index)
	if err != nil {
		return nil, err
	}
	unread := make(unreadFiles)
	for _, f := range t.Unread() {
		unread.add(f.Problem, f.Path)
	}
	absent := make(map[repo.Path]bool) // at the last update
	for _, p := range last[WhyAbsent] {
		absent[p] = true
	}
	var changed []repo.File
	before := make(map[repo.Path]*uses.ParsedFile)
	again := affected{files: make(map[repo.Path]bool), families: make(map[outline.Language]bool)}
	for _, f := range files {
		old, ok := known[f.Path]
		delete(known, f.Path)
		if isCode(f) && f.Size > MaxBytes {
			unread.add(WhyTooLarge, f.Path)
		}
		isSameFile := ok && old.ID == f.ID && old.Kind == f.Kind
		isSameSummary := old.SummaryID == summaryID(t.Summary(f.Path))
		if isSameFile && isSameSummary && !absent[f.Path] {
			continue
		}
		again.files[f.Path] = true
		if f.Kind == repo.KindSymlink || old.Kind == repo.KindSymlink {
			again.add(uses.AffectedByRules(f.Path))
		}
		if !ok {
			again.add(uses.AffectedByPath(f.Path))
		} else {
			o, imports, _, err := w.Facts(ctx, f.Path)
			if err != nil {
				return nil, err
			}
			before[f.Path] = &uses.ParsedFile{Path: f.Path, Outline: &o, Imports: imports}
			if err := w.Remove(f.Path); err != nil {
				return nil, err
			}
		}
		changed = append(changed, f)
	}
	for p, old := range known {
		again.files[p] = true
		again.add(uses.AffectedByPath(p))
		if old.Kind == repo.KindSymlink {
			again.add(uses.AffectedByRules(p))
		}
		if err := w.Remove(p); err != nil {
			return nil, err
		}
	}
	err = t.Facts(ctx, changed, func(f repo.File, facts Facts, content []byte) error {
		summary := t.Summary(f.Path)
		d := searchindex.Document{File: f, Summary: summary, SummaryID: []byte(summaryID(summary)), Outline: facts.Outline}
		if facts.References != nil {
			d.Imports = facts.References.Imports
		}
		if was := before[f.Path]; was != nil {
			is := &uses.ParsedFile{Path: f.Path, Outline: cmp.Or(facts.Outline, new(outline.Outline)), Imports: d.Imports}
			again.add(uses.AffectedByFacts(was, is))
		}
		if content == nil && isCode(f) && f.Size <= MaxBytes {
			unread.add(WhyAbsent, f.Path)
		}
		if hasText(f) {
			d.Text = string(content)
		}
		if uses.IsManifest(f.Path) {
			changed, err := updateRules(w, f.Path, content)
			if err != nil {
				return err
			}
			if changed {
				again.add(uses.AffectedByRules(f.Path))
			}
		}
		return w.Put(d)
	})
	if err != nil {
		return nil, err
	}
	return unread, updateEdges(ctx, w, t, files, again)
}

// isCode reports whether a file may use what others declare.
func isCode(f repo.File) bool { return f.Kind == repo.KindSource || f.Kind == repo.KindTest }

// updateRules stores the part of a manifest that resolving depends on, and reports whether it changed.
func updateRules(w *searchindex.Writer, p repo.Path, content []byte) (changed bool, err error) {
	key := "rules " + string(p)
	before, err := w.Note(key)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256([]byte(uses.ManifestRules(p, content)))
	now := hex.EncodeToString(sum[:16])
	return now != before, w.SetNote(key, now)
}

// hasText reports whether the text of a file is searched.
func hasText(f repo.File) bool {
	switch f.Kind {
	case repo.KindLockfile, repo.KindBinary, repo.KindLFS, repo.KindSymlink, repo.KindGitlink:
		return false
	case repo.KindData, repo.KindGenerated, repo.KindVendored:
		return f.Size <= 64<<10
	default:
		return f.Size <= MaxBytes
	}
}

func summaryID(summary string) string {
	if summary == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(summary))
	return string(sum[:8])
}

func updateCommits(ctx context.Context, w *searchindex.Writer, t Tree) (shallow bool, err error) {
	head := t.Commit()
	if before, err := w.Note("head"); err != nil || before == head.String() {
		note, failed := w.Note("cut")
		if err == nil {
			err = failed
		}
		return note != "", err
	}
	var ids []repo.ID
	if !head.IsZero() {
		if ids, shallow, err = t.Recent(ctx, head, maxCommits); err != nil {
			return false, err
		}
	}
	known, err := w.Commits(ctx)
	if err != nil {
		return false, err
	}
	var missing []repo.ID
	for _, id := range ids {
		if !known[id] {
			missing = append(missing, id)
		}
		delete(known, id)
	}
	for id := range known {
		if err := w.RemoveCommit(id); err != nil {
			return false, err
		}
	}
	if len(missing) > 0 {
		err = t.Commits(ctx, missing, func(c repo.Commit) error {
			paths := make([]repo.Path, 0, len(c.Changes))
			for _, change := range c.Changes {
				paths = append(paths, change.Path)
			}
			if len(paths) > MaxTouched {
				paths = nil
			}
			return w.PutCommit(searchindex.Commit{ID: c.ID, Subject: c.Subject, Date: c.Date, Paths: paths, Files: len(c.Changes)})
		})
		if err != nil {
			return false, err
		}
	}
	note := ""
	if shallow {
		note = "cut"
	}
	if err := w.SetNote("cut", note); err != nil {
		return false, err
	}
	return shallow, w.SetNote("head", head.String())
}
