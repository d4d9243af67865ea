package web

import (
	"html/template"

	"ken/internal/repo"
	"ken/internal/review"
)

// changes are what changed in a file or directory since its summary was written.
type changes struct {
	Files    []changedFile
	Children []pageLink // subdirectories whose summaries changed
	Read     string     // identifies the content that the changes lead to
	Cut      int        // lines that are not shown
	Left     int        // files that are not shown
}

// A changedFile is one file with its patch, or a word instead of one.
type changedFile struct {
	Label string
	Page  template.URL
	Word  string // "new", "gone", or why there is no patch
	Lines []patchLine
}

// Limits of the changes on a page.
const (
	changedLines = 400
	changedFiles = 50
)

// changes prepares a diff for a page.
func (f *pageData) changes(d *review.Diff) *changes {
	c := &changes{Read: d.Read}
	room := changedLines
	for i, file := range d.Files {
		if i == changedFiles {
			c.Left = len(d.Files) - i
			break
		}
		p := rawPath(file.Path, file.B64)
		out := changedFile{Label: file.Path, Page: f.pageOf(p)}
		switch {
		case file.Missing != "":
			out.Word = file.Missing
		case file.Old.IsZero():
			out.Word = "new"
		case file.New.IsZero():
			out.Word = "gone"
		default:
			cut := 0
			out.Lines, cut = patchLines(file.Patch, room)
			room -= len(out.Lines)
			c.Cut += cut
		}
		c.Files = append(c.Files, out)
	}
	for _, child := range d.Children {
		c.Children = append(c.Children, pageLink{child + "/", f.pageOf(repo.Path(child))})
	}
	return c
}
