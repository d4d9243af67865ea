package survey

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/suggest"
)

// A Brief is the smallest useful context: what a reader of one place should know
// first, the most relevant first, as much as fits.
type Brief struct {
	Commit   repo.ID   `json:"commit"`
	State    string    `json:"state"`
	Tokens   int       `json:"tokens"` // of the text, estimated at 4 bytes each
	Sections []Section `json:"sections"`
	LeftOut  int       `json:"left_out"` // sections that did not fit
}

// A Section is what is said of one subject, and whether it holds.
type Section struct {
	Subject string  `json:"subject"`
	Verdict string  `json:"verdict"`
	Text    string  `json:"text"`
	Receipt *string `json:"receipt"`
	Own     bool    `json:"-"` // the text is ken's own statement, not the repository's
}

// BriefOptions say what a brief is about.
type BriefOptions struct {
	Path   repo.Path // a file or a directory; "" for the root
	Budget int       // tokens; DefaultBudget when 0
	State  string    // how the files were found
	Quoted bool      // it is read by its Quoted, which has to fit
}

// The budget of a brief, in tokens.
const (
	DefaultBudget = 1500
	MinBudget     = 50
)

// String returns the section as a paragraph that carries its verdict.
func (s Section) String() string {
	sep := " "
	if strings.HasPrefix(s.Text, itemMark) { // a list stands below its subject
		sep = "\n"
	}
	return fmt.Sprintf("[%s] %s:%s%s\n", s.shownVerdict(), s.Subject, sep, s.Text)
}

// outlineMark follows the verdict of a text that is an outline.
const outlineMark = ", outline"

// shownVerdict returns the verdict for people and agents: they read "stale" and the reason,
// JSON says which kind of stale.
func (s Section) shownVerdict() string {
	if s.Verdict == Fresh.String()+outlineMark {
		return "outline"
	}
	for _, v := range []Verdict{StaleSelf, StaleBelow} {
		if rest, ok := strings.CutPrefix(s.Verdict, v.String()); ok {
			return v.Word() + rest
		}
	}
	return s.Verdict
}

// Quoted returns the section as a line for agents, in which the text is a quotation unless it is
// ken's own.
func (s Section) Quoted() string {
	text := repo.Quotation(s.Text)
	if s.Own {
		text = strings.Join(strings.Fields(s.Text), " ")
	}
	return fmt.Sprintf("[%s] %s: %s\n", s.shownVerdict(), s.Subject, text)
}

// Quoted returns the brief for agents, a line for each section.
func (b *Brief) Quoted() string {
	var text strings.Builder
	text.WriteString(repo.QuotationNote + "\n")
	for _, s := range b.Sections {
		text.WriteString(s.Quoted())
	}
	return text.String()
}

// String returns the brief as text.
func (b *Brief) String() string {
	var text strings.Builder
	for _, s := range b.Sections {
		text.WriteString(s.String())
	}
	return text.String()
}

