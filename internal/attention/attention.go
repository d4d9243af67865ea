// Package attention lists what a user should look at in a worktree, the most important
// kind first: stale summaries, broken mentions in documents, drift, and so on. Each item says why, and
// names the command that shows or settles it.
//
// `ken status`, `ken up` and the dashboard show this list. The package reads nothing
// itself: [List] selects from a board.
package attention

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ken/internal/board"
	"ken/internal/contract"
	"ken/internal/docs"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/surveyrun"
)

// A Kind is a kind of item.
type Kind string

// The kinds of items, the most important first.
const (
	Stale     Kind = "stale"     // a summary that somebody wrote is stale
	Mention   Kind = "mention"   // a document mentions a thing that is gone or moved
	Drift     Kind = "drift"     // a spec has so much drift that the gate blocks commits
	Broken    Kind = "broken"    // a spec has errors, or governs files that do not exist
	Collision Kind = "collision" // worktrees change the same spec or its code
	Foreign   Kind = "foreign"   // a file does not belong in the state directory
	Failed    Kind = "failed"    // a directory could not be described
	Untrusted Kind = "untrusted" // ken ignores shared records of a committer
	Unknown   Kind = "unknown"   // ken could not tell
)

// An Item is one thing to look at.
type Item struct {
	Kind    Kind
	Word    string // the first word of its line, such as stale or moved
	Subject string
	Why     string

	Path      repo.Path // of the file, directory or document; "" without one, and for the root
	Directory bool      // Path is a directory
	Line      int       // of the document, 0 without one
	Content   repo.ID   // of the file now, zero if it is unknown
	Spec      string    // the id of the spec
	Name      string    // of an entry of the state directory, or of what a document mentions
	// Since is the change that the item comes from. Its zero value means that it is unknown.
	Since board.Change

	// Command shows or settles it, at the root of the worktree.
	Command string
}

// ken returns a command of ken.
func ken(args ...string) string {
	command := "ken"
	for _, a := range args {
		command += " " + fault.Quote(a)
	}
	return command
}

// How many characters List takes from texts that others wrote, and from a mention or the
// subject of a commit.
const (
	maxText    = 120
	maxSubject = 40
)

// List lists what needs attention on a board, the most important kind first. A part that was not read has no items.
func List(b *board.Board) []Item {
	w := b.Worktree()
	return slices.Concat(
		staleFiles(w),
		staleDirectories(w),
		mentions(w),
		drift(w),
		broken(w),
		collisions(b),
		stateEntries(w, contract.AdHoc, Item{
			Kind: Foreign, Word: "foreign", Command: ken("state", "cleanup"),
			Why: "the contract does not allow this name in the state directory",
		}),
		stateEntries(w, contract.Ephemeral, Item{
			Kind: Foreign, Word: "leftover", Command: ken("state", "cleanup"),
			Why: "a temporary file in the state directory",
		}),
		failedDirectories(w),
		failedRuns(b),
		untrusted(w),
		unknownFiles(w),
		unknownDirectories(w),
		unknownDocuments(w),
		unknownSpecs(w),
		stateEntries(w, contract.Unknown, Item{
			Kind: Unknown, Word: "unknown", Command: ken("state", "audit"),
			Why: "the entry of the state directory cannot be inspected",
		}),
		unread(b),
	)
}

func staleFiles(w *board.Worktree) (list []Item) {
	files := w.Files.OrZero()
	renamedFrom := files.RenamedFrom.OrZero()
	for i := range files.Stale {
		v := &files.Stale[i]
		word, why := v.Describe()
		path := rawPath(v.PathJSON)
		if from, ok := renamedFrom[path]; ok && v.PathChanged == "" {
			why = "renamed from " + from.String() + "; " + why
		}
		list = append(list, Item{
			Kind: Stale, Word: word, Subject: path.String(), Why: why, Path: path, Content: v.ID, Since: w.Changes[path],
			Command: ken("summary", "diff", string(path)),
		})
		if v.Lost() {
			list[i].Command = ken("summary", "show", string(path))
		}
	}
	return list
}

func staleDirectories(w *board.Worktree) (list []Item) {
	// A parent can only be settled after its children.
	deepestFirst := slices.Clone(w.Survey.OrZero().Summaries.NeedAttention)
	slices.SortStableFunc(deepestFirst, func(a, b survey.StaleDirectory) int { return depth(b.Path) - depth(a.Path) })
	for _, d := range deepestFirst {
		if d.Verdict.Reason == fresh.Failed || d.Verdict.State != fresh.Stale {
			continue
		}
		it := directory(Stale, "stale", d.PathJSON)
		it.Why = DirectoryWhy(d)
		it.Since = w.Changes[it.Path]
		it.Command = ken("summary", "diff", d.Path)
		list = append(list, it)
	}
	return list
}

