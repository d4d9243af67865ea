package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A gardener plants cases in one tree.
type gardener struct {
	st *study
	t  tree

	files    map[string]bool
	dirs     map[string]int // number of files below
	docs     []plantDoc
	sources  map[string][]byte   // contents of the files that are no documents, by path
	declared map[string][]string // files by the names that they declare, without tests and examples
	types    map[string][]string // the same for types
	targets  map[string][]string // task files by "tool target"

	claimed map[string]bool // paths and names that a case has used
	used    map[string]bool // documents that have a case
}

type plantDoc struct {
	path  string
	lines []plantLine
}

type plantLine struct {
	text   string
	fenced bool
}

func newGardener(st *study, t tree) *gardener {
	return &gardener{
		st: st, t: t, files: make(map[string]bool), dirs: make(map[string]int), sources: make(map[string][]byte),
		declared: make(map[string][]string), types: make(map[string][]string), targets: make(map[string][]string), claimed: make(map[string]bool), used: make(map[string]bool),
	}
}

var (
	docExtensions = strings.Fields(".md .mdx .markdown .rst")
	// Documents about the past keep the names of their time, and others are data of tests.
	notKeptUp = regexp.MustCompile(`(?i)(^|/)(changelog|changes|history|news|releases?|release[-_]notes|whats[-_]?new|migrat\w*|upgrad\w*|archive[sd]?|blog|_posts|` +
		`testdata|fixtures?|__fixtures__|node_modules|vendor|third_party|templates?|snapshots|versioned_docs|adr|adrs|rfcs|decisions|proposals|postmortems?|legacy|old|benchmarks?)([-_./]|$)|` +
		`changelog|\d{4}-\d{2}-\d{2}|deprecat|breaking`)
	declaration = regexp.MustCompile(`(?m)^\s*(?:(?:pub(?:\([a-z]+\))?|export|default|async|static|public|private|protected|abstract|final|unsafe|declare)\s+)*` +
		`(func(?:\s*\([^)\n]*\))?|def|class|struct|enum|trait|interface|type|fn|module|function\*?|macro_rules!|const|mod)\s+(?:self\.)?([A-Za-z_]\w+)`)
	typeKeywords = regexp.MustCompile(`^(class|struct|enum|trait|interface|type|module)$`)
	// Names of tests and examples are as likely those of the reader's own files.
	notTheProduct = regexp.MustCompile(`(?i)(^|/)(tests?|testing|__tests__|testdata|fixtures?|examples?|playground|e2e|benchmarks?|docs?|demo)(/|$)|_test\.|\.test\.|\.spec\.|(^|/)test_`)
	makeTarget    = regexp.MustCompile(`(?m)^([a-z][\w-]*)\s*:(?:[^=]|$)`)
	fenceMark     = regexp.MustCompile("^\\s*(```|~~~)")
	address       = regexp.MustCompile(`[a-z]+://[^\s)>\]]+`)
	// A word with a slash in front is a route of a site, and these stand for other names.
	placeholderName = regexp.MustCompile(`(^|/)(foo|bar|baz|my[-_]?\w*|your[-_]?\w*)\.?\w*$|(^|/)path/to/`)
	permanent       = regexp.MustCompile(`/blob/[0-9a-f]{7,40}/`) // what a commit had stays there
	pathWord        = regexp.MustCompile(`[A-Za-z0-9_.@+-]*(?:/[A-Za-z0-9_.@+-]+)+/?|[A-Za-z0-9_-]+\.[A-Za-z]{1,5}\b`)
	codeSpan        = regexp.MustCompile("`+~?!?([^`\n]+?)`+")
	plainSymbol     = regexp.MustCompile(`^([A-Za-z_]\w{3,})(?:\(.*\))?$`)
	joinedNames     = regexp.MustCompile(`^((?:[A-Za-z_]\w*(?:\.|::|#))*[A-Za-z_]\w*)(?:\.|::|#)([A-Za-z_]\w{2,})(?:\(.*\))?$`)
	commandLine     = regexp.MustCompile(`\b(make|npm run|yarn run|yarn|pnpm run|pnpm|bun run|just|task|rake) ([a-z][\w:-]*)`)
	anchorLink      = regexp.MustCompile(`\]\(([^)\s#]*)#([\w-]+)\)`)
	headingLine     = regexp.MustCompile(`^#{1,6}\s+(.+?)\s*#*$`)
)

