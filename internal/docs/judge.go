package docs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"ken/internal/docs/mention"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
)

// A CheckedMention is a mention with its verdict.
type CheckedMention struct {
	mention.Mention
	Verdict fresh.Verdict
	// Since is the commit that removed the thing; nil if it is unknown, or if the removal is not committed.
	Since *Commit
	// Uncommitted is set if HEAD still has the thing.
	Uncommitted bool
	// To is the new path of a moved thing.
	To repo.Path
	// Renamed is the name that the commit put in the place of a symbol or an option that is gone; "" if it is unknown.
	Renamed string
	// ExistedThen is set if the thing existed when the document named it. Only then has the document become wrong.
	ExistedThen bool
	// Written is the commit that wrote the mention; nil if it was not searched for.
	Written *Commit
	// Hidden says why the mention is listed only with --all; "" if it is always listed.
	Hidden string
	// Why explains the verdict; it may be empty.
	Why string

	// Was is the path that the mention meant, or the file of the symbol or command.
	Was repo.Path

	ignored bool // git ignores the path
	carried bool // the verdict is from an earlier report
	mayRun  bool // no task file lists the command, and its tool may run more than they list
}

// A Report is the result of a check.
type Report struct {
	Head      repo.ID
	Documents []DocumentCounts // the documents that were read, by path
	Mentions  []CheckedMention // by document and line
	// WithoutDocuments are the requested paths without a tracked document.
	WithoutDocuments []repo.Path
	// UnreadFormats counts the files among documents in formats that ken does not read.
	UnreadFormats int
	// Unread are the documents that could not be read, with the reason.
	Unread []Unread
	// Gap says why some mentions are unknown: the history is incomplete, or git lacks contents. It is "" if
	// neither made a mention unknown.
	Gap string
}

// DocumentCounts counts the mentions of a document by verdict.
type DocumentCounts struct {
	File   repo.Path
	Counts map[fresh.Verdict]int
}

// Counts returns the counts of all documents.
func (r *Report) Counts() map[fresh.Verdict]int {
	all := make(map[fresh.Verdict]int)
	for _, d := range r.Documents {
		for v, n := range d.Counts {
			all[v] += n
		}
	}
	return all
}

// Below returns the part of a report for some documents or directories.
func (r *Report) Below(paths []repo.Path) *Report {
	part := *r
	out := func(p repo.Path) bool { return !slices.ContainsFunc(paths, p.Under) }
	part.Documents = slices.DeleteFunc(slices.Clone(r.Documents), func(t DocumentCounts) bool { return out(t.File) })
	part.Mentions = slices.DeleteFunc(slices.Clone(r.Mentions), func(m CheckedMention) bool { return out(m.File) })
	part.Unread = slices.DeleteFunc(slices.Clone(r.Unread), func(u Unread) bool { return out(u.File) })
	part.Gap = gapOf(part.Mentions, r.Gap)
	return &part
}

// gapOf returns the reason for unknown mentions: a gap in the history, or missing contents.
func gapOf(list []CheckedMention, gap string) string {
	found := ""
	for i := range list {
		switch m := &list[i]; {
		case m.Verdict != Unknown:
		case m.Why == gap && gap != "":
			return gap
		case m.Why == WhyAbsent:
			found = WhyAbsent
		}
	}
	return found
}

// Undecided reports whether any unknown mention may be stale.
func (r *Report) Undecided() bool {
	return slices.ContainsFunc(r.Mentions, func(m CheckedMention) bool {
		return m.Verdict == Unknown && m.Hidden == Unknown.String() && !m.IsCommonName()
	})
}

// An Unread is a document that could not be checked, or only in part.
type Unread struct {
	File repo.Path
	Why  string
	// Permanent is set if the cause is the content, so that it persists until the content changes. NotText is set if
	// the content is not prose.
	Permanent, NotText bool
}

// Unknown returns what the report does not know: the documents that could not be read, with all also files that are
// not text, and why more mentions may be stale.
func (r *Report) Unknown(all bool) []fault.Unknown {
	list := []fault.Unknown{}
	for _, u := range r.Unread {
		if all || !u.NotText {
			list = append(list, fault.Unknown{What: "documents", Why: u.File.String() + ": " + u.Why})
		}
	}
	if r.Gap != "" && r.Undecided() {
		command := "git fetch --unshallow"
		if r.Gap == WhyAbsent {
			command = "git fetch --refetch --no-filter"
		}
		why, _, _ := strings.Cut(r.Gap, ";")
		list = append(list, fault.Unknown{What: "mentions", Why: "more mentions may be stale: " + why, Command: command})
	}
	return list
}

