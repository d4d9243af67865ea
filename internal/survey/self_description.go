package survey

import (
	"context"
	"errors"
	"path"

	"ken/internal/repo"
	"ken/internal/survey/describe"
	"ken/internal/workspace"
)

// SelfDescription returns the description of a directory in its own files, "" for none. absent counts the files whose
// content is not in this clone. It first reads the files whose names suggest a description.
func (s *Survey) SelfDescription(ctx context.Context, d *Directory) (text string, absent int, err error) {
	if d.Excluded != "" {
		return "", 0, nil
	}
	var named []*repo.File
	packaged := false // a comment in any file may be about the package
	for _, f := range d.Files {
		if describe.MayDescribeDir(f.Path) {
			named = append(named, f)
		} else {
			packaged = packaged || path.Ext(f.Path.Base()) == ".go"
		}
	}
	own, absent, err := s.readSelfDescription(ctx, d.Path, named)
	if err != nil || !packaged || own.Text != "" && path.Ext(own.From) == ".go" {
		return own.Text, absent, err
	}
	own, absent, err = s.readSelfDescription(ctx, d.Path, d.Files)
	return own.Text, absent, err
}

// readSelfDescription reads the description of a directory in some of its files. A file that changes meanwhile leaves none.
func (s *Survey) readSelfDescription(ctx context.Context, dir repo.Path, files []*repo.File) (own describe.SelfDescription, absent int, err error) {
	it := &describe.Item{Path: dir}
	err = it.ReadFiles(ctx, s.tree, files, s.opts.StaleMentions)
	if errors.Is(err, workspace.ErrChanged) {
		return describe.SelfDescription{}, 0, nil
	}
	if err != nil {
		return describe.SelfDescription{}, 0, err
	}
	return it.Own, it.AbsentFiles, nil
}