// anyProjectHas are bare names that mean a file of the reader as often as one of the repository.
var anyProjectHas = regexp.MustCompile(`(?i)^(readme|license|licence|contributing|changelog|package|package-lock|tsconfig|go\.mod|go\.sum|cargo|pyproject|setup|` +
	`requirements|makefile|dockerfile|index|main|config|settings|app|test|server|lib|mod|__init__|conftest|example|gemfile|rakefile|codeowners|security|agents|claude|pom|notice|build)\b`)

// isPlantDoc reports whether a file is a document that its authors keep up to date.
func isPlantDoc(name string) bool {
	return slices.Contains(docExtensions, path.Ext(name)) && !notKeptUp.MatchString(name)
}

// read reads the tree.
func (g *gardener) read() error {
	for _, name := range g.t.files {
		full := filepath.Join(g.t.dir, name)
		info, err := os.Lstat(full)
		if err != nil || !info.Mode().IsRegular() || info.Size() >= 1<<20 {
			continue
		}
		g.files[name] = true
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			g.dirs[dir]++
		}
		text, err := os.ReadFile(full)
		if err != nil {
			return err
		}
		switch {
		case isPlantDoc(name):
			g.docs = append(g.docs, plantDoc{name, plantLines(name, string(text))})
		case slices.Contains(docExtensions, path.Ext(name)):
		case bytes.IndexByte(text[:min(len(text), 8000)], 0) < 0:
			g.sources[name] = text
			g.readSource(name, text)
		}
	}
	return nil
}

func (g *gardener) readSource(name string, text []byte) {
	if isSource(name) && !notTheProduct.MatchString(name) {
		for _, m := range declaration.FindAllSubmatch(text, -1) {
			word := string(m[2])
			if !slices.Contains(g.declared[word], name) {
				g.declared[word] = append(g.declared[word], name)
			}
			if typeKeywords.Match(m[1]) && !slices.Contains(g.types[word], name) {
				g.types[word] = append(g.types[word], name)
			}
		}
	}
	switch base := path.Base(name); base {
	case "Makefile", "makefile", "GNUmakefile":
		for _, m := range makeTarget.FindAllSubmatch(text, -1) {
			g.targets["make "+string(m[1])] = append(g.targets["make "+string(m[1])], name)
		}
	case "package.json":
		var p struct {
			Scripts map[string]any `json:"scripts"`
		}
		if json.Unmarshal(text, &p) == nil {
			for script := range p.Scripts {
				g.targets["npm "+script] = append(g.targets["npm "+script], name)
			}
		}
	}
}

func plantLines(name, text string) []plantLine {
	var lines []plantLine
	fenced := false
	session := false
	front := strings.HasPrefix(text, "---\n") // fields, which are data
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if front {
			front = len(lines) == 0 || line != "---"
			line = ""
		}
		if fenceMark.MatchString(line) {
			fenced = !fenced
			session = false
			line = ""
		}
		// In a session, other lines are what a program printed once.
		command := strings.HasPrefix(strings.TrimSpace(line), "$ ")
		session = session || fenced && command
		if session && !command || permanent.MatchString(line) {
			line = ""
		}
		indented := path.Ext(name) == ".rst" && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"))
		lines = append(lines, plantLine{line, fenced || indented})
	}
	return lines
}

// candidates lists the mentions of a kind that are true now, in the order of the documents.
func (g *gardener) candidates(kind string) []plant {
	var list []plant
	for _, d := range g.docs {
		for i, line := range d.lines {
			for _, p := range g.onLine(kind, d.path, line) {
				p.Kind = kind
				p.Doc = d.path
				p.Line = i + 1
				list = append(list, p)
			}
		}
	}
	return list
}