// Stale lists the stale mentions.
func (r *Report) Stale() []CheckedMention {
	var list []CheckedMention
	for _, j := range r.Mentions {
		if j.Hidden == "" {
			list = append(list, j)
		}
	}
	return list
}

// The reasons why a mention is hidden, besides a verdict that is no problem.
const (
	HiddenAcked        = "acknowledged"
	HiddenHistorical   = "historical"                    // the document describes the past
	HiddenHedged       = "hedged"                        // the words around the mention weaken it
	HiddenPrinted      = "printed by a program"          // by a command in the document
	HiddenNeverExisted = "not there when it was written" // so it may mean something else
	HiddenCommon       = "any project has one"           // so it may be the reader's
	HiddenGenerated    = "named in code"                 // so a program may create it
	HiddenExplained    = "told in the document"          // at another place in it
)

// A judge checks the documents of one tree.
type judge struct {
	tree   *workTree
	past   *historyReader
	policy Policy
	paths  []repo.Path // documents, or directories of them; all if nil
	// only are the documents to check; all if nil.
	only map[repo.Path]bool

	index   *treeIndex
	history *history // nil until first use
	scan    *symbolScan
	list    []CheckedMention
	report  *Report
	dropped map[repo.Path][]string // keys of casual mentions of things that never existed
	fresh   map[repo.Path]*docPart // the documents that this run has checked
}

func newJudge(tree *workTree, past *historyReader, policy Policy, files []repo.File) *judge {
	return &judge{
		tree: tree, past: past, policy: policy, index: newTreeIndex(files), report: &Report{Head: past.head},
		dropped: make(map[repo.Path][]string), fresh: make(map[repo.Path]*docPart),
	}
}

// judgeAll reads the documents of a tree and judges each mention.
func judgeAll(ctx context.Context, tree *workTree, past *historyReader, policy Policy, paths []repo.Path) (*Report, error) {
	files := tree.tracked()
	j := newJudge(tree, past, policy, files)
	j.paths = paths
	if err := j.run(ctx, files, nil); err != nil {
		return nil, err
	}
	return j.report, nil
}

// run checks documents. It takes over the verdicts of an earlier report.
func (j *judge) run(ctx context.Context, files []repo.File, earlier *cachedReport) error {
	if err := j.readDocuments(ctx, files); err != nil {
		return err
	}
	if earlier != nil {
		j.carry(earlier)
	}
	if err := j.judgeByTree(ctx, files); err != nil {
		return err
	}
	if err := j.judgeByHistory(ctx); err != nil {
		return err
	}
	j.dropCasualMentions()
	j.tally()
	return nil
}

// tally counts the mentions of each document for the report.
func (j *judge) tally() {
	told := statementsOf(j.list)
	at := 0 // the mentions are in the order of the documents
	for i := range j.list {
		m := &j.list[i]
		for j.report.Documents[at].File != m.File {
			at++
		}
		j.report.Documents[at].Counts[m.Verdict]++
		m.Hidden = told.hidden(m)
	}
	j.report.Mentions, j.report.Gap = j.list, gapOf(j.list, j.report.Gap)
}

// hidden returns why a mention is hidden, "" if it is not.
func (t docStatements) hidden(m *CheckedMention) string {
	switch {
	case m.Verdict == Holds:
		return m.Verdict.String()
	case m.Hidden != "":
		return m.Hidden
	case m.Hedged && (!m.ExistedThen || m.Verdict != Gone && m.Verdict != Moved):
		return HiddenHedged // the history never had it
	case m.Verdict != Gone && m.Verdict != Moved:
		return m.Verdict.String()
	case !m.ExistedThen:
		return HiddenNeverExisted
	case m.IsCommonName():
		return HiddenCommon
	case m.Verdict == Moved && t.namesNewPlace(m), t.saysGone(m):
		return HiddenExplained
	}
	return ""
}

// docStatements are the statements of documents about their own mentions.
type docStatements struct {
	gone  map[docName]bool  // said to be gone, anywhere in the document
	holds map[docName][]int // the lines that name something that exists, ascending
}

// A docName is a name in a document, or the path that it means.
type docName struct {
	doc  repo.Path
	name string
}

