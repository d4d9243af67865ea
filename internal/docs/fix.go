package docs

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ken/internal/repo"
)

// An Edit is a mention that was put right.
type Edit struct {
	File     repo.Path
	Line     int
	From, To string
}

// A Fixed is what became of the mentions that are listed.
type Fixed struct {
	Edits []Edit
	// Left are those that stay listed. Of one that merely moved, Why says why it was not
	// put right.
	Left []Judged
}

// Fix puts right what merely moved in one document, in the form that the document has it
// in: what was named from its directory is still named from there. A mention that does
// not stand there letter by letter is left, and so is one whose new name cannot be
// written in its form.
func Fix(doc repo.Path, content []byte, judged []Judged) ([]byte, Fixed) {
	list := slices.DeleteFunc(slices.Clone(judged), func(j Judged) bool { return j.File != doc || j.Hidden != "" })
	slices.SortStableFunc(list, func(a, b Judged) int { return a.At.Start - b.At.Start })
	var out []byte
	var fixed Fixed
	done := 0
	for _, j := range list {
		if j.Verdict != Moved {
			fixed.Left = append(fixed.Left, j)
			continue
		}
		start := j.At.Start
		name, why := "", "it is put otherwise there"
		if start >= done && start < j.At.End && j.At.End <= len(content) && string(content[start:j.At.End]) == j.Name {
			name, why = newName(doc, &j)
		}
		if why != "" {
			j.Why = why
			fixed.Left = append(fixed.Left, j)
			continue
		}
		if strings.HasPrefix(name, "../") && start >= done+2 && string(content[start-2:start]) == "./" {
			start -= 2
		}
		out = append(append(out, content[done:start]...), name...)
		done = j.At.End
		fixed.Edits = append(fixed.Edits, Edit{doc, j.Line, j.Name, name})
	}
	slices.SortStableFunc(fixed.Left, func(a, b Judged) int { return a.Line - b.Line })
	return append(out, content[done:]...), fixed
}

// newName is how a document names what has moved, or why it cannot be said.
func newName(doc repo.Path, j *Judged) (name, why string) {
	if j.In != "" && !strings.HasPrefix(j.Name, "/") {
		return "", "the directory that it is said to be in may be another now"
	}
	name, ok := spelled(from(doc, j), doc, j.Form)
	if !ok {
		return "", "its new name would have to be escaped"
	}
	return name, ""
}

// spelled is a path as it is written in a form: a link has it percent-encoded, a span of
// code as it is, and elsewhere it has to be plain.
func spelled(name string, doc repo.Path, form Form) (string, bool) {
	var b strings.Builder
	for _, c := range name {
		switch {
		case plainRune(c):
			b.WriteRune(c)
		case c == utf8.RuneError || unicode.IsControl(c):
			return "", false
		case form == Code && c != '`' && (c == ' ' || !unicode.IsSpace(c)):
			b.WriteRune(c)
		case form == Link && isMarkdown(doc):
			for _, octet := range []byte(string(c)) {
				fmt.Fprintf(&b, "%%%02X", octet)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// from is what has moved as its document would name it, by the directory that it was named
// from.
func from(doc repo.Path, j *Judged) string {
	to := string(j.To)
	if strings.HasPrefix(j.Name, "/") {
		return "/" + to
	}
	dir := string(doc.Dir())
	if path.Join(dir, j.Name) == string(j.Was) || j.Form == Link || j.Form == Import {
		return relative(dir, to)
	}
	for d := dir; d != ""; {
		d = parent(d)
		if path.Join(d, j.Name) == string(j.Was) && (d == "" || strings.HasPrefix(to, d+"/")) {
			return relative(d, to)
		}
	}
	return to
}

func plainRune(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("._-/@+~", c)
}

// relative is a path as it is named from a directory.
func relative(dir, p string) string {
	var up string
	for dir != "" && p != dir && !strings.HasPrefix(p, dir+"/") {
		dir = parent(dir)
		up += "../"
	}
	switch {
	case dir == "":
		return up + p
	case p == dir:
		return path.Clean(up + ".")
	}
	return up + p[len(dir)+1:]
}
