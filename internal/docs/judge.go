package docs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"ken/internal/docs/mention"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/order"
	"ken/internal/repo"
	"ken/internal/session"
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

	// Was is the path that the mention meant, or the file of the symbol or command. Content is what a path that is gone
	// had: it moved if another path has that.
	Was     repo.Path
	Content repo.ID

	// ByHistory is set if the tree alone does not decide the verdict. MayBeMade is set if a program may make the file: it
	// was a data file.
	ByHistory, MayBeMade bool

	before  *CheckedMention // the last verdict, which still holds if the tree does not decide
	ignored bool            // git ignores the path
	mayRun  bool            // no task file lists the command, and its tool may run more than they list
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

// Below returns the part of a report for some documents or directories; all of it for nil.
func (r *Report) Below(paths []repo.Path) *Report {
	if paths == nil {
		return r
	}
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
	HiddenNeverExisted = "not there when it was written" // so it may mean something else
	HiddenCommon       = "any project has one"           // so it may be the reader's
	HiddenGenerated    = "named in code"                 // so a program may create it
	HiddenExplained    = "told in the document"          // on the same line
)

// A judge checks the documents of one tree.
type judge struct {
	tree   *workTree
	past   *historyReader
	policy Policy
	paths  []repo.Path // documents, or directories of them; all if nil

	memories []session.Memory
	written  map[repo.Path]time.Time // of the memories

	index   *treeIndex
	history *history // nil until first use
	record  record
	declare map[symbolName]bool // qualified names that their owner declares or may inherit
	list    []CheckedMention    // also those that the report omits
	report  *Report
}

// run checks documents. It takes over the verdicts of the last check that nothing has changed since.
func (j *judge) run(ctx context.Context, c *Checker, last *record) error {
	in := j.tree.inputs
	if last == nil {
		last = &record{}
	}
	j.record = record{Head: j.past.head, View: in.view, Sparse: c.Git.Sparse(), Gap: last.Gap}
	j.record.Untracked = make(map[repo.Path]untracked)
	var since changes
	j.record.Names = last.Names
	unread := last.Names.unreadFiles()
	changed, pathsChanged := j.record.Names.update(in.files)
	since.words, since.contents, since.paths = j.record.Names.lost, j.record.Names.contents, pathsChanged
	since.tasks = slices.ContainsFunc(changed, IsTaskFile)
	if err := j.compareHistory(ctx, last, &since); err != nil {
		return err
	}
	hadObjects := last.Objects == "" || last.Objects == c.Git.ObjectsDigest(c.now().Add(-settled))
	since.history = since.history || !hadObjects
	j.past.lacks = last.Objects != "" && !since.history
	if err := j.readDocuments(ctx, last, &since); err != nil {
		return err
	}
	if err := j.askUntracked(ctx, c, last, &since); err != nil {
		return err
	}
	if err := j.learnNames(ctx, &since); err != nil {
		return err
	}
	since.unread = !slices.Equal(unread, j.record.Names.unreadFiles())
	for i := range j.list {
		m := &j.list[i]
		if !since.affect(m) {
			continue
		}
		before := *m
		m.forget()
		isSame := !since.history && since.committed == nil
		byHistory := before.ByHistory && isSame && before.Why != whyStillDefined
		if byHistory && m.isName() {
			m.before = &before
		}
	}
	if err := j.judgeByTree(ctx); err != nil {
		return err
	}
	if err := j.judgeByHistory(ctx); err != nil {
		return err
	}
	if err := j.hideGeneratedFiles(ctx); err != nil {
		return err
	}
	for i, at := 0, 0; i < len(j.record.Documents); i++ {
		d := &j.record.Documents[i]
		d.Mentions = j.list[at : at+len(d.Mentions)]
		at += len(d.Mentions)
	}
	j.tally()
	return nil
}

