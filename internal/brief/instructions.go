package brief

import (
	"fmt"
	"strings"

	"ken/internal/project"
)

const (
	firstInstructions = 6
	instructionBytes  = 200 // of a quoted line, and of the headings of a document
)

// instructions lists the lines of documents that name a path, then the documents that apply to it with their headings.
// With nearby it leaves out the documents for the whole repository.
func instructions(list []project.Instruction, nearby bool) *block {
	var lines, documents []Item
	for _, in := range list {
		for _, l := range in.Lines {
			show := fmt.Sprintf("%s  (%s)", cut(l.Text, instructionBytes), at(in.Source, l.Line))
			lines = append(lines, Item{Line: l.Line, Text: l.Text, show: show}.at(in.Source))
		}
		if nearby && in.Scope == "" {
			continue
		}
		show := name(in.Source)
		if len(in.Headings) > 0 {
			show += ": " + cut(strings.Join(in.Headings, ", "), instructionBytes)
		}
		documents = append(documents, Item{Names: in.Headings, show: show}.at(in.Source))
	}
	return growingBlock("instructions", firstInstructions, append(lines, documents...)...)
}
