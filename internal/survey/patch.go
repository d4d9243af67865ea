package survey

import (
	"context"
	"fmt"
	"strings"

	"ken/internal/outline"
	"ken/internal/survey/describe"
	"ken/internal/survey/excerpt"
)

// The limits of the patches in one prompt, in bytes.
const (
	patchBytes        = 12 << 10
	shallowPatchBytes = 3 << 10
)

// patches returns the changes of the own files since the old text was written, up to the limit. It leaves out
// changes that do not count.
func (ts *treeStatus) patches(ctx context.Context, it *describe.Item) ([]describe.FilePatch, error) {
	if it.Old == nil {
		return nil, nil
	}
	was := filesByName(it.Old)
	left := patchBytes
	if it.Shallow {
		left = shallowPatchBytes
	}
	var list []describe.FilePatch
	for _, f := range it.Files {
		b, known := was[f.Path.Base()]
		if !known || b.ID == f.ID || !ts.opts.Counts(outline.Grade(b.Shape.Outline(), f.Outline)) {
			continue
		}
		p := describe.FilePatch{Name: f.Path.Base()}
		if left == 0 {
			p.Missing = "left out for length; read the file"
			list = append(list, p)
			continue
		}
		text, err := ts.tree.Patch(ctx, f.File, b.ID)
		if err != nil {
			return nil, fmt.Errorf("compare %s with its earlier content: %w", f.Path, err)
		}
		switch text = excerpt.Clean(text); {
		case text == "":
			p.Missing = "no patch available; read the file"
		case len(text) > left:
			p.Text = fmt.Sprintf("%s\n(cut here: %d more bytes)", strings.ToValidUTF8(text[:left], ""), len(text)-left)
			left = 0
		default:
			p.Text = text
			left -= len(text)
		}
		list = append(list, p)
	}
	return list, nil
}