// compareHistory finds whether the verdicts of the last check that the history decided are still right: if HEAD is the
// same, or one commit further and no merge. Then they are, except in documents that the commit changed, and for what
// that check found before a commit had it.
func (j *judge) compareHistory(ctx context.Context, last *record, since *changes) error {
	if last.Head == j.record.Head && last.View == j.record.View {
		return nil
	}
	since.history = true
	if last.Head.IsZero() || last.View != j.record.View || j.record.Head.IsZero() {
		return nil
	}
	var err error
	if j.history, err = j.past.history(ctx); err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	if j.history.parentOfHead() != last.Head {
		return nil
	}
	changed, err := j.past.Changed(ctx, []repo.ID{j.record.Head})
	if err != nil {
		return err
	}
	since.history = false
	since.committed = make(map[repo.Path]bool)
	for _, p := range changed[0] {
		since.committed[p] = true
	}
	return nil
}

// changes are what changed since the last check.
type changes struct {
	committed map[repo.Path]bool // if HEAD is one commit further: the paths that it changed
	history   bool               // HEAD, or what ken can read of the history
	paths     bool               // a tracked path came or went
	untracked bool               // an untracked path that documents name came or went, or the rules that ignore it changed
	contents  map[repo.ID]bool   // of the files that changed, as they were or as they are
	tasks     bool               // a file that lists commands
	unread    bool               // which files could not be read
	documents map[repo.Path]bool // documents that were read again
	words     map[string]bool    // in the files that changed, before or after
}

// affect reports whether a mention has to be judged again.
func (c *changes) affect(m *CheckedMention) bool {
	if !m.hasVerdict() || m.Declared {
		return false
	}
	isDated := m.Written != nil && !m.Uncommitted && !c.committed[m.File]
	isSame := !c.history && (c.committed == nil || isDated)
	if m.ByHistory && !isSame {
		return true
	}
	switch m.Kind {
	case mention.Path:
		return c.paths || c.untracked || c.contents[m.Content]
	case mention.Anchor:
		return c.paths || c.documents[m.Was]
	case mention.Command:
		return c.paths || c.tasks
	default:
		isBlind := c.unread && m.Verdict != Holds
		return isBlind || c.paths && m.In != "" || nameOf(&m.Mention).touches(c.words)
	}
}

// forget removes the verdict.
func (m *CheckedMention) forget() {
	*m = CheckedMention{Mention: m.Mention, Hidden: m.Hidden}
	if m.Hidden == HiddenGenerated {
		m.Hidden = ""
	}
}

// key identifies a mention in its document: mentions with the same key get the same verdict.
func (m *CheckedMention) key() string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%s\x00%v%v", m.Kind, m.Tool, m.In, m.Name, m.Form, m.Dir, m.Glob)
}

// learnNames finds which files have the names in the documents.
func (j *judge) learnNames(ctx context.Context, since *changes) error {
	names := make(map[string]bool)
	for i := range j.list {
		if m := &j.list[i]; m.isName() && !m.Declared {
			namesToLearn(&m.Mention, names)
		}
	}
	learnt, err := j.record.Names.learn(ctx, j.tree, names)
	maps.Copy(since.words, learnt)
	return err
}

// tally makes the report of the mentions.
func (j *judge) tally() {
	told := j.statementsOf(j.list)
	at := 0 // the mentions are in the order of the documents
	for i := range j.list {
		m := j.list[i]
		if j.isNone(&m) {
			continue
		}
		for j.report.Documents[at].File != m.File {
			at++
		}
		j.report.Documents[at].Counts[m.Verdict]++
		m.Hidden = told.hidden(&m)
		j.report.Mentions = append(j.report.Mentions, m)
	}
	j.report.Gap = gapOf(j.report.Mentions, j.record.Gap)
	slices.SortStableFunc(j.report.Mentions, func(a, b CheckedMention) int {
		return order.TrueFirst(IsForAgents(a.File), IsForAgents(b.File))
	})
}

// IsForAgents reports whether agents read a document without being asked to: instructions, skills and memories.
func IsForAgents(p repo.Path) bool { return IsOutside(p) || mention.RoleOf(p) == mention.Agent }

