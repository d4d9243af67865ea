package spec

import (
	"slices"

	"ken/internal/repo"
)

// A locator finds what entries name among the files that git tracks, once for all
// entries that name the same.
type locator struct {
	tracked []repo.Path // sorted
	found   map[string][]repo.Path
	named   map[Entry]bool
	limit   matchLimit
}

func newLocator(tracked []repo.Path) *locator {
	return &locator{tracked: tracked, found: make(map[string][]repo.Path), named: make(map[Entry]bool)}
}

// names reports whether an entry names anything; known is false when there are too many
// globs to tell.
func (l *locator) names(e Entry) (is, known bool) {
	key := e.key()
	if is, known = l.named[key]; known {
		return is, true
	}
	if e.Kind == GlobEntry && !l.limit.allow(len(e.among(l.tracked))) {
		return false, false
	}
	is = e.names(l.tracked)
	l.named[key] = is
	return is, true
}

// files returns those in which the symbol of an entry may be. There are none when it has
// no symbol, when a file is called so, and when they are more than anybody looks into.
func (l *locator) files(e Entry) []repo.Path {
	if e.Symbol == "" {
		return nil
	}
	if _, literal := slices.BinarySearch(l.tracked, e.literal()); literal {
		return nil
	}
	list, known := l.found[e.Path]
	if !known {
		list = l.matches(e)
		l.found[e.Path] = list
	}
	return list
}

// matches returns the files that an entry matches, nil when they are too many.
func (l *locator) matches(e Entry) []repo.Path {
	list := e.among(l.tracked)
	if e.Kind != GlobEntry {
		if len(list) > maxOutlined {
			return nil
		}
		return list
	}
	var fit []repo.Path
	for _, p := range list {
		if !e.Matches(p) {
			continue
		}
		if fit = append(fit, p); len(fit) > maxOutlined {
			return nil
		}
	}
	return fit
}