func statementsOf(list []CheckedMention) docStatements {
	t := docStatements{gone: make(map[docName]bool), holds: make(map[docName][]int)}
	moved := slices.ContainsFunc(list, func(m CheckedMention) bool { return m.Verdict == Moved })
	for i := range list {
		m := &list[i]
		if m.Kind != mention.Path {
			continue
		}
		if m.SaidGoneInSentence {
			t.gone[docName{m.File, m.Name}] = true
		}
		if moved && m.Verdict == Holds {
			for _, p := range possiblePaths(m.File, &m.Mention, false) {
				at := docName{m.File, p}
				t.holds[at] = append(t.holds[at], m.Line)
			}
		}
	}
	return t
}

// namesNewPlace reports whether a document names the new path of a moved thing within a few lines. Then it
// describes the move.
func (t docStatements) namesNewPlace(m *CheckedMention) bool {
	const close = 3 // lines
	lines := t.holds[docName{m.File, string(m.To)}]
	i, _ := slices.BinarySearch(lines, m.Line-close)
	return i < len(lines) && lines[i] <= m.Line+close
}

// saysGone reports whether a document says elsewhere that a thing no longer exists.
func (t docStatements) saysGone(m *CheckedMention) bool {
	return m.Kind == mention.Path && t.gone[docName{m.File, m.Name}]
}

// readDocuments finds the mentions in the documents.
func (j *judge) readDocuments(ctx context.Context, files []repo.File) error {
	var chosen []repo.File
	for _, f := range files {
		if f.Mode.SameType(repo.Regular) && mention.IsDocument(f.Path) && j.asked(f.Path) && !excluded(j.policy.Exclude, f.Path) {
			chosen = append(chosen, f)
		}
	}
	found := make([][]CheckedMention, len(chosen))
	partial := make([]string, len(chosen))
	failed := make([]error, len(chosen))
	err := j.tree.Read(ctx, chosen, mention.MaxBytes, func(i int, content []byte, err error) {
		if failed[i] = err; err != nil {
			return
		}
		found[i], partial[i], failed[i] = j.mentions(chosen[i].Path, content)
	})
	if err != nil {
		return err
	}
	for i, f := range chosen {
		if failed[i] != nil {
			if errors.Is(failed[i], context.Canceled) {
				return failed[i]
			}
			if errors.Is(failed[i], fs.ErrNotExist) {
				continue // it was removed, and the removal is not committed
			}
			j.report.Unread = append(j.report.Unread, Unread{
				File: f.Path, Why: "not checked: " + strings.TrimPrefix(failed[i].Error(), "read "+f.Path.String()+": "),
				Permanent: errors.Is(failed[i], mention.ErrTooLarge) || errors.Is(failed[i], mention.ErrNotText),
				NotText:   errors.Is(failed[i], mention.ErrNotText),
			})
			continue
		}
		j.report.Documents = append(j.report.Documents, DocumentCounts{f.Path, make(map[fresh.Verdict]int)})
		j.list = append(j.list, found[i]...)
		if partial[i] != "" {
			j.report.Unread = append(j.report.Unread, Unread{File: f.Path, Why: "only partly checked: " + partial[i], Permanent: true})
		}
	}
	return nil
}

// asked reports whether a document is selected.
func (j *judge) asked(p repo.Path) bool {
	if j.only != nil {
		return j.only[p]
	}
	return j.paths == nil || slices.ContainsFunc(j.paths, p.Under)
}

// judgeByTree finds the mentions that hold according to the tree alone.
func (j *judge) judgeByTree(ctx context.Context, files []repo.File) error {
	var open []int
	for i := range j.list {
		m := &j.list[i]
		if m.Kind != mention.Path || m.hasVerdict() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		paths := possiblePaths(m.File, &m.Mention, false)
		j.index.globs.skipped = false
		switch {
		case j.index.holdsPath(&m.Mention, paths):
			m.Verdict = Holds
		case j.index.globs.skipped:
			m.Verdict, m.Why = Ambiguous, "too many patterns to try"
		case len(paths) == 0:
			m.Verdict, m.Why = Ambiguous, "it is outside the repository"
		default:
			open = append(open, i)
		}
	}
	if err := j.judgeUntracked(ctx, open); err != nil {
		return err
	}
	if err := j.judgeAnchors(ctx); err != nil {
		return err
	}
	if err := j.judgeCommands(ctx, files); err != nil {
		return err
	}
	return j.judgeSymbols(ctx, files)
}

