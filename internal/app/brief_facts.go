package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ken/internal/brief"
	"ken/internal/cli"
	"ken/internal/find"
	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/project"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/survey"
	"ken/internal/uses"
)

// A briefReader collects the facts for one brief.
type briefReader struct {
	w      *workspace
	x      *searchindex.Index
	t      *findTree
	cut    bool // the clone is shallow
	survey *survey.Survey

	paths   []repo.Path // of all files, sorted
	project *project.Project
	used    []searchindex.Used // source files with how often they are used
	dirs    map[repo.Path]*survey.Directory
}

func (r *briefReader) kind(p repo.Path) repo.Kind {
	if f := r.t.listed[p]; f != nil {
		return f.Kind
	}
	return repo.KindUnknown
}

func (r *briefReader) brief(ctx context.Context, opts cli.BriefOptions) (b *brief.Brief, err error) {
	for p := range r.t.listed {
		r.paths = append(r.paths, p)
	}
	slices.Sort(r.paths)
	if r.project, err = project.New(r.paths, func(p repo.Path) ([]byte, error) { return r.read(ctx, p), nil }); err != nil {
		return nil, err
	}
	if f := r.t.listed[opts.Path]; f != nil && f.Kind == repo.KindSymlink {
		return r.link(ctx, f, opts)
	}
	return r.briefOf(ctx, opts.Path, opts.Budget)
}

// briefOf returns the brief of a path that is no link, with sections that go before all others.
func (r *briefReader) briefOf(ctx context.Context, p repo.Path, budget int, first ...brief.Section) (*brief.Brief, error) {
	switch f := r.t.listed[p]; {
	case p == "":
		return r.repository(ctx, budget)
	case f != nil:
		return r.file(ctx, f, budget, first...)
	case len(r.below(p)) > 0:
		return r.directory(ctx, p, budget, first...)
	}
	return nil, r.untracked(p)
}

// outlines returns what grammars saw in files, nil for nothing.
func (r *briefReader) outlines(ctx context.Context, files []*survey.File) ([]*outline.Outline, error) {
	seen, err := r.t.Outlines(ctx, files)
	if err != nil {
		return nil, err
	}
	list := make([]*outline.Outline, len(files))
	for i, s := range seen {
		list[i] = s.Outline
	}
	return list, nil
}

// maxTogether is the size of a commit that counts as one change.
const maxTogether = 30

func (r *briefReader) file(ctx context.Context, f *survey.File, budget int, first ...brief.Section) (*brief.Brief, error) {
	seen, err := r.t.Outlines(ctx, []*survey.File{f})
	if err != nil {
		return nil, err
	}
	facts := brief.FileFacts{
		Path: f.Path, Kind: f.Kind, Outline: seen[0].Outline, Unread: f.Problem, Content: r.t.Read(ctx, f.Path), Kinds: r.kind, Project: r.project,
	}
	switch {
	case errors.Is(seen[0].Err, survey.ErrAbsent):
		facts.Unread = "its content is not in this clone"
	case seen[0].Err != nil:
		facts.Unread = "it changed while ken read it"
	}
	own := ""
	if o := seen[0].Outline; o != nil {
		own = survey.FileWords(f, o)
		if isGo := o.Language == outline.Go; isGo && o.Doc != "" && (own == "" || strings.HasPrefix(own, "defines ")) {
			own = o.Doc // of the package, which this file documents
		}
	}
	if f.Kind == repo.KindGenerated && facts.Unread == "" {
		own = generatedWords(facts.Content)
	}
	words, err := r.fileWords(ctx, f, own, facts.Unread)
	if err != nil {
		return nil, err
	}
	specs, err := r.specs(ctx, f.Path)
	if err != nil {
		return nil, err
	}
	facts.Words = slices.Concat(first, []brief.Section{words}, specs)
	if facts.Users, err = r.x.Users(ctx, f.Path); err != nil {
		return nil, err
	}
	if facts.Uses, err = r.x.Uses(ctx, f.Path); err != nil {
		return nil, err
	}
	facts.Tests = r.tests("")
	facts.Alone = r.alone(f.Path)
	if facts.History, err = r.fileHistory(ctx, f.Path); err != nil {
		return nil, err
	}
	if facts.Documents, err = r.documents(ctx, f.Path); err != nil {
		return nil, err
	}
	for _, p := range r.paths {
		if other := r.t.listed[p]; p != f.Path && other.ID == f.ID && f.Size > 0 && !f.ID.IsZero() {
			facts.Copies = append(facts.Copies, p)
		}
	}
	return brief.File(facts, budget), nil
}

