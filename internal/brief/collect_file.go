package brief

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"ken/internal/find"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/survey/describe"
	"ken/internal/usage"
	"ken/internal/workspace"
)

func (r *collector) file(ctx context.Context, f *repo.File, budget int, first ...Section) (*Brief, error) {
	seen, err := r.t.Outlines(ctx, []*repo.File{f})
	if err != nil {
		return nil, err
	}
	facts := FileFacts{
		Path: f.Path, Kind: f.Kind, Outline: seen[0].Outline, Unread: f.Problem, Content: r.t.Read(ctx, f.Path), Kinds: r.kind, Project: r.project,
	}
	switch {
	case errors.Is(seen[0].Err, workspace.ErrAbsent):
		facts.Unread = workspace.LacksContent
	case seen[0].Err != nil:
		facts.Unread = "it changed while ken read it"
	}
	own := ""
	if o := seen[0].Outline; o != nil {
		own = describe.FileLine(f, o)
		if isGo := o.Language == outline.Go; isGo && o.Doc != "" && (own == "" || strings.HasPrefix(own, "defines ")) {
			own = o.Doc // of the package, which this file documents
		}
	}
	if f.Kind == repo.KindGenerated && facts.Unread == "" {
		own = generatedWords(facts.Content)
	}
	words, err := r.fileWords(ctx, f, own, facts.Unread)
	if err != nil {
		return nil, err
	}
	specs, err := r.specs(ctx, f.Path)
	if err != nil {
		return nil, err
	}
	above, err := r.wordsAbove(ctx, f.Path)
	if err != nil {
		return nil, err
	}
	facts.Words = slices.Concat(first, []Section{words}, specs, above)
	if facts.Users, err = r.x.Users(ctx, f.Path); err != nil {
		return nil, err
	}
	if err = r.unresolvedUses(ctx, &facts); err != nil {
		return nil, err
	}
	if facts.Uses, err = r.x.Uses(ctx, f.Path); err != nil {
		return nil, err
	}
	if facts.History, err = fileHistory(ctx, r.x, f.Path); err != nil {
		return nil, err
	}
	r.addLimits(&facts.History)
	if facts.Documents, err = r.documents(ctx, f.Path); err != nil {
		return nil, err
	}
	for _, p := range r.paths {
		if other := r.t.Listed(p); p != f.Path && other.ID == f.ID && f.Size > 0 && !f.ID.IsZero() {
			facts.Copies = append(facts.Copies, p)
		}
	}
	return File(facts, budget), nil
}

// unresolvedUses looks for mentions that may be uses, if ken knows no user of a file except tests. If there are none, the
// brief may say that no file uses it.
func (r *collector) unresolvedUses(ctx context.Context, f *FileFacts) (err error) {
	isUser := func(e searchindex.Edge) bool { return e.From != f.Path && !r.project.IsTest(e.From) }
	if f.Kind != repo.KindSource || f.Outline == nil || slices.ContainsFunc(f.Users, isUser) {
		return nil
	}
	if f.NotRead, err = find.Unread(r.x); err != nil {
		return err
	}
	f.Unresolved, err = usage.NewMentionSearch(ctx, r.x, r.t, r.paths).OfFile(f.Path, f.Outline, f.Users)
	return err
}

// documents returns the documents that name a file: by its path, or by its name if no other
// file has it.
func (r *collector) documents(ctx context.Context, p repo.Path) ([]Mention, error) {
	found, err := r.x.DocumentsWith(ctx, searchindex.Terms(p.Base()), 40)
	if err != nil {
		return nil, err
	}
	unique := r.hasUniqueName(p)
	var list []Mention
	for _, f := range found {
		if f.Path == p {
			continue
		}
		content := r.t.Read(ctx, f.Path)
		at := bytes.Index(content, []byte(p))
		if at < 0 && unique && strings.Contains(p.Base(), ".") {
			at = bytes.Index(content, []byte(p.Base()))
		}
		if at >= 0 {
			list = append(list, Mention{Path: f.Path, Line: 1 + bytes.Count(content[:at], []byte("\n"))})
		}
	}
	slices.SortStableFunc(list, func(a, b Mention) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return list, nil
}
