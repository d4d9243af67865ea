package app

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store/local"
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
		list[missing[k]], found[k] = o, o.AppendJSON(nil)
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
		kept, err := w.outlineCache().load(ctx, maker, some, files)
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
	w.outlineCache().keep(ctx, byMaker)
}

func (w *workspace) outlineCache() *outlineCache {
	w.cacheOnce.Do(func() {
		w.cache = &outlineCache{kept: local.OpenOutlines(w.git.CommonDir()), pending: make(map[string]map[repo.ID][]byte)}
	})
	return w.cache
}

// An outlineCache keeps outlines many at a time: a survey makes those of one directory
// after the other.
type outlineCache struct {
	kept *local.Outlines

	mu      sync.Mutex
	pending map[string]map[repo.ID][]byte // by maker
	bytes   int
}

// maxPending is how many bytes of outlines wait to be kept.
const maxPending = 4 << 20

// load returns the outlines that are known of some of the files.
func (c *outlineCache) load(ctx context.Context, maker string, which []int, files []*survey.File) (map[repo.ID][]byte, error) {
	waiting := make(map[repo.ID][]byte)
	var ids []repo.ID
	c.mu.Lock()
	for _, i := range which {
		if text, ok := c.pending[maker][files[i].ID]; ok {
			waiting[files[i].ID] = text
		} else {
			ids = append(ids, files[i].ID)
		}
	}
	c.mu.Unlock()
	if len(ids) == 0 {
		return waiting, nil
	}
	found, err := c.kept.Load(ctx, maker, ids)
	maps.Copy(waiting, found)
	return waiting, err
}

// keep keeps outlines, some time before close.
func (c *outlineCache) keep(ctx context.Context, byMaker map[string]map[repo.ID][]byte) {
	c.mu.Lock()
	for maker, outlines := range byMaker {
		if c.pending[maker] == nil {
			c.pending[maker] = make(map[repo.ID][]byte)
		}
		for id, text := range outlines {
			c.pending[maker][id] = text
			c.bytes += len(text)
		}
	}
	var full map[string]map[repo.ID][]byte
	if c.bytes > maxPending {
		full, c.pending, c.bytes = c.pending, make(map[string]map[repo.ID][]byte), 0
	}
	c.mu.Unlock()
	// Meanwhile the others go on. One of these that is asked for now is made again.
	c.save(ctx, full)
}

func (c *outlineCache) save(ctx context.Context, byMaker map[string]map[repo.ID][]byte) {
	for maker, outlines := range byMaker {
		_ = c.kept.Save(ctx, maker, outlines) // its only error is the context's, which the caller meets
	}
}

// close keeps what waits, though the run was stopped, and lets go of the file.
func (c *outlineCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.save(context.Background(), c.pending)
	clear(c.pending)
	c.kept.Close()
}

// byContent lists the contents of some of files, each once, and where each of them is
// among those.
func byContent(files []*survey.File, which []int) (ids []repo.ID, places map[repo.ID][]int) {
	places = make(map[repo.ID][]int)
	for k, i := range which {
		id := files[i].ID
		if places[id] == nil {
			ids = append(ids, id)
		}
		places[id] = append(places[id], k)
	}
	return ids, places
}