// below returns the paths of the files below a directory.
func (r *briefReader) below(dir repo.Path) []repo.Path {
	if dir == "" {
		return r.paths
	}
	first, _ := slices.BinarySearch(r.paths, dir+"/")
	end, _ := slices.BinarySearch(r.paths, dir+"0") // the character after the slash
	return r.paths[first:end]
}

// tests returns the test files below a directory.
func (r *briefReader) tests(dir repo.Path) []repo.Path {
	var list []repo.Path
	for _, p := range r.below(dir) {
		if r.kind(p) == repo.KindTest && r.project.IsTest(p) {
			list = append(list, p)
		}
	}
	return list
}

func (r *briefReader) history(ctx context.Context) (h brief.History, err error) {
	h.Cut, h.Behind = r.cut, r.t.behind
	if h.Searched, h.Since, err = r.x.History(ctx); err != nil {
		return h, err
	}
	h.LargeFiles = find.MaxTouched
	h.Large, err = r.x.CommitsLargerThan(ctx, find.MaxTouched)
	return h, err
}

const (
	lastCommits    = 3
	companionLimit = 60
)

func (r *briefReader) fileHistory(ctx context.Context, p repo.Path) (brief.History, error) {
	h, err := r.history(ctx)
	if err != nil {
		return h, err
	}
	if h.Last, err = r.x.LastCommits(ctx, p, lastCommits); err != nil {
		return h, err
	}
	number, ok, err := r.x.FileNumber(ctx, p)
	if err != nil || !ok {
		return h, err
	}
	list, commits, err := r.x.Companions(ctx, number, maxTogether, companionLimit)
	if err != nil {
		return h, err
	}
	h.Commits = commits
	for _, c := range list {
		other, err := r.x.FileAt(ctx, c.File)
		if err != nil {
			return h, err
		}
		if c.Together > 1 && brief.IsCompanion(other.Path, other.Kind) {
			h.Companions = append(h.Companions, brief.Companion{Path: other.Path, Together: c.Together})
		}
	}
	return h, nil
}

func (r *briefReader) dirHistory(ctx context.Context, dir repo.Path) (brief.History, error) {
	h, err := r.history(ctx)
	if err != nil {
		return h, err
	}
	if h.Last, err = r.x.LastCommitsBelow(ctx, dir, lastCommits); err != nil || dir == "" {
		return h, err
	}
	list, commits, err := r.x.Neighbours(ctx, dir, maxTogether, companionLimit)
	h.Commits = commits
	for _, c := range list {
		if c.Together > 1 && brief.IsCompanion(c.Path, c.Kind) {
			h.Companions = append(h.Companions, brief.Companion{Path: c.Path, Together: c.Together})
		}
	}
	return h, err
}