// hidden returns why a mention is hidden, "" if it is not.
func (t docStatements) hidden(m *CheckedMention) string {
	switch {
	case m.Verdict == Holds:
		return m.Verdict.String()
	case acceptedByPolicy(t.ok, &m.Mention):
		return HiddenAcked
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
	case m.Verdict == Moved && t.holding[namedAt{m.File, m.Line, string(m.To)}]:
		return HiddenExplained
	}
	return ""
}

// docStatements are what documents say about their own mentions.
type docStatements struct {
	ok      []Accepted       // mentions that the policy accepts
	holding map[namedAt]bool // the lines that name a path that exists: beside an old one, they describe the move
}

// A namedAt is a path that a line of a document means.
type namedAt struct {
	doc  repo.Path
	line int
	path string
}

func (j *judge) statementsOf(list []CheckedMention) docStatements {
	t := docStatements{ok: j.policy.OK, holding: make(map[namedAt]bool)}
	if !slices.ContainsFunc(list, func(m CheckedMention) bool { return m.Verdict == Moved }) {
		return t
	}
	for i := range list {
		m := &list[i]
		if m.Kind == mention.Path && m.Verdict == Holds {
			for _, p := range possiblePaths(m.File, &m.Mention, false) {
				t.holding[namedAt{m.File, m.Line, p}] = true
			}
		}
	}
	return t
}

// readDocuments finds the mentions in the documents. It reads those that changed since the last check.
func (j *judge) readDocuments(ctx context.Context, last *record, since *changes) error {
	since.documents = make(map[repo.Path]bool)
	before := make(map[repo.Path]*documentRecord, len(last.Documents))
	for i := range last.Documents {
		before[last.Documents[i].Path] = &last.Documents[i]
	}
	var changed []repo.File
	var places []int
	for _, f := range j.tree.inputs.files {
		isAsked := j.paths == nil || slices.ContainsFunc(j.paths, f.Path.Under)
		if !isDocument(&f) || !isAsked || excluded(j.policy.Exclude, f.Path) {
			continue
		}
		d := documentRecord{Path: f.Path, ID: f.ID}
		if old := before[f.Path]; old != nil && old.ID == f.ID && !f.ID.IsZero() {
			d = *old
		} else {
			changed = append(changed, f)
			places = append(places, len(j.record.Documents))
			since.documents[f.Path] = true
		}
		j.record.Documents = append(j.record.Documents, d)
	}
	for p := range before { // a document that is gone has no anchors
		since.documents[p] = since.documents[p] || !j.index.has(string(p))
	}
	err := j.tree.Read(ctx, changed, mention.MaxBytes, func(i int, content []byte, err error) {
		d := &j.record.Documents[places[i]]
		if err == nil {
			d.Mentions, d.Partial, err = readMentions(d.Path, content)
		}
		if err != nil {
			d.fail(err)
		}
	})
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range j.record.Documents {
		d := &j.record.Documents[i]
		if old := before[d.Path]; old != nil && since.documents[d.Path] {
			d.carry(old)
		}
		j.addDocument(d)
	}
	j.readMemories()
	return nil
}

// readMemories adds the documents outside of the repository, by their absolute paths.
func (j *judge) readMemories() {
	j.written = make(map[repo.Path]time.Time)
	for _, m := range j.memories {
		inTree, isInside := strings.CutPrefix(m.File, j.tree.git.Root()+"/")
		if isInside && j.index.has(inTree) {
			continue // git tracks it
		}
		d := documentRecord{Path: repo.Path(m.Path())}
		err := m.Err
		if err == nil {
			d.Mentions, d.Partial, err = readMentions(d.Path, m.Content)
		}
		if err != nil {
			d.fail(err)
		}
		j.written[d.Path] = m.Time
		j.record.Documents = append(j.record.Documents, d)
		j.addDocument(&d)
	}
}

// IsOutside reports whether a document is outside of the repository.
func IsOutside(p repo.Path) bool { return strings.HasPrefix(string(p), "/") }

