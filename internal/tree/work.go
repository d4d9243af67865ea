// Package tree has the files that ken judges and describes: those of the work tree as the registry verified them, and
// those of a commit. Both implement [workspace.Tree].
package tree

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
	"ken/internal/store/local"
	"ken/internal/workspace"
)

// Sources are the parts of an open repository that a tree reads.
type Sources struct {
	Workspace *workspace.Workspace
	Registry  *registry.Registry // of the work tree
	Store     *local.Store
	Records   Records         // has the summaries; Store if nil
	Policy    registry.Policy // which files of a commit are excluded
	// ReadOnly, if set, has the files and verdicts, and no check is recorded.
	ReadOnly *ReadOnlyCheck
}

// WorkTree is the work tree as the registry verified it.
type WorkTree struct {
	Sources
	unrecorded bool // the registry did not record the report

	verified   once[*registry.Report]
	commit     repo.ID // HEAD at the verification
	files      once[[]repo.File]
	sparse     once[map[repo.Path]bool]
	summarised map[repo.Path]store.FileRow // rows of files with a summary
	// problems are the reasons why contents are unknown.
	problems map[repo.Path]string
	// missing are files with a row that the disk does not have.
	missing map[repo.Path]bool
}

// A once is the result of a function that runs once.
type once[T any] struct {
	once  sync.Once
	value T
	err   error
}

// get returns the result of the first read.
func (o *once[T]) get(read func() (T, error)) (T, error) {
	o.once.Do(func() { o.value, o.err = read() })
	return o.value, o.err
}

// records returns the store of the summaries.
func (o *Sources) records() Records {
	if o.Records != nil {
		return o.Records
	}
	return o.Store
}

// NewWorkTree returns the work tree of a repository.
func NewWorkTree(opts Sources) *WorkTree { return &WorkTree{Sources: opts} }

// NewWorkTreeFromReport returns the work tree for a report on all its files. Recorded says that the registry recorded the report.
func NewWorkTreeFromReport(opts Sources, rep *registry.Report, recorded bool) *WorkTree {
	t := &WorkTree{Sources: opts, unrecorded: !recorded}
	_, _ = t.verified.get(func() (*registry.Report, error) { return t.take(rep), nil })
	return t
}

// Recorded reports whether the registry has recorded the files as they are in the tree. Otherwise a reader must not
// store anything about them.
func (t *WorkTree) Recorded() bool { return t.ReadOnly == nil && !t.unrecorded }

// Report returns the verdicts of the files, after Verify or Files.
func (t *WorkTree) Report() *registry.Report { return t.verified.value }

// Commit returns HEAD, after Verify or Files.
func (t *WorkTree) Commit() repo.ID { return t.commit }

// Files verifies the work tree and lists its files. Later calls return the same list.
func (t *WorkTree) Files(ctx context.Context) ([]repo.File, error) {
	return t.files.get(func() ([]repo.File, error) { return t.list(ctx) })
}

// Verify verifies the work tree on the first call.
func (t *WorkTree) Verify(ctx context.Context) error {
	_, err := t.verified.get(func() (*registry.Report, error) {
		var rep *registry.Report
		var err error
		if t.ReadOnly != nil {
			rep, _, err = t.ReadOnly.Report(ctx)
		} else {
			rep, err = t.Registry.Verify(ctx, registry.VerifyOptions{OmitNew: true})
		}
		if err != nil {
			return nil, err
		}
		return t.take(rep), nil
	})
	return err
}

// take notes HEAD, and the files that are missing or unknown. It returns the report.
func (t *WorkTree) take(rep *registry.Report) *registry.Report {
	t.commit = rep.Head
	t.problems = make(map[repo.Path]string)
	t.missing = make(map[repo.Path]bool)
	for _, v := range rep.Verdicts {
		switch v.Content.State {
		case fresh.Gone:
			t.missing[v.RawPath()] = true
		case fresh.Unknown:
			t.problems[v.RawPath()] = cmp.Or(v.Reason, v.Content.String())
		default:
		}
	}
	return rep
}

func (t *WorkTree) list(ctx context.Context) ([]repo.File, error) {
	if err := t.Verify(ctx); err != nil {
		return nil, err
	}
	var files []repo.File
	if t.ReadOnly != nil {
		files = t.ReadOnly.files() // with sizes
	}
	if t.Report().State == registry.StateNew {
		return files, nil // rows, if there are any, are of an older tree
	}
	t.summarised = make(map[repo.Path]store.FileRow)
	for row, err := range t.Store.Rows(ctx, t.Workspace.Git.Worktree()) {
		if err != nil {
			return nil, err
		}
		if t.missing[row.Path] {
			continue // git may still track it, but the work tree does not have it
		}
		if !row.SummaryBasis.IsZero() {
			t.summarised[row.Path] = row
		}
		if t.ReadOnly == nil {
			files = append(files, t.file(row))
		}
	}
	if t.ReadOnly != nil {
		return files, nil
	}
	return files, t.measure(ctx, files)
}