// documents returns the documents that name a file: by its path, or by its name if no other
// file has it.
func (r *briefReader) documents(ctx context.Context, p repo.Path) ([]brief.Mention, error) {
	terms := searchindex.Terms(p.Base())
	found, err := r.x.Having(ctx, searchindex.InText, repo.KindDoc, terms, 40)
	if err != nil {
		return nil, err
	}
	unique := r.alone(p)
	var list []brief.Mention
	for _, f := range found {
		if f.Path == p {
			continue
		}
		content := r.t.Read(ctx, f.Path)
		at := bytes.Index(content, []byte(p))
		if at < 0 && unique && strings.Contains(p.Base(), ".") {
			at = bytes.Index(content, []byte(p.Base()))
		}
		if at >= 0 {
			list = append(list, brief.Mention{Path: f.Path, Line: 1 + bytes.Count(content[:at], []byte("\n"))})
		}
	}
	slices.SortStableFunc(list, func(a, b brief.Mention) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return list, nil
}

// alone reports whether no other file has the name of a file.
func (r *briefReader) alone(p repo.Path) bool {
	return !slices.ContainsFunc(r.paths, func(o repo.Path) bool { return o != p && o.Base() == p.Base() })
}

// centralLimit is how many central files a brief may tell of.
const centralLimit = 30

func (r *briefReader) directory(ctx context.Context, dir repo.Path, budget int, first ...brief.Section) (*brief.Brief, error) {
	layout, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	d := layout[dir]
	facts := brief.DirectoryFacts{Path: dir, Project: r.project, Kinds: r.kind, Tests: r.tests(dir)}
	texts, _, err := r.survey.Written(ctx, append(childPaths(d), dir))
	if err != nil {
		return nil, err
	}
	words, err := r.dirWords(ctx, d, texts)
	if err != nil {
		return nil, err
	}
	specs, err := r.specs(ctx, dir)
	if err != nil {
		return nil, err
	}
	facts.Words = slices.Concat(first, []brief.Section{words}, specs)
	pairs, err := r.pairs(ctx, dir)
	if err != nil {
		return nil, err
	}
	inside := string(dir) + "/"
	byPath := make(map[repo.Path]*brief.Central)
	for _, p := range pairs {
		outside := !strings.HasPrefix(string(p.From), inside)
		if outside {
			facts.Dependents = append(facts.Dependents, p)
		}
		if r.kind(p.To) != repo.KindSource {
			continue
		}
		c := byPath[p.To]
		if c == nil {
			c = &brief.Central{Path: p.To}
			byPath[p.To] = c
		}
		switch {
		case r.kind(p.From) == repo.KindTest || r.project.IsTest(p.From):
			c.Tests++
		case outside:
			c.Outside++
			fallthrough
		default:
			c.Users++
		}
	}
	for _, c := range byPath {
		facts.Central = append(facts.Central, *c)
		r.used = append(r.used, searchindex.Used{Path: c.Path, Users: c.Users, Tests: c.Tests})
	}
	slices.SortFunc(facts.Central, func(a, b brief.Central) int {
		return cmp.Or(cmp.Compare(b.Users+b.Outside, a.Users+a.Outside), cmp.Compare(b.Tests, a.Tests), strings.Compare(string(a.Path), string(b.Path)))
	})
	facts.Central = facts.Central[:min(len(facts.Central), centralLimit)]
	if err := r.describe(ctx, facts.Central); err != nil {
		return nil, err
	}
	if facts.Parts, err = r.parts(ctx, d, texts); err != nil {
		return nil, err
	}
	if facts.Entries, err = r.described(ctx, r.project.Entrypoints(dir)); err != nil {
		return nil, err
	}
	for _, p := range r.below(dir) {
		k := r.kind(p)
		follows := outline.MayRead(p) && uses.Resolves(outline.LanguageOf(p, nil))
		facts.Code = facts.Code || k == repo.KindSource || k == repo.KindTest && follows
		facts.Followed = facts.Followed || follows && (k == repo.KindSource || k == repo.KindTest)
	}
	if facts.History, err = r.dirHistory(ctx, dir); err != nil {
		return nil, err
	}
	return brief.Directory(facts, budget), nil
}

func childPaths(d *survey.Directory) []repo.Path {
	var list []repo.Path
	for _, c := range d.Children {
		list = append(list, c.Path)
	}
	return list
}

func (r *briefReader) layout(ctx context.Context) (map[repo.Path]*survey.Directory, error) {
	order, err := r.survey.Layout(ctx)
	if err != nil {
		return nil, err
	}
	byPath := make(map[repo.Path]*survey.Directory, len(order))
	for _, d := range order {
		byPath[d.Path] = d
	}
	r.dirs = byPath
	return byPath, nil
}

// dirWords returns what somebody wrote about a directory, else what it says of itself.
func (r *briefReader) dirWords(ctx context.Context, d *survey.Directory, texts map[repo.Path]survey.DirText) (brief.Section, error) {
	s := brief.Section{Subject: repo.DirLabel(d.Path).String(), Verdict: fresh.Fresh.String() + ", outline"}
	if d.Excluded != "" {
		s.Verdict, s.Text = fresh.Excluded.String(), "left out: "+d.Excluded
		return s, nil
	}
	if t, ok := texts[d.Path]; ok {
		s.Verdict, s.Text, s.Receipt, s.Written = t.Verdict.String(), t.Text, t.Receipt, true
		if t.Verdict.State() != fresh.Fresh && len(t.Reasons) > 0 {
			s.Verdict += ": " + strings.Join(t.Reasons[:min(len(t.Reasons), 4)], ", ")
		}
		return s, nil
	}
	own, absent, err := r.survey.OwnWords(ctx, d)
	if err != nil {
		return s, err
	}
	if s.Text = own; own == "" {
		s.Text = r.linkedReadme(ctx, d)
	}
	unread := slices.IndexFunc(d.Files, func(f *survey.File) bool { return f.Problem != "" })
	switch {
	case s.Text != "":
	case unread >= 0:
		f := d.Files[unread]
		s.Verdict, s.Text = fresh.Unknown.String(), fmt.Sprintf("%s: %s", repo.Path(f.Path.Base()), f.Problem)
	case absent > 0:
		s.Verdict, s.Text = fresh.Unknown.String(), fmt.Sprintf("the contents of %d of its files are not in this clone", absent)
	default:
		s.Verdict, s.Text = fresh.None.String(), "no summary, and no text in it says what it is for"
	}
	return s, nil
}

// parts returns the subdirectories with what they are for: first those with code.
func (r *briefReader) parts(ctx context.Context, d *survey.Directory, texts map[repo.Path]survey.DirText) ([]brief.Part, error) {
	var list []brief.Part
	for _, c := range d.Children {
		if c.Excluded != "" || c.IsHidden() {
			continue
		}
		part, err := r.part(ctx, c, texts)
		if err != nil {
			return nil, err
		}
		if part.About != "" {
			list = append(list, part)
		}
	}
	r.sortParts(list)
	return list, nil
}

// part returns a directory with a line about it.
func (r *briefReader) part(ctx context.Context, d *survey.Directory, texts map[repo.Path]survey.DirText) (brief.Part, error) {
	s, err := r.dirWords(ctx, d, texts)
	if err != nil || s.Verdict == fresh.None.String() || s.Verdict == fresh.Unknown.String() {
		return brief.Part{Path: d.Path}, err
	}
	first, _, _ := strings.Cut(s.Text, "\n")
	part := brief.Part{Path: d.Path, About: first}
	if t, ok := texts[d.Path]; ok && t.Verdict.State() != fresh.Fresh {
		part.Verdict = t.Verdict.State().String()
	}
	return part, nil
}

// sources counts the source files below a directory.
func (r *briefReader) sources(dir repo.Path) int {
	n := 0
	for _, p := range r.below(dir) {
		if r.kind(p) == repo.KindSource {
			n++
		}
	}
	return n
}

// describe adds a line to each central file.
func (r *briefReader) describe(ctx context.Context, list []brief.Central) error {
	files := make([]repo.Path, len(list))
	for i, c := range list {
		files[i] = c.Path
	}
	said, err := r.described(ctx, files)
	for i := range said {
		list[i].About, list[i].Likely = said[i].About, byName(list[i].Path)
	}
	return err
}

// described returns files with a line about each: the summary if it is fresh, else what the
// file says of itself.
func (r *briefReader) described(ctx context.Context, paths []repo.Path) ([]brief.Described, error) {
	list := make([]brief.Described, len(paths))
	files := make([]*survey.File, 0, len(paths))
	for i, p := range paths {
		list[i].Path = p
		if f := r.t.listed[p]; f != nil {
			files = append(files, f)
		}
	}
	if len(files) != len(paths) {
		return list, nil
	}
	said, err := r.t.Summaries(ctx, files)
	if err != nil {
		return nil, err
	}
	seen, err := r.outlines(ctx, files)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		switch {
		case said[i].State == fresh.Fresh:
			list[i].About, _, _ = strings.Cut(said[i].Text, "\n")
		case seen[i] != nil:
			list[i].About = survey.FileWords(f, seen[i])
		}
	}
	return list, nil
}

