package docs

import (
	"ken/internal/docs/mention"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
)

// A MentionJSON is a mention in the output of --json and the HTTP API.
type MentionJSON struct {
	File    string        `json:"file"`
	FileB64 string        `json:"file_b64,omitempty"`
	Line    int           `json:"line"`
	Agents  bool          `json:"agents,omitempty"` // agents read the document
	Mention string        `json:"mention"`
	Name    string        `json:"name"`
	Kind    mention.Kind  `json:"kind"`
	Form    mention.Form  `json:"form"`
	Tool    string        `json:"tool,omitempty"`
	Verdict fresh.Verdict `json:"verdict"`
	Since   repo.ID       `json:"since"`
	Subject string        `json:"since_subject,omitempty"`
	Date    string        `json:"since_date,omitempty"`
	Pending bool          `json:"uncommitted,omitempty"`
	MovedTo *string       `json:"moved_to"`
	Renamed string        `json:"renamed_to,omitempty"`
	Written repo.ID       `json:"written,omitzero"`
	Hidden  string        `json:"hidden,omitempty"`
	Why     string        `json:"why,omitempty"`
}

// JSON returns the mention as --json prints it.
func (m *CheckedMention) JSON() MentionJSON {
	file := m.File.JSON()
	out := MentionJSON{
		File: file.Path, FileB64: file.B64, Line: m.Line, Agents: IsForAgents(m.File), Mention: m.Text, Name: m.Name,
		Kind: m.Kind, Form: m.Form, Tool: m.Tool, Verdict: m.Verdict, Hidden: m.Hidden, Why: m.Why, Renamed: m.Renamed,
		Pending: m.Uncommitted,
	}
	if m.Since != nil {
		out.Since, out.Subject, out.Date = m.Since.ID, m.Since.Subject, m.Since.Date
	}
	if m.Written != nil {
		out.Written = m.Written.ID
	}
	if m.To != "" {
		to := m.To.String()
		out.MovedTo = &to
	}
	return out
}

// A DocumentsJSON is the head of the output of ken docs --json.
type DocumentsJSON struct {
	Commit    repo.ID               `json:"commit"`
	Documents int                   `json:"documents"`
	Counts    map[fresh.Verdict]int `json:"counts"`
	Hidden    map[string]int        `json:"hidden"`
	Unknown   []fault.Unknown       `json:"unknown"`
	Passed    int                   `json:"passed"`
}

// JSON returns what the output of --json has before the mentions.
func (r *Report) JSON() DocumentsJSON {
	head := DocumentsJSON{
		Commit: r.Head, Documents: len(r.Documents), Counts: make(map[fresh.Verdict]int), Hidden: make(map[string]int),
		Unknown: r.Unknown(true), Passed: r.UnreadFormats,
	}
	counts := r.Counts()
	for _, v := range Verdicts {
		head.Counts[v] = counts[v]
	}
	for i := range r.Mentions {
		if m := &r.Mentions[i]; m.Hidden != "" && m.Verdict != Holds {
			head.Hidden[m.Hidden]++
		}
	}
	return head
}

// A FixedJSON is the output of ken docs --fix --json and POST /api/docs/fix.
type FixedJSON struct {
	DryRun   bool          `json:"dry_run"`
	Edits    []EditJSON    `json:"edits"`
	Left     int           `json:"left"`
	Mentions []MentionJSON `json:"mentions"` // the mentions that stay stale
}

// An EditJSON is a corrected mention.
type EditJSON struct {
	File string `json:"file"`
	Line int    `json:"line"`
	From string `json:"from"`
	To   string `json:"to"`
}

// JSON returns the corrections as --json prints them.
func (f *FixResult) JSON(dry bool) FixedJSON {
	out := FixedJSON{DryRun: dry, Edits: []EditJSON{}, Left: len(f.Unfixed), Mentions: []MentionJSON{}}
	for _, e := range f.Edits {
		out.Edits = append(out.Edits, EditJSON{e.File.String(), e.Line, e.From, e.To})
	}
	for i := range f.Unfixed {
		out.Mentions = append(out.Mentions, f.Unfixed[i].JSON())
	}
	return out
}

// An IgnoredJSON is a settled mention in the output of ken docs --ignore --json, with the text that settles it.
type IgnoredJSON struct {
	MentionJSON
	In   string `json:"written_file"`
	At   int    `json:"written_line"`
	Text string `json:"written"`
}

// JSON returns the mention as --json prints it.
func (i *Ignored) JSON() IgnoredJSON {
	return IgnoredJSON{i.CheckedMention.JSON(), i.In.String(), i.Line, i.Text}
}
