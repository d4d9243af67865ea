package brief

import (
	"fmt"

	"ken/internal/english"
)

// editItems is the number of items that a section lists before an edit.
const editItems = 3

// BeforeEdit returns the brief of a file for an agent that is about to edit it: its summary, the lines of instruction
// documents that name it, the instruction documents of directories above it, its users, its tests and the files that
// change with it. Facts that are not listed may be unknown. Agents know the documents for the whole repository.
func BeforeEdit(f FileFacts, budget int) *Brief {
	j := f.Path.JSON()
	b := &Brief{Path: j.Path, PathB64: j.B64, Kind: KindFile}
	var blocks []*block
	for _, s := range f.Words {
		blocks = append(blocks, &block{Section: s})
	}
	users, _ := f.users()
	if users != nil && f.UserFiles > 0 {
		users.Subject = fmt.Sprintf("used by %s, among them", english.Count(f.UserFiles, "file"))
	}
	tests, command := f.tests()
	together := f.History.together()
	if together != nil {
		together.Subject = "changes with"
	}
	for _, k := range []*block{instructions(f.Project.Instructions(f.Path), true), users, command, tests, together} {
		if k != nil && len(k.items) > 0 {
			k.first, k.grows = editItems, false
			blocks = append(blocks, k)
		}
	}
	b.fit(blocks, budget)
	return b
}
