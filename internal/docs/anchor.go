package docs

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"unicode"

	"ken/internal/repo"
)

// anchorsOf returns the anchors of a document in lower case, as hosts make them: those of headings, and those that
// are set explicitly.
func anchorsOf(content []byte) map[string]bool {
	anchors := make(map[string]bool)
	count := make(map[string]int)
	add := func(title string) {
		if m := headingID().FindStringSubmatch(title); m != nil {
			anchors[strings.ToLower(m[1])] = true
			title = strings.TrimSpace(title[:len(title)-len(m[0])])
		}
		for _, s := range slugs(title) {
			anchors[s] = true
			if n := count[s]; n > 0 {
				anchors[s+"-"+string(rune('0'+min(n, 9)))] = true
			}
			count[s]++
		}
	}
	fence := ""
	var above []byte
	for line := range bytes.Lines(content) {
		text := bytes.TrimSpace(line)
		if mark := fenceOf(text); mark != "" && (fence == "" || mark == fence) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			above = nil
			continue
		}
		if fence != "" {
			continue
		}
		level := len(text) - len(bytes.TrimLeft(text, "#"))
		switch {
		case level > 0 && level <= 6 && len(text) > level && (text[level] == ' ' || text[level] == '\t'):
			add(strings.TrimRight(strings.TrimSpace(string(text[level:])), "# "))
		case len(above) > 0 && len(text) > 0 && (text[0] == '=' || text[0] == '-') && run(text) == len(text):
			add(string(above))
		}
		above = text
		for _, m := range idAttribute().FindAllSubmatch(line, -1) {
			anchors[strings.ToLower(string(bytes.Join(m[1:], nil)))] = true
		}
	}
	return anchors
}

func fenceOf(line []byte) string {
	for _, mark := range []string{"```", "~~~"} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return mark
		}
	}
	return ""
}

var (
	// Sites set ids after a title: {#id}, {/* #id */}, <!-- #id -->.
	headingID   = lazyRegexp(`\s*(?:\{|<!--)[^}]*?#([^}\s*]+)[^}]*(?:\}|-->)\s*$`)
	idAttribute = lazyRegexp(`\b(?:id|name)\s*=\s*["']([^"']+)["']|^\s*\{:[^}]*#([\w-]+)|^\(([\w-]+)\)=\s*$`)
	anyTag      = lazyRegexp(`</?[A-Za-z][^>]*>`)
	anyMarks    = lazyRegexp(`[^\pL\pN_]+`)
	linkedWords = lazyRegexp(`!?\[([^\]]*)\]\([^)]*\)`)
)

// slugs returns the anchors that hosts may make of a title: GitHub's, and one with a single hyphen for each run of
// punctuation. Both are returned with and without the names of tags, which hosts keep in code.
func slugs(title string) []string {
	title = linkedWords().ReplaceAllString(title, "$1")
	var list []string
	for _, text := range []string{title, strings.TrimSpace(anyTag().ReplaceAllString(title, ""))} {
		var exact strings.Builder
		for _, r := range strings.ToLower(text) {
			switch {
			case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '-' || r == '_':
				exact.WriteRune(r)
			case r == ' ':
				exact.WriteByte('-')
			}
		}
		short := strings.Trim(anyMarks().ReplaceAllString(strings.ToLower(text), "-"), "-")
		for _, slug := range []string{exact.String(), short} {
			if slug != "" && !slices.Contains(list, slug) {
				list = append(list, slug)
			}
		}
	}
	return list
}

// hasAnchor reports whether a version of a document has an anchor.
func (v *fileVersion) hasAnchor(name string) bool {
	if v.anchors == nil {
		v.anchors = anchorsOf(v.content)
	}
	return v.anchors[name]
}

// anchorTargets returns the documents that an anchor may be in.
func anchorTargets(doc repo.Path, m *Mention) []repo.Path {
	if m.In == "" {
		return []repo.Path{doc}
	}
	var list []repo.Path
	for _, p := range readingOf(doc, &Mention{Name: m.In}, false).paths {
		list = append(list, repo.Path(p))
	}
	return list
}

// judgeAnchors decides which anchors exist. It drops an anchor whose document does not exist: the link to the
// document is a mention of its own.
func (j *judge) judgeAnchors(ctx context.Context) error {
	byTarget := make(map[repo.Path][]int)
	var files []File
	gone := make(map[int]bool)
	for i := range j.list {
		m := &j.list[i]
		if m.Kind != Anchor || m.Verdict != "" {
			continue
		}
		gone[i] = true
		for _, p := range anchorTargets(m.File, &m.Mention) {
			f, ok := j.index.files[string(p)]
			if !ok || !f.Mode.SameType(repo.Regular) || !isMarkdown(p) {
				continue
			}
			if byTarget[p] == nil {
				files = append(files, f)
			}
			byTarget[p] = append(byTarget[p], i)
			m.Was = p
			delete(gone, i)
			break
		}
	}
	var mu sync.Mutex
	err := j.tree.Read(ctx, files, MaxBytes, func(i int, content []byte, err error) {
		var anchors map[string]bool
		if err == nil {
			anchors = anchorsOf(content)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, k := range byTarget[files[i].Path] {
			if err != nil || anchors[strings.ToLower(j.list[k].Name)] {
				j.list[k].Verdict = Holds
			}
		}
	})
	if err != nil {
		return err
	}
	at := -1
	j.list = slices.DeleteFunc(j.list, func(CheckedMention) bool {
		at++
		return gone[at]
	})
	return nil
}

// judgePastAnchors judges the anchors that their documents do not have: did the document have the anchor when the
// link was written?
func (j *judge) judgePastAnchors(ctx context.Context, open []int, claims map[int]origin) error {
	var checks []versionCheck
	var whose []int
	for _, i := range open {
		m, c := &j.list[i], claims[i]
		name := strings.ToLower(m.Name)
		search := &removalSearch{is: func(v *fileVersion) bool { return v.hasAnchor(name) }}
		for _, p := range slices.Compact(append(anchorTargets(c.doc, &m.Mention), m.Was)) {
			checks = append(checks, versionCheck{place: repo.CommitPath{Commit: c.commit, Path: p}, search: search})
			whose = append(whose, i)
		}
	}
	if err := j.readVersions(ctx, checks); err != nil {
		return err
	}
	var list []*removalSearch
	var gone []int
	for k, l := range checks {
		m := &j.list[whose[k]]
		switch {
		case l.unread && m.Verdict == "":
			m.Verdict, m.Why = Unknown, whyUnread
		case l.has && !m.ExistedThen:
			m.Verdict, m.ExistedThen = Gone, true
			m.Why = "no heading of " + m.Was.String() + " makes it"
			list = append(list, &removalSearch{file: m.Was, last: -1, is: l.search.is})
			gone = append(gone, whose[k])
		}
	}
	for _, i := range open {
		if m := &j.list[i]; m.Verdict == "" && claims[i].vague != "" {
			m.Verdict, m.Why = Unknown, claims[i].vague
		}
	}
	if err := j.findRemovals(ctx, list); err != nil {
		return err
	}
	for k, i := range gone {
		j.setRemovalCommit(i, list[k])
	}
	return nil
}
