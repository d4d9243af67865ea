package registry

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// MaxText is the largest size of a summary in bytes.
const MaxText = 16 << 10

// An Update is a summary to store for a path, or to confirm.
type Update struct {
	Path repo.Path
	Text string
	// Read is the content id or md5 of the bytes that the author read. If it is empty, ken assumes the content that
	// the author saw last, else the current content.
	Read string
	// Author wrote the summary; "" is the author of the registry.
	Author string
	// Keep says that the stored summary still holds; Text is empty.
	Keep bool
	// Refused is set by the caller if the path is not in the repository: the reason to reject the update.
	Refused string
}

// A Result is the outcome of an Update.
type Result string

// The results.
const (
	Stored     Result = "stored"     // stored for the current content
	Superseded Result = "superseded" // stored, for content that the path no longer has
	Rejected   Result = "rejected"   // not stored: see the reason
)

// A WriteResult is the result of one update.
type WriteResult struct {
	repo.PathJSON
	Result  Result   `json:"result"`
	Reason  string   `json:"reason"`
	ID      repo.ID  `json:"content_id"` // the content that the summary is stored for
	MD5     repo.MD5 `json:"content_md5"`
	Assumed bool     `json:"assumed"`
	Hint    string   `json:"hint,omitempty"` // advice after a rejection

	Untracked bool `json:"-"` // rejected because git tracks no file at the path
}

// Write stores summaries, each for the content that its author read. An update that cannot be stored is rejected
// with a reason; the others are stored. The last verification stays as it is.
func (r *Registry) Write(ctx context.Context, updates []Update) ([]WriteResult, error) {
	paths := make([]repo.Path, len(updates))
	for i, u := range updates {
		paths[i] = u.Path
	}
	// Compare with the bytes on disk, not with the stored row.
	snap, subjects, err := r.examine(ctx, paths, true)
	if err != nil {
		return nil, err
	}
	texts, err := r.texts(ctx, subjects)
	if err != nil {
		return nil, err
	}
	own := printable(r.opts.Author())
	written := make([]WriteResult, len(updates))
	var change store.FileChanges
	var moved []*subject // subjects whose rows have to be written
	others := &contentPaths{Registry: r, snap: snap}
	for i, u := range updates {
		said := u.Read
		if id := r.seen(u); !id.IsZero() {
			u.Read = id.String()
		}
		author := own
		if u.Author != "" {
			author = printable(u.Author)
		}
		w, record := r.draft(u, author, &subjects[i], texts[subjects[i].now.SummaryBasis.Content])
		if w.Untracked {
			if err := r.refuse(ctx, snap, &w, u.Path); err != nil {
				return nil, err
			}
		}
		// The session read this content at the path, so it was there, even if other paths have it too.
		if said != "" && w.Result == Superseded {
			other, err := others.otherPathWith(ctx, record.Basis.Content, &subjects[i])
			if err != nil {
				return nil, err
			}
			if other != "" {
				w = WriteResult{PathJSON: w.PathJSON, Result: Rejected, Reason: fmt.Sprintf(
					"--read names the content of %s, which this path never had: name what you read here, or write the summary for that file", other)}
			}
		}
		written[i] = w
		if w.Result == Rejected {
			continue
		}
		change.Records = append(change.Records, record)
		// An unchanged row needs no write: the next verification notices the record. Writing the row would
		// invalidate the last verification.
		if !subjects[i].rowIsCurrent() {
			change.Put = append(change.Put, subjects[i].now)
			moved = append(moved, &subjects[i])
		}
	}
	if change.IsZero() {
		return written, nil
	}
	if err := SetRecordTimes(ctx, r.store, change.Records, r.opts.Now()); err != nil {
		return nil, err
	}
	_, err = r.choose(ctx, snap, choice{
		rows:    change.Put,
		before:  func(k int) store.FileRow { return moved[k].before },
		bytes:   func(k int) repo.ID { return moved[k].bytes },
		added:   change.Records,
		settled: func(repo.Path) bool { return false },
		regrade: true,
	})
	if err != nil {
		return nil, err
	}
	if err := r.store.Commit(ctx, snap.Worktree, change, nil); err != nil {
		return nil, fmt.Errorf("store the summaries: %w", err)
	}
	return written, nil
}

// SetRecordTimes sets the times of records so that they become the newest: now, or just after the newest record of the same
// content if that is later.
func SetRecordTimes(ctx context.Context, kept interface {
	Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error)
}, records []fresh.Record, now time.Time,
) error {
	contents := make([]repo.Content, len(records))
	for i := range records {
		contents[i] = records[i].Basis.Content
	}
	displaced, err := kept.Newest(ctx, contents)
	if err != nil {
		return err
	}
	last := make(map[fresh.Basis]time.Time)
	for i := range records {
		r := &records[i]
		key := r.Basis.Key()
		r.At = fresh.TimeAfter(now, displaced[r.Basis.Content].At, last[key])
		last[key] = r.At
	}
	return nil
}

