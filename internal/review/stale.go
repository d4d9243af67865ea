package review

import (
	"fmt"
	"maps"
	"slices"

	"ken/internal/change"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/outline"
)

// stale lists the summaries that the change makes stale. A change inside definitions counts only for a text that a
// person or an agent wrote.
func (j *judge) stale() error {
	for _, s := range j.Summaries {
		silent := s.Grade == fresh.GradeFormat || s.Grade == fresh.GradeBody && !s.Written
		if silent {
			continue
		}
		l := Line{Kind: Stale, Command: "ken summary diff " + fault.Quote(string(s.Path))}
		l.place(s.Path, 0)
		words := []textPart{prose("summary")}
		if s.Author != "" {
			words = append(words, prose(" by "), data(s.Author))
		}
		words = append(words, prose("; "))
		files := j.Change.Files
		i := slices.IndexFunc(files, func(f change.File) bool { return f.Path == s.Path })
		if i >= 0 {
			words = append(words, difference(files[i].Before, files[i].After)...)
		}
		l.setText(words...)
		j.add(l)
	}
	return nil
}

// difference describes in a few words how two versions of a file differ.
func difference(before, after *outline.Outline) []textPart {
	if before == nil || after == nil {
		return []textPart{prose("its content changed")}
	}
	was, is := change.ByName(before), change.ByName(after)
	var words []textPart
	n := 0
	note := func(name, what string) {
		n++
		if n == 1 {
			words = append(words, data(name), prose(what))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		switch {
		case is[name] == nil:
			note(name, " was removed")
		case last(is[name]).Shape != last(was[name]).Shape:
			note(name, " has another signature")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if was[name] == nil {
			note(name, " is new")
		}
	}
	if n == 0 {
		for _, name := range slices.Sorted(maps.Keys(was)) {
			if is[name] != nil && last(is[name]).Text != last(was[name]).Text {
				note(name, " changed inside")
			}
		}
	}
	if n == 0 {
		return []textPart{prose("its content changed")}
	}
	if n > 1 {
		words = append(words, prose(fmt.Sprintf(", and %s changed", english.Count(n-1, "more symbol"))))
	}
	return words
}

func last(list []*outline.Symbol) *outline.Symbol { return list[len(list)-1] }
