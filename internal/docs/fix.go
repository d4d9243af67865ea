package docs

import (
	"path"
	"slices"
	"strings"

	"ken/internal/repo"
)

// An Edit is a mention that was put right.
type Edit struct {
	Line     int
	From, To string
}

// Fix puts right what merely moved in one document, in the form that the document has it
// in: what was named from its directory is still named from there. The content has to be
// the one that was judged; a mention that does not stand there letter by letter is left,
// and so is one whose new name would have to be escaped.
func Fix(doc repo.Path, content []byte, judged []Judged) ([]byte, []Edit) {
	list := slices.DeleteFunc(slices.Clone(judged), func(j Judged) bool {
		return j.File != doc || j.Hidden != "" || j.Verdict != Moved || j.At.Start < 0 || j.At.Start >= j.At.End ||
			j.At.End > len(content) || string(content[j.At.Start:j.At.End]) != j.Name
	})
	slices.SortFunc(list, func(a, b Judged) int { return a.At.Start - b.At.Start })
	var out []byte
	var edits []Edit
	done := 0
	for _, j := range list {
		name, ok := newName(doc, &j)
		start := j.At.Start
		if !ok || start < done {
			continue
		}
		if strings.HasPrefix(name, "../") && start >= done+2 && string(content[start-2:start]) == "./" {
			start -= 2
		}
		out = append(append(out, content[done:start]...), name...)
		done = j.At.End
		edits = append(edits, Edit{j.Line, j.Name, name})
	}
	return append(out, content[done:]...), edits
}

// newName is how a document names what has moved.
func newName(doc repo.Path, j *Judged) (name string, ok bool) {
	to := string(j.To)
	switch {
	case strings.ContainsFunc(to, func(c rune) bool { return !plainRune(c) }):
		return "", false
	case strings.HasPrefix(j.Name, "/"):
		return "/" + to, true
	case j.In != "":
		return "", false // the directory that it is said to be in may be another now
	}
	dir := string(doc.Dir())
	if path.Join(dir, j.Name) == string(j.Was) || j.Form == Link || j.Form == Import {
		return relative(dir, to), true
	}
	for d := dir; d != ""; {
		d = parent(d)
		if path.Join(d, j.Name) == string(j.Was) && (d == "" || strings.HasPrefix(to, d+"/")) {
			return relative(d, to), true
		}
	}
	return to, true
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
