package survey

import (
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

func isReadme(base string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(base), ".")
	return stem == "readme"
}

// readmeLead returns what a README says of its subject: the first paragraph that does,
// else one under a heading that promises it, else under any that is not about
// something else.
func readmeLead(o *outline.Outline) string {
	first := tidy(o.Doc)
	off := false
	for _, s := range o.Symbols {
		if s.Doc == o.Doc {
			off = s.Depth > 0 && offTopic(s.Name)
			break
		}
	}
	if telling(first) && !off {
		return first
	}
	for _, promised := range []bool{true, false} {
		for i, s := range o.Symbols {
			if !promised && i >= readmeHeadings {
				break
			}
			low := strings.ToLower(s.Name)
			about := strings.Contains(low, "about") || strings.Contains(low, "introduc") || strings.Contains(low, "overview") || strings.Contains(low, "what is")
			if text := tidy(s.Doc); telling(text) && about == promised && (promised || !offTopic(s.Name)) {
				return text
			}
		}
	}
	return ""
}

// readmeHeadings is how far into a README its subject is looked for.
const readmeHeadings = 3

// lead returns what the directory says of itself: its README, else the doc of its
// package, its manifest, or the doc of the file that speaks for it, by name; and
// which file that was.
func (w *sketch) lead() (text string, from *ItemFile) {
	var best *ItemFile
	for i := range w.Files {
		f := &w.Files[i]
		if w.docs[f] != "" && w.speaks(f) > 0 && (best == nil || w.speaks(f) > w.speaks(best)) {
			best = f
		}
	}
	rank := 0
	if best != nil {
		rank = w.speaks(best)
	}
	switch {
	case w.Word.Text != "" && (rank < speaksPackage || w.Word.Readme && rank < speaksReadme):
		return w.Word.Text, nil
	case rank == 0:
		return "", nil
	case rank < speaksPackage && !w.named(best):
		return cut(repo.Path(best.Path.Base()).String()+": "+w.docs[best], leadBytes), best
	case best.packaged(): // it spoke of the package, and not of itself
		return cut(w.docs[best], leadBytes), nil
	default:
		return cut(w.docs[best], leadBytes), best
	}
}

// named reports whether whose words they are goes without saying: the file bears the
// name of the directory, or begins with its own.
func (w *sketch) named(f *ItemFile) bool {
	stem, _, _ := strings.Cut(strings.ToLower(f.Path.Base()), ".")
	return stem != "" && (stem == strings.ToLower(w.Path.Base()) || strings.HasPrefix(strings.ToLower(w.docs[f]), stem))
}

// How well a file speaks for its directory.
const (
	speaksAlone   = 1 // nobody else is there
	speaksMain    = 2 // it bears the directory's name, or is where one begins to read
	speaksPackage = 3 // what it says is said of the package
	speaksFirst   = 4 // it is where packages are documented
	speaksReadme  = 5
)

// speaks says how well a file speaks for its directory, 0 for not at all.
func (w *sketch) speaks(f *ItemFile) int {
	name := strings.ToLower(f.Path.Base())
	stem, _, _ := strings.Cut(name, ".")
	switch {
	case name == "readme.md", name == "readme.markdown":
		return speaksReadme + 1
	case stem == "readme":
		return speaksReadme
	case name == "doc.go", name == "__init__.py", name == "mod.rs", name == "lib.rs", name == "package-info.java":
		return speaksFirst
	case f.Kind != repo.KindSource:
		return 0
	case f.packaged():
		return speaksPackage
	case stem != "" && stem == strings.ToLower(w.Path.Base()), stem == "index", stem == "main":
		return speaksMain
	case len(w.Files) == 1:
		return speaksAlone
	}
	return 0
}
