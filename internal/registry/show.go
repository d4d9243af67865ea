package registry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A Summary is a summary for a reader: the text, its verdict, and everything needed to check it.
type Summary struct {
	repo.PathJSON
	Text        string      `json:"text"`
	Verdict     fresh.State `json:"verdict"`
	Reasons     []string    `json:"reasons"`
	Grade       fresh.Grade `json:"grade,omitempty"`
	Kind        repo.Kind   `json:"kind"`
	ID          repo.ID     `json:"content_id"` // the content that the summary was written from
	MD5         repo.MD5    `json:"content_md5"`
	CurrentID   repo.ID     `json:"current_id"` // the current content
	CurrentMD5  repo.MD5    `json:"current_md5"`
	Author      string      `json:"author"`
	Recipe      string      `json:"recipe,omitempty"`
	UpdatedAt   *time.Time  `json:"updated_at"`
	Assumed     bool        `json:"assumed"` // the author did not name the content that was read
	ConfirmedBy string      `json:"confirmed_by,omitempty"`
	// WrittenFor is the path that the summary was written for, if it is another one: files with the same bytes
	// share a summary.
	WrittenFor    string `json:"written_for,omitempty"`
	WrittenForB64 string `json:"written_for_b64,omitempty"`
	// Nearest is the tracked file that was probably meant, for an unknown path.
	Nearest    string  `json:"nearest,omitempty"`
	NearestB64 string  `json:"nearest_b64,omitempty"`
	Hint       string  `json:"hint,omitempty"` // advice for an unknown path
	Commit     repo.ID `json:"commit"`         // HEAD when it was judged
	// Others are further summaries of the same content, the newest first. [Registry.AddOthers] sets them.
	Others []OtherSummary `json:"others,omitempty"`

	untracked bool // git tracks no file at the path
}

// Remarks are sentences beside the verdict: the grade of the change, where the summary comes from, and who
// confirmed it.
func (s *Summary) Remarks() []string {
	var list []string
	if s.Grade != "" {
		list = append(list, string(s.Grade))
	}
	list = append(list, s.caveats()...)
	if s.ConfirmedBy != "" {
		list = append(list, "confirmed by "+s.ConfirmedBy)
	}
	return list
}

// caveats are the remarks that fit in a list.
func (s *Summary) caveats() []string {
	var list []string
	if s.Assumed {
		list = append(list, "assumed")
	}
	if s.WrittenFor != "" {
		other := repo.Path(s.WrittenFor)
		if raw, err := (repo.PathJSON{Path: s.WrittenFor, B64: s.WrittenForB64}).Raw(); err == nil {
			other = raw
		}
		list = append(list, "written for "+other.String())
	}
	return list
}

// Reasons for a path that is not tracked and never had a row.
const (
	ReasonNeverKnown = "never_known" // it may be misspelt
	ReasonDirectory  = "directory"   // a directory of tracked files
)

// ReasonUnusable is the reason for a file whose record can no longer be used: it is damaged, or its date is in the
// future.
const ReasonUnusable = "record_not_usable"

