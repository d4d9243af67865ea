package docs

import (
	"bytes"
	"context"
	"path"
	"strings"
	"sync/atomic"

	"ken/internal/docs/mention"
	"ken/internal/outline"
	"ken/internal/repo"
)

// hideGeneratedFiles hides data files that a program creates. Such a file was committed and removed again, but the code
// still has its path in a string: the document means the file that the program creates for the reader.
func (j *judge) hideGeneratedFiles(ctx context.Context) error {
	named := make(map[repo.Path]*atomic.Bool)
	mayBeMade := func(m *CheckedMention) bool {
		return (m.Verdict == Gone || m.Verdict == Moved) && m.ExistedThen && m.Hidden == "" && m.Kind == mention.Path && !m.carried &&
			m.Form != mention.Link && m.Form != mention.Import && j.isDataFile(m.Was)
	}
	for i := range j.list {
		if m := &j.list[i]; mayBeMade(m) {
			named[m.Was] = new(atomic.Bool)
		}
	}
	if len(named) == 0 {
		return nil
	}
	var code []repo.File
	for _, f := range j.index.files {
		if f.Mode.SameType(repo.Regular) && !mention.IsDocument(f.Path) && outline.MayHaveOutline(f.Path) {
			code = append(code, f)
		}
	}
	err := j.tree.Read(ctx, code, maxText, func(_ int, content []byte, err error) {
		if err != nil {
			return
		}
		for p, seen := range named {
			if !seen.Load() && quotes(content, string(p)) {
				seen.Store(true)
			}
		}
	})
	if err != nil {
		return err
	}
	for i := range j.list {
		if m := &j.list[i]; mayBeMade(m) && named[m.Was].Load() {
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

// quotes reports whether a text has a string that begins with a path.
func quotes(text []byte, p string) bool {
	const quote = "\"'`"
	for {
		i := bytes.Index(text, []byte(p))
		if i < 0 {
			return false
		}
		before, after := bytes.TrimSuffix(text[:i], []byte("./")), text[i+len(p):]
		if len(before) > 0 && len(after) > 0 && strings.IndexByte(quote, before[len(before)-1]) >= 0 &&
			strings.IndexByte(quote+"/", after[0]) >= 0 {
			return true
		}
		text = after
	}
}
