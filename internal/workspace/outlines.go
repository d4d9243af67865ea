package workspace

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
)

// ReadContents reads the files with the indexes in which. It calls see with each content and its position in which.
type ReadContents = func(which []int, see func(k int, content []byte)) error

// Outlines returns the outline of each file, nil without one. It calls read for the files whose outline is not stored.
func (w *Workspace) Outlines(ctx context.Context, files []*repo.File, read ReadContents) ([]*outline.Outline, error) {
	list, _, err := w.readOutlines(ctx, files, read, wanted{outlines: true})
	return list, err
}

// References returns the references of each file, as Outlines does. They are nil for a file in no known language, and
// empty for one without an outline.
func (w *Workspace) References(ctx context.Context, files []*repo.File, read ReadContents) ([]*outline.References, error) {
	_, refs, err := w.readOutlines(ctx, files, read, wanted{references: true})
	return refs, err
}

// OutlinesAndReferences returns both. A file without an outline has no references.
func (w *Workspace) OutlinesAndReferences(ctx context.Context, files []*repo.File, read ReadContents) ([]*outline.Outline, []*outline.References, error) {
	outlines, refs, err := w.readOutlines(ctx, files, read, wanted{outlines: true, references: true})
	for i, o := range outlines {
		if o == nil {
			refs[i] = nil
		}
	}
	return outlines, refs, err
}

// BlobOutlines returns the outlines of contents that git has, nil for those that git does not have.
func (w *Workspace) BlobOutlines(ctx context.Context, files []*repo.File) ([]*outline.Outline, error) {
	return w.Outlines(ctx, files, w.ReadBlobs(ctx, files))
}

// ReadBlobs reads contents from git. It leaves out those that git does not have, and those that are too large for an
// outline.
func (w *Workspace) ReadBlobs(ctx context.Context, files []*repo.File) ReadContents {
	return func(which []int, see func(k int, content []byte)) error {
		ids, places := byContent(files, which)
		return w.Git.EachBlob(ctx, ids, func(i int, content []byte, size int64) {
			if size < 0 || size >= outline.MaxBytes {
				return
			}
			for _, k := range places[ids[i]] {
				see(k, content)
			}
		})
	}
}