func (r *briefReader) repository(ctx context.Context, budget int) (*brief.Brief, error) {
	layout, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	facts := brief.RepositoryFacts{Project: r.project, Tests: r.tests("")}
	root := layout[""]
	if root == nil {
		return brief.Empty(), nil
	}
	asked := []repo.Path{""}
	for _, c := range root.Children {
		asked = append(append(asked, c.Path), childPaths(c)...)
	}
	texts, stale, err := r.survey.Written(ctx, asked)
	if err != nil {
		return nil, err
	}
	words, err := r.dirWords(ctx, root, texts)
	if err != nil {
		return nil, err
	}
	facts.Words = []brief.Section{words}
	if err := r.readMostUsed(ctx); err != nil {
		return nil, err
	}
	if facts.Parts, err = r.mainParts(ctx, root, texts); err != nil {
		return nil, err
	}
	for _, u := range r.used {
		if !brief.IsProduct(u.Path) || len(facts.Central) == brief.MostUsed {
			continue
		}
		facts.Central = append(facts.Central, brief.Central{Path: u.Path, Users: u.Users, Tests: u.Tests})
	}
	if err := r.describe(ctx, facts.Central); err != nil {
		return nil, err
	}
	if facts.Start, err = r.described(ctx, r.start()); err != nil {
		return nil, err
	}
	isProgram := func(d brief.Described) bool { return r.kind(d.Path) == repo.KindSource && !brief.IsModuleFile(d.Path) }
	if !slices.ContainsFunc(facts.Start, isProgram) {
		hubs, err := r.hubs(ctx, facts.Central)
		if err != nil {
			return nil, err
		}
		facts.Start = append(facts.Start, hubs...)
	}
	for i, d := range facts.Start {
		if strings.HasPrefix(strings.ToLower(d.Path.Base()), "readme") {
			facts.Start[i].About = "" // the first line of the brief has it
		}
	}
	for _, t := range stale {
		facts.Stale = append(facts.Stale, brief.Stale{Subject: "summary of " + repo.DirLabel(t.Path).String(), Why: strings.Join(t.Reasons[:min(len(t.Reasons), 3)], ", ")})
	}
	for _, p := range r.paths {
		if r.t.stale[p] {
			facts.Stale = append(facts.Stale, brief.Stale{Subject: "summary of " + p.String(), Why: "the file changed since"})
		}
	}
	if facts.History, err = r.dirHistory(ctx, ""); err != nil {
		return nil, err
	}
	return brief.Repository(facts, budget), nil
}