func (g *gardener) onLine(kind, doc string, line plantLine) []plant {
	switch kind {
	case plantFile, plantFence, plantBare, plantDir:
		return g.pathsOn(kind, doc, line)
	case plantCommand:
		return g.commandsOn(line)
	case plantAnchor:
		return g.anchorsOn(doc, line)
	}
	if line.fenced {
		return nil
	}
	var list []plant
	for _, m := range codeSpan.FindAllStringSubmatch(line.text, -1) {
		text := strings.TrimSpace(m[1])
		if kind == plantQualified {
			if q := joinedNames.FindStringSubmatch(text); q != nil {
				parts := strings.FieldsFunc(q[1], func(r rune) bool { return strings.ContainsRune(".:#", r) })
				list = append(list, plant{Text: text, Name: q[2], target: q[2], within: strings.Join(parts, ".")})
			}
			continue
		}
		if q := plainSymbol.FindStringSubmatch(text); q != nil && len(g.declared[q[1]]) > 0 && g.looksDeclared(q[1], text) {
			list = append(list, plant{Text: text, Name: q[1], target: q[1]})
		}
	}
	return list
}

// looksDeclared reports whether a name in code can hardly be an ordinary word: it has a capital
// or an underscore inside, or is called, or it is the name of exactly one type.
func (g *gardener) looksDeclared(name, text string) bool {
	if strings.ToUpper(name) == name {
		return false
	}
	inner := strings.ToLower(name[1:]) != name[1:] || strings.Contains(strings.Trim(name, "_"), "_")
	return inner || text != name || strings.ToLower(name) != name && len(g.types[name]) == 1
}

func (g *gardener) pathsOn(kind, doc string, line plantLine) []plant {
	text := address.ReplaceAllStringFunc(line.text, func(s string) string { return strings.Repeat(" ", len(s)) })
	if line.fenced != (kind == plantFence) && kind != plantDir {
		return nil
	}
	var list []plant
	for _, at := range pathWord.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		word = strings.TrimRight(word, ".")
		bare := !strings.Contains(strings.Trim(strings.TrimPrefix(word, "./"), "/"), "/")
		computed := at[0] > 0 && strings.ContainsRune("$}~:@=<>*", rune(text[at[0]-1]))
		isPath := !computed && !strings.HasPrefix(word, "/") && !placeholderName.MatchString(word)
		if !isPath || bare != (kind == plantBare) {
			continue
		}
		target := g.resolve(doc, word, kind == plantDir)
		common := kind == plantBare && anyProjectHas.MatchString(word)
		if target == "" || target == doc || common {
			continue
		}
		// Cut short, it may as well be a file of the reader's that an example is about.
		whole := target == path.Clean(strings.Trim(word, "/")) || target == path.Join(path.Dir(doc), word)
		if !whole && notTheProduct.MatchString(target) {
			continue
		}
		list = append(list, plant{Text: word, Name: path.Base(word), target: target})
	}
	return list
}

// resolve returns the only tracked file, or directory, that a word in a document names.
func (g *gardener) resolve(doc, word string, dir bool) string {
	word = strings.Trim(strings.TrimPrefix(word, "./"), "/")
	is := func(p string) bool {
		if dir {
			return g.dirs[p] > 0
		}
		return g.files[p]
	}
	found := make(map[string]bool)
	for _, p := range []string{path.Clean(word), path.Join(path.Dir(doc), word)} {
		if is(p) {
			found[p] = true
		}
	}
	if word == "" || strings.HasPrefix(word, "..") {
		word = "\x00"
	}
	for p := range g.files {
		if !dir && strings.HasSuffix(p, "/"+word) {
			found[p] = true
		}
	}
	for p := range g.dirs {
		if dir && strings.HasSuffix(p, "/"+word) {
			found[p] = true
		}
	}
	if len(found) != 1 {
		return ""
	}
	for p := range found {
		return p
	}
	return ""
}

