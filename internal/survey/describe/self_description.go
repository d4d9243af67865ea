package describe

import (
	"cmp"
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ken/internal/outline"
	"ken/internal/project"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey/excerpt"
	"ken/internal/workspace"
)

// SelfDescription is the description of a directory in its own files.
type SelfDescription struct {
	Text string // one line; "" for none
	From string // name of the file with the description
}

// readSelfDescription returns the description of a directory in its own files: the comment of its package or module, else
// the description in its manifest, else its README. The basis of the item gets the whole content of a file that was read
// for this, because its outline does not have the description.
func readSelfDescription(ctx context.Context, tree workspace.Tree, it *Item, staleMentions map[repo.Path][]string) (SelfDescription, error) {
	r := &descriptionReader{ctx: ctx, tree: tree, item: it, staleMentions: staleMentions}
	for _, source := range []func() SelfDescription{r.moduleComment, r.manifest, r.readme} {
		own := source()
		if r.err != nil {
			return SelfDescription{}, r.err
		}
		if own.Text != "" {
			own.Text = excerpt.Cut(own.Text, leadBytes)
			return own, nil
		}
	}
	return SelfDescription{}, nil
}

// ReadmeLead returns the sentence of a README that describes its directory, "" for none.
func ReadmeLead(file repo.Path, content string) string {
	return excerpt.Cut(excerpt.ParseReadme(string(file), content).Lead(), leadBytes)
}

// MayDescribeDir reports whether the name of a file suggests a description of its directory.
func MayDescribeDir(file repo.Path) bool {
	stem, _, _ := strings.Cut(strings.ToLower(file.Base()), ".")
	switch stem {
	case "doc", "__init__", "mod", "lib", "package-info", "index", "main", "readme", strings.ToLower(file.Dir().Base()):
		return true
	}
	_, ok := manifestRank(file.Base())
	return ok
}

// A descriptionReader reads the description of one directory.
type descriptionReader struct {
	ctx           context.Context
	tree          workspace.Tree
	item          *Item
	staleMentions map[repo.Path][]string
	err           error // a file changed, or the context is done
}

// maxDescriptionFile is the size of the largest file that ken reads for a description.
const maxDescriptionFile = 64 << 10

// read returns the content of a file as text, "" if it cannot be read.
func (r *descriptionReader) read(i int) string {
	f := &r.item.Files[i]
	if r.err != nil || f.Size > maxDescriptionFile {
		return ""
	}
	content, err := r.tree.Read(r.ctx, f.File, maxDescriptionFile)
	if errors.Is(err, workspace.ErrChanged) || r.ctx.Err() != nil {
		r.err = cmp.Or(r.ctx.Err(), err)
		return ""
	}
	if err != nil {
		return ""
	}
	r.item.Basis.Files[i].Shape = store.OutlineShape{}
	return strings.ReplaceAll(strings.ToValidUTF8(string(content), "\uFFFD"), "\r\n", "\n")
}