// fail records why a document could not be read.
func (d *documentRecord) fail(err error) {
	notText := errors.Is(err, mention.ErrNotText)
	d.Unread = &Unread{
		File: d.Path, Why: "not checked: " + strings.TrimPrefix(err.Error(), "read "+d.Path.String()+": "),
		Permanent: notText || errors.Is(err, mention.ErrTooLarge), NotText: notText,
	}
	if errors.Is(err, fs.ErrNotExist) {
		d.Unread = &Unread{File: d.Path} // it was removed, and the removal is not committed
	}
}

// carry takes over the verdicts of the mentions that the document had before.
func (d *documentRecord) carry(old *documentRecord) {
	byKey := make(map[string]*CheckedMention)
	for i := range old.Mentions {
		m := &old.Mentions[i]
		byKey[m.key()] = m
	}
	for i := range d.Mentions {
		m := &d.Mentions[i]
		was := byKey[m.key()]
		wasJudged := was != nil && (was.Hidden == m.Hidden || was.Hidden == HiddenGenerated)
		if m.hasVerdict() || !wasJudged || was.Declared || m.Kind == mention.Anchor { // the headings may have changed
			continue
		}
		text, hidden := m.Mention, m.Hidden
		*m = *was
		m.Mention, m.Hidden = text, hidden
	}
}

// addDocument adds a document to the report, and its mentions to the list.
func (j *judge) addDocument(d *documentRecord) {
	switch {
	case d.Unread == nil:
	case d.Unread.Why == "":
		return
	default:
		j.report.Unread = append(j.report.Unread, *d.Unread)
		return
	}
	j.report.Documents = append(j.report.Documents, DocumentCounts{d.Path, make(map[fresh.Verdict]int)})
	j.list = append(j.list, d.Mentions...)
	if d.Partial != "" {
		unread := Unread{File: d.Path, Why: "only partly checked: " + d.Partial, Permanent: true}
		j.report.Unread = append(j.report.Unread, unread)
	}
}

// judgeByTree finds the mentions that hold according to the tree alone.
func (j *judge) judgeByTree(ctx context.Context) error {
	for i := range j.list {
		m := &j.list[i]
		if m.Kind != mention.Path || m.hasVerdict() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		j.judgePath(m)
	}
	if err := j.judgeAnchors(ctx); err != nil {
		return err
	}
	if err := j.judgeCommands(ctx); err != nil {
		return err
	}
	return j.judgeSymbols(ctx)
}

// judgePath judges a path by the paths of the tree, and by the untracked ones. A path that git ignores holds, unless
// the history shows that the repository tracked it.
func (j *judge) judgePath(m *CheckedMention) {
	paths := possiblePaths(m.File, &m.Mention, false)
	j.index.globs.skipped = false
	switch {
	case j.index.holdsPath(&m.Mention, paths):
		m.Verdict = Holds
	case j.index.globs.skipped:
		m.Verdict, m.Why = Ambiguous, "too many patterns to try"
	case len(paths) == 0:
		m.Verdict, m.Why = Ambiguous, "it is outside the repository"
	case m.Glob:
	default:
		inSubmodule := false
		for _, p := range paths {
			known := j.record.Untracked[repo.Path(p)]
			if known.Exists {
				m.Verdict, m.Why = Holds, "an untracked file is there"
				return
			}
			m.ignored = m.ignored || known.Ignored
			// A submodule has a history of its own, and git does not report which of its paths are ignored.
			inSubmodule = inSubmodule || j.index.behind(p, repo.Gitlink)
		}
		if inSubmodule {
			m.Verdict, m.Why = Ambiguous, "it would be in a submodule, and is not there"
		}
	}
}

