package web

import (
	"html/template"

	"ken/internal/repo"
	"ken/internal/review"
)

// A summaryDiff is the change of a file or directory since its summary was written.
type summaryDiff struct {
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
	Cut   int // lines that are not shown
}

// Limits of the changes on a page.
const (
	changedLines = 400
	changedFiles = 50
)

// summaryDiff prepares a diff for a page.
func (pd *pageData) summaryDiff(d *review.Diff) *summaryDiff {
	c := &summaryDiff{Read: d.Read}
	room := changedLines
	for i := range d.Files {
		if i == changedFiles {
			c.Left = len(d.Files) - i
			break
		}
		file := pd.changedFile(&d.Files[i], room)
		room -= len(file.Lines)
		c.Cut += file.Cut
		c.Files = append(c.Files, file)
	}
	for _, child := range d.Children {
		c.Children = append(c.Children, pageLink{child + "/", pd.pageOf(repo.Path(child))})
	}
	return c
}

// changedFile prepares a file of a diff for a page, with at most most lines of its patch.
func (pd *pageData) changedFile(file *review.FileDiff, most int) changedFile {
	out := changedFile{Label: file.Path, Page: pd.pageOf(rawPath(file.Path, file.B64))}
	switch {
	case file.Missing != "":
		out.Word = file.Missing
	case file.Old.IsZero():
		out.Word = "new"
	case file.New.IsZero():
		out.Word = "gone"
	default:
		out.Lines, out.Cut = patchLines(file.Patch, most)
	}
	return out
}
