package app

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
)

// outlineMaker names what makes outlines: another one may make others. What a name ends
// in is part of it, since a header may be read otherwise than a source of the same bytes.
func outlineMaker(p repo.Path) string {
	return fmt.Sprint(outline.Version, " ", outline.LanguageOf(p, nil), " ", strings.ToLower(path.Ext(p.Base())))
}

// outlines returns the outlines of files by their contents: those that are kept, and
// of the others what read brings; which they are is said by their places.
func (w *workspace) outlines(ctx context.Context, files []*survey.File, read func(which []int, see func(k int, content []byte)) error) ([]*outline.Outline, error) {
	list := make([]*outline.Outline, len(files))
	var missing []int
	for i, f := range files {
		if f.Problem == "" && outline.MayRead(f.Path) {
			missing = append(missing, i)
		}
	}
	missing = w.keptOutlines(ctx, files, list, missing)
	if len(missing) == 0 {
		return list, nil
	}
	found := make([][]byte, len(missing))
	err := read(missing, func(k int, content []byte) {
		o, err := outline.Of(files[missing[k]].Path, content)
		if err != nil {
			o = nil
		}
		list[missing[k]] = o
		if found[k], err = json.Marshal(o); err != nil {
			found[k] = nil
		}
	})
	if err != nil {
		return nil, err
	}
	w.keepOutlines(ctx, files, missing, found)
	return list, nil
}

// keptOutlines fills in the outlines that are known, and returns which are not.
func (w *workspace) keptOutlines(ctx context.Context, files []*survey.File, list []*outline.Outline, which []int) []int {
	byMaker := make(map[string][]int)
	for _, i := range which {
		maker := outlineMaker(files[i].Path)
		byMaker[maker] = append(byMaker[maker], i)
	}
	var missing []int
	for maker, some := range byMaker {
		ids := make([]repo.ID, len(some))
		for k, i := range some {
			ids[k] = files[i].ID
		}
		kept, err := w.outlineCache().Load(ctx, maker, ids)
		for _, i := range some {
			text, ok := kept[files[i].ID]
			var o *outline.Outline
			if err != nil || !ok || json.Unmarshal(text, &o) != nil {
				missing = append(missing, i)
				continue
			}
			list[i] = o
		}
	}
	slices.Sort(missing)
	return missing
}

// keepOutlines keeps outlines for the next time. One that cannot be kept is made again.
func (w *workspace) keepOutlines(ctx context.Context, files []*survey.File, which []int, found [][]byte) {
	byMaker := make(map[string]map[repo.ID][]byte)
	for k, i := range which {
		if found[k] == nil {
			continue
		}
		maker := outlineMaker(files[i].Path)
		if byMaker[maker] == nil {
			byMaker[maker] = make(map[repo.ID][]byte)
		}
		byMaker[maker][files[i].ID] = found[k]
	}
	for maker, outlines := range byMaker {
		_ = w.outlineCache().Save(ctx, maker, outlines) // its only error is the context's, which the caller meets
	}
}

func (w *workspace) outlineCache() *store.Outlines {
	w.cacheOnce.Do(func() { w.cache = store.OpenOutlines(w.git.CommonDir()) })
	return w.cache
}
