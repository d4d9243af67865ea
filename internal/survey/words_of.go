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
)

// FileWords returns a line about a file from its outline: what it says of itself, else its main
// symbols. It is "" if there is nothing to say that the name of the file does not.
func FileWords(f *File, o *outline.Outline) string {
	it := &Item{Path: f.Path.Dir(), Files: []ItemFile{{File: f, Outline: o}}}
	w := &sketch{Item: it, docs: make(map[*ItemFile]string)}
	w.readDocs()
	return w.line(&it.Files[0])
}

// Layout returns the directories of the tree, every one after all below it, with the files
// that count.
func (s *Survey) Layout(ctx context.Context) ([]*Directory, error) {
	files, err := s.tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	return directories(files, s.opts), nil
}

// IsCode reports whether the name of a directory promises the code of the product, not tests,
// documents, examples or tools.
func (d *Directory) IsCode() bool { return dirPriority(d.Name()) <= promiseCommon }

// IsHidden reports whether the name of a directory begins with a dot.
func (d *Directory) IsHidden() bool { return dirPriority(d.Name()) == promiseHidden }

// OwnWords returns what a directory says of itself, from its own files; "" for nothing. absent
// counts the files whose content is not in this clone. It reads the files first that are named
// for the directory.
func (s *Survey) OwnWords(ctx context.Context, d *Directory) (text string, absent int, err error) {
	if d.Excluded != "" {
		return "", 0, nil
	}
	var named []*File
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

// mayOwnWords reports whether the name of a file promises words about its directory.
func (d *Directory) mayOwnWords(f *File) bool {
	stem, _, _ := strings.Cut(strings.ToLower(f.Path.Base()), ".")
	switch stem {
	case "doc", "__init__", "mod", "lib", "package-info", "index", "main", "readme", strings.ToLower(d.Name()):
		return true
	}
	_, ok := describes(f.Path.Base())
	return ok
}

func (s *Survey) ownWordsOf(ctx context.Context, dir repo.Path, files []*File) (own OwnWords, absent int, err error) {
	if len(files) == 0 {
		return OwnWords{}, 0, nil
	}
	j := &judgement{Survey: s}
	it, err := j.item(ctx, &DirStatus{Dir: &Directory{Path: dir, Files: files}})
	if errors.Is(err, ErrMoved) {
		return OwnWords{}, 0, nil
	}
	if err != nil {
		return OwnWords{}, 0, err
	}
	return it.Own, it.Absent, nil
}

// A DirText is what somebody wrote about a directory.
type DirText struct {
	Path    repo.Path
	Text    string
	Verdict Verdict
	Reasons []string
	Receipt *string
}

// Written returns what somebody wrote about some directories, and the texts about any
// directory that are stale.
func (s *Survey) Written(ctx context.Context, dirs []repo.Path) (texts map[repo.Path]DirText, stale []DirText, err error) {
	latest, err := s.store.Latest(ctx)
	if err != nil {
		return nil, nil, err
	}
	texts = make(map[repo.Path]DirText)
	somebody := false
	for _, records := range latest {
		somebody = somebody || slices.ContainsFunc(records, byModelOrAgent)
	}
	if !somebody {
		return texts, nil, nil
	}
	if err := s.keepOutlines(ctx); err != nil {
		return nil, nil, err
	}
	wanted := make(map[repo.Path]bool, len(dirs))
	for _, d := range dirs {
		wanted[d] = true
	}
	j, err := s.look(ctx, s.judge, func(j *judgement) []*Directory {
		var list []*Directory
		for _, d := range j.order {
			if wanted[d.Path] || j.at[d].Verdict.State() == fresh.Stale {
				list = append(list, d)
			}
		}
		return list
	})
	if err != nil {
		return nil, nil, err
	}
	for _, d := range j.order {
		st := j.at[d]
		isStale := st.Verdict.State() == fresh.Stale
		if st.Record == nil || st.Record.Outlined() || !wanted[d.Path] && !isStale {
			continue
		}
		shown := j.shown(st)
		text := DirText{Path: d.Path, Text: *shown.Text, Verdict: st.Verdict, Reasons: st.Reasons, Receipt: shown.Receipt}
		if wanted[d.Path] {
			texts[d.Path] = text
		}
		if isStale {
			stale = append(stale, text)
		}
	}
	return texts, stale, nil
}