// Show returns the summary of each path, in order. "No summary", "gone" and "excluded" are answers. A path that git
// does not track and that never had a summary is not gone: it has no summary.
func (r *Registry) Show(ctx context.Context, paths []repo.Path) ([]Summary, error) {
	snap, subjects, err := r.examine(ctx, paths, false)
	if err != nil {
		return nil, err
	}
	texts, err := r.texts(ctx, subjects)
	if err != nil {
		return nil, err
	}
	out := make([]Summary, len(subjects))
	for i := range subjects {
		s := &subjects[i]
		k := Summary{PathJSON: s.path.JSON(), Kind: s.now.Kind, Commit: snap.Head.Commit, untracked: !s.tracked}
		k.Verdict, k.Grade, k.Reasons = r.verdict(s)
		if s.readable() {
			k.CurrentID, k.CurrentMD5 = s.now.Content.ID, s.now.Content.MD5
		}
		record := texts[s.now.SummaryBasis.Content]
		if record.Text == "" && (k.Verdict == fresh.Fresh || k.Verdict == fresh.Stale) {
			k.Verdict, k.Grade, k.Reasons = fresh.Unknown, "", append(k.Reasons, ReasonUnusable)
		}
		if record.Text == "" && !s.tracked {
			if record, _, err = r.store.NewestAt(ctx, s.path); err != nil {
				return nil, err
			}
		}
		switch s.state {
		case absent:
			k.Hint = fmt.Sprintf("bring it back with: git restore %[1]s; or delete it for good with: git rm %[1]s", fault.Quote(string(s.path)))
		case conflicted:
			k.Hint = "see the conflict with: git diff " + fault.Quote(string(s.path))
		default:
		}
		known := s.tracked || record.Text != "" || s.before.Path != ""
		if !known {
			if known, err = r.removed(ctx, snap, s.path); err != nil {
				return nil, err
			}
		}
		if !known {
			is := findUntracked(snap.Index.Entries, s.path)
			k.neverKnown(is)
			if k.Hint, err = r.advise(ctx, is); err != nil {
				return nil, err
			}
		}
		k.setText(record, s.path)
		out[i] = k
	}
	return out, r.addLacking(ctx, len(out), func(i int) (repo.ID, bool) {
		return subjects[i].now.Content.ID, subjects[i].state == sparse && out[i].Verdict == fresh.None
	}, func(i int) { out[i].Verdict, out[i].Reasons = fresh.Unknown, []string{reasonLacking} })
}

// removed reports whether HEAD has a file that the index no longer has.
func (r *Registry) removed(ctx context.Context, snap *repo.Snapshot, p repo.Path) (bool, error) {
	if snap.Head.Commit.IsZero() || p == "" || findUntracked(snap.Index.Entries, p).directory {
		return false, nil
	}
	_, ok, err := r.git.At(ctx, snap.Head.Commit, p)
	if fault.KindOf(err) == fault.Usage { // no commit has such a path
		err = nil
	}
	return ok, err
}