// maxParts is how many parts of a repository are described.
const maxParts = 24

// mainParts returns the directories at the root with what they are for, those with most code
// first. A directory that says nothing of itself, or that has most of the code, has its
// subdirectories told too.
func (r *briefReader) mainParts(ctx context.Context, root *survey.Directory, texts map[repo.Path]survey.DirText) ([]brief.Part, error) {
	all := r.sources("")
	var list []brief.Part
	var below []*survey.Directory
	for _, d := range root.Children {
		if d.Excluded != "" || d.IsHidden() {
			continue
		}
		for len(d.Files) == 0 && len(d.Children) == 1 {
			d = d.Children[0]
		}
		part, err := r.part(ctx, d, texts)
		if err != nil {
			return nil, err
		}
		most := r.sources(d.Path)*2 > all
		if d.IsCode() && (part.About == "" || len(d.Files) == 0 || most) {
			below = append(below, d.Children...)
		}
		if part.About == "" && (!d.IsCode() || len(d.Files) > 0) {
			part.About = cmp.Or(r.mostUsed(d.Path), r.testCount(d.Path))
		}
		list = append(list, part)
	}
	slices.SortStableFunc(below, func(a, b *survey.Directory) int { return cmp.Compare(r.sources(b.Path), r.sources(a.Path)) })
	for _, d := range below[:min(len(below), maxParts)] {
		if d.Excluded != "" {
			continue
		}
		part, err := r.part(ctx, d, texts)
		if err != nil {
			return nil, err
		}
		if part.About == "" && d.IsCode() {
			part.About = r.mostUsed(d.Path)
		}
		list = append(list, part)
	}
	list = r.withoutShells(list)
	if err := r.distinguish(ctx, list, texts); err != nil {
		return nil, err
	}
	r.sortParts(list)
	return list, nil
}

// mostUsedMark begins a line about a directory that says nothing of itself.
const mostUsedMark = "most used: "

// mostUsed tells of a directory by the files in it that most others use, "" if nobody uses any.
func (r *briefReader) mostUsed(dir repo.Path) string {
	var names []string
	for _, u := range r.used {
		rest, ok := strings.CutPrefix(string(u.Path), string(dir)+"/")
		if ok && u.Users > 1 && len(names) < 3 {
			names = append(names, fmt.Sprintf("%s (by %d files)", repo.Path(rest), u.Users))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return mostUsedMark + strings.Join(names, ", ")
}

// startPrograms is how many programs are named as a place to start reading.
const startPrograms = 4

// start lists where to begin to read: documents about the whole, then programs.
func (r *briefReader) start() []repo.Path {
	var list []repo.Path
	for _, want := range []string{"readme", "architecture", "design", "hacking", "contributing", "development", "agents", "claude", "guide"} {
		for _, p := range r.paths {
			dir := string(p.Dir())
			if r.kind(p) != repo.KindDoc && r.kind(p) != repo.KindSymlink || dir != "" && dir != "docs" && dir != "doc" && dir != ".github" {
				continue
			}
			stem, ext, _ := strings.Cut(strings.ToLower(p.Base()), ".")
			translated := strings.Contains(ext, ".")
			if stem == want && !translated && !slices.ContainsFunc(list, func(o repo.Path) bool { return strings.EqualFold(o.Base(), p.Base()) }) {
				list = append(list, p)
			}
		}
	}
	programs := slices.DeleteFunc(r.project.Entrypoints(""), func(p repo.Path) bool { return brief.PartRank(p.Dir()) > 0 })
	return append(list, programs[:min(len(programs), startPrograms)]...)
}