// Brief says what to know about a path.
func (s *Survey) Brief(ctx context.Context, opts BriefOptions) (*Brief, error) {
	if opts.Budget == 0 {
		opts.Budget = DefaultBudget
	}
	if err := s.keepOutlines(ctx); err != nil {
		return nil, err
	}
	j, err := s.look(ctx, s.judge, func(j *judgement) []*Directory {
		if at, err := j.nearest(ctx, opts.Path); err == nil {
			return j.around(at)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	b := &Brief{Commit: s.tree.Commit(), State: opts.State, Sections: []Section{}}
	w := &briefing{judgement: j, Brief: b, left: opts.Budget * BytesPerToken, said: make(map[string]bool), size: Section.String}
	if opts.Quoted {
		w.size = Section.Quoted
		w.left -= len(repo.QuotationNote) + 1
	}
	if len(j.order) == 0 {
		w.add(Section{Subject: ".", Verdict: None.String(), Text: "git tracks no file yet", Own: true}, 0)
		w.count()
		return b, nil
	}
	at, err := j.nearest(ctx, opts.Path)
	if err != nil {
		return nil, err
	}
	w.write(at)
	w.count()
	return b, nil
}

// nearest returns the directory that a path is, or lies in.
func (j *judgement) nearest(ctx context.Context, p repo.Path) (*Directory, error) {
	d, missing := j.find(p)
	if missing == nil {
		return d, nil
	}
	ok, err := j.tracks(ctx, p)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, j.untracked(ctx, p)
	}
	return j.find(p.Dir())
}

// untracked returns the error for a path that git does not track. Its hint is the path that
// was probably meant.
func (j *judgement) untracked(ctx context.Context, p repo.Path) error {
	hint := "list the tracked paths: git ls-files"
	files, err := j.tree.Files(ctx)
	if err != nil {
		return err
	}
	for i := range files {
		path := files[i].Path
		_, meant := suggest.Slip(path.Base(), p.Base())
		if meant && path.Dir() == p.Dir() {
			hint = "did you mean " + fault.Quote(path.String()) + "?"
			break
		}
	}
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf("git tracks no file or directory %s", p)}
}

// tracks reports whether a path is a tracked file.
func (j *judgement) tracks(ctx context.Context, p repo.Path) (bool, error) {
	if j.restored {
		return j.opts.Memo.Tracks(ctx, p)
	}
	return slices.ContainsFunc(j.files, func(f File) bool { return f.Path == p }), nil
}

// around returns the directories that a brief about one may tell of.
func (j *judgement) around(at *Directory) []*Directory {
	list := []*Directory{at}
	for up := at.Parent; up != nil; up = up.Parent {
		list = append(list, up)
	}
	if at.Parent != nil {
		for _, c := range at.Parent.Children {
			if c != at {
				list = append(list, c)
			}
		}
	}
	for _, c := range at.Children {
		list = append(append(list, c), j.leadsTo(c).Children...)
	}
	return list
}

// leadsTo returns the directory below one that is the first to hold more than a
// directory, itself as a rule.
func (j *judgement) leadsTo(d *Directory) *Directory {
	for j.at[d].count() == 0 && len(d.Children) == 1 {
		d = d.Children[0]
	}
	return d
}

// A briefing is a brief in the making.
type briefing struct {
	*judgement
	*Brief
	left int // bytes
	size func(Section) string
	said map[string]bool // gists that were said, so that none is said twice
	rest int             // directories that were too many
	mute int             // directories without a text that would have had a line
}

// How much of a text is told where it is not the subject itself.
const (
	chainBytes   = 500
	siblingBytes = 140
	leastBytes   = 40 // what is left of a text that is cut is worth reading
)

// write tells, in this order: how far all this holds, the path's
// directory, the root, the directories between, what lies in it, and beside it.
func (w *briefing) write(at *Directory) {
	w.headline()
	w.tell(at, 0)
	root := w.order[len(w.order)-1]
	if at != root {
		w.tell(root, chainBytes)
	}
	for up := at.Parent; up != nil && up != root; up = up.Parent {
		if r := w.at[up].Record; r == nil || !strings.HasPrefix(r.Text, leads) { // else the path says all of it
			w.tell(up, chainBytes)
		}
	}
	if at == root {
		w.languages()
	}
	if !w.quotes(at) { // or each was told with it
		w.beside(at.Children, at)
	}
	if at.Parent != nil {
		w.beside(slices.DeleteFunc(slices.Clone(at.Parent.Children), func(d *Directory) bool {
			return dirPriority(d.Name()) == promiseHidden && dirPriority(at.Name()) != promiseHidden
		}), at)
	}
	w.further(at)
	if w.mute > 0 {
		w.add(Section{Subject: "others", Verdict: None.String(), Text: fmt.Sprintf("%d more directories without a summary", w.mute), Own: true}, 0)
	}
	w.LeftOut += w.rest
}

// further tells of what lies further down, only of what promises most.
func (w *briefing) further(at *Directory) {
	var list []*Directory
	for _, c := range promising(at.Children) {
		if p := dirPriority(c.Name()); p > promiseCommon || p > dirPriority(promising(at.Children)[0].Name()) {
			break
		}
		end := w.leadsTo(c)
		if r := w.at[c].Record; end == c && r != nil && r.Outlined() && strings.HasPrefix(r.Text, leads) {
			continue // its line said where, and what is there
		}
		list = append(list, promising(end.Children)...)
	}
	w.beside(list, at)
}

// promising returns directories, those first whose names promise most.
func promising(list []*Directory) []*Directory {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *Directory) int { return cmp.Compare(dirPriority(a.Name()), dirPriority(b.Name())) })
	return list
}

// beside tells of each directory in a line, of those without a text only how many they
// are.
func (w *briefing) beside(list []*Directory, but *Directory) {
	told := 0
	for _, c := range promising(list) {
		switch st := w.at[c]; {
		case c == but || st.Verdict == Excluded:
		case st.Record == nil:
			w.mute++
		case told == besideLines:
			w.rest++
		default:
			w.tell(c, siblingBytes)
			told++
		}
	}
}

