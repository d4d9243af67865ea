package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/local"
	"ken/internal/survey"
)

// A surveyMemo keeps how the directories of a work tree stood, in its git directory.
type surveyMemo struct {
	*surveyTree
	ranks map[repo.Path]survey.Rank // given for this time
	// sizeless says that nobody will ask for estimates, all that sizes are for.
	sizeless bool
	mark     local.SurveyMark // that was named last
	// Of what was loaded: the sizes, and the directories whose files were read again.
	loaded []measured
	reread map[repo.Path]bool
}

// Made verifies the work tree and returns the key of the rows. It is "" if a
// file is missing or its content is unknown, because rows do not record that.
func (m *surveyMemo) Made(ctx context.Context) (string, error) {
	if err := m.verify(ctx); err != nil {
		return "", err
	}
	if m.state == registry.StateNew || len(m.problems)+len(m.missing) > 0 {
		return "", nil
	}
	mark, err := m.w.store.SurveyMark(ctx, m.w.git.Worktree())
	if mark.IsZero() || err != nil {
		return "", err
	}
	m.mark = mark
	return m.name(mark), nil
}

// After looks at the store again: of the work tree nobody has looked at anything since.
func (m *surveyMemo) After(ctx context.Context, made string, kept []*store.DirRecord) (string, error) {
	if m.name(m.mark) != made {
		return "", nil
	}
	mark, err := m.w.store.SurveyMarkAfter(ctx, m.w.git.Worktree(), m.mark, kept)
	if mark.IsZero() || err != nil {
		return "", err
	}
	return m.name(mark), nil
}

func (m *surveyMemo) name(mark local.SurveyMark) string {
	c, ranks := m.w.cfg, m.ranks
	if len(ranks) == 0 {
		ranks = nil // it is written otherwise than an empty map, and means the same
	}
	return fmt.Sprintf("%q %q %#v %#v %#v %#v %q", specMemo{m.w.git}.Maker(), mark, c.Registry, c.Survey.Exclude, c.Survey.Ranks, ranks, m.w.staleMentions())
}

// Step looks at the store before the work tree is verified, and again afterwards. What
// the verification has changed is known exactly if its baseline was made from the rows
// that were there before, and is the one that is there after.
func (m *surveyMemo) Step(ctx context.Context) (was, made string, changed []repo.Path, err error) {
	m.sizeless = true
	before, err := m.w.store.SurveyMark(ctx, m.w.git.Worktree())
	if before.IsZero() || err != nil {
		return "", "", nil, err
	}
	if made, err := m.Made(ctx); made == "" || err != nil {
		return "", "", nil, err
	}
	after, err := m.w.store.SurveyMark(ctx, m.w.git.Worktree())
	if err != nil || after.Written != before.Written {
		return "", "", nil, err
	}
	if after.Baseline.Generation != before.Baseline.Generation {
		if m.step == nil || m.step.Deleted || m.step.Baseline.Generation != before.Baseline.Generation || !landed(m.step.Baseline, after.Baseline) {
			return "", "", nil, nil
		}
		changed = m.step.Put
	}
	m.mark = after
	return m.name(before), m.name(after), changed, nil
}

// landed reports whether what is there is a baseline that was to be set, and nobody has
// changed rows since: then it would have no index.
func landed(b, now store.Verification) bool {
	same := b.At.Equal(now.At)
	b.At, b.Generation = now.At, now.Generation
	return same && b == now && !now.Index.IsZero()
}

// FilesIn returns the files that lie directly in directories, sorted by path.
func (m *surveyMemo) FilesIn(ctx context.Context, dirs []repo.Path) ([]survey.File, error) {
	rows, err := m.w.store.RowsIn(ctx, m.w.git.Worktree(), dirs)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b store.FileRow) int { return strings.Compare(string(a.Path), string(b.Path)) })
	files := make([]survey.File, len(rows))
	m.about, m.reread = make(map[repo.Path]store.FileRow), make(map[repo.Path]bool, len(dirs))
	for _, dir := range dirs {
		m.reread[dir] = true
	}
	for i, row := range rows {
		files[i] = m.file(row)
		if !row.About.IsZero() {
			m.about[row.Path] = row
		}
	}
	return files, m.measure(ctx, files)
}

// maxMeasured is how many sizes are worth looking at again.
const maxMeasured = 100_000

// Load returns what was kept, unless a file whose row does not tell its size has another
// one by now: its line ends may have changed, and nothing else.
func (m *surveyMemo) Load(ctx context.Context) []byte {
	head, kept, ok := bytes.Cut(m.w.git.LoadMemo("survey"), []byte{'\n'})
	var sizes []measured
	if !ok || json.Unmarshal(head, &sizes) != nil {
		return nil
	}
	m.loaded = sizes
	if len(sizes) == 0 || m.sizeless {
		return kept
	}
	entries := make([]repo.Entry, len(sizes))
	for i, s := range sizes {
		entries[i].Path = repo.Path(s.Path)
	}
	found, err := m.w.files.Stat(ctx, entries)
	for i := range sizes {
		if err != nil || found[i].Stat.Size != sizes[i].Size {
			return nil
		}
	}
	return kept
}

// Save keeps nothing where nothing can be kept: it will be found out again.
func (m *surveyMemo) Save(kept []byte) {
	if m.unsaved {
		return
	}
	sizes := m.measured
	if m.files == nil { // only some files were read again: of the others, what was loaded is kept
		for _, s := range m.loaded {
			if !m.reread[repo.Path(s.Path).Dir()] {
				sizes = append(sizes, s)
			}
		}
	}
	head, err := json.Marshal(sizes)
	if err == nil && len(sizes) <= maxMeasured {
		_ = m.w.git.SaveMemo("survey", slices.Concat(head, []byte{'\n'}, kept))
	}
}

func (m *surveyMemo) LatestOf(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*store.DirRecord, error) {
	return m.w.store.LatestOf(ctx, dirs)
}
