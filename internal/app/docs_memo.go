package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"hash/crc32"
	"slices"
	"time"
	"unicode/utf8"

	"ken/internal/docs"
	"ken/internal/repo"
)

const memoDocs = "docs"

// memoSum is how many hexadecimal digits of a checksum begin a kept answer.
const memoSum = 8

// settled is how long ago a file has to be written for its looks to vouch for it.
const settled = 2 * time.Second

// A docsGround is what an answer about documents is made from: the build, HEAD and how
// git tells histories, what is tracked, how each file of it looks, the policy, and what
// is ignored.
type docsGround struct {
	key  string
	sure bool // the looks vouch for the contents
}

// docsGround looks where everything stands, and which files of the index may not be as
// git has seen them last. It starts no git.
func (w *workspace) docsGround(ctx context.Context, s *repo.Snapshot) (docsGround, []bool, error) {
	h, ignored, err := w.docsHash(ctx, s)
	if err != nil {
		return docsGround{}, nil, err
	}
	found, err := w.files.Stat(ctx, s.Index.Entries)
	if err != nil {
		return docsGround{}, nil, err
	}
	edited := make([]bool, len(found))
	g := docsGround{sure: ignored}
	recent := time.Now().Add(-settled).UnixNano()
	for i := range s.Index.Entries {
		e, f := &s.Index.Entries[i], &found[i]
		if s.Index.Checksum.IsZero() {
			fmt.Fprintf(h, "%q %s %o %d\n", string(e.Path), e.ID, e.Mode, e.Flags)
		}
		if e.Flags&^repo.AssumeUnchanged == 0 && f.Presence == repo.File && f.Stat.MatchesIndex(e.Stat) {
			continue // git has compared them, and what it saw is in the checksum
		}
		// Of what a sparse checkout leaves out, what the index has counts.
		edited[i] = f.Presence != repo.Absent
		fmt.Fprintf(h, "%d %q %d %+v\n", i, string(e.Path), f.Presence, f.Stat)
		if f.Stat.Mtime > recent || f.Stat.Ctime > recent {
			g.sure = false
		}
	}
	g.key = hex.EncodeToString(h.Sum(nil))
	return g, edited, nil
}

// docsHash begins the key of an answer with everything but the looks of files. ignored
// says that ken knows which files git ignores.
func (w *workspace) docsHash(ctx context.Context, s *repo.Snapshot) (h hash.Hash, ignored bool, err error) {
	view, err := w.git.HistoryView(ctx)
	if err != nil {
		return nil, false, err
	}
	rules := w.git.IgnoreDigest()
	h = sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n%q\n%v\n", specMemo{w.git}.Maker(), s.Head.Commit, view, rules, w.cfg.Docs, w.git.Sparse())
	fmt.Fprintf(h, "%s %d\n", s.Index.Checksum, len(s.Index.Entries))
	return h, rules != "", nil
}

// keptDocs are a report with what it was made from.
type keptDocs struct {
	Key     string
	Looked  []lookedAt
	Report  *docs.Report
	Remarks []string // on the history
}

// A lookedAt is an untracked place that had a say, and what was there.
type lookedAt struct {
	Path []byte
	Seen repo.Presence
	Stat repo.Stat
}

// keptDocs returns the report of last time, without what holds, if all that it was made
// from is the same; nil if not.
func (w *workspace) keptDocs(ctx context.Context, g docsGround) *keptDocs {
	b := w.git.LoadMemo(memoDocs)
	if !g.sure || len(b) < memoSum || fmt.Sprintf("%08x", crc32.ChecksumIEEE(b[memoSum:])) != string(b[:memoSum]) {
		return nil
	}
	var kept keptDocs
	if json.Unmarshal(b[memoSum:], &kept) != nil || kept.Key != g.key || kept.Report == nil {
		return nil
	}
	paths := make([]repo.Path, len(kept.Looked))
	for i, l := range kept.Looked {
		paths[i] = repo.Path(l.Path)
	}
	found, err := w.files.Stat(ctx, entriesOf(paths))
	if err != nil {
		return nil
	}
	for i, f := range found {
		if l := kept.Looked[i]; f.Presence != l.Seen || f.Presence == repo.File && f.Stat != l.Stat {
			return nil
		}
	}
	return &kept
}

// lasting reports whether a report is one that can be kept: what could not be read once
// may be readable for the next who asks, and a text that is no UTF-8 would not come back
// as it was.
func lasting(rep *docs.Report) bool {
	return !slices.ContainsFunc(rep.Unread, func(u docs.Unread) bool { return !u.Lasting || !utf8.ValidString(string(u.File)) }) &&
		!slices.ContainsFunc(rep.Documents, func(t docs.Tally) bool { return !utf8.ValidString(string(t.File)) }) &&
		!slices.ContainsFunc(rep.Mentions, func(m docs.Judged) bool {
			return !utf8.ValidString(m.Text) || !utf8.ValidString(m.Name) || !utf8.ValidString(string(m.To)) || !utf8.ValidString(string(m.Was))
		})
}

// keepDocs keeps a report for the next time, unless something may have changed while it
// was made.
func (w *workspace) keepDocs(ctx context.Context, g docsGround, looked []repo.Path, made keptDocs) {
	rep := made.Report
	snapshot, err := w.git.Snapshot(ctx)
	if err != nil || !g.sure || !lasting(rep) {
		return
	}
	if now, _, err := w.docsGround(ctx, snapshot); err != nil || now != g {
		return
	}
	// Who ignores a place may lie beside it, untracked itself.
	for _, p := range looked {
		for dir := p.Dir(); ; dir = dir.Dir() {
			ignore := repo.Path(".gitignore")
			if dir != "" {
				ignore = dir + "/" + ignore
			}
			looked = append(looked, ignore)
			if dir == "" {
				break
			}
		}
	}
	slices.Sort(looked)
	looked = slices.Compact(looked)
	found, err := w.files.Stat(ctx, entriesOf(looked))
	if err != nil {
		return
	}
	kept := keptDocs{Key: g.key, Remarks: made.Remarks, Report: &docs.Report{Head: rep.Head, Documents: rep.Documents, Unread: rep.Unread, Gap: rep.Gap}}
	recent := time.Now().Add(-settled).UnixNano()
	for i, f := range found {
		l := lookedAt{Path: []byte(looked[i]), Seen: f.Presence}
		// Of a directory only that it is there was asked.
		if f.Presence == repo.File {
			if l.Stat = f.Stat; f.Stat.Mtime > recent || f.Stat.Ctime > recent {
				return
			}
		}
		kept.Looked = append(kept.Looked, l)
	}
	for _, m := range rep.Mentions {
		if m.Verdict != docs.Holds {
			kept.Report.Mentions = append(kept.Report.Mentions, m)
		}
	}
	b, err := json.Marshal(kept)
	if err != nil {
		return
	}
	// Where nothing can be kept, the next answer takes longer.
	_ = w.git.SaveMemo(memoDocs, append(fmt.Appendf(nil, "%08x", crc32.ChecksumIEEE(b)), b...))
}