func (g *gardener) commandsOn(line plantLine) []plant {
	if !line.fenced && !strings.Contains(line.text, "`") {
		return nil
	}
	var list []plant
	for _, m := range commandLine.FindAllStringSubmatch(line.text, -1) {
		tool := "npm"
		switch m[1] {
		case "make", "just", "task", "rake":
			tool = m[1]
		}
		inCode := line.fenced || strings.Contains(line.text, "`"+m[0])
		if key := tool + " " + m[2]; inCode && len(g.targets[key]) > 0 {
			list = append(list, plant{Text: m[0], Name: m[2], target: key})
		}
	}
	return list
}

func (g *gardener) anchorsOn(doc string, line plantLine) []plant {
	if line.fenced {
		return nil
	}
	var list []plant
	for _, m := range anchorLink.FindAllStringSubmatch(line.text, -1) {
		target := doc
		if m[1] != "" {
			target = path.Join(path.Dir(doc), m[1])
		}
		if g.headingAt(target, m[2]) >= 0 {
			list = append(list, plant{Text: m[1] + "#" + m[2], Name: m[2], target: target, within: m[2]})
		}
	}
	return list
}

// headingAt returns the line of the only heading with a slug, as GitHub makes slugs; -1 for none.
func (g *gardener) headingAt(doc, slug string) int {
	i := slices.IndexFunc(g.docs, func(d plantDoc) bool { return d.path == doc })
	if i < 0 {
		return -1
	}
	at := -1
	for n, line := range g.docs[i].lines {
		if m := headingLine.FindStringSubmatch(line.text); m != nil && !line.fenced && plantSlug(m[1]) == slug {
			if at >= 0 {
				return -1
			}
			at = n
		}
	}
	return at
}

func plantSlug(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}

// taken reports whether an earlier case has used or changed what this one is about.
func (g *gardener) taken(p plant) bool {
	if g.claimed[p.Name] || g.claimed[p.target] {
		return true
	}
	for dir := p.Doc; dir != "."; dir = path.Dir(dir) {
		if g.claimed[dir] && p.Kind != plantAnchor {
			return true // the document has moved
		}
	}
	for doc := range g.used {
		if p.Kind != plantAnchor && (doc == p.target || strings.HasPrefix(doc, p.target+"/")) {
			return true // it has a case
		}
	}
	if p.within != "" && g.claimed[p.within[strings.LastIndexByte(p.within, '.')+1:]] {
		return true
	}
	for dir := p.target; strings.Contains(dir, "/"); dir = path.Dir(dir) {
		if g.claimed[dir] {
			return true
		}
	}
	return false
}

// breakIt makes a mention stale. ok is false if this cannot be done, or something else of the
// name is left.
func (g *gardener) breakIt(p plant, n int) (ok bool, err error) {
	switch p.Kind {
	case plantFile, plantFence, plantBare:
		ok, err = g.breakFile(p.target, n%2 == 0)
	case plantDir:
		ok, err = g.moveDir(p)
	case plantSymbol:
		ok, err = g.renameSymbol(p.target, n%2 == 0, false)
	case plantComment:
		ok, err = g.renameSymbol(p.target, true, true)
	case plantQualified:
		ok, err = g.renameMember(p.within, p.target)
	case plantCommand:
		ok, err = g.renameTarget(p.target)
	case plantAnchor:
		ok, err = g.renameHeading(p.target, p.within)
	}
	if ok {
		g.claimed[p.Name], g.claimed[p.target], g.used[p.Doc] = true, true, true
	}
	return ok, err
}

func (g *gardener) breakFile(name string, rename bool) (bool, error) {
	if g.isDoc(name) && len(g.docs) < 20 {
		return false, nil // the few documents are needed for other cases
	}
	full := filepath.Join(g.t.dir, name)
	if !rename {
		delete(g.files, name)
		delete(g.sources, name)
		return true, os.Remove(full)
	}
	to := path.Join(path.Dir(name), "relocated_"+path.Base(name))
	if ext := path.Ext(name); ext != "" {
		to = strings.TrimSuffix(name, ext) + "_relocated" + ext
	}
	return true, g.move(name, to)
}

