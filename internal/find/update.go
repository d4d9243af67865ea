package find

import (
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
	if err := updateFiles(ctx, w, t); err != nil || state == before {
		return err
	}
	return w.SetNote("files", state)
}

func updateFiles(ctx context.Context, w *searchindex.Writer, t Tree) error {
	files, err := t.Files(ctx)
	if err != nil {
		return err
	}
	known, err := w.Files(ctx)
	if err != nil {
		return err
	}
	var changed []repo.File
	changes := make(map[repo.Path]*change)
	before := make(map[repo.Path]outline.Outline) // the declarations of changed files
	for _, f := range files {
		old, ok := known[f.Path]
		delete(known, f.Path)
		if ok && old.ID == f.ID && old.SummaryID == summaryID(t.Summary(f.Path)) && old.Kind == f.Kind {
			continue
		}
		c := &change{path: f.Path, appears: !ok}
		changes[f.Path] = c
		if ok {
			o, _, _, err := w.Facts(ctx, f.Path)
			if err != nil {
				return err
			}
			before[f.Path] = o
			if err := w.Remove(f.Path); err != nil {
				return err
			}
		}
		changed = append(changed, f)
	}
	for p := range known {
		changes[p] = &change{path: p, appears: true}
		if err := w.Remove(p); err != nil {
			return err
		}
	}
	err = t.Facts(ctx, changed, func(f repo.File, facts Facts, content []byte) error {
		summary := t.Summary(f.Path)
		d := searchindex.Document{File: f, Summary: summary, SummaryID: []byte(summaryID(summary)), Outline: facts.Outline}
		if facts.References != nil {
			d.Imports = facts.References.Imports
		}
		if c := changes[f.Path]; !c.appears {
			c.compare(before[f.Path], facts.Outline)
		}
		if hasText(f) {
			d.Text = string(content)
		}
		if uses.IsManifest(f.Path) {
			if changes[f.Path].rules, err = updateRules(w, f.Path, content); err != nil {
				return err
			}
		}
		return w.Put(d)
	})
	if err != nil {
		return err
	}
	list := make([]change, 0, len(changes))
	for _, c := range changes {
		list = append(list, *c)
	}
	return updateEdges(ctx, w, t, files, list)
}

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
