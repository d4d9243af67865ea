package survey

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/survey/excerpt"
	"ken/internal/workspace"
)

// FileWords returns a line about a file from its outline: its description, else its main symbols. It is "" if
// nothing but the file name is known.
func FileWords(f *workspace.File, o *outline.Outline) string {
	it := &Item{Path: f.Path.Dir(), Files: []ItemFile{{File: f, Outline: o}}}
	w := &outlineBuilder{Item: it, docs: make(map[*ItemFile]string)}
	w.readDocs()
	return w.line(&it.Files[0])
}

// Layout returns the directories of the tree, subdirectories first, with the files that count.
func (s *Survey) Layout(ctx context.Context) ([]*Directory, error) {
	files, err := s.tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	return directories(files, s.opts), nil
}

// IsCode reports whether the name of a directory suggests product code, not tests, documents, examples or tools.
func (d *Directory) IsCode() bool { return dirPriority(d.Name()) <= priorityCommon }

// IsHidden reports whether the name of a directory starts with a dot.
func (d *Directory) IsHidden() bool { return dirPriority(d.Name()) == priorityHidden }

// OwnWords returns the description of a directory in its own files, "" for none. absent counts the files whose
// content is not in this clone. It first reads the files whose names suggest a description.
func (s *Survey) OwnWords(ctx context.Context, d *Directory) (text string, absent int, err error) {
	if d.Excluded != "" {
		return "", 0, nil
	}
	var named []*workspace.File
	packaged := false // a comment in any file may be about the package
	for _, f := range d.Files {
		if d.mayOwnWords(f) {
			named = append(named, f)
		} else {
			packaged = packaged || path.Ext(f.Path.Base()) == ".go"
		}
	}
	own, absent, err := s.ownWordsOf(ctx, d.Path, named)
	if err != nil || !packaged || own.Text != "" && path.Ext(own.From) == ".go" {
		return own.Text, absent, err
	}
	own, absent, err = s.ownWordsOf(ctx, d.Path, d.Files)
	return own.Text, absent, err
}

// mayOwnWords reports whether the name of a file suggests a description of its directory.
func (d *Directory) mayOwnWords(f *workspace.File) bool {
	stem, _, _ := strings.Cut(strings.ToLower(f.Path.Base()), ".")
	switch stem {
	case "doc", "__init__", "mod", "lib", "package-info", "index", "main", "readme", strings.ToLower(d.Name()):
		return true
	}
	_, ok := manifestRank(f.Path.Base())
	return ok
}

func (s *Survey) ownWordsOf(ctx context.Context, dir repo.Path, files []*workspace.File) (own OwnWords, absent int, err error) {
	if len(files) == 0 {
		return OwnWords{}, 0, nil
	}
	ts := &treeStatus{Survey: s}
	it, err := ts.item(ctx, &DirStatus{Dir: &Directory{Path: dir, Files: files}})
	if errors.Is(err, workspace.ErrChanged) {
		return OwnWords{}, 0, nil
	}
	if err != nil {
		return OwnWords{}, 0, err
	}
	return it.Own, it.Absent, nil
}

// A DirText is a summary of a directory by a person, an agent or a model.
type DirText struct {
	Path    repo.Path
	Text    string
	Verdict Verdict
	Reasons []string
	Receipt *string
}

// Written returns the summaries of some directories, and the stale summaries of all directories. Outlines do not
// count.
func (s *Survey) Written(ctx context.Context, dirs []repo.Path) (texts map[repo.Path]DirText, stale []DirText, err error) {
	latest, err := s.store.Latest(ctx)
	if err != nil {
		return nil, nil, err
	}
	texts = make(map[repo.Path]DirText)
	anySummary := false
	for _, records := range latest {
		anySummary = anySummary || slices.ContainsFunc(records, byModelOrAgent)
	}
	if !anySummary {
		return texts, nil, nil
	}
	written, err := s.written(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, text := range written {
		if slices.Contains(dirs, text.Path) {
			texts[text.Path] = text
		}
		if text.Verdict.State() == fresh.Stale {
			stale = append(stale, text)
		}
	}
	return texts, stale, nil
}

// written returns all summaries of directories, subdirectories first. It first stores the outlines that changed,
// since the verdicts of directories above depend on them.
func (s *Survey) written(ctx context.Context) ([]DirText, error) {
	const question = "texts"
	inputs, err := s.cacheInputs(ctx)
	if err != nil {
		return nil, err
	}
	var texts []DirText
	if s.loadAnswer(question, inputs, &texts) {
		return texts, nil
	}
	if err := s.keepOutlines(ctx); err != nil {
		return nil, err
	}
	return cached(ctx, s, question, s.judge, (*treeStatus).written)
}

// written returns all summaries of directories, without outlines.
func (ts *treeStatus) written() []DirText {
	var list []DirText
	for _, d := range ts.order {
		st := ts.at[d]
		if !st.written() {
			continue
		}
		shown := ts.shown(st)
		list = append(list, DirText{Path: d.Path, Text: *shown.Text, Verdict: st.Verdict, Reasons: st.Reasons, Receipt: shown.Receipt})
	}
	return list
}

// ReadmeWords returns the sentence of a README that describes its directory, "" for none.
func ReadmeWords(content string) string {
	return excerpt.Cut(excerpt.ParseReadme(content).Lead(), leadBytes)
}
