package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ken/internal/content"
	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
)

// A surveyTree is the work tree as it was verified.
type surveyTree struct {
	w      *workspace
	commit repo.ID
	state  registry.State // as the files were found
	report *registry.Report
	about  map[repo.Path]store.FileRow
	// problems are why contents are not known.
	problems map[repo.Path]string
	// missing are the files of rows that are gone from the disk.
	missing map[repo.Path]bool
	step    *registry.Step
	// measured are the sizes of files that their rows do not tell.
	measured []measured

	skips      sync.Once
	skipped    map[repo.Path]bool
	skipFailed error

	// unkept turns the memo of verdicts off, for reading
	// and for writing; unsaved turns off only the writing.
	unkept, unsaved bool
	// look judges the files and records nothing. If it is nil, the tree verifies them, which
	// counts as a check.
	look *worktreeReader

	looked sync.Once
	failed error
	once   sync.Once
	files  []survey.File
	err    error
}

// workTree returns the tree that a survey of the work tree reads.
func (w *workspace) workTree() *surveyTree {
	return &surveyTree{w: w, look: w.look, unkept: w.look != nil}
}

// Commit is HEAD, once the files were asked for.
func (t *surveyTree) Commit() repo.ID { return t.commit }

// Files verifies the work tree and lists what it holds, the same whenever it is asked.
func (t *surveyTree) Files(ctx context.Context) ([]survey.File, error) {
	t.once.Do(func() { t.files, t.err = t.list(ctx) })
	return t.files, t.err
}

// verify looks at the work tree, once.
func (t *surveyTree) verify(ctx context.Context) error {
	t.looked.Do(func() {
		var rep *registry.Report
		var err error
		if t.look != nil {
			rep, _, err = t.look.read(ctx)
		} else {
			rep, err = t.w.registry.Verify(ctx, registry.VerifyOptions{OmitNew: true})
		}
		if err != nil {
			t.failed = err
			return
		}
		t.take(rep)
	})
	return t.failed
}

// take takes over what a verification of all files has found.
func (t *surveyTree) take(rep *registry.Report) {
	t.commit, t.state, t.step, t.report = rep.Head, rep.State, rep.Step, rep
	t.problems, t.missing = make(map[repo.Path]string), make(map[repo.Path]bool)
	for _, v := range rep.Verdicts {
		switch v.Verdict {
		case registry.FoundMissing:
			t.missing[v.RawPath()] = true
		case registry.FoundUnknown, registry.FoundConflicted:
			t.problems[v.RawPath()] = cmp.Or(v.Reason, v.Verdict.String())
		default:
		}
	}
}

// headline says in one line what holds of files now that they were looked at.
func (t *surveyTree) headline() string {
	after := *t.report
	if t.step != nil && t.step.Baseline.Clean { // that is what the next one will trust
		after.State, after.Reasons = registry.StateTrust, nil
	}
	return after.Headline()
}

func (t *surveyTree) list(ctx context.Context) ([]survey.File, error) {
	// Of what is new there are no rows, or those of what was there before.
	if err := t.verify(ctx); err != nil || t.state == registry.StateNew {
		return nil, err
	}
	var files []survey.File
	if t.look != nil {
		files = t.look.tracked()
	}
	t.about, t.measured = make(map[repo.Path]store.FileRow), nil
	for row, err := range t.w.store.Rows(ctx, t.w.git.Worktree()) {
		if err != nil {
			return nil, err
		}
		if t.missing[row.Path] {
			continue // it may be tracked still, but what is described is the work tree
		}
		if !row.About.IsZero() {
			t.about[row.Path] = row
		}
		if t.look == nil {
			files = append(files, t.file(row))
		}
	}
	if t.look != nil {
		return files, nil // with sizes
	}
	return files, t.measure(ctx, files)
}

// rowsName verifies the work tree and names the rows that list is made from. It is "" if a
// file is missing or its content is unknown, because rows do not record that.
func (t *surveyTree) rowsName(ctx context.Context) (string, error) {
	if err := t.verify(ctx); err != nil || t.state == registry.StateNew || len(t.problems)+len(t.missing) > 0 {
		return "", err
	}
	if t.look != nil {
		return "", nil // the rows may be of an older tree
	}
	b, ok, err := t.w.store.Baseline(ctx, t.w.git.Worktree())
	if err != nil || !ok {
		return "", err
	}
	return fmt.Sprint(b.Generation, " ", b.Records), nil
}

func (t *surveyTree) file(row store.FileRow) survey.File {
	f := survey.File{Path: row.Path, ID: row.Content.ID, Size: row.Stat.Size, Kind: row.Kind, Excluded: row.Excluded}
	if why, ok := t.problems[row.Path]; ok {
		f.ID, f.Problem = repo.ID{}, why
	}
	return f
}