// RowsKey verifies the work tree and returns the key of the rows that Files are made from. It is "" if a
// file is missing or its content is unknown, because rows do not record that.
func (t *WorkTree) RowsKey(ctx context.Context) (string, error) {
	if known, err := t.rowsKnown(ctx); err != nil || !known {
		return "", err
	}
	b, ok, err := t.Store.LastVerification(ctx, t.Workspace.Git.Worktree())
	if err != nil || !ok {
		return "", err
	}
	return fmt.Sprint(b.Generation, " ", b.Records), nil
}

// SurveyKey verifies the work tree and returns the key of the inputs of a survey: the rows, the records and
// failures of directories, and the policy. It is "" in the cases of RowsKey.
func (t *WorkTree) SurveyKey(ctx context.Context) (string, error) {
	if known, err := t.rowsKnown(ctx); err != nil || !known {
		return "", err
	}
	mark, err := t.Store.SurveyMark(ctx, t.Workspace.Git.Worktree())
	if err != nil || mark == "" {
		return "", err
	}
	return fmt.Sprintf("%q %s %#v", t.Workspace.Git.Worktree(), mark, t.Policy), nil
}

// rowsKnown verifies the work tree and reports whether its rows describe all of its files.
func (t *WorkTree) rowsKnown(ctx context.Context) (bool, error) {
	if err := t.Verify(ctx); err != nil {
		return false, err
	}
	if t.ReadOnly != nil {
		return false, nil // the rows may be of an older tree
	}
	return t.Report().State != registry.StateNew && len(t.problems)+len(t.missing) == 0, nil
}

func (t *WorkTree) file(row store.FileRow) repo.File {
	f := repo.File{Path: row.Path, ID: row.Content.ID, Size: row.Stat.Size, Kind: row.Kind, Excluded: row.Excluded}
	if why, ok := t.problems[row.Path]; ok {
		f.ID, f.Problem = repo.ID{}, why
	}
	return f
}

// File returns one file without listing all of them, nil if git does not track it. Its size is that of its row.
func (t *WorkTree) File(ctx context.Context, p repo.Path) (*repo.File, error) {
	if err := t.Verify(ctx); err != nil || t.Report().State == registry.StateNew {
		return nil, err
	}
	if t.ReadOnly != nil {
		files, err := t.Files(ctx)
		i := slices.IndexFunc(files, func(f repo.File) bool { return f.Path == p })
		if err != nil || i < 0 {
			return nil, err
		}
		return &files[i], nil
	}
	rows, err := t.Store.RowsOf(ctx, t.Workspace.Git.Worktree(), []repo.Path{p})
	if err != nil {
		return nil, err
	}
	row, ok := rows[p]
	if !ok || t.missing[p] {
		return nil, nil
	}
	if !row.SummaryBasis.IsZero() && t.summarised == nil {
		t.summarised = map[repo.Path]store.FileRow{p: row}
	}
	f := t.file(row)
	return &f, nil
}

// measure adds the sizes that rows do not have: a row has no size while its content is not confirmed by its stat.
func (t *WorkTree) measure(ctx context.Context, files []repo.File) error {
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
	found, err := t.Workspace.Files.Stat(ctx, entries)
	for k, i := range which {
		if err == nil && found[k].Presence != repo.Directory { // a submodule has no size here
			files[i].Size = found[k].Stat.Size
		}
	}
	return err
}

