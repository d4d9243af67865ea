package app

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"ken/internal/content"
	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/prove"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
)

// proveContents is what is known of the contents of a history.
type proveContents struct {
	sizes  map[repo.ID]int64 // -1 for one that is not here
	counts map[place]bool    // policy wants a text about it
}

// file returns what lies at a place.
func (c *proveContents) file(p place) prove.File {
	if !p.regular() {
		return prove.File{}
	}
	f := prove.File{ID: p.id, Size: c.sizes[p.id], Counts: c.counts[place{path: p.path, id: p.id}]}
	if f.Size < 0 {
		f.Size, f.Absent = 0, true
	}
	return f
}

// contents finds which contents of a tree and of what became of it count: by their names
// and sizes, and where these let them by their bytes, each read once. Policy and git
// attributes are those of now. One that is not here goes by its name.
func (w *workspace) contents(ctx context.Context, before []place, commits []repo.Commit, progress func(done, total int)) (*proveContents, error) {
	known := &proveContents{sizes: make(map[repo.ID]int64), counts: make(map[place]bool)}
	ids, places := known.gather(before, commits)
	sizes, err := w.git.Sizes(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		known.sizes[id] = sizes[i]
	}
	attributes, err := w.attributesNow(ctx, places)
	if err != nil {
		return nil, err
	}
	judge := func(p place, head []byte) bool {
		kind := registry.Refine(content.KindOf(p.path, head), repo.Regular, attributes[p.path])
		return w.cfg.Registry.Excluded(p.path, kind, known.sizes[p.id]) == ""
	}
	left := survey.Options{Exclude: w.cfg.Survey.Exclude, Ranks: w.cfg.Survey.Ranks}
	unsure := make(map[repo.ID][]place)
	ids = ids[:0]
	for _, p := range places {
		switch {
		case left.LeftOut(p.path) || !judge(p, nil):
		case known.sizes[p.id] < 0:
			known.counts[p] = true
		default:
			if unsure[p.id] == nil {
				ids = append(ids, p.id)
			}
			unsure[p.id] = append(unsure[p.id], p)
		}
	}
	var mu sync.Mutex
	done := 0
	err = w.eachContent(ctx, ids, func(id repo.ID, b []byte) {
		mu.Lock()
		defer mu.Unlock()
		for _, p := range unsure[id] {
			known.counts[p] = judge(p, b)
		}
		if done++; done%256 == 0 {
			progress(done, len(ids))
		}
	})
	return known, err
}

// gather lists the contents of a tree and of what became of it, and where they lay, each
// once and without modes: an executable is a file like others.
func (c *proveContents) gather(before []place, commits []repo.Commit) (ids []repo.ID, places []place) {
	see := func(p place) {
		if !p.regular() {
			return
		}
		if _, seen := c.sizes[p.id]; !seen {
			c.sizes[p.id] = -1
			ids = append(ids, p.id)
		}
		p.mode = 0
		if _, seen := c.counts[p]; !seen {
			c.counts[p] = false
			places = append(places, p)
		}
	}
	for _, p := range before {
		see(p)
	}
	for _, commit := range commits {
		for _, ch := range commit.Changes {
			see(oldPlace(ch))
			see(newPlace(ch))
		}
	}
	return ids, places
}

// attributesNow returns what git attributes say of paths in the work tree as it is.
func (w *workspace) attributesNow(ctx context.Context, places []place) (map[repo.Path]repo.Attributes, error) {
	now, err := w.git.Snapshot(ctx)
	if err != nil || !now.Attributed {
		return nil, err
	}
	paths := make([]repo.Path, len(places))
	for i, p := range places {
		paths[i] = p.path
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	found, err := w.git.Attributes(ctx, paths)
	if err != nil {
		return nil, err
	}
	said := make(map[repo.Path]repo.Attributes, len(paths))
	for i, p := range paths {
		said[p] = found[i]
	}
	return said, nil
}

// eachContent reads contents, each by one of several gits, and calls see with them, from
// several goroutines. Those that are not here are left out; of a large one there is the
// beginning.
func (w *workspace) eachContent(ctx context.Context, ids []repo.ID, see func(id repo.ID, b []byte)) error {
	workers := min(runtime.GOMAXPROCS(0), maxReaders)
	parts := min(4*workers, len(ids)/minRead+1) // some for the slower one to leave to the faster
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for k := range parts {
		// What lies together in a pack stays together.
		part := ids[len(ids)*k/parts : len(ids)*(k+1)/parts]
		g.Go(func() error {
			return w.git.EachBlob(ctx, part, func(i int, b []byte, size int64) {
				if size >= 0 {
					see(part[i], b)
				}
			})
		})
	}
	return g.Wait()
}

const (
	maxReaders = 4  // gits that read contents at a time
	minRead    = 32 // contents that are worth a git of their own
)

// gradeAll says of every change how far it went.
func (w *workspace) gradeAll(ctx context.Context, commits []prove.Commit, progress func(done, total int)) error {
	type side struct {
		path repo.Path
		id   repo.ID
	}
	var files []*survey.File
	at := make(map[side]int)
	see := func(p repo.Path, f prove.File) {
		s := side{p, f.ID}
		if _, seen := at[s]; !seen && !f.Absent && f.Size < outline.MaxBytes && outline.MayRead(p) {
			at[s] = len(files)
			files = append(files, &survey.File{Path: p, ID: f.ID, Size: f.Size})
		}
	}
	each := func(f func(*prove.Change)) {
		for i := range commits {
			for k := range commits[i].Changes {
				if c := &commits[i].Changes[k]; c.Old.Counts && c.New.Counts && c.Old.ID != c.New.ID {
					f(c)
				}
			}
		}
	}
	each(func(c *prove.Change) {
		see(c.Path, c.Old)
		see(c.Path, c.New)
	})
	shapes, err := w.shapes(ctx, files, progress)
	if err != nil {
		return err
	}
	shape := func(p repo.Path, f prove.File) *outline.Outline {
		if i, ok := at[side{p, f.ID}]; ok {
			return shapes[i]
		}
		return nil
	}
	each(func(c *prove.Change) {
		if c.Grade = fresh.GradeContent; !c.Old.Absent && !c.New.Absent {
			c.Grade = outline.Grade(shape(c.Path, c.Old), shape(c.Path, c.New))
		}
	})
	return ctx.Err()
}

// shapeBatch is how many outlines are held whole at a time.
const shapeBatch = 512

// shapes returns of the outlines of files as much as they are compared by. Of those that
// are not kept the contents are read, and outlined on all cores.
func (w *workspace) shapes(ctx context.Context, files []*survey.File, progress func(done, total int)) ([]*outline.Outline, error) {
	shapes := make([]*outline.Outline, 0, len(files))
	for part := range slices.Chunk(files, shapeBatch) {
		found, err := w.outlines(ctx, part, func(which []int, seen func(k int, content []byte)) error {
			return w.outlineEach(ctx, part, which, seen)
		})
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			if o != nil {
				o = &outline.Outline{Language: o.Language, Partial: o.Partial, Tokens: o.Tokens, Interface: o.Interface}
			}
			shapes = append(shapes, o)
		}
		progress(len(shapes), len(files))
	}
	return shapes, nil
}

// outlineEach calls seen with the contents of files, from several goroutines.
func (w *workspace) outlineEach(ctx context.Context, files []*survey.File, which []int, seen func(k int, content []byte)) error {
	ids, places := byContent(files, which)
	return w.eachContent(ctx, ids, func(id repo.ID, b []byte) {
		for _, k := range places[id] {
			seen(k, b)
		}
	})
}
