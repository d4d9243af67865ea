package brief

import (
	"fmt"
	"slices"

	"ken/internal/english"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
)

// fromFile and toFile return the two ends of an edge.
func fromFile(e searchindex.Edge) repo.Path { return e.From }
func toFile(e searchindex.Edge) repo.Path   { return e.To }

// usedBy lists the files that use this one, or says that there are none or that ken cannot know.
func (f *FileFacts) usedBy() *block {
	users, tests := f.users()
	if users != nil {
		return users
	}
	return f.unused(tests)
}

// users lists the files that use this one, without the tests that a runner starts: ken uses counts the same way. It is
// nil if there are none. tests is the number of these tests.
func (f *FileFacts) users() (users *block, tests int) {
	var items, helpers []Item
	exact := 0
	likely := 0
	for _, l := range searchindex.Links(f.Users, fromFile) {
		switch {
		case l.Other == f.Path:
			continue
		case f.Project.IsTest(l.Other):
			tests++
			continue
		case l.Exact:
			exact++
		default:
			likely++
		}
		if f.Kinds(l.Other) == repo.KindTest {
			helpers = append(helpers, linkItem(l, true))
		} else {
			items = append(items, linkItem(l, true))
		}
	}
	if len(items) == 0 && len(helpers) == 0 {
		return nil, tests
	}
	subject := fmt.Sprintf("used by %s", english.Count(exact, "file"))
	switch {
	case exact == 0:
		subject = fmt.Sprintf("used by %s (likely)", english.Count(likely, "file"))
	case likely > 0:
		subject += fmt.Sprintf(", likely by %d more", likely)
	}
	if len(helpers) > 0 {
		subject += fmt.Sprintf(" (%d of them for tests)", len(helpers))
	}
	if tests > 0 {
		subject += fmt.Sprintf(", and by %s", english.Count(tests, "test"))
	}
	return growingBlock(subject, fileUsers, append(items, helpers...)...), tests
}

// unused says that no file is known to use this one, or that ken cannot know.
func (f *FileFacts) unused(tests int) *block {
	switch {
	case f.Kind != repo.KindSource && f.Kind != repo.KindTest && f.Kind != repo.KindGenerated:
		return nil
	case f.Unread != "":
		return unknownBlock("used by", f.Unread)
	case f.History.IndexBusy:
		return unknownBlock("used by", "another process is still reading the files; ask again")
	case f.Outline == nil || !uses.Supports(f.Outline.Language):
		return unknownBlock("used by", "ken does not follow uses in this sort of file")
	case f.Outline.Partial != "":
		return unknownBlock("used by", "the file breaks its grammar, so that ken may miss uses of it")
	case f.Kind == repo.KindTest:
		return nil
	case !f.Unresolved.IsZero():
		return unknownBlock("used by", f.Unresolved.Text(fileUsers))
	case len(f.NotRead) > 0:
		return unknownBlock("used by", "ken has not read "+f.NotRead[0].Why)
	case tests > 0:
		return lineBlock("used by", "only "+english.Count(tests, "test"))
	}
	if slices.Contains(f.Project.Entrypoints(f.Path.Dir()), f.Path) {
		return lineBlock("used by", "no file; programs or users of the package start here")
	}
	return lineBlock("used by", "no file that ken found")
}

// uses lists the files of the repository that this one uses.
func (f *FileFacts) uses() *block {
	var items []Item
	for _, l := range searchindex.Links(f.Uses, toFile) {
		if l.Other != f.Path {
			items = append(items, linkItem(l, false))
		}
	}
	return growingBlock("uses "+english.Count(len(items), "file"), fileUses, items...)
}
