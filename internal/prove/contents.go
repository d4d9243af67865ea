package prove

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/workspace"
)

// contents has the facts about the contents of a history.
type contents struct {
	sizes  map[repo.ID]int64 // -1 for a content that git does not have
	counts map[place]bool    // the policy requires a summary
}

// file returns the file at a place.
func (c *contents) file(p place) File {
	if !p.regular() {
		return File{}
	}
	f := File{ID: p.id, Size: c.sizes[p.id], Counts: c.counts[place{path: p.path, id: p.id}]}
	if f.Size < 0 {
		f.Size, f.Absent = 0, true
	}
	return f
}

// contents decides which files of the first tree and of the commits count. It judges by path and size and, if
// these admit the file, by its content, which it reads once. It applies today's policy and git attributes. If git
// lacks a content, the path decides.
func (w *Prover) contents(ctx context.Context, before []place, commits []repo.Commit, progress func(done, total int)) (*contents, error) {
	known := &contents{sizes: make(map[repo.ID]int64), counts: make(map[place]bool)}
	ids, places := known.gather(before, commits)
	sizes, err := w.git().Sizes(ctx, ids)
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
		return w.counts(p.path, known.sizes[p.id], attributes[p.path], head)
	}
	unsure := make(map[repo.ID][]place)
	ids = ids[:0]
	for _, p := range places {
		switch {
		case !judge(p, nil):
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

// gather lists the contents of a tree and of the commits after it, with their paths, without duplicates and
// without modes: an executable file counts like any other.
func (c *contents) gather(before []place, commits []repo.Commit) (ids []repo.ID, places []place) {
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

// attributesNow returns the current git attributes of paths in the work tree.
func (w *Prover) attributesNow(ctx context.Context, places []place) (map[repo.Path]repo.Attributes, error) {
	now, err := w.git().Snapshot(ctx)
	if err != nil || !now.Attributed {
		return nil, err
	}
	paths := make([]repo.Path, len(places))
	for i, p := range places {
		paths[i] = p.path
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	found, err := w.git().Attributes(ctx, paths)
	if err != nil {
		return nil, err
	}
	said := make(map[repo.Path]repo.Attributes, len(paths))
	for i, p := range paths {
		said[p] = found[i]
	}
	return said, nil
}

// eachContent reads contents with several git processes and calls see with each, concurrently. It omits contents
// that git lacks, and passes only the beginning of a large one.
func (w *Prover) eachContent(ctx context.Context, ids []repo.ID, see func(id repo.ID, b []byte)) error {
	workers := min(runtime.GOMAXPROCS(0), maxReaders)
	parts := min(4*workers, len(ids)/minRead+1) // more parts than workers, so that a fast worker takes over from a slow one
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for k := range parts {
		// Contents that are close in a pack stay in the same part.
		part := ids[len(ids)*k/parts : len(ids)*(k+1)/parts]
		g.Go(func() error {
			return w.git().EachBlob(ctx, part, func(i int, b []byte, size int64) {
				if size >= 0 {
					see(part[i], b)
				}
			})
		})
	}
	return g.Wait()
}

const (
	maxReaders = 4  // the maximum number of git processes that read contents
	minRead    = 32 // the minimum number of contents for a git process
)

// gradeAll sets the grade of every change.
func (w *Prover) gradeAll(ctx context.Context, commits []Commit, progress func(done, total int)) error {
	type side struct {
		path repo.Path
		id   repo.ID
	}
	var files []*workspace.File
	at := make(map[side]int)
	see := func(p repo.Path, f File) {
		s := side{p, f.ID}
		if _, seen := at[s]; !seen && !f.Absent && f.Size < outline.MaxBytes && outline.MayHaveOutline(p) {
			at[s] = len(files)
			files = append(files, &workspace.File{Path: p, ID: f.ID, Size: f.Size})
		}
	}
	each := func(f func(*Change)) {
		for i := range commits {
			for k := range commits[i].Changes {
				if c := &commits[i].Changes[k]; c.Old.Counts && c.New.Counts && c.Old.ID != c.New.ID {
					f(c)
				}
			}
		}
	}
	each(func(c *Change) {
		see(c.Path, c.Old)
		see(c.Path, c.New)
	})
	shapes, err := w.shapes(ctx, files, progress)
	if err != nil {
		return err
	}
	shape := func(p repo.Path, f File) *outline.Outline {
		if i, ok := at[side{p, f.ID}]; ok {
			return shapes[i]
		}
		return nil
	}
	each(func(c *Change) {
		if c.Grade = fresh.GradeContent; !c.Old.Absent && !c.New.Absent {
			c.Grade = outline.Grade(shape(c.Path, c.Old), shape(c.Path, c.New))
		}
	})
	return ctx.Err()
}

// shapeBatch limits how many complete outlines are in memory.
const shapeBatch = 512

// shapes returns the parts of the outlines of files that a comparison needs. If an outline is not stored, ken
// reads the content and parses it, on all cores.
func (w *Prover) shapes(ctx context.Context, files []*workspace.File, progress func(done, total int)) ([]*outline.Outline, error) {
	shapes := make([]*outline.Outline, 0, len(files))
	for part := range slices.Chunk(files, shapeBatch) {
		found, err := w.Sources.Workspace.BlobOutlines(ctx, part)
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