// byContent lists the contents of some files of a list, each once, with the indexes in which that have it.
func byContent(files []*repo.File, which []int) (ids []repo.ID, places map[repo.ID][]int) {
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

// outlineVersion is the version of the outlines of a file. It contains the extension, because a parser may read a
// header and a source file with the same bytes differently.
func outlineVersion(p repo.Path) string {
	return fmt.Sprint(outline.Version, " ", outline.LanguageOf(p, nil), " ", strings.ToLower(path.Ext(p.Base())))
}

// referencesVersion is the version of the references of a file. Their rules may change while outlines stay.
func referencesVersion(p repo.Path) string {
	return fmt.Sprint("refs ", outline.ReferencesVersion, " ", outlineVersion(p))
}

// wanted says what to load.
type wanted struct{ outlines, references bool }

// readOutlines loads what is wanted. It parses the other files once for both, and stores both.
func (w *Workspace) readOutlines(ctx context.Context, files []*repo.File, read ReadContents, want wanted) ([]*outline.Outline, []*outline.References, error) {
	outlines := make([]*outline.Outline, len(files))
	refs := make([]*outline.References, len(files))
	var which []int
	for i, f := range files {
		if f.Problem == "" && outline.MayHaveOutline(f.Path) {
			which = append(which, i)
		}
	}
	var missing []int
	if want.outlines {
		missing = w.load(ctx, files, which, outlineVersion, func(i int, stored []byte) bool {
			o, err := outline.ReadBinary(stored)
			outlines[i] = o
			return err == nil
		})
	}
	if want.references {
		without := w.load(ctx, files, which, referencesVersion, func(i int, stored []byte) bool {
			r := new(outline.References)
			if r.UnmarshalBinary(stored) != nil {
				return false
			}
			refs[i] = r
			return true
		})
		missing = append(missing, without...)
		slices.Sort(missing)
		missing = slices.Compact(missing)
	}
	if len(missing) == 0 {
		return outlines, refs, nil
	}
	newOutlines := make([][]byte, len(missing))
	newRefs := make([][]byte, len(missing))
	err := read(missing, func(k int, content []byte) {
		i := missing[k]
		o, r, err := outline.ParseWithReferences(files[i].Path, content)
		if err != nil {
			o, r = nil, new(outline.References)
		}
		outlines[i], refs[i] = o, r
		newOutlines[k], _ = o.AppendBinary(nil) // the errors are always nil
		newRefs[k], _ = r.AppendBinary(nil)
	})
	if err != nil {
		return nil, nil, err
	}
	w.save(ctx, files, missing, outlineVersion, newOutlines)
	w.save(ctx, files, missing, referencesVersion, newRefs)
	return outlines, refs, nil
}

// load calls use with the stored bytes of some files. It returns the files without any, and those that use refuses.
func (w *Workspace) load(ctx context.Context, files []*repo.File, which []int, versionOf func(repo.Path) string, use func(i int, stored []byte) bool) []int {
	byVersion := make(map[string][]int)
	for _, i := range which {
		version := versionOf(files[i].Path)
		byVersion[version] = append(byVersion[version], i)
	}
	var missing []int
	for version, some := range byVersion {
		stored, err := w.outlines.load(ctx, version, some, files)
		for _, i := range some {
			text, ok := stored[files[i].ID]
			if err != nil || !ok || !use(i, text) {
				missing = append(missing, i)
			}
		}
	}
	slices.Sort(missing)
	return missing
}

// save stores the bytes of some files, except nil ones. If that fails, they are computed again next time.
func (w *Workspace) save(ctx context.Context, files []*repo.File, which []int, versionOf func(repo.Path) string, texts [][]byte) {
	byVersion := make(map[string]map[repo.ID][]byte)
	for k, i := range which {
		if texts[k] == nil {
			continue
		}
		version := versionOf(files[i].Path)
		if byVersion[version] == nil {
			byVersion[version] = make(map[repo.ID][]byte)
		}
		byVersion[version][files[i].ID] = texts[k]
	}
	w.outlines.save(ctx, byVersion)
}

// An outlineStore stores outlines and references by content. It writes many at once, because a survey makes those of
// one directory after the other.
type outlineStore struct {
	disk *local.Outlines

	mu      sync.Mutex
	pending map[string]map[repo.ID][]byte // by version; nil if there are none
	bytes   int
}

// maxPending is the number of bytes that wait to be written.
const maxPending = 4 << 20

// load returns the stored bytes of some files.
func (s *outlineStore) load(ctx context.Context, version string, which []int, files []*repo.File) (map[repo.ID][]byte, error) {
	known := make(map[repo.ID][]byte)
	var ids []repo.ID
	s.mu.Lock()
	for _, i := range which {
		if text, ok := s.pending[version][files[i].ID]; ok {
			known[files[i].ID] = text
		} else {
			ids = append(ids, files[i].ID)
		}
	}
	s.mu.Unlock()
	if len(ids) == 0 {
		return known, nil
	}
	found, err := s.disk.Load(ctx, version, ids)
	maps.Copy(known, found)
	return known, err
}

// save adds to the bytes that wait, and writes them if they are many.
func (s *outlineStore) save(ctx context.Context, byVersion map[string]map[repo.ID][]byte) {
	s.mu.Lock()
	if s.pending == nil {
		s.pending = make(map[string]map[repo.ID][]byte)
	}
	for version, texts := range byVersion {
		if s.pending[version] == nil {
			s.pending[version] = make(map[repo.ID][]byte)
		}
		for id, text := range texts {
			s.pending[version][id] = text
			s.bytes += len(text)
		}
	}
	var full map[string]map[repo.ID][]byte
	if s.bytes > maxPending {
		full = s.pending
		s.pending, s.bytes = nil, 0
	}
	s.mu.Unlock()
	// Write without the lock. A goroutine that needs one of these outlines meanwhile computes it again.
	s.write(ctx, full)
}

func (s *outlineStore) write(ctx context.Context, byVersion map[string]map[repo.ID][]byte) {
	for version, texts := range byVersion {
		_ = s.disk.Save(ctx, version, texts) // it fails only if the context ends, which the caller notices
	}
}

// close writes the pending outlines, even if the command was interrupted, and closes the database.
func (s *outlineStore) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(context.Background(), s.pending)
	s.pending, s.bytes = nil, 0
	s.disk.Close()
}
