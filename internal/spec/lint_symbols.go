package spec

import (
	"slices"

	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// A locator finds the tracked files that entries match. It compares equal entries only once.
type locator struct {
	tracked []repo.Path // sorted
	found   map[string][]repo.Path
	named   map[parse.Entry]bool
	limit   parse.MatchLimit
}

func newLocator(tracked []repo.Path) *locator {
	return &locator{tracked: tracked, found: make(map[string][]repo.Path), named: make(map[parse.Entry]bool)}
}

// names reports whether an entry matches any file. known is false if there are too many globs to check.
func (l *locator) names(e parse.Entry) (is, known bool) {
	key := e.Key()
	if is, known = l.named[key]; known {
		return is, true
	}
	if e.Kind == parse.GlobEntry && !l.limit.Allow(len(e.Among(l.tracked))) {
		return false, false
	}
	is = e.MatchesAny(l.tracked)
	l.named[key] = is
	return is, true
}

// files returns the files in which the symbol of an entry may be. It returns none if the entry has no symbol, if a
// file has the name with the #, or if there are too many files.
func (l *locator) files(e parse.Entry) []repo.Path {
	if e.Symbol == "" {
		return nil
	}
	if _, literal := slices.BinarySearch(l.tracked, e.Literal()); literal {
		return nil
	}
	list, known := l.found[e.Path]
	if !known {
		list = l.matches(e)
		l.found[e.Path] = list
	}
	return list
}

// matches returns the files that an entry matches, nil if there are too many.
func (l *locator) matches(e parse.Entry) []repo.Path {
	list := e.Among(l.tracked)
	if e.Kind != parse.GlobEntry {
		if len(list) > derive.MaxOutlined {
			return nil
		}
		return list
	}
	var fit []repo.Path
	for _, p := range list {
		if !e.Matches(p) {
			continue
		}
		if fit = append(fit, p); len(fit) > derive.MaxOutlined {
			return nil
		}
	}
	return fit
}