func (g *gardener) isDoc(name string) bool {
	return slices.ContainsFunc(g.docs, func(d plantDoc) bool { return d.path == name })
}

// move renames a file or a directory on disk and in what was read.
func (g *gardener) move(from, to string) error {
	for name := range g.files {
		if name == from || strings.HasPrefix(name, from+"/") {
			moved := to + strings.TrimPrefix(name, from)
			delete(g.files, name)
			g.files[moved] = true
			if text, ok := g.sources[name]; ok {
				delete(g.sources, name)
				g.sources[moved] = text
			}
		}
	}
	return os.Rename(filepath.Join(g.t.dir, from), filepath.Join(g.t.dir, to))
}

func (g *gardener) moveDir(p plant) (bool, error) {
	const most = 100 // files
	limit := most
	if !strings.Contains(p.target, "/") {
		limit = most / 2
	}
	if g.dirs[p.target] > limit || strings.HasPrefix(p.Doc, p.target+"/") {
		return false, nil
	}
	for claimed := range g.claimed {
		if strings.HasPrefix(claimed, p.target+"/") {
			return false, nil
		}
	}
	return true, g.move(p.target, p.target+"-relocated")
}

// renameSymbol renames a word in all files that are no documents, or removes the lines that
// have it. With a comment, one that names it is left in some other file.
func (g *gardener) renameSymbol(word string, rename, comment bool) (bool, error) {
	const most = 150 // files
	whole := regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`)
	var having []string
	for name, text := range g.sources {
		if bytes.Contains(text, []byte(word)) && whole.Match(text) {
			having = append(having, name)
		}
		for element := range strings.SplitSeq(name, "/") {
			if whole.MatchString(element) {
				return false, nil // a file is called so
			}
		}
	}
	if len(having) > most || len(having) == 0 {
		return false, nil
	}
	slices.Sort(having)
	for _, name := range having {
		text := g.sources[name]
		if rename {
			text = whole.ReplaceAll(text, []byte(renamed(word)))
		} else {
			text = withoutLines(text, whole)
		}
		if err := g.write(name, text); err != nil {
			return false, err
		}
	}
	if !comment {
		return true, nil
	}
	for _, name := range slices.Sorted(maps.Keys(g.sources)) {
		mark := commentMark(name)
		if mark == "" || slices.Contains(having, name) {
			continue
		}
		return true, g.write(name, append(slices.Clone(g.sources[name]), mark+" See also "+word+" for the other half of this.\n"...))
	}
	return false, nil
}

func commentMark(name string) string {
	switch path.Ext(name) {
	case ".go", ".ts", ".js", ".rs", ".java", ".c", ".tsx":
		return "//"
	case ".py", ".rb":
		return "#"
	}
	return ""
}

// renamed is another name in the same manner.
func renamed(word string) string {
	if strings.Contains(word, "_") || strings.ToLower(word) == word {
		return word + "_anew"
	}
	return word + "Anew"
}

func withoutLines(text []byte, with *regexp.Regexp) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if !with.Match(line) {
			out = append(out, line...)
		}
	}
	return out
}

// renameMember renames a member of a type or a package: everywhere if only one place declares
// its name, otherwise in the files that declare it and where it is used with its owner.
func (g *gardener) renameMember(owner, member string) (bool, error) {
	parts := strings.Split(owner, ".")
	for _, p := range parts[:len(parts)-1] {
		if !g.isPackage(p) && len(g.types[p]) == 0 {
			return false, nil // another project's
		}
	}
	owner = parts[len(parts)-1]
	if g.isPackage(member) {
		return false, nil // the module is meant
	}
	var where []string
	for _, name := range g.declared[member] {
		sameDir := func(t string) bool { return path.Dir(t) == path.Dir(name) }
		samePackage := path.Ext(name) == ".go" && slices.ContainsFunc(g.types[owner], sameDir)
		if samePackage || slices.Contains(g.types[owner], name) || isPackageOf(name, owner) {
			where = append(where, name)
		}
	}
	if len(where) == 0 {
		return false, nil
	}
	whole := regexp.MustCompile(`\b` + regexp.QuoteMeta(member) + `\b`)
	for _, name := range where {
		if !whole.Match(g.sources[name]) {
			return false, nil // an earlier case has changed it
		}
	}
	if len(where) == len(g.declared[member]) {
		if ok, err := g.renameSymbol(member, true, false); ok || err != nil {
			return ok, err
		}
	}
	qualified := regexp.MustCompile(`\b(` + regexp.QuoteMeta(owner) + `(?:\.|::|#))` + regexp.QuoteMeta(member) + `\b`)
	for _, name := range slices.Sorted(maps.Keys(g.sources)) {
		text := g.sources[name]
		if slices.Contains(where, name) {
			text = whole.ReplaceAll(text, []byte(renamed(member)))
		} else if bytes.Contains(text, []byte(member)) {
			text = qualified.ReplaceAll(text, []byte("${1}"+renamed(member)))
		}
		if bytes.Equal(text, g.sources[name]) {
			continue
		}
		if err := g.write(name, text); err != nil {
			return false, err
		}
	}
	return true, nil
}

// isPackageOf reports whether a file belongs to a package of a name: a module of Python or Rust, or a
// directory of them or of Go.
func isPackageOf(name, owner string) bool {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(path.Base(name), ext)
	dir := path.Base(path.Dir(name))
	switch ext {
	case ".py":
		return stem == owner || dir == owner
	case ".rs":
		return stem == owner
	case ".go":
		return dir == owner
	}
	return false
}

func (g *gardener) isPackage(owner string) bool {
	for name := range g.sources {
		if isPackageOf(name, owner) {
			return true
		}
	}
	return false
}

func (g *gardener) renameTarget(key string) (bool, error) {
	tool, target, _ := strings.Cut(key, " ")
	quoted := regexp.QuoteMeta(target)
	for _, name := range g.targets[key] {
		text, before := g.sources[name], g.sources[name]
		if tool == "make" {
			text = regexp.MustCompile(`(?m)^`+quoted+`(\s*:(?:[^=]|$))`).ReplaceAll(text, []byte(target+"-anew$1"))
			text = regexp.MustCompile(`(?m)^(\.PHONY\s*:.*?[ \t])`+quoted+`([ \t]|$)`).ReplaceAll(text, []byte("${1}"+target+"-anew$2"))
		} else {
			text = regexp.MustCompile(`"`+quoted+`"(\s*:)`).ReplaceAll(text, []byte(`"`+target+`-anew"$1`))
		}
		if bytes.Equal(text, before) {
			return false, nil // an earlier case has changed it
		}
		if err := g.write(name, text); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (g *gardener) renameHeading(doc, slug string) (bool, error) {
	at := g.headingAt(doc, slug)
	if at < 0 {
		return false, nil
	}
	full := filepath.Join(g.t.dir, doc)
	text, err := os.ReadFile(full)
	if err != nil {
		return false, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	marks := lines[at][:strings.IndexByte(lines[at], ' ')]
	lines[at] = marks + " Another title\n"
	return true, os.WriteFile(full, []byte(strings.Join(lines, "")), 0o644)
}

func (g *gardener) write(name string, text []byte) error {
	full := filepath.Join(g.t.dir, name)
	info, err := os.Stat(full)
	if err != nil {
		return err
	}
	g.sources[name] = text
	return os.WriteFile(full, text, info.Mode().Perm())
}

// commit commits everything, and returns the id.
func (g *gardener) commit(ctx context.Context, message string) (string, error) {
	identity := []string{"-c", "user.name=Study", "-c", "user.email=study@example.com", "-c", "core.hooksPath=" + os.DevNull}
	for _, args := range [][]string{{"add", "--all"}, slices.Concat(identity, []string{"commit", "--quiet", "--message", message})} {
		if _, err := g.st.git(ctx, g.t.dir, args...); err != nil {
			return "", err
		}
	}
	return g.st.git(ctx, g.t.dir, "rev-parse", "HEAD")
}
