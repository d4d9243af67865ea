package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
)

// A surveyMemo keeps how the directories of a work tree stood, in its git directory.
type surveyMemo struct {
	*surveyTree
	ranks map[repo.Path]survey.Rank // given for this time
}

// Made verifies the work tree. Then the rows are what is there, and what they are has a
// name; unless contents are not known or gone, which no row says.
func (m *surveyMemo) Made(ctx context.Context) (string, error) {
	if err := m.verify(ctx); err != nil {
		return "", err
	}
	if m.state == registry.StateNew || len(m.problems)+len(m.missing) > 0 {
		return "", nil
	}
	mark, err := m.w.store.SurveyMark(ctx, m.w.git.Worktree())
	if mark == "" || err != nil {
		return "", err
	}
	c := m.w.cfg
	return fmt.Sprintf("%q %q %#v %#v %#v %#v", specMemo{m.w.git}.Maker(), mark, c.Registry, c.Survey.Exclude, c.Survey.Ranks, m.ranks), nil
}

// maxMeasured is how many sizes are worth looking at again.
const maxMeasured = 1000

// Load returns what was kept, unless a file whose row does not tell its size has another
// one by now: its line ends may have changed, and nothing else.
func (m *surveyMemo) Load(ctx context.Context) []byte {
	head, kept, ok := bytes.Cut(m.w.git.LoadMemo("survey"), []byte{'\n'})
	var sizes []measured
	if !ok || json.Unmarshal(head, &sizes) != nil {
		return nil
	}
	if len(sizes) == 0 {
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
	head, err := json.Marshal(m.measured)
	if err == nil && len(m.measured) <= maxMeasured {
		_ = m.w.git.SaveMemo("survey", slices.Concat(head, []byte{'\n'}, kept))
	}
}

func (m *surveyMemo) Tracks(ctx context.Context, p repo.Path) (bool, error) {
	f, err := m.one(ctx, p)
	return f != nil, err
}

func (m *surveyMemo) LatestOf(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*survey.Record, error) {
	return m.w.store.LatestOf(ctx, dirs)
}