// seen returns the content that the author of an update saw last, zero if the update names the content.
func (r *Registry) seen(u Update) repo.ID {
	if u.Read != "" || r.opts.Seen == nil {
		return repo.ID{}
	}
	return r.opts.Seen(u.Path)
}

// Confirm records that the summaries of paths still hold for the current content, or for the content read.
func (r *Registry) Confirm(ctx context.Context, paths []repo.Path, read string) ([]WriteResult, error) {
	if read != "" && len(paths) > 1 {
		return nil, &fault.Error{
			Kind: fault.Usage,
			Hint: "with --read, confirm one path at a time",
			Err:  fmt.Errorf("one content id for %d paths", len(paths)),
		}
	}
	updates := make([]Update, len(paths))
	for i, p := range paths {
		updates[i] = Update{Path: p, Read: read, Keep: true}
	}
	return r.Write(ctx, updates)
}

// draft checks one update and returns its record.
func (r *Registry) draft(u Update, author string, s *subject, old fresh.Record) (WriteResult, fresh.Record) {
	reject := func(format string, args ...any) (WriteResult, fresh.Record) {
		return WriteResult{PathJSON: u.Path.JSON(), Result: Rejected, Reason: fmt.Sprintf(format, args...)}, fresh.Record{}
	}
	switch {
	case u.Refused != "":
		return reject("%s", u.Refused)
	case u.Keep && u.Text != "":
		return reject("use either summary or keep")
	case !s.tracked:
		w, none := reject("not tracked by git")
		w.Untracked = true
		return w, none
	case s.now.Excluded != "":
		return reject("excluded: %s", s.now.Excluded)
	case s.state == conflicted:
		return reject("unmerged: resolve the conflict first")
	case !s.readable():
		return reject("%s", reasonText(s.err, "not on disk"))
	}
	record := fresh.Record{
		Text: strings.TrimRight(u.Text, "\n\t "), Author: author, Recipe: r.opts.Recipe, Path: u.Path,
	}
	if u.Keep {
		if old.Text == "" {
			w, none := reject("no summary to confirm")
			w.Hint = fmt.Sprintf("write one with: ken summary set %s -m TEXT", fault.Quote(string(u.Path)))
			return w, none
		}
		record.Text, record.Author, record.Recipe, record.Confirmer = old.Text, old.Author, old.Recipe, author
	}
	if err := fresh.CheckText(record.Text, MaxText, repo.IsMisleading); err != nil {
		return reject("%s", err)
	}
	content, moved, err := readContent(u.Read, s)
	if err != nil {
		return reject("%s", err)
	}
	if moved && u.Keep {
		w, none := reject("the file changed since you read it")
		w.Hint = "see what changed: ken summary diff " + fault.Quote(string(u.Path))
		return w, none
	}
	record.Basis, record.Assumed = fresh.Basis{Content: content}, u.Read == ""
	if u.Keep && old.Basis.Matches(content) {
		// The author named the content that was read, and it is the current content.
		record.Assumed = record.Assumed && old.Assumed
	}
	w := WriteResult{
		PathJSON: u.Path.JSON(), Result: Stored, ID: content.ID, MD5: content.MD5, Assumed: record.Assumed,
	}
	if moved {
		w.Result, w.Reason = Superseded, "the file changed since it was read"
	}
	return w, record
}

// printable returns a name that fits on one line.
func printable(name string) string {
	name = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(name, "?"))
	return strings.TrimSpace(name)
}

// readContent resolves the content that an author has read: the current content, or another one; moved is true for
// another one.
func readContent(read string, s *subject) (c repo.Content, moved bool, err error) {
	now := s.now.Content
	switch len(read) {
	case 0:
		return now, false, nil
	case 32:
		md5, err := repo.ParseMD5(read)
		switch {
		case err != nil:
			return repo.Content{}, false, err
		case md5.IsZero():
			return repo.Content{}, false, fmt.Errorf("read: unknown content %s", read)
		case md5 == now.MD5:
			return now, false, nil
		case md5 == s.before.Content.MD5:
			return s.before.Content, true, nil
		default:
			return repo.Content{MD5: md5}, true, nil
		}
	default:
		id, err := repo.ParseID(read)
		switch {
		case err != nil:
			return repo.Content{}, false, fmt.Errorf("read: want the content id or md5 of what was read, not %q", read)
		case id.IsZero():
			return repo.Content{}, false, fmt.Errorf("read: unknown content %s", read)
		case len(id.Bytes()) != len(now.ID.Bytes()):
			return repo.Content{}, false, fmt.Errorf("read: %s is not an id of this repository's object format", read)
		case id == now.ID || id == s.bytes:
			return now, false, nil
		case id == s.before.Content.ID:
			return s.before.Content, true, nil
		default:
			return repo.Content{ID: id}, true, nil
		}
	}
}
