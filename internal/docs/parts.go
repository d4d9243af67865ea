package docs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// A cachedReport has a report and the data to update it after documents were edited: ken then checks only the edited ones
// again. The cache key covers everything except the contents of documents: HEAD, the other tracked files, the
// paths of the documents, the policy.
type cachedReport struct {
	Report    Report // without the mentions that hold
	Documents []docPart
}

// A docPart is the result for one document.
type docPart struct {
	Path []byte
	ID   repo.ID // of its content
	// Held and Dropped are the keys of the mentions that the report omits: those that hold, and casual mentions of
	// things that never existed.
	Held, Dropped []string
	// Anchors are the other documents whose headings it links to.
	Anchors [][]byte
}

// key identifies a mention in its document: mentions with the same key get the same verdict.
func (m *CheckedMention) key() string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%s\x00%v%v", m.Kind, m.Tool, m.In, m.Name, m.Form, m.Dir, m.Glob)
}

// nameKey returns the key of a symbol or a command, which has the same verdict in every document; "" for other
// kinds.
func (m *CheckedMention) nameKey() string {
	if !m.isName() && m.Kind != mention.Command {
		return ""
	}
	return fmt.Sprintf("%s\x00%s\x00%s", m.Kind, m.Tool, m.Name)
}

// cachedReportInputs returns the inputs of a cachedReport. proven is false if a file that is not a document was written so
// recently that its stat proves nothing.
func (c *Checker) cachedReportInputs(s *repo.Snapshot, in *inputs) *inputs {
	const kind = cacheKind + "-parts"
	k := c.Cache.Key(kind)
	fmt.Fprintf(k, "%x\n", in.around)
	base := &inputs{kind: kind, proven: true}
	recent := c.recent()
	for i := range s.Index.Entries {
		e, f := &s.Index.Entries[i], &in.found[i]
		if mention.IsDocument(e.Path) && e.Mode.SameType(repo.Regular) {
			fmt.Fprintf(k, "%q %v\n", string(e.Path), in.deleted[e.Path])
			continue
		}
		fmt.Fprintf(k, "%q %s %o %d\n", string(e.Path), e.ID, e.Mode, e.Flags)
		if !in.edited[e.Path] && f.Presence == repo.RegularFile {
			continue
		}
		fmt.Fprintf(k, "%d %+v\n", f.Presence, f.Stat)
		if f.Stat.Mtime > recent || f.Stat.Ctime > recent {
			base.proven = false
		}
	}
	base.key = k.Sum()
	return base
}

// loadCachedReport returns the cachedReport for the inputs, nil if there is none.
func (c *Checker) loadCachedReport(ctx context.Context, base *inputs) *cachedReport {
	key, ok := c.storedReportKey(ctx, base)
	if !ok {
		return nil
	}
	stored, ok := c.Cache.Load(key)
	if !ok {
		return nil
	}
	var p cachedReport
	if json.Unmarshal(stored, &p) != nil {
		return nil
	}
	return &p
}

// saveCachedReport stores the result of a check of all documents.
func (c *Checker) saveCachedReport(ctx context.Context, base *inputs, p *cachedReport) {
	key, ok := c.reportKey(ctx, base)
	if !ok || !base.proven || !storable(&p.Report) {
		return
	}
	text, err := json.Marshal(p)
	if err != nil {
		return
	}
	c.Cache.Save(key, text)
	c.saveLooked(base)
}

// changedSince returns the documents to check again: those whose content changed, and those that link to headings
// of these.
func (p *cachedReport) changedSince(files []repo.File, ids map[repo.Path]repo.ID) map[repo.Path]bool {
	before := make(map[repo.Path]repo.ID, len(p.Documents))
	for _, d := range p.Documents {
		before[repo.Path(d.Path)] = d.ID
	}
	changed := make(map[repo.Path]bool)
	for _, f := range files {
		id, read := ids[f.Path]
		if !read {
			id = f.ID
		}
		if before[f.Path] != id && f.Mode.SameType(repo.Regular) && mention.IsDocument(f.Path) {
			changed[f.Path] = true
		}
	}
	for _, d := range p.Documents {
		if slices.ContainsFunc(d.Anchors, func(to []byte) bool { return changed[repo.Path(to)] }) {
			changed[repo.Path(d.Path)] = true
		}
	}
	return changed
}

// contentIDs returns the content ids of the documents whose files may differ from the index.
func (t *workTree) contentIDs(ctx context.Context, files []repo.File) (map[repo.Path]repo.ID, error) {
	var edited []repo.File
	for _, f := range files {
		if t.edited[f.Path] && f.Mode.SameType(repo.Regular) && mention.IsDocument(f.Path) {
			edited = append(edited, f)
		}
	}
	ids := make([]repo.ID, len(edited))
	err := t.Read(ctx, edited, mention.MaxBytes, func(i int, content []byte, err error) {
		if err == nil {
			ids[i] = t.git.ObjectFormat().Blob(content)
		}
	})
	byPath := make(map[repo.Path]repo.ID, len(edited))
	for i, f := range edited {
		byPath[f.Path] = ids[i]
	}
	return byPath, err
}