// judgeUntracked judges paths that are not tracked. A path holds if it exists. A path that git ignores holds too,
// unless the history shows that the repository tracked it.
func (j *judge) judgeUntracked(ctx context.Context, open []int) error {
	var paths []repo.Path
	var whose []int
	for _, i := range open {
		m := &j.list[i]
		for _, p := range possiblePaths(m.File, &m.Mention, false) {
			if !m.Glob && usable(p) {
				paths, whose = append(paths, repo.Path(p)), append(whose, i)
			}
		}
	}
	there, err := j.tree.Present(ctx, paths)
	if err != nil {
		return err
	}
	var rest []repo.Path
	var restOf []int
	for k, i := range whose {
		if there[k] {
			j.list[i].Verdict, j.list[i].Why = Holds, "an untracked file is there"
		}
	}
	for k, i := range whose {
		// A submodule has a history of its own, and git does not report which of its paths are ignored.
		if m := &j.list[i]; !m.hasVerdict() && j.index.behind(string(paths[k]), repo.Gitlink) {
			m.Verdict, m.Why = Ambiguous, "it would be in a submodule, and is not there"
		}
	}
	for k, i := range whose {
		if !j.list[i].hasVerdict() {
			rest, restOf = append(rest, paths[k]), append(restOf, i)
		}
	}
	ignored, err := j.tree.git.Ignored(ctx, rest)
	if err != nil {
		return err
	}
	for k, i := range restOf {
		j.list[i].ignored = j.list[i].ignored || ignored[k]
	}
	return nil
}

// whyIgnored explains why an ignored path holds.
const whyIgnored = "git ignores it: a build makes it, or it is your own"

// usable reports whether a path is valid for git and the file system.
func usable(p string) bool { return !strings.ContainsAny(p, "\x00\n") && len(p) < 4096 }

// judgeByHistory judges the remaining mentions by the history.
func (j *judge) judgeByHistory(ctx context.Context) error {
	open := false
	for i := range j.list {
		open = open || !j.list[i].hasVerdict()
	}
	if !open {
		return nil
	}
	if j.past.head.IsZero() {
		j.acceptIgnoredPaths()
		j.setRemainingVerdicts(Never, "nothing is committed yet")
		return nil
	}
	var err error
	if j.history, err = j.past.history(ctx); err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	j.report.Gap = j.history.Gap()
	if err := j.judgePast(ctx); err != nil {
		return err
	}
	j.acceptIgnoredPaths()
	if err := j.hideGeneratedFiles(ctx); err != nil {
		return err
	}
	if j.report.Gap != "" {
		j.setRemainingVerdicts(Unknown, j.report.Gap)
	}
	j.setRemainingVerdicts(Never, "")
	return nil
}

// acceptIgnoredPaths marks ignored paths as holding if the repository did not track them when the document named them.
func (j *judge) acceptIgnoredPaths() {
	for i := range j.list {
		if m := &j.list[i]; m.ignored && !m.ExistedThen && m.Verdict != Holds {
			m.Verdict, m.Why, m.Since, m.To, m.Was = Holds, whyIgnored, nil, "", ""
		}
	}
}

// dropCasualMentions removes casual mentions of things that never existed, and names that may be members and were never
// files. If the history is incomplete, a name counts as a file if the tree has files with its extension.
func (j *judge) dropCasualMentions() {
	j.list = slices.DeleteFunc(j.list, func(m CheckedMention) bool {
		drop := false
		switch {
		case m.Casual:
			drop = m.Verdict == Never || m.Verdict == Ambiguous || m.Verdict == Unknown
		case m.Kind == mention.Path && m.Form != mention.Link && m.Form != mention.Import && mention.MayBeMember(m.Name):
			drop = m.Verdict == Never || m.Verdict == Unknown && m.Was == "" && !j.index.exts[path.Ext(m.Name)]
		}
		if drop && m.judged() {
			j.dropped[m.File] = append(j.dropped[m.File], m.key())
		}
		return drop
	})
}

// setRemainingVerdicts sets the verdict of all mentions without one.
func (j *judge) setRemainingVerdicts(v fresh.Verdict, why string) {
	for i := range j.list {
		if m := &j.list[i]; !m.hasVerdict() {
			m.Verdict, m.Why = v, why
		}
	}
}

// hasVerdict reports whether a mention was judged. One that ken judged as unknown has a reason.
func (m *CheckedMention) hasVerdict() bool { return m.Verdict != Unknown || m.Why != "" }

// Verdicts lists all verdicts.
var Verdicts = []fresh.Verdict{Holds, Moved, Gone, Never, Ambiguous, Unknown}
