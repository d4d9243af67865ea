package review

import (
	"fmt"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A Diff has the changes of a file or directory since its summary was written.
type Diff struct {
	repo.PathJSON
	Directory bool   `json:"directory"`
	Verdict   string `json:"verdict"` // of the summary: fresh, stale, none, …
	Text      string `json:"text"`    // of the summary
	Author    string `json:"author"`
	// WrittenFor is the earlier path that a summary was written for, "" if it is this path.
	WrittenFor string     `json:"written_for,omitempty"`
	Reasons    []string   `json:"reasons,omitempty"` // of the verdict of a directory
	Files      []FileDiff `json:"files"`
	// Children are the subdirectories whose summaries changed.
	Children []string `json:"children,omitempty"`
	// Read identifies the content after this diff: pass it to ken summary confirm --read.
	Read string `json:"read"`
}

// A FileDiff is the change of one file.
type FileDiff struct {
	repo.PathJSON
	Old   repo.ID `json:"old"` // null if the file is new
	New   repo.ID `json:"new"` // null if the file is gone
	Patch string  `json:"patch"`
	// Missing says why there is no patch.
	Missing string `json:"missing,omitempty"`
}

// String returns the summary, the patches and the next command.
func (d *Diff) String() string {
	var b strings.Builder
	name := fault.Quote(d.Path)
	head := fmt.Sprintf("%s: summary is %s", d.Path, d.Verdict)
	if d.Author != "" {
		head += ", by " + plain(d.Author)
	}
	if d.WrittenFor != "" {
		head += ", written for " + d.WrittenFor
	}
	b.WriteString(head + "\n")
	for line := range strings.Lines(d.Text) {
		b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
	}
	if len(d.Files)+len(d.Children) == 0 && (!d.Directory || d.Verdict == "fresh") {
		b.WriteString("\nnothing changed since it was written\n")
		return b.String()
	}
	b.WriteString("\n")
	if len(d.Reasons) > 0 {
		fmt.Fprintf(&b, "why: %s\n", plain(strings.Join(d.Reasons, "; ")))
	}
	for _, f := range d.Files {
		switch {
		case f.Missing != "":
			fmt.Fprintf(&b, "%s: %s\n", f.Path, f.Missing)
		case f.Old.IsZero():
			fmt.Fprintf(&b, "%s: new\n", f.Path)
		case f.New.IsZero():
			fmt.Fprintf(&b, "%s: gone\n", f.Path)
		default:
			b.WriteString(f.Patch)
		}
	}
	for _, c := range d.Children {
		fmt.Fprintf(&b, "%s/: its summary is new, changed or gone; ken survey show %s\n", c, fault.Quote(c))
	}
	set := "ken summary set " + name + " --read " + d.Read + " -m TEXT"
	if d.Directory {
		set = "ken survey next " + name
	}
	fmt.Fprintf(&b, "\nif the summary still holds: ken summary confirm %s --read %s\notherwise: %s\n", name, d.Read, set)
	return b.String()
}