// carry takes over the verdicts of mentions that the documents had before.
func (j *judge) carry(p *cachedReport) {
	before := make(map[repo.Path]map[string]*CheckedMention)
	for i := range p.Report.Mentions {
		m := &p.Report.Mentions[i]
		if !j.only[m.File] {
			continue
		}
		if before[m.File] == nil {
			before[m.File] = make(map[string]*CheckedMention)
		}
		before[m.File][m.key()] = m
	}
	held := make(map[repo.Path]map[string]bool)
	dropped := make(map[repo.Path]map[string]bool)
	names := make(map[string]bool)
	for _, d := range p.Documents {
		path := repo.Path(d.Path)
		for _, key := range d.Held {
			parts := strings.Split(key, "\x00")
			m := CheckedMention{Mention: mention.Mention{Kind: mention.Kind(parts[0]), Tool: parts[1], Name: parts[3]}}
			if name := m.nameKey(); name != "" {
				names[name] = true
			}
		}
		if j.only[path] {
			held[path], dropped[path] = setOf(d.Held), setOf(d.Dropped)
		}
	}
	j.list = slices.DeleteFunc(j.list, func(m CheckedMention) bool {
		if dropped[m.File][m.key()] {
			j.dropped[m.File] = append(j.dropped[m.File], m.key())
			return true
		}
		return false
	})
	for i := range j.list {
		m := &j.list[i]
		old := before[m.File][m.key()]
		switch {
		case m.Kind == mention.Anchor: // the other document may have changed
		case held[m.File][m.key()] || names[m.nameKey()]:
			m.Verdict, m.carried = Holds, true
		case old != nil && (old.judged() || m.Hidden != ""):
			m.Verdict, m.Since, m.Uncommitted, m.To, m.ExistedThen = old.Verdict, old.Since, old.Uncommitted, old.To, old.ExistedThen
			m.Written, m.Why, m.Was, m.Renamed, m.carried = old.Written, old.Why, old.Was, old.Renamed, true
			if old.Hidden == HiddenGenerated {
				m.Hidden = HiddenGenerated
			}
		}
	}
}

// judged reports whether a mention was judged by the history. A hidden one may not have been.
func (m *CheckedMention) judged() bool {
	switch m.Hidden {
	case HiddenAcked, HiddenHistorical, HiddenPrinted:
		return false
	}
	return true
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return set
}

// cachedReport returns the result of the check, and for documents that were not checked the earlier result.
func (j *judge) cachedReport(files []repo.File, ids map[repo.Path]repo.ID, earlier *cachedReport) *cachedReport {
	p := &cachedReport{Report: *j.report}
	p.Report.Mentions = withoutHolding(j.report.Mentions)
	byDoc := make(map[repo.Path]*docPart)
	if earlier != nil {
		for i := range earlier.Documents {
			byDoc[repo.Path(earlier.Documents[i].Path)] = &earlier.Documents[i]
		}
	}
	for i := range j.list {
		m := &j.list[i]
		d := byDoc[m.File]
		if d == nil || d.ID.IsZero() || j.fresh[m.File] == nil {
			d = &docPart{Path: []byte(m.File)}
			byDoc[m.File] = d
			j.fresh[m.File] = d
		}
		if m.Verdict == Holds && m.Kind != mention.Anchor && !m.Declared {
			d.Held = append(d.Held, m.key())
		}
		if m.Kind == mention.Anchor && m.Was != m.File && m.Was != "" {
			d.Anchors = append(d.Anchors, []byte(m.Was))
		}
	}
	for _, f := range files {
		if !mention.IsDocument(f.Path) || !f.Mode.SameType(repo.Regular) {
			continue
		}
		d := byDoc[f.Path]
		judged := j.only == nil || j.only[f.Path]
		if d == nil || judged && j.fresh[f.Path] == nil {
			d = &docPart{Path: []byte(f.Path)}
		}
		if judged {
			d.ID, d.Dropped = f.ID, j.dropped[f.Path]
			if id, edited := ids[f.Path]; edited {
				d.ID = id
			}
		}
		p.Documents = append(p.Documents, *d)
	}
	return p
}

func withoutHolding(list []CheckedMention) []CheckedMention {
	return slices.DeleteFunc(slices.Clone(list), func(m CheckedMention) bool { return m.Verdict == Holds })
}

// merge adds the other documents of an earlier report to the report on some.
func (j *judge) merge(files []repo.File, earlier *Report) {
	type piece struct {
		tally    *DocumentCounts
		mentions []CheckedMention
		unread   []Unread
	}
	pieces := make(map[repo.Path]*piece)
	at := func(p repo.Path) *piece {
		if pieces[p] == nil {
			pieces[p] = &piece{}
		}
		return pieces[p]
	}
	gather := func(r *Report, which func(repo.Path) bool) {
		for i := range r.Documents {
			if d := &r.Documents[i]; which(d.File) {
				at(d.File).tally = d
			}
		}
		for _, m := range r.Mentions {
			if which(m.File) {
				p := at(m.File)
				p.mentions = append(p.mentions, m)
			}
		}
		for _, u := range r.Unread {
			if which(u.File) {
				p := at(u.File)
				p.unread = append(p.unread, u)
			}
		}
	}
	gather(earlier, func(p repo.Path) bool { return !j.only[p] })
	gather(j.report, func(p repo.Path) bool { return j.only[p] })
	merged := &Report{Head: j.report.Head, Gap: earlier.Gap}
	if j.report.Gap != "" {
		merged.Gap = j.report.Gap
	}
	for _, f := range files {
		p := pieces[f.Path]
		if p == nil {
			continue
		}
		if p.tally != nil {
			merged.Documents = append(merged.Documents, *p.tally)
		}
		merged.Mentions = append(merged.Mentions, p.mentions...)
		merged.Unread = append(merged.Unread, p.unread...)
	}
	merged.Gap = gapOf(merged.Mentions, merged.Gap)
	j.report = merged
}