// depth counts the directories of a path; the root, ".", has none.
func depth(path string) int {
	if path == "." {
		return 0
	}
	return 1 + strings.Count(path, "/")
}

// rawPath returns a path by its bytes.
func rawPath(p repo.PathJSON) repo.Path {
	path, err := p.Raw()
	if err != nil {
		return repo.Path(p.Path)
	}
	return path
}

// directory returns an item about a directory.
func directory(kind Kind, word string, p repo.PathJSON) Item {
	path := rawPath(p)
	it := Item{Kind: kind, Word: word, Subject: path.String(), Directory: true}
	if path != "." {
		it.Path = path
	}
	return it
}

// DirectoryWhy says why the summary of a directory is stale or unknown.
func DirectoryWhy(d survey.StaleDirectory) string {
	reasons := colon(repo.Shorten(strings.Join(d.Reasons, ", "), maxText))
	switch d.Verdict.Reason {
	case fresh.StaleSelf:
		return "its own files changed since the summary was written" + reasons
	case fresh.StaleBelow:
		return "subdirectories changed since the summary was written" + reasons
	default:
		return "the summary is " + d.Verdict.String() + reasons
	}
}

func mentions(w *board.Worktree) (list []Item) {
	report := w.Documents.OrZero().Report
	if report == nil {
		return nil
	}
	stale := report.Stale()
	for i := range stale {
		m := &stale[i]
		it := Item{
			Kind: Mention, Word: m.Verdict.String(), Subject: fmt.Sprintf("%s:%d", m.File, m.Line), Path: m.File, Line: m.Line, Name: m.Name,
			Why:     "mentions " + repo.Shorten(m.Text, maxSubject) + ", " + m.Describe(maxSubject),
			Command: ken("docs", string(m.File)),
		}
		if m.Verdict == docs.Moved {
			it.Command = ken("docs", "--fix", string(m.File))
		}
		if c := m.Since; c != nil {
			it.Since = board.Change{Commit: c.ID, Subject: c.Subject, At: parseTime(c.Date)}
		}
		list = append(list, it)
	}
	return list
}

// parseTime returns a time stamp of RFC 3339, or the zero time.
func parseTime(stamp string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, stamp)
	return t
}

func drift(w *board.Worktree) (list []Item) {
	specs := w.Spec.OrZero()
	for i := range specs.Nodes {
		n := &specs.Nodes[i]
		if !specs.OverGate(n) {
			continue
		}
		it := aboutSpec(Drift, "drift", n)
		format := ""
		if n.Format > 0 {
			format = fmt.Sprintf(" (%d format)", n.Format)
		}
		it.Why = fmt.Sprintf("%s to its files since it was edited or acknowledged%s; the gate blocks at %d",
			english.Count(*n.Drift, "commit"), format, specs.Gate)
		it.Command = ken("spec", "drift", n.ID, "--patch")
		for _, file := range n.DriftFiles {
			if since := w.Changes[repo.Path(file.File)]; since.At.After(it.Since.At) {
				it.Since = since
			}
		}
		list = append(list, it)
	}
	return list
}

func aboutSpec(kind Kind, word string, n *board.Node) Item {
	return Item{Kind: kind, Word: word, Subject: n.ID, Spec: n.ID, Command: ken("spec", "show", n.ID)}
}

func broken(w *board.Worktree) (list []Item) {
	nodes := w.Spec.OrZero().Nodes
	for i := range nodes {
		n := &nodes[i]
		it := aboutSpec(Broken, "broken", n)
		switch {
		case len(n.Problems) > 0:
			it.Why = n.Problems[0].Message
		case len(n.Missing) > 0:
			it.Why = "it governs files that do not exist: " + strings.Join(n.Missing, ", ")
			it.Command = ken("spec", "lint")
		default:
			continue
		}
		list = append(list, it)
	}
	return list
}

func collisions(b *board.Board) (list []Item) {
	for _, c := range b.Proposals.OrZero().Meetings {
		why := fmt.Sprintf("worktrees %s change its %s: %s", english.And(c.Worktrees), c.Kind.Words(), strings.Join(c.Paths, ", "))
		list = append(list, Item{
			Kind: Collision, Word: "collides", Subject: c.Node, Why: repo.Shorten(why, maxText), Spec: c.Node,
			Command: ken("spec", "overlay"),
		})
	}
	return list
}

// stateEntries returns an item for each entry of the state directory in a bucket. like has the fields that all share.
func stateEntries(w *board.Worktree, name contract.Bucket, like Item) (list []Item) {
	for _, bucket := range w.State.OrZero().Buckets {
		if bucket.Name != name {
			continue
		}
		for _, e := range bucket.Entries {
			it := like
			it.Name = e.Raw()
			it.Subject = repo.Path(it.Name).String()
			if e.MTime != nil {
				it.Since.At = parseTime(*e.MTime)
			}
			list = append(list, it)
		}
	}
	return list
}

