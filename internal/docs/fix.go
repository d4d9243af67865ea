package docs

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// An Edit is a corrected mention.
type Edit struct {
	File     repo.Path
	Line     int
	From, To string
}

// FixResult is the result of Fix.
type FixResult struct {
	Edits []Edit
	// Unfixed are the mentions that stay stale. For a moved one, Why says why it was not corrected.
	Unfixed []CheckedMention
}

// Fix corrects the moved mentions of one document and keeps their form: a relative path stays relative. It leaves a
// mention whose name the document has not unchanged, and one whose new name cannot be written in its form.
func Fix(doc repo.Path, content []byte, judged []CheckedMention) ([]byte, FixResult) {
	list := slices.DeleteFunc(slices.Clone(judged), func(j CheckedMention) bool { return j.File != doc || j.Hidden != "" })
	slices.SortStableFunc(list, func(a, b CheckedMention) int { return a.At.Start - b.At.Start })
	var out []byte
	var fixed FixResult
	done := 0
	for _, j := range list {
		if !j.hasNewName() {
			fixed.Unfixed = append(fixed.Unfixed, j)
			continue
		}
		start := j.At.Start
		name, why := "", "the document writes it differently"
		if start >= done && start < j.At.End && j.At.End <= len(content) && string(content[start:j.At.End]) == j.Name {
			name, why = newName(doc, &j)
		}
		if why != "" {
			j.Why = why
			fixed.Unfixed = append(fixed.Unfixed, j)
			continue
		}
		if strings.HasPrefix(name, "../") && start >= done+2 && string(content[start-2:start]) == "./" {
			start -= 2
		}
		out = append(append(out, content[done:start]...), name...)
		done = j.At.End
		fixed.Edits = append(fixed.Edits, Edit{doc, j.Line, j.Name, name})
	}
	slices.SortStableFunc(fixed.Unfixed, func(a, b CheckedMention) int { return a.Line - b.Line })
	return append(out, content[done:]...), fixed
}

// hasNewName reports whether a mention can be corrected.
func (m *CheckedMention) hasNewName() bool { return m.Verdict == Moved || m.Renamed != "" }

// newName returns the new name of a mention as its document would write it, or why there is none.
func newName(doc repo.Path, j *CheckedMention) (name, why string) {
	if j.Renamed != "" {
		return strings.TrimSuffix(j.Name, mention.SymbolWord(j.Name)) + j.Renamed, ""
	}
	if j.In != "" && !strings.HasPrefix(j.Name, "/") {
		return "", "its directory may be another one now"
	}
	name, ok := encodePath(newRelativePath(doc, j), doc, j.Form)
	if !ok {
		return "", "its new name would have to be escaped"
	}
	return name, ""
}

// encodePath returns a path as written in a form: percent-encoded in a link, unchanged in a code span. Elsewhere the
// path must have no special characters.
func encodePath(name string, doc repo.Path, form mention.Form) (string, bool) {
	var b strings.Builder
	for _, c := range name {
		switch {
		case plainRune(c):
			b.WriteRune(c)
		case c == utf8.RuneError || unicode.IsControl(c):
			return "", false
		case form == mention.Code && c != '`' && (c == ' ' || !unicode.IsSpace(c)):
			b.WriteRune(c)
		case form == mention.Link && mention.IsMarkdown(doc):
			for _, octet := range []byte(string(c)) {
				fmt.Fprintf(&b, "%%%02X", octet)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// newRelativePath returns the new path of a mention, relative to the same directory as before.
func newRelativePath(doc repo.Path, j *CheckedMention) string {
	to := string(j.To)
	if strings.HasPrefix(j.Name, "/") {
		return "/" + to
	}
	dir := string(doc.Dir())
	if path.Join(dir, j.Name) == string(j.Was) || j.Form == mention.Link || j.Form == mention.Import {
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

// relative returns a path relative to a directory.
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
