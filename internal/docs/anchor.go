package docs

import (
	"context"
	"slices"
	"strings"
	"sync"

	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// anchorTargets returns the documents that an anchor may be in.
func anchorTargets(doc repo.Path, m *mention.Mention) []repo.Path {
	if m.In == "" {
		return []repo.Path{doc}
	}
	var list []repo.Path
	for _, p := range possiblePaths(doc, &mention.Mention{Name: m.In}, false) {
		list = append(list, repo.Path(p))
	}
	return list
}

// judgeAnchors decides which anchors exist. An anchor whose document does not exist is ambiguous: the link to the document
// is a mention of its own.
func (j *judge) judgeAnchors(ctx context.Context) error {
	byTarget := make(map[repo.Path][]int)
	var files []repo.File
	for i := range j.list {
		m := &j.list[i]
		if m.Kind != mention.Anchor || m.hasVerdict() {
			continue
		}
		m.Verdict, m.Why = Ambiguous, "its document does not exist"
		for _, p := range anchorTargets(m.File, &m.Mention) {
			f, ok := j.index.files[string(p)]
			if !ok || !f.Mode.SameType(repo.Regular) || !mention.IsMarkdown(p) {
				continue
			}
			if byTarget[p] == nil {
				files = append(files, f)
			}
			byTarget[p] = append(byTarget[p], i)
			m.Was = p
			m.Verdict, m.Why = Unknown, ""
			break
		}
	}
	var mu sync.Mutex
	err := j.tree.Read(ctx, files, mention.MaxBytes, func(i int, content []byte, err error) {
		var anchors map[string]bool
		if err == nil {
			anchors = mention.Anchors(content)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, k := range byTarget[files[i].Path] {
			switch m := &j.list[k]; {
			case err != nil:
				m.Why = "its document was not read: " + unreadWhy(err)
			case anchors[strings.ToLower(m.Name)]:
				m.Verdict = Holds
			}
		}
	})
	return err
}

// judgePastAnchors judges the anchors that their documents do not have: did the document have the anchor when the
// link was written?
func (j *judge) judgePastAnchors(ctx context.Context, open []int, claims map[int]origin) error {
	var things []pastThing
	for _, i := range open {
		m := &j.list[i]
		name := strings.ToLower(m.Name)
		things = append(things, pastThing{
			mention: i, files: slices.Compact(append(anchorTargets(claims[i].doc, &m.Mention), m.Was)), now: m.Was,
			is: func(v *fileVersion) bool { return mention.Anchors(v.content)[name] },
		})
	}
	if err := j.judgeThings(ctx, things, claims); err != nil {
		return err
	}
	for _, i := range open {
		if m := &j.list[i]; m.Verdict == Gone {
			m.Why = "no heading of " + m.Was.String() + " makes it"
		}
	}
	return nil
}
