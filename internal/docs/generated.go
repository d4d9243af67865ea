package docs

import (
	"context"
	"path"
	"slices"
	"strings"

	"ken/internal/docs/mention"
	"ken/internal/outline"
	"ken/internal/repo"
)

// hideGeneratedFiles hides data files that a program creates. Such a file was committed and removed again, but the code
// still has its path in a string: the document means the file that the program creates for the reader.
func (j *judge) hideGeneratedFiles(ctx context.Context) error {
	names := make(map[string]bool)
	mayBeMade := func(m *CheckedMention) bool {
		isStale := m.Verdict == Gone || m.Verdict == Moved
		isShown := m.Hidden == "" || m.Hidden == HiddenGenerated
		return m.MayBeMade && isStale && isShown && m.Form != mention.Link && m.Form != mention.Import
	}
	for i := range j.list {
		if m := &j.list[i]; mayBeMade(m) {
			names[quotedMark+string(m.Was)] = true
		}
	}
	if len(names) == 0 {
		return nil
	}
	x := &j.record.Names
	if _, err := x.learn(ctx, j.tree, names); err != nil {
		return err
	}
	for i := range j.list {
		m := &j.list[i]
		if !mayBeMade(m) {
			continue
		}
		m.Hidden = ""
		if slices.ContainsFunc(x.of(x.coding, quotedMark, string(m.Was)), func(k int) bool { return outline.MayHaveOutline(x.Files[k].Path) }) {
			m.Hidden = HiddenGenerated
		}
	}
	return nil
}

// isDataFile reports whether a path was a directory or a data file below another directory.
func (j *judge) isDataFile(p repo.Path) bool {
	return strings.Contains(string(p), "/") && (len(j.history.Touching(p)) == 0 || dataExt[path.Ext(strings.ToLower(string(p)))])
}

var dataExt = setOf(strings.Fields(".json .jsonl .ndjson .db .sqlite .log .csv .tsv .yaml .yml .toml .txt .xml .pid .lock .env .cache"))