// sameProvider returns the flag that asks the provider again which failed. Reasons name it
// as in "ask command/sh: …".
func sameProvider(reasons []string) []string {
	for _, r := range reasons {
		if asked, ok := strings.CutPrefix(r, "ask "); ok {
			name, _, _ := strings.Cut(asked, "/")
			return []string{"--provider", name}
		}
	}
	return nil
}

func failedDirectories(w *board.Worktree) (list []Item) {
	for _, d := range w.Survey.OrZero().Summaries.Failed {
		it := directory(Failed, "failed", d.PathJSON)
		it.Why = "ken could not describe it" + colon(repo.Shorten(strings.Join(d.Reasons, ", "), maxText))
		it.Command = ken(append([]string{"survey", "run", d.Path}, sameProvider(d.Reasons)...)...)
		list = append(list, it)
	}
	return list
}

func failedRuns(b *board.Board) (list []Item) {
	if b.Runs == nil {
		return nil
	}
	runs := b.Runs.OrZero().Runs
	for i := range runs {
		run := &runs[i]
		if run.State == surveyrun.Cancelled {
			continue
		}
		for _, d := range run.Dead {
			it := directory(Failed, "failed", d.PathJSON)
			attempts := english.Count(d.Attempts, "attempt")
			it.Why = fmt.Sprintf("the workers of run %d gave up after %s", d.Run, attempts) + colon(repo.Shorten(d.Error, maxText))
			it.Since.At = d.At
			it.Command = ken("worker", "retry", fmt.Sprint(d.Run))
			list = append(list, it)
		}
	}
	return list
}

// address returns the address of "Name <address>".
func address(committer string) string {
	_, rest, ok := strings.Cut(committer, "<")
	if !ok {
		return committer
	}
	return strings.TrimSuffix(rest, ">")
}

func untrusted(w *board.Worktree) (list []Item) {
	for _, remote := range w.Ignored.OrZero() {
		type group struct{ committer, reason string }
		at := make(map[group]int)
		counts := make(map[group]int)
		for _, u := range remote.Records {
			g := group{u.Committer, u.Reason}
			counts[g]++
			i, ok := at[g]
			if !ok {
				i = len(list)
				at[g] = i
				list = append(list, Item{
					Kind: Untrusted, Word: "ignored", Subject: u.Committer, Since: board.Change{Commit: u.Commit, At: u.At},
					Command: ken("share", "status", remote.Remote),
				})
			}
			it := &list[i]
			it.Why = fmt.Sprintf("%s from %s not used: %s; in .ken/config.yaml, trust them (share.authors) or refuse them for good (share.refuse: [%q])",
				english.Count(counts[g], "record"), remote.Remote, u.Reason, address(u.Committer))
			if u.At.Before(it.Since.At) {
				it.Since = board.Change{Commit: u.Commit, At: u.At}
			}
		}
	}
	return list
}

func unknown(subject, why, command string) Item {
	return Item{Kind: Unknown, Word: "unknown", Subject: subject, Why: why, Command: command}
}

func unknownFiles(w *board.Worktree) (list []Item) {
	files := w.Files.OrZero().Unknown
	for i := range files {
		v := &files[i]
		word, why := v.Describe()
		path := rawPath(v.PathJSON)
		it := unknown(path.String(), why, ken("status", string(path)))
		it.Word = word
		if v.Content.Reason == fresh.Conflicted {
			it.Command = "git diff " + fault.Quote(string(path))
		}
		it.Path = path
		list = append(list, it)
	}
	return list
}

func unknownDirectories(w *board.Worktree) (list []Item) {
	for _, d := range w.Survey.OrZero().Summaries.NeedAttention {
		if d.Verdict.Reason == fresh.Failed || d.Verdict.State == fresh.Stale {
			continue
		}
		it := directory(Unknown, "unknown", d.PathJSON)
		it.Why = DirectoryWhy(d)
		it.Command = ken("survey", "show", d.Path)
		list = append(list, it)
	}
	return list
}

func unknownDocuments(w *board.Worktree) (list []Item) {
	report := w.Documents.OrZero().Report
	if report == nil {
		return nil
	}
	for _, u := range report.Unknown(false) {
		list = append(list, unknown("documents", u.Why, cmp.Or(u.Command, ken("docs"))))
	}
	return list
}

func unknownSpecs(w *board.Worktree) (list []Item) {
	specs := w.Spec.OrZero()
	for _, u := range specs.Unknown {
		list = append(list, unknown("specs", u.String(), ken("spec", "ls")))
	}
	for i := range specs.Nodes {
		n := &specs.Nodes[i]
		for _, u := range n.Unknown {
			it := unknown("spec "+n.ID, u.String(), ken("spec", "show", n.ID))
			it.Spec = n.ID
			list = append(list, it)
		}
	}
	return list
}

func colon(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
