package survey

import (
	"context"
	"slices"

	"ken/internal/repo"
	"ken/internal/store"
)

// renew updates the verdicts from the memo: it judges only directories
// with changed files, and those above them. It is only for writers of
// outlines without estimates. It returns nil if the memo is empty or
// if these directories are not enough; then the caller judges all.
//
// The result is complete enough for a run: directories that need
// a summary have their files and the summaries of their children.
func (s *Survey) renew(ctx context.Context, w Writer) (*judgement, error) {
	memo := s.opts.Memo
	if memo == nil {
		return nil, nil
	}
	was, made, changed, err := memo.Step(ctx)
	if was == "" || err != nil {
		return nil, err
	}
	j := s.restore(was, memo.Load(ctx))
	if j == nil {
		return nil, nil
	}
	j.made, j.saved = made, was == made
	again := j.touched(changed, w)
	if again == nil {
		return nil, nil
	}
	if len(again) == 0 {
		return j, nil
	}
	if err := j.furnish(ctx, again); err != nil {
		return nil, orNothing(err)
	}
	if now, err := memo.Made(ctx); err != nil || now != made {
		return nil, err
	}
	// An own file that nobody knows may be all that a directory has.
	if slices.ContainsFunc(again, func(d *Directory) bool { return d.Excluded == "" && !d.wanted() }) {
		return nil, nil
	}
	for _, d := range again {
		if err := j.judgeLevel(ctx, []*Directory{d}); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// remember keeps how directories stand after a run by outlines, for the next one: what it
// has described, and all above, is judged again from what it has written. A run that left
// something undone keeps nothing, and what others did meanwhile belongs to no name.
func (r *run) remember(ctx context.Context) {
	memo := r.opts.Memo
	if memo == nil || r.made == "" || r.unsure || r.saved && len(r.kept) == 0 || !outlines(r.writer) ||
		r.how.Within != "" || r.ran.Stopped != "" || r.ran.Left > 0 || len(r.ran.Failed) > 0 {
		return
	}
	written := make(map[repo.Path]bool, len(r.kept))
	for _, rec := range r.kept {
		if !r.succeed(rec) {
			return
		}
		written[rec.Path] = true
	}
	again := make(map[*Directory]bool)
	for _, d := range r.order {
		if !written[d.Path] && !again[d] {
			continue
		}
		if r.judgeLevel(ctx, []*Directory{d}) != nil {
			return // and the next run judges all
		}
		if d.Parent != nil {
			again[d.Parent] = true
		}
	}
	if made, err := memo.After(ctx, r.made, r.kept); err == nil && made != "" && !r.unsure && r.current() {
		memo.Save(r.keep(made))
	}
}

// succeed puts an outline that was kept in the place of the one before, and reports
// whether a store would have: to it, the clock may have gone back, or something failed
// there before.
func (j *judgement) succeed(rec *store.DirRecord) bool {
	latest := []*store.DirRecord{rec}
	for _, r := range j.latest[rec.Path] {
		switch {
		case !r.Outlined():
			latest = append(latest, r)
		case r.Compare(rec) > 0:
			return false
		}
	}
	j.latest[rec.Path] = latest
	_, failed := j.failed[rec.Path]
	return !failed
}

// orNothing makes nothing of a store that has moved on.
func orNothing(err error) error {
	if err == errMoved { //nolint:errorlint // it is returned bare, and never leaves the package
		return nil
	}
	return err
}

// wanted reports whether a directory has something that counts.
func (d *Directory) wanted() bool {
	return len(d.Files) > 0 || slices.ContainsFunc(d.Children, func(c *Directory) bool { return c.Excluded == "" })
}

// touched returns the directories of files and all above them, each after all below it;
// nil when that is not all that has to be looked at: a directory is new or was left out,
// or another one is to be described too.
func (j *judgement) touched(files []repo.Path, w Writer) []*Directory {
	byPath := make(map[repo.Path]*Directory, len(j.order))
	for _, d := range j.order {
		byPath[d.Path] = d
	}
	in := make(map[*Directory]bool)
	for _, p := range files {
		d := byPath[p.Dir()]
		if d == nil || d.Excluded != "" {
			return nil
		}
		for ; d != nil && !in[d]; d = d.Parent {
			in[d] = true
		}
	}
	list := make([]*Directory, 0, len(in))
	for _, d := range j.order {
		switch st := j.at[d]; {
		case in[d]:
			list = append(list, d)
		case wanted(st, w) || st.Verdict == Unknown:
			return nil
		}
	}
	return list
}

// furnish gives directories their files, and reads what is said of them and of their
// children.
func (j *judgement) furnish(ctx context.Context, dirs []*Directory) error {
	paths := make([]repo.Path, len(dirs))
	own := make(map[repo.Path]*Directory, len(dirs))
	in := make(map[*Directory]bool, len(dirs))
	for i, d := range dirs {
		paths[i], own[d.Path], in[d] = d.Path, d, true
	}
	files, err := j.opts.Memo.FilesIn(ctx, paths)
	if err != nil {
		return err
	}
	for i := range files {
		f := &files[i]
		if d := own[f.Path.Dir()]; d != nil {
			d.add(f, j.opts)
		}
	}
	if j.latest, err = j.opts.Memo.LatestOf(ctx, paths); err != nil {
		return err
	}
	if j.failed, err = j.store.Failures(ctx); err != nil {
		return err
	}
	var beside []*Directory
	for _, d := range dirs {
		for _, c := range d.Children {
			if !in[c] {
				beside = append(beside, c)
			}
		}
	}
	return j.fetch(ctx, beside)
}
