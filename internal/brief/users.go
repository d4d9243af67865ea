package brief

import (
	"fmt"
	"slices"

	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
)

// isTest reports whether a file is a test or belongs to tests.
func (f *FileFacts) isTest(p repo.Path) bool { return f.Kinds(p) == repo.KindTest }

// usedBy lists the files that use this one, without tests.
func (f *FileFacts) usedBy() *block {
	list := links(f.Users, func(e searchindex.Edge) repo.Path { return e.From })
	list = slices.DeleteFunc(list, func(l link) bool { return l.other == f.Path })
	var items []Item
	exact, likely, tests := 0, 0, 0
	for _, l := range list {
		switch {
		case f.isTest(l.other):
			tests++
			continue
		case l.exact:
			exact++
		default:
			likely++
		}
		items = append(items, l.item(true))
	}
	if len(items) == 0 {
		return f.unused(tests)
	}
	subject := fmt.Sprintf("used by %s", count(exact, "file"))
	switch {
	case exact == 0:
		subject = fmt.Sprintf("used by %s (likely)", count(likely, "file"))
	case likely > 0:
		subject += fmt.Sprintf(", likely by %d more", likely)
	}
	if tests > 0 {
		subject += fmt.Sprintf(", and by %s", count(tests, "test"))
	}
	return growing(subject, fileUsers, items...)
}

// unused says that no file is known to use this one, or that ken cannot know.
func (f *FileFacts) unused(tests int) *block {
	switch {
	case f.Kind != repo.KindSource && f.Kind != repo.KindTest && f.Kind != repo.KindGenerated:
		return nil
	case f.Unread != "":
		return unknown("used by", f.Unread)
	case f.History.Behind:
		return unknown("used by", "another process is still reading the files; ask again")
	case f.Outline == nil || !uses.Resolves(f.Outline.Language):
		return unknown("used by", "ken does not follow uses in this sort of file")
	case f.Outline.Partial != "":
		return unknown("used by", "the file breaks its grammar, so that ken may miss uses of it")
	case f.Kind == repo.KindTest:
		return nil
	case tests > 0:
		return line("used by", fmt.Sprintf("only %s, as far as ken sees", count(tests, "test")))
	}
	if slices.Contains(f.Project.Entrypoints(f.Path.Dir()), f.Path) {
		return line("used by", "no file; programs or users of the package start here")
	}
	return line("used by", "no file that ken can tell; calls through interfaces and names with several meanings are not counted")
}

// uses lists the files of the repository that this one uses.
func (f *FileFacts) uses() *block {
	list := links(f.Uses, func(e searchindex.Edge) repo.Path { return e.To })
	list = slices.DeleteFunc(list, func(l link) bool { return l.other == f.Path })
	items := make([]Item, len(list))
	for i, l := range list {
		items[i] = l.item(false)
	}
	return growing("uses "+count(len(list), "file"), fileUses, items...)
}
