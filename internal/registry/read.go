package registry

import (
	"context"
	"errors"
	"fmt"

	"ken/internal/repo"
)

// readBatch limits how many readings are in memory at once.
const readBatch = 4096

// read sets the content of the given entries from their bytes. known, if not nil, has the expected content of each.
func (r *Registry) read(ctx context.Context, v *view, which []int, known []repo.Content) error {
	for len(which) > 0 {
		n := min(len(which), readBatch)
		wants := make([]repo.ReadRequest, n)
		for k, i := range which[:n] {
			wants[k].Path = v.snap.Index.Entries[i].Path
			if known != nil {
				wants[k].Known = known[k]
			}
			wants[k].Seen = v.found[i].Stat
			if wants[k].Known == (repo.Content{}) && !v.full && !v.attributed && !v.attributesChanged && v.proven(i) {
				wants[k].Known.ID, wants[k].Proven = v.snap.Index.Entries[i].ID, true
			}
		}
		if err := r.readSome(ctx, v, which[:n], wants); err != nil {
			return err
		}
		which = which[n:]
		if known != nil {
			known = known[n:]
		}
	}
	return nil
}

func (r *Registry) readSome(ctx context.Context, v *view, which []int, wants []repo.ReadRequest) error {
	got, err := r.files.Read(ctx, wants)
	if err != nil {
		return err
	}
	var other, unsure []int // indexes in which: bytes that git may store differently
	for k, i := range which {
		g := &got[k]
		v.settle(i, g, g.Raw.ID, false)
		// Git may store even the bytes of the blob differently now.
		if g.Err == nil && g.Found.Presence == repo.RegularFile {
			other = append(other, k)
			if g.CRLF {
				unsure = append(unsure, k)
			}
		}
	}
	if v.attributed {
		unsure = other
	}
	return r.convert(ctx, v, which, got, unsure)
}

// settle sets the path state of entry i from a reading.
func (v *view) settle(i int, g *repo.Reading, id repo.ID, raw bool) {
	e := &v.snap.Index.Entries[i]
	if g.Err != nil {
		v.states[i] = pathState{state: unreadable, mode: e.Mode, err: g.Err}
		return
	}
	v.states[i] = pathState{
		state:   v.stateOf(i, id, raw),
		content: repo.Content{ID: id, MD5: g.Raw.MD5}, bytes: g.Raw.ID, crlf: g.CRLF, raw: raw,
		stat: g.Found.Stat, size: g.Size, mode: v.modeOf(e, &g.Found), kind: g.Kind,
	}
}

// convert settles the entries whose bytes git would convert.
func (r *Registry) convert(ctx context.Context, v *view, which []int, got []repo.Reading, unsure []int) error {
	if len(unsure) == 0 {
		return nil
	}
	entries := v.snap.Index.Entries
	paths := make([]repo.Path, len(unsure))
	for j, k := range unsure {
		paths[j] = entries[which[k]].Path
	}
	attrs, err := r.git.Attributes(ctx, paths)
	if err != nil {
		return err
	}
	var byText []repo.ReadRequest
	var textAt, gitAt []int // indexes in which
	var byGit []repo.Path
	for j, k := range unsure {
		a := attrs[j]
		switch {
		case a.Filtered:
			v.settle(which[k], &got[k], got[k].Raw.ID, true)
		case a.Convert == repo.ConvertGit:
			byGit, gitAt = append(byGit, paths[j]), append(gitAt, k)
		case a.Convert != repo.ConvertNone && got[k].CRLF:
			byText, textAt = append(byText, repo.ReadRequest{Path: paths[j], Convert: a.Convert}), append(textAt, k)
		}
	}
	if err := r.convertText(ctx, v, which, byText, textAt); err != nil {
		return err
	}
	if len(byGit) == 0 {
		return nil
	}
	return r.convertByGit(ctx, v, which, got, byGit, gitAt)
}

// convertByGit settles the entries that only git can convert. Git reads the files itself, so ken reads them again
// afterwards to check that git saw the same bytes.
func (r *Registry) convertByGit(ctx context.Context, v *view, which []int, got []repo.Reading, paths []repo.Path, at []int) error {
	ids, failed, err := r.cleaned(ctx, paths)
	if err != nil {
		return err
	}
	wants := make([]repo.ReadRequest, len(paths))
	for j := range paths {
		wants[j].Path = paths[j]
	}
	again, err := r.files.Read(ctx, wants)
	if err != nil {
		return err
	}
	for j, k := range at {
		switch {
		case failed[j] != nil:
			again[j].Err = failed[j]
		case again[j].Err == nil && again[j].Raw != got[k].Raw:
			again[j].Err = errors.New("changed while being read")
		}
		v.settle(which[k], &again[j], ids[j], false)
	}
	return nil
}

// cleaned asks git for the ids of files. If that fails, it asks for one after the other, so that a file that cannot
// be converted does not affect the others.
func (r *Registry) cleaned(ctx context.Context, paths []repo.Path) (ids []repo.ID, failed []error, err error) {
	failed = make([]error, len(paths))
	if ids, err = r.git.StoredIDs(ctx, paths); err == nil {
		return ids, failed, nil
	}
	ids = make([]repo.ID, len(paths))
	for j := range paths {
		one, err := r.git.StoredIDs(ctx, paths[j:j+1])
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if failed[j] = err; err == nil {
			ids[j] = one[0]
		}
	}
	return ids, failed, nil
}

// convertText settles the entries whose line ends git would change.
func (r *Registry) convertText(ctx context.Context, v *view, which []int, wants []repo.ReadRequest, at []int) error {
	if len(wants) == 0 {
		return nil
	}
	again, err := r.files.Read(ctx, wants)
	if err != nil {
		return err
	}
	for j, k := range at {
		i, g := which[k], &again[j]
		e := &v.snap.Index.Entries[i]
		id := g.Raw.ID
		if g.Err == nil && !g.Converted.IsZero() {
			id = g.Converted
			if wants[j].Convert == repo.ConvertAuto && id != e.ID && !e.ID.IsZero() {
				// Git does not convert a file whose committed content has CRLF already.
				kept, err := r.git.HasCRLF(ctx, e.ID)
				if err != nil {
					return fmt.Errorf("line endings of %s: %w", e.Path, err)
				}
				if kept {
					id = g.Raw.ID
				}
			}
		}
		v.settle(i, g, id, false)
	}
	return nil
}