// Read reads a file of the work tree.
func (t *WorkTree) Read(ctx context.Context, f *repo.File, most int) ([]byte, error) {
	var out []byte
	var failed error
	err := t.Workspace.Files.Bytes(ctx, []repo.Path{f.Path}, int64(most), func(_ int, b []byte, err error) {
		out, failed = append(out, b...), err
	})
	if err != nil {
		return nil, err
	}
	// A summary that is written from another content would be wrong.
	switch {
	case errors.Is(failed, content.ErrTooLarge) && f.Size > int64(most):
		return nil, failed
	case failed == nil && t.Workspace.BytesOfBlob(out, f.ID) != nil:
		return out, nil
	}
	changed, err := t.changed(ctx, []*repo.File{f})
	if err == nil && changed[0] {
		err = fmt.Errorf("read %s: %w", f.Path, workspace.ErrChanged)
	}
	if err == nil && t.sparse.value[f.Path] {
		err = t.ReadSparse(ctx, []*repo.File{f}, []int{0}, func(_ int, b []byte) { out = b }, []bool{true})
		if err == nil && out != nil && len(out) <= most {
			return out, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("read %s: it is not checked out, or git would store other bytes than the file has", f.Path)
	}
	return nil, err
}

// changed reports which of some files changed. Call it only for files whose bytes differ from the listed content or
// cannot be read. A file did not change if git converts or filters its bytes, or does not check it out.
func (t *WorkTree) changed(ctx context.Context, files []*repo.File) ([]bool, error) {
	if len(files) == 0 {
		return nil, nil
	}
	paths := make([]repo.Path, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	attrs, err := t.Workspace.Git.Attributes(ctx, paths)
	if err != nil {
		return nil, err
	}
	sparse, err := t.sparseFiles(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]bool, len(attrs))
	for i, a := range attrs {
		list[i] = !a.Filtered && a.Convert != repo.ConvertGit && !sparse[paths[i]]
	}
	return list, nil
}

// sparseFiles returns the files outside the sparse checkout.
func (t *WorkTree) sparseFiles(ctx context.Context) (map[repo.Path]bool, error) {
	return t.sparse.get(func() (map[repo.Path]bool, error) {
		now, err := t.Workspace.Git.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		sparse := make(map[repo.Path]bool)
		for _, e := range now.Index.Entries {
			if e.Flags.Has(repo.SkipWorktree) {
				sparse[e.Path] = true
			}
		}
		return sparse, nil
	})
}

// ReadSparse reads files that a sparse checkout leaves out from git: files[which[k]] for each k, if wanted is set for the
// file. It calls see with k and the content, which is nil if git lacks it.
func (t *WorkTree) ReadSparse(
	ctx context.Context, files []*repo.File, which []int, see func(k int, content []byte), wanted []bool,
) error {
	sparse, err := t.sparseFiles(ctx)
	if err != nil {
		return err
	}
	var ids []repo.ID
	var positions []int
	for k, i := range which {
		if wanted[i] && sparse[files[i].Path] {
			ids = append(ids, files[i].ID)
			positions = append(positions, k)
		}
	}
	return t.Workspace.Git.EachBlob(ctx, ids, func(n int, b []byte, _ int64) { see(positions[n], b) })
}

// Outlines reads the files without a stored outline. It reads files outside the sparse checkout from git.
func (t *WorkTree) Outlines(ctx context.Context, files []*repo.File) ([]workspace.OutlineResult, error) {
	other := make([]bool, len(files)) // the bytes on disk are not those of the listed content
	absent := make([]bool, len(files))
	list, err := t.Workspace.Outlines(ctx, files, func(which []int, see func(k int, content []byte)) error {
		paths := make([]repo.Path, len(which))
		for k, i := range which {
			paths[k] = files[i].Path
		}
		err := t.Workspace.Files.Bytes(ctx, paths, outline.MaxBytes, func(k int, b []byte, err error) {
			// Only the listed content may have an outline.
			f := files[which[k]]
			stored := t.Workspace.BytesOfBlob(b, f.ID)
			switch {
			case err == nil && stored != nil:
				see(k, stored)
			case errors.Is(err, content.ErrTooLarge) && f.Size > outline.MaxBytes:
			default:
				other[which[k]] = true
			}
		})
		if err != nil || !t.Workspace.Git.Sparse() {
			return err
		}
		return t.ReadSparse(ctx, files, which, func(k int, b []byte) {
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
	out := asOutlined(list)
	for i, f := range files {
		if absent[i] {
			out[i].Err = fmt.Errorf("read %s: %w", f.Path, workspace.ErrAbsent)
		}
	}
	var suspects []*repo.File
	var which []int
	for i, f := range files {
		if other[i] {
			suspects = append(suspects, f)
			which = append(which, i)
		}
	}
	changed, err := t.changed(ctx, suspects)
	if err != nil {
		return nil, err
	}
	for k, i := range which {
		if changed[k] {
			out[i].Err = fmt.Errorf("read %s: %w", files[i].Path, workspace.ErrChanged)
		}
	}
	return out, nil
}

// Patch has git compare the older content with the file in the work tree.
func (t *WorkTree) Patch(ctx context.Context, f *repo.File, old repo.ID) (string, error) {
	return patchFrom(ctx, t.Workspace, f, old, func() (string, error) { return t.Workspace.Git.DiffFile(ctx, old, f.Path) })
}

// patchFrom returns the hunks of a patch, "" if git does not have the older content, and for
// contents that are too large or are not text.
func patchFrom(ctx context.Context, w *workspace.Workspace, f *repo.File, old repo.ID, diff func() (string, error)) (string, error) {
	sizes, err := w.Git.Sizes(ctx, []repo.ID{old})
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

// Summaries returns the summaries of files that the registry has.
func (t *WorkTree) Summaries(ctx context.Context, files []*repo.File) ([]workspace.Summary, error) {
	return summaries(ctx, t.records(), files, func(f *repo.File) (repo.Content, bool) {
		row, ok := t.summarised[f.Path]
		return row.SummaryBasis.Content, ok
	})
}

// Records is the part of a store that has summaries by content: that of a clone, or that of a team.
type Records interface {
	Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error)
}

// summaries returns the newest summary of each file. basisOf returns the content that the summary is about.
func summaries(ctx context.Context, store Records, files []*repo.File, basisOf func(*repo.File) (repo.Content, bool)) ([]workspace.Summary, error) {
	list := make([]workspace.Summary, len(files))
	var bases []repo.Content
	for _, f := range files {
		if c, ok := basisOf(f); ok {
			bases = append(bases, c)
		}
	}
	if len(bases) == 0 {
		return list, nil
	}
	records, err := store.Newest(ctx, bases)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		c, ok := basisOf(f)
		if !ok {
			continue
		}
		if record, ok := records[c]; ok {
			list[i] = workspace.Summary{Text: record.Text, State: fresh.Judge(record.Basis, repo.Content{ID: f.ID})}
		}
	}
	return list, nil
}