// besideLines is how many directories that lie beside each other are told of.
const besideLines = 24

// languages says what the repository is made of.
func (w *briefing) languages() {
	counts, total := w.extensions(), 0
	for _, n := range counts {
		total += n
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	// What is not told by its own name is other, so that the parts are the whole.
	names = slices.DeleteFunc(names, func(n string) bool { return n == otherFiles })
	parts, rest := make([]string, 0, len(names)), total
	for _, n := range names[:min(len(names), languagesTold)] {
		parts = append(parts, fmt.Sprintf("%d %s", counts[n], repo.Path(n)))
		rest -= counts[n]
	}
	if rest > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", rest, otherFiles))
	}
	w.add(Section{Subject: "files", Verdict: fresh.Fresh.String(), Text: fmt.Sprintf("%d files: %s", total, strings.Join(parts, ", ")), Own: true}, 0)
}

// extensions counts the files that count by what their names end in.
func (j *judgement) extensions() map[string]int {
	counts := make(map[string]int)
	kept := make([]int, len(j.kinds))
	for _, d := range j.order {
		for _, f := range d.Files {
			counts[extension(f.Path)]++
		}
		if k := j.at[d].kept; k != nil {
			for _, c := range k.kinds {
				kept[c.kind] += c.files
			}
		}
	}
	for i, files := range kept {
		if files > 0 {
			counts[j.kinds[i]] += files
		}
	}
	return counts
}

// languagesTold is how many sorts of files a brief counts.
const languagesTold = 6

// quotes reports whether what is said of a directory has a line about each child.
func (w *briefing) quotes(d *Directory) bool {
	st := w.at[d]
	return st.Record != nil && st.Record.Outlined() && len(d.Children) <= childLines
}

// headline says how far what is known holds.
func (w *briefing) headline() {
	counts := w.counts(nil)
	verdict := counts.State()
	for _, d := range w.order {
		if w.at[d].Verdict == Unknown {
			verdict = fresh.Unknown
		}
	}
	w.add(Section{Subject: "knowledge", Verdict: verdict.String(), Text: "directories: " + counts.String(), Own: true}, 0)
}

// tell adds a directory's text, or its beginning.
func (w *briefing) tell(d *Directory, most int) {
	st := w.at[d]
	if st.Verdict == Excluded {
		return
	}
	shown := w.shown(st)
	if shown.Text == nil && shown.Outline && most > 0 {
		return
	}
	s := Section{Subject: repo.DirLabel(d.Path).String(), Verdict: st.Verdict.String(), Text: noWords(shown.Outline), Own: true}
	if shown.Text != nil {
		s.Text, s.Receipt, s.Own = *shown.Text, shown.Receipt, false
	}
	if shown.Outline {
		s.Verdict += outlineMark
	}
	if len(st.Reasons) > 0 && st.Verdict != Fresh {
		s.Verdict += ": " + cut(strings.Join(st.Reasons, ", "), siblingBytes)
	}
	// Of an outline only the gist is told, unless it is the subject; the rest is about its
	// parts. The same words need not be said twice.
	gist := Gist(s.Text)
	if most > 0 && shown.Outline {
		if gist == "" || w.said[gist] {
			return
		}
		s.Text = gist
	}
	w.said[gist] = true
	w.add(s, most)
}

// add adds a section, no more of its text than most bytes unless that is 0, and no
// more than fits.
func (w *briefing) add(s Section, most int) {
	if most > 0 {
		first, _, _ := strings.Cut(s.Text, "\n")
		if most > siblingBytes {
			first = s.Text
		}
		s.Text = cutLines(first, most)
	}
	if over := len(w.size(s)) - w.left; over > 0 {
		room := len(s.Text) - over
		if room < leastBytes {
			w.LeftOut++
			return
		}
		s.Text = cutLines(s.Text, room)
	}
	w.left -= len(w.size(s))
	w.Sections = append(w.Sections, s)
}

// count says how long the brief is.
func (w *briefing) count() { w.Tokens = (len(w.String()) + BytesPerToken - 1) / BytesPerToken }

// cutLines shortens a text to so many bytes, after a line where it can.
func cutLines(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	if i := strings.LastIndexByte(text[:limit-len("\n…")], '\n'); i > limit/2 {
		return text[:i] + "\n…"
	}
	return cut(text, limit)
}