// one returns a file without listing all of them, nil when there is none. Its size is
// what the row says.
func (t *surveyTree) one(ctx context.Context, p repo.Path) (*survey.File, error) {
	if err := t.verify(ctx); err != nil || t.state == registry.StateNew {
		return nil, err
	}
	if t.look != nil {
		files, err := t.Files(ctx)
		i := slices.IndexFunc(files, func(f survey.File) bool { return f.Path == p })
		if err != nil || i < 0 {
			return nil, err
		}
		return &files[i], nil
	}
	rows, err := t.w.store.RowsOf(ctx, t.w.git.Worktree(), []repo.Path{p})
	if err != nil {
		return nil, err
	}
	row, ok := rows[p]
	if !ok || t.missing[p] {
		return nil, nil
	}
	if !row.About.IsZero() && t.about == nil {
		t.about = map[repo.Path]store.FileRow{p: row}
	}
	f := t.file(row)
	return &f, nil
}

// A measured is a file's size as it was found.
type measured struct {
	Path []byte
	Size int64
}

// measure fills in sizes: a row has none while nothing vouches for its content.
func (t *surveyTree) measure(ctx context.Context, files []survey.File) error {
	var which []int
	var entries []repo.Entry
	for i, f := range files {
		if f.Size == 0 && f.Problem == "" {
			which, entries = append(which, i), append(entries, repo.Entry{Path: f.Path})
		}
	}
	if len(which) == 0 {
		return nil
	}
	found, err := t.w.files.Stat(ctx, entries)
	for k, i := range which {
		if err == nil && found[k].Presence != repo.Directory { // a submodule has no size here
			files[i].Size = found[k].Stat.Size
		}
		if err == nil && files[i].Size != 0 {
			t.measured = append(t.measured, measured{[]byte(files[i].Path), files[i].Size})
		}
	}
	return err
}

