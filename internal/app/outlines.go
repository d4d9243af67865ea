package app

import (
	"context"
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

// refsMaker names what makes references. Their rules may change while outlines stay.
func refsMaker(p repo.Path) string {
	return fmt.Sprint("refs ", outline.ReferencesVersion, " ", outlineMaker(p))
}

// A readContents calls see with the contents of files. Which files are meant is said by
// their places in a list, and which of those a content belongs to by its place in which.
type readContents = func(which []int, see func(k int, content []byte)) error

// outlines returns the outlines of files by their contents: those that are kept, and
// of the others what read brings; which they are is said by their places.
func (w *workspace) outlines(ctx context.Context, files []*survey.File, read readContents) ([]*outline.Outline, error) {
	list, _, err := w.readFacts(ctx, files, read, wantedFacts{outlines: true})
	return list, err
}

// references returns the references of files by their contents, as outlines does. They are
// nil for a file that no grammar reads, and empty for one without an outline.
func (w *workspace) references(ctx context.Context, files []*survey.File, read readContents) ([]*outline.References, error) {
	_, refs, err := w.readFacts(ctx, files, read, wantedFacts{references: true})
	return refs, err
}

// facts returns the outlines and the references of files by their contents, as outlines
// does. A file without an outline has no references.
func (w *workspace) facts(ctx context.Context, files []*survey.File, read readContents) ([]*outline.Outline, []*outline.References, error) {
	outlines, refs, err := w.readFacts(ctx, files, read, wantedFacts{outlines: true, references: true})
	for i, o := range outlines {
		if o == nil {
			refs[i] = nil
		}
	}
	return outlines, refs, err
}

// wantedFacts says what to load of the facts that are kept.
type wantedFacts struct{ outlines, references bool }

// readFacts returns outlines and references, as far as they are wanted. A file is parsed
// once for both, and both are kept, whoever asked first.
func (w *workspace) readFacts(ctx context.Context, files []*survey.File, read readContents, want wantedFacts) ([]*outline.Outline, []*outline.References, error) {
	outlines := make([]*outline.Outline, len(files))
	refs := make([]*outline.References, len(files))
	var which []int
	for i, f := range files {
		if f.Problem == "" && outline.MayRead(f.Path) {
			which = append(which, i)
		}
	}
	var missing []int
	if want.outlines {
		missing = w.loadFacts(ctx, files, which, outlineMaker, func(i int, kept []byte) bool {
			o, err := outline.ReadBinary(kept)
			outlines[i] = o
			return err == nil
		})
	}
	if want.references {
		without := w.loadFacts(ctx, files, which, refsMaker, func(i int, kept []byte) bool {
			r := new(outline.References)
			if r.UnmarshalBinary(kept) != nil {
				return false
			}
			refs[i] = r
			return true
		})
		missing = append(missing, without...)
		slices.Sort(missing)
		missing = slices.Compact(missing)
	}
	if len(missing) > 0 {
		foundOutlines := make([][]byte, len(missing))
		foundRefs := make([][]byte, len(missing))
		err := read(missing, func(k int, content []byte) {
			i := missing[k]
			o, r, err := outline.Read(files[i].Path, content)
			if err != nil {
				o, r = nil, new(outline.References)
			}
			outlines[i], refs[i] = o, r
			foundOutlines[k], _ = o.AppendBinary(nil) // the errors are always nil
			foundRefs[k], _ = r.AppendBinary(nil)
		})
		if err != nil {
			return nil, nil, err
		}
		w.keepFacts(ctx, files, missing, outlineMaker, foundOutlines)
		w.keepFacts(ctx, files, missing, refsMaker, foundRefs)
	}
	return outlines, refs, nil
}

// loadFacts calls use with what is kept of some files by their makers, and returns the
// files of which nothing is kept that use accepts.
func (w *workspace) loadFacts(ctx context.Context, files []*survey.File, which []int, makerOf func(repo.Path) string, use func(i int, kept []byte) bool) []int {
	byMaker := make(map[string][]int)
	for _, i := range which {
		maker := makerOf(files[i].Path)
		byMaker[maker] = append(byMaker[maker], i)
	}
	var missing []int
	for maker, some := range byMaker {
		kept, err := w.outlineCache().load(ctx, maker, some, files)
		for _, i := range some {
			text, ok := kept[files[i].ID]
			if err != nil || !ok || !use(i, text) {
				missing = append(missing, i)
			}
		}
	}
	slices.Sort(missing)
	return missing
}

// keepFacts keeps facts for the next time. One that cannot be kept is made again.
func (w *workspace) keepFacts(ctx context.Context, files []*survey.File, which []int, makerOf func(repo.Path) string, found [][]byte) {
	byMaker := make(map[string]map[repo.ID][]byte)
	for k, i := range which {
		if found[k] == nil {
			continue
		}
		maker := makerOf(files[i].Path)
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

// An outlineCache keeps outlines and references many at a time: a survey makes those of one directory
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
