package find

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/workspace"
)

// WhatFiles is What of an Unknown about files that could not be read.
const WhatFiles = "files"

// The reasons why the index has no text of a file that git lists.
const (
	WhyTooLarge = "too large to read"
	WhyAbsent   = workspace.LacksContent
)

// unreadNote is the note of the index with the paths that it has not read, by reason.
const unreadNote = "unread"

// unreadFiles are the paths of files that an index has not read, by reason.
type unreadFiles map[string][]repo.Path

func (u unreadFiles) add(why string, p repo.Path) { u[why] = append(u[why], p) }

// Unread returns which files the index has not read: an answer without them may be incomplete. Files with one reason
// are one entry.
func Unread(x *searchindex.Index) ([]fault.Unknown, error) {
	unread, err := UnreadPaths(x)
	if err != nil {
		return nil, err
	}
	var list []fault.Unknown
	for _, why := range slices.Sorted(maps.Keys(unread)) {
		list = append(list, fault.Unknown{What: WhatFiles, Why: NamedFiles(unread[why]) + ": " + why})
	}
	return list, nil
}

// UnreadPaths returns the paths of the files that the index has not read, by reason.
func UnreadPaths(x *searchindex.Index) (unread map[string][]repo.Path, err error) {
	note, err := x.Note(unreadNote)
	if err != nil || note == "" {
		return make(map[string][]repo.Path), err
	}
	if err := json.Unmarshal([]byte(note), &unread); err != nil {
		return nil, fmt.Errorf("read the list of unread files in the search index: %w", err)
	}
	return unread, nil
}

// write replaces the list of an index.
func (u unreadFiles) write(w *searchindex.Writer) error {
	if len(u) == 0 {
		return w.SetNote(unreadNote, "")
	}
	note, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return w.SetNote(unreadNote, string(note))
}

// NamedFiles returns the number of files and the first three of them.
func NamedFiles(paths []repo.Path) string {
	const few = 3
	slices.Sort(paths)
	var names []string
	for _, p := range paths[:min(few, len(paths))] {
		names = append(names, p.String())
	}
	text := strings.Join(names, ", ")
	if len(paths) == 1 {
		return text
	}
	if more := len(paths) - len(names); more > 0 {
		text += fmt.Sprintf(", +%d", more)
	}
	return english.Count(len(paths), "file") + " (" + text + ")"
}