// Read reads a file as it lies in the work tree.
func (t *surveyTree) Read(ctx context.Context, f *survey.File, most int) ([]byte, error) {
	var out []byte
	var failed error
	err := t.w.files.Bytes(ctx, []repo.Path{f.Path}, int64(most), func(_ int, b []byte, err error) {
		out, failed = append(out, b...), err
	})
	if err != nil {
		return nil, err
	}
	// Whoever reads another content than the one that is judged would write about it.
	switch past := (specPast{t.w.git, t.w}); {
	case errors.Is(failed, content.ErrTooLarge) && f.Size > int64(most):
		return nil, failed
	case failed == nil && past.Stored(out, f.ID):
		return out, nil
	}
	moved, err := t.moved(ctx, []*survey.File{f})
	if err == nil && moved[0] {
		err = fmt.Errorf("read %s: %w", f.Path, survey.ErrMoved)
	}
	if err == nil && t.skipped[f.Path] {
		err = t.unchecked(ctx, []*survey.File{f}, []int{0}, func(_ int, b []byte) { out = b }, []bool{true})
		if err == nil && out != nil && len(out) <= most {
			return out, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("read %s: it is not checked out, or git would store other bytes than the file has", f.Path)
	}
	return nil, err
}

// moved says which of some files have moved, whose bytes are not those that git would
// store or could not be read: all but those that git does not store as they are, or was
// told not to check out.
func (t *surveyTree) moved(ctx context.Context, files []*survey.File) ([]bool, error) {
	if len(files) == 0 {
		return nil, nil
	}
	paths := make([]repo.Path, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	attrs, err := t.w.git.Attributes(ctx, paths)
	if err != nil {
		return nil, err
	}
	sparse, err := t.sparse(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]bool, len(attrs))
	for i, a := range attrs {
		list[i] = !a.Filtered && a.Convert != repo.ConvertGit && !sparse[paths[i]]
	}
	return list, nil
}

// sparse returns the files that git was told not to check out.
func (t *surveyTree) sparse(ctx context.Context) (map[repo.Path]bool, error) {
	t.skips.Do(func() {
		var now *repo.Snapshot
		if now, t.skipFailed = t.w.git.Snapshot(ctx); t.skipFailed != nil {
			return
		}
		t.skipped = make(map[repo.Path]bool)
		for _, e := range now.Index.Entries {
			if e.Flags.Has(repo.SkipWorktree) {
				t.skipped[e.Path] = true
			}
		}
	})
	return t.skipped, t.skipFailed
}

// unchecked has git tell the contents of files that it was told not to check out, of those
// that some are: nil for one that it does not have.
func (t *surveyTree) unchecked(ctx context.Context, files []*survey.File, which []int, see func(k int, content []byte), some []bool) error {
	sparse, err := t.sparse(ctx)
	if err != nil {
		return err
	}
	var ids []repo.ID
	var whose []int
	for k, i := range which {
		if some[i] && sparse[files[i].Path] {
			ids, whose = append(ids, files[i].ID), append(whose, k)
		}
	}
	return t.w.git.EachBlob(ctx, ids, func(n int, b []byte, _ int64) { see(whose[n], b) })
}

// Outlines reads the files that have none kept; what is not checked out it has from git.
func (t *surveyTree) Outlines(ctx context.Context, files []*survey.File) ([]survey.Seen, error) {
	past := specPast{t.w.git, t.w}
	other := make([]bool, len(files)) // what lies there is not what was listed
	absent := make([]bool, len(files))
	list, err := t.w.outlines(ctx, files, func(which []int, see func(k int, content []byte)) error {
		paths := make([]repo.Path, len(which))
		for k, i := range which {
			paths[k] = files[i].Path
		}
		err := t.w.files.Bytes(ctx, paths, outline.MaxBytes, func(k int, b []byte, err error) {
			// What is not of the content that is judged has no say.
			f := files[which[k]]
			stored := past.asStored(b, f.ID)
			switch {
			case err == nil && stored != nil:
				see(k, stored)
			case errors.Is(err, content.ErrTooLarge) && f.Size > outline.MaxBytes:
			default:
				other[which[k]] = true
			}
		})
		if err != nil || !t.w.git.Sparse() {
			return err
		}
		return t.unchecked(ctx, files, which, func(k int, b []byte) {
			if other[which[k]] = false; b == nil {
				absent[which[k]] = true
			} else if len(b) <= outline.MaxBytes {
				see(k, b)
			}
		}, other)
	})
	if err != nil {
		return nil, err
	}
	out := seen(list)
	for i, f := range files {
		if absent[i] {
			out[i].Err = fmt.Errorf("read %s: %w", f.Path, survey.ErrAbsent)
		}
	}
	var doubted []*survey.File
	var which []int
	for i, f := range files {
		if other[i] {
			doubted, which = append(doubted, f), append(which, i)
		}
	}
	moved, err := t.moved(ctx, doubted)
	if err != nil {
		return nil, err
	}
	for k, i := range which {
		if moved[k] {
			out[i].Err = fmt.Errorf("read %s: %w", files[i].Path, survey.ErrMoved)
		}
	}
	return out, nil
}

// Patch has git compare the older content with the file in the work tree.
func (t *surveyTree) Patch(ctx context.Context, f *survey.File, old repo.ID) (string, error) {
	return t.w.patchFrom(ctx, f, old, func() (string, error) { return t.w.git.DiffFile(ctx, old, f.Path) })
}

// patchFrom returns the hunks of a patch, "" if git does not have the older content, and for
// contents that are too large or are not text.
func (w *workspace) patchFrom(ctx context.Context, f *survey.File, old repo.ID, diff func() (string, error)) (string, error) {
	sizes, err := w.git.Sizes(ctx, []repo.ID{old})
	if err != nil || sizes[0] < 0 || max(sizes[0], f.Size) > outline.MaxBytes {
		return "", err
	}
	patch, err := diff()
	if err != nil {
		return "", err
	}
	start := strings.Index(patch, "\n@@ ")
	if start < 0 {
		return "", nil
	}
	return patch[start+1:], nil
}

// Summaries returns what the registry has about files.
func (t *surveyTree) Summaries(ctx context.Context, files []*survey.File) ([]survey.Summary, error) {
	return t.w.summaries(ctx, files, func(f *survey.File) (repo.Content, bool) {
		row, ok := t.about[f.Path]
		return row.About.Content, ok
	})
}

// summaries returns the texts about files whose content, or what the text was written
// from, is known by about.
func (w *workspace) summaries(ctx context.Context, files []*survey.File, about func(*survey.File) (repo.Content, bool)) ([]survey.Summary, error) {
	return summaries(ctx, w.store, files, about)
}

// texts is the part of a store that tells what is said of contents.
type texts interface {
	Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error)
}

func summaries(ctx context.Context, store texts, files []*survey.File, about func(*survey.File) (repo.Content, bool)) ([]survey.Summary, error) {
	list := make([]survey.Summary, len(files))
	var bases []repo.Content
	for _, f := range files {
		if c, ok := about(f); ok {
			bases = append(bases, c)
		}
	}
	if len(bases) == 0 {
		return list, nil
	}
	said, err := store.Newest(ctx, bases)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		c, ok := about(f)
		if !ok {
			continue
		}
		if record, ok := said[c]; ok {
			list[i] = survey.Summary{Text: record.Text, State: fresh.Judge(record.Basis, repo.Content{ID: f.ID})}
		}
	}
	return list, nil
}