// askUntracked finds which untracked paths that documents name exist, and which of the others git ignores.
func (j *judge) askUntracked(ctx context.Context, c *Checker, last *record, since *changes) error {
	var paths []repo.Path
	for i := range j.list {
		m := &j.list[i]
		if m.Kind != mention.Path || m.Glob {
			continue
		}
		possible := possiblePaths(m.File, &m.Mention, false)
		if slices.ContainsFunc(possible, j.index.has) {
			continue
		}
		for _, p := range possible {
			_, isKnown := j.record.Untracked[repo.Path(p)]
			if !isKnown && usable(p) && !j.index.holdsPath(&m.Mention, possible) {
				j.record.Untracked[repo.Path(p)] = untracked{}
				paths = append(paths, repo.Path(p))
			}
		}
	}
	there, err := j.tree.Present(ctx, paths)
	if err != nil {
		return err
	}
	j.record.Ignores, err = c.ignoreRules(ctx, j.tree.inputs, paths)
	if err != nil {
		return err
	}
	sameRules := j.record.Ignores == last.Ignores && j.tree.inputs.ignores != ""
	since.untracked = last.Ignores != "" && !sameRules
	var open []repo.Path
	for i, p := range paths {
		known, isKnown := last.Untracked[p]
		since.untracked = since.untracked || isKnown && known.Exists != there[i]
		known.Exists = there[i]
		j.record.Untracked[p] = known
		isOpen := !isKnown || !sameRules
		if isOpen && !there[i] && !j.index.behind(string(p), repo.Gitlink) {
			open = append(open, p)
		}
	}
	ignored, err := j.tree.git.Ignored(ctx, open)
	for i, p := range open {
		if err == nil {
			j.record.Untracked[p] = untracked{Ignored: ignored[i]}
		}
	}
	return err
}

// usable reports whether a path is valid for git and the file system.
func usable(p string) bool { return !strings.ContainsAny(p, "\x00\n") && len(p) < 4096 }

// judgeByHistory judges the remaining mentions by the history.
func (j *judge) judgeByHistory(ctx context.Context) error {
	open := false
	for i := range j.list {
		m := &j.list[i]
		isOpen := !m.hasVerdict()
		m.ByHistory = m.ByHistory || isOpen
		open = open || isOpen
	}
	if !open {
		return nil
	}
	if j.past.head.IsZero() {
		j.acceptIgnoredPaths()
		j.setRemainingVerdicts(Never, "nothing is committed yet")
		return nil
	}
	if j.history == nil {
		var err error
		if j.history, err = j.past.history(ctx); err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
	}
	j.record.Gap = j.history.Gap()
	if err := j.judgePast(ctx); err != nil {
		return err
	}
	j.acceptIgnoredPaths()
	for i := range j.list {
		m := &j.list[i]
		m.MayBeMade = m.MayBeMade || m.ByHistory && m.Kind == mention.Path && m.ExistedThen && j.isDataFile(m.Was)
	}
	if j.record.Gap != "" {
		j.setRemainingVerdicts(Unknown, j.record.Gap)
	}
	j.setRemainingVerdicts(Never, "")
	return nil
}

// acceptIgnoredPaths marks ignored paths as holding if the repository did not track them when the document named them.
func (j *judge) acceptIgnoredPaths() {
	for i := range j.list {
		if m := &j.list[i]; m.ignored && !m.ExistedThen && m.Verdict != Holds {
			m.Verdict, m.Why = Holds, "git ignores it: a build makes it, or it is your own"
			m.Since, m.To, m.Was = nil, "", ""
		}
	}
}

// isNone reports whether a mention is none: a casual one of a thing that never existed, or a name that may be a member
// and was never a file. If the history is incomplete, a name counts as a file if the tree has files with its extension.
func (j *judge) isNone(m *CheckedMention) bool {
	isExplicit := m.Form == mention.Link || m.Form == mention.Import
	mayBeMember := m.Kind == mention.Path && !isExplicit && mention.MayBeMember(m.Name)
	switch {
	case m.Casual:
		return m.Verdict == Never || m.Verdict == Ambiguous || m.Verdict == Unknown
	case mayBeMember:
		return m.Verdict == Never || m.Verdict == Unknown && m.Was == "" && !j.index.exts[path.Ext(m.Name)]
	}
	return false
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