// addLacking calls lacks for those of n files that git has no content of. idOf returns the content, and whether the
// file is one that is not checked out and has no summary: with a summary, the id alone decides whether that is fresh.
func (r *Registry) addLacking(ctx context.Context, n int, idOf func(i int) (repo.ID, bool), lacks func(i int)) error {
	var ids []repo.ID
	var which []int
	for i := range n {
		if id, is := idOf(i); is {
			ids, which = append(ids, id), append(which, i)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	lacking, err := r.git.Lacking(ctx, ids)
	for k, i := range which {
		if lacking[ids[k]] {
			lacks(i)
		}
	}
	return err
}

// neverKnown sets the reason and the hint for a path without a row.
func (s *Summary) neverKnown(path untrackedPath) {
	s.Verdict = fresh.None
	if path.directory {
		s.Reasons = []string{"not_tracked", ReasonDirectory}
		return
	}
	s.Reasons = []string{"not_tracked", ReasonNeverKnown}
	if path.nearest != "" {
		j := path.nearest.JSON()
		s.Nearest, s.NearestB64 = j.Path, j.B64
	}
}

// ShowContent returns the summary that was written from a content; ok is false if there is none. The verdict is
// about the path that had the content when the summary was written.
func (r *Registry) ShowContent(ctx context.Context, c repo.Content) (k Summary, ok bool, err error) {
	found, err := r.store.Newest(ctx, []repo.Content{c})
	if err != nil {
		return Summary{}, false, err
	}
	record, ok := found[c]
	if !ok {
		return Summary{}, false, nil
	}
	snap, subjects, err := r.examine(ctx, []repo.Path{record.Path}, false)
	if err != nil {
		return Summary{}, false, err
	}
	s := &subjects[0]
	k = Summary{PathJSON: record.Path.JSON(), Kind: s.now.Kind, Commit: snap.Head.Commit, Reasons: []string{"by_content"}}
	var why []string
	if k.Verdict, why, err = r.holds(ctx, record, s); err != nil {
		return Summary{}, false, err
	}
	k.Reasons = append(k.Reasons, why...)
	if s.readable() {
		k.CurrentID, k.CurrentMD5 = s.now.Content.ID, s.now.Content.MD5
	}
	k.setText(record, record.Path)
	return k, true, nil
}

// holds judges a record by the current content of its subject. A difference that the policy does not count leaves
// it fresh.
func (r *Registry) holds(ctx context.Context, record fresh.Record, s *subject) (fresh.State, []string, error) {
	if s.readable() {
		row := s.now
		if record.Basis.Key() != row.SummaryBasis {
			c := choice{
				rows:   []store.FileRow{row},
				before: func(int) store.FileRow { return store.FileRow{} },
				bytes:  func(int) repo.ID { return repo.ID{} },
			}
			if err := r.nearest(ctx, c, []int{0}, [][]store.RecordHeader{{{Basis: record.Basis}}}); err != nil {
				return fresh.Unknown, nil, err
			}
			row = c.rows[0]
		}
		switch state, _ := r.judge(row); state {
		case fresh.Fresh:
			return state, nil, nil
		case fresh.Stale:
			return state, []string{"content_changed"}, nil
		default:
		}
	}
	state, _, why := r.verdict(s)
	return state, why, nil
}

// setText sets the text and its origin.
func (s *Summary) setText(record fresh.Record, path repo.Path) {
	if record.Text == "" {
		return
	}
	at := record.At.UTC()
	s.Text, s.Author, s.Recipe, s.UpdatedAt = record.Text, record.Author, record.Recipe, &at
	s.Assumed, s.ConfirmedBy = record.Assumed, record.Confirmer
	if record.Path != path && record.Path != "" {
		j := record.Path.JSON()
		s.WrittenFor, s.WrittenForB64 = j.Path, j.B64
	}
	s.ID, s.MD5 = record.Basis.Content.ID, record.Basis.Content.MD5
}

// texts returns the records of subjects, by the content of their basis.
func (r *Registry) texts(ctx context.Context, subjects []subject) (map[repo.Content]fresh.Record, error) {
	var bases []repo.Content
	for _, s := range subjects {
		if !s.now.SummaryBasis.IsZero() {
			bases = append(bases, s.now.SummaryBasis.Content)
		}
	}
	return r.store.Newest(ctx, bases)
}

// A Listing lists summaries, one line for each.
type Listing struct {
	State   State     `json:"state"`
	Reasons []Reason  `json:"reasons"`
	Head    repo.ID   `json:"head"`
	Entries []Summary `json:"summaries"`
}

// List returns the summaries of all tracked files, or of those below paths, judged now. States selects by verdict;
// nil means every path with a summary.
func (r *Registry) List(ctx context.Context, paths []repo.Path, states []fresh.State) (*Listing, error) {
	rep, err := r.Status(ctx, VerifyOptions{All: true, Paths: paths})
	if err != nil {
		return nil, err
	}
	out := &Listing{State: rep.State, Reasons: rep.Reasons, Head: rep.Head, Entries: []Summary{}}
	var wanted []repo.Path
	for _, v := range rep.Verdicts {
		listed := slices.Contains(states, v.Summary)
		if states == nil {
			// A file that is not checked out is unknown only if it has no summary.
			isUnread := v.Summary == fresh.Unknown && v.Content.Reason != fresh.NotCheckedOut
			listed = v.Summary == fresh.Fresh || v.Summary == fresh.Stale || v.lost || isUnread
		}
		if listed && v.Reason != reasonUntracked {
			wanted = append(wanted, v.path)
		}
	}
	for len(wanted) > 0 {
		n := min(len(wanted), readBatch)
		known, err := r.Show(ctx, wanted[:n])
		if err != nil {
			return nil, err
		}
		if states == nil {
			known = slices.DeleteFunc(known, func(s Summary) bool {
				return s.Text == "" && !slices.Contains(s.Reasons, ReasonUnusable)
			})
		}
		out.Entries = append(out.Entries, known...)
		wanted = wanted[n:]
	}
	return out, nil
}