// moduleComment returns the comment of the package or module, from the most likely file that has one.
func (r *descriptionReader) moduleComment() SelfDescription {
	repeated := r.item.repeatedDocs()
	list := make([]int, 0, len(r.item.Files))
	for i := range r.item.Files {
		if r.item.moduleRank(&r.item.Files[i]) > 0 {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int {
		return cmp.Compare(r.item.moduleRank(&r.item.Files[b]), r.item.moduleRank(&r.item.Files[a]))
	})
	documented := 0
	for _, i := range list {
		if r.item.Files[i].Outline.Doc != "" {
			documented++
		}
	}
	for _, i := range list {
		f := &r.item.Files[i]
		text := excerpt.StripMarkup(f.Outline.Doc)
		if f.Outline.Doc == "" && isScript(f.Outline.Language) {
			text = excerpt.StripMarkup(excerpt.FirstSentence(scriptComment(r.read(i))))
		}
		part := f.inGoPackage() && documented > 1 && r.item.moduleRank(f) == modulePart && !aboutPackage(f, text)
		if excerpt.IsDescription(text) && !part && (f.inGoPackage() || !repeated[text]) {
			return SelfDescription{text, f.Path.Base()}
		}
	}
	return SelfDescription{}
}

// repeatedDocs returns the comments that several files start with, such as a licence. They describe none of the
// files.
func (it *Item) repeatedDocs() map[string]bool {
	seen, repeated := make(map[string]bool), make(map[string]bool)
	for i := range it.Files {
		f := &it.Files[i]
		if f.Outline == nil || f.Outline.Doc == "" {
			continue
		}
		text := excerpt.StripMarkup(f.Outline.Doc)
		repeated[text] = seen[text]
		seen[text] = true
	}
	return repeated
}

// The ranks of files that may have the comment of a package or module, the best last.
const (
	notModule   = iota
	modulePart  // a file of a package, such as any file in Go
	moduleNamed // it has the name of the directory
	moduleEntry // an entry point, such as index.ts and main.c
	moduleOwner // the language documents packages there, such as doc.go and __init__.py
)

// moduleRank ranks a file by how likely it has the comment of the package or module.
func (it *Item) moduleRank(f *ItemFile) int {
	if f.Outline == nil || f.Kind != repo.KindSource || isBuildFile(f) {
		return notModule
	}
	name := strings.ToLower(f.Path.Base())
	stem, _, _ := strings.Cut(name, ".")
	dir := strings.ToLower(it.Path.Base())
	switch {
	case name == "doc.go", name == "__init__.py", name == "mod.rs", name == "lib.rs", name == "package-info.java", name == "mod.ts":
		return moduleOwner
	case f.inGoPackage() && stem == "main":
		return moduleEntry
	case f.inGoPackage() && stem != dir:
		return modulePart
	case stem == "index", stem == "main":
		return moduleEntry
	case stem != "" && stem == dir:
		return moduleNamed
	}
	return notModule
}

// inGoPackage reports whether the file belongs to a Go package, so that its comment may be about the whole package.
func (f *ItemFile) inGoPackage() bool { return f.Outline != nil && f.Outline.Language == outline.Go }

func isScript(l outline.Language) bool {
	return l == outline.JavaScript || l == outline.TypeScript || l == outline.TSX
}

// scriptComment returns the text of the first block comment with a tag that marks it as the comment of the module:
// @module, @packageDocumentation, @fileoverview or @file.
func scriptComment(content string) string {
	rest := strings.TrimSpace(strings.TrimPrefix(content, "\uFEFF"))
	for {
		line, after, _ := strings.Cut(rest, "\n")
		switch {
		case strings.HasPrefix(line, "#!"), strings.HasPrefix(line, "//"), strings.HasPrefix(strings.Trim(line, `"';`), "use "):
			rest = strings.TrimSpace(after)
			continue
		case !strings.HasPrefix(line, "/*"):
			return ""
		}
		comment, after, ok := strings.Cut(strings.TrimPrefix(rest, "/*"), "*/")
		if !ok {
			return ""
		}
		if text, tagged := moduleText(comment); tagged {
			return text
		}
		rest = strings.TrimSpace(after)
	}
}

// moduleText returns the first paragraph of a block comment, and whether it has a tag of a module comment.
func moduleText(comment string) (text string, tagged bool) {
	var lines []string
	ended := false
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "*"))
		tag, rest, _ := strings.Cut(line, " ")
		switch tag {
		case "@module", "@packageDocumentation", "@fileoverview", "@fileOverview", "@file", "@overview":
			tagged = true
			if tag == "@module" && !strings.Contains(rest, " ") {
				rest = "" // the name of the module
			}
			line = strings.TrimSpace(rest)
			if line == "" {
				continue
			}
		case "@description", "@desc":
			line = strings.TrimSpace(rest)
		}
		switch {
		case line == "":
			ended = ended || len(lines) > 0
		case strings.HasPrefix(line, "@"):
			ended = true
		case !ended:
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " "), tagged
}

// manifest returns the description in the first manifest that has one.
func (r *descriptionReader) manifest() SelfDescription {
	for _, i := range r.manifests() {
		base := r.item.Files[i].Path.Base()
		text := excerpt.StripMarkup(project.Description(base, []byte(r.read(i))))
		if excerpt.IsDescription(text) {
			return SelfDescription{withFullStop(text), base}
		}
	}
	return SelfDescription{}
}

// names returns the names of the directory that a README may use: its own, and those in its manifests.
func (r *descriptionReader) names() []string {
	names := []string{r.item.Path.Base()}
	for _, i := range r.manifests() {
		base := r.item.Files[i].Path.Base()
		names = append(names, manifestName(r.read(i)), strings.TrimSuffix(base, path.Ext(base)))
	}
	return names
}

// readme returns the sentence of the README that describes the directory.
func (r *descriptionReader) readme() SelfDescription {
	for _, name := range excerpt.ReadmeNames {
		i := slices.IndexFunc(r.item.Files, func(f ItemFile) bool { return strings.EqualFold(f.Path.Base(), name) })
		if i < 0 {
			continue
		}
		doc := excerpt.ParseReadme(name, r.read(i))
		doc.DropMentions(r.staleMentions[r.item.Files[i].Path])
		if doc.IsAboutOther(r.names()) {
			continue
		}
		if text := doc.Lead(); text != "" {
			return SelfDescription{text, r.item.Files[i].Path.Base()}
		}
	}
	return SelfDescription{}
}

// manifestRank reports whether a file name is that of a manifest with a description, and its rank among them.
func manifestRank(base string) (rank int, ok bool) {
	for i, pattern := range project.DescribingManifests {
		if ok, _ := path.Match(pattern, strings.ToLower(base)); ok {
			return i, true
		}
	}
	return 0, false
}

// manifests returns the indexes of the manifests of the directory, by rank.
func (r *descriptionReader) manifests() []int {
	var list []int
	for rank := range project.DescribingManifests {
		for i := range r.item.Files {
			if at, ok := manifestRank(r.item.Files[i].Path.Base()); ok && at == rank {
				list = append(list, i)
				break
			}
		}
	}
	return list
}

// nameLine matches the line of a manifest with the name of its package, in JSON, TOML or YAML.
var nameLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)(?:^|[{,])\s*(?:"name"\s*:\s*|name\s*[=:]\s*)["']?([^"'\s,]+)`)
})

// manifestName returns the name in a manifest, "" for none.
func manifestName(content string) string {
	if m := nameLine().FindStringSubmatch(content); m != nil {
		return m[1]
	}
	return ""
}
