package registry

import (
	"context"
	"slices"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// An OtherSummary is another summary of the content whose summary ken shows.
type OtherSummary struct {
	Text        string    `json:"text"`
	Author      string    `json:"author"`
	UpdatedAt   time.Time `json:"updated_at"`
	ConfirmedBy string    `json:"confirmed_by,omitempty"`
	Assumed     bool      `json:"assumed"` // the author did not name the content that was read
}

// AddOthers adds the other summaries of each content: those with another text, written at the path or at the path
// that the shown summary was written for.
func (r *Registry) AddOthers(ctx context.Context, known []Summary) error {
	var paths []repo.Path
	for i := range known {
		paths = append(paths, known[i].writtenAt()...)
	}
	written, err := r.store.HeadersAt(ctx, paths)
	if err != nil {
		return err
	}
	for i := range known {
		k := &known[i]
		content := repo.Content{ID: k.ID, MD5: k.MD5}
		seen := map[string]bool{k.Text: true}
		for _, p := range k.writtenAt() {
			for _, h := range written[p] {
				if fresh.Judge(h.Basis, content) != fresh.Fresh {
					continue
				}
				record, ok, err := r.store.Record(ctx, h.ID)
				if err != nil {
					return err
				}
				if !ok || seen[record.Text] {
					continue
				}
				seen[record.Text] = true
				k.Others = append(k.Others, OtherSummary{record.Text, record.Author, record.At.UTC(), record.Confirmer, record.Assumed})
			}
		}
		slices.SortStableFunc(k.Others, func(a, b OtherSummary) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	}
	return nil
}

// writtenAt returns the paths where AddOthers looks for summaries: the path itself, and the one
// that the shown summary was written for. It returns none if no summary is shown.
func (s *Summary) writtenAt() []repo.Path {
	if s.Text == "" {
		return nil
	}
	var paths []repo.Path
	if p, err := s.Raw(); err == nil {
		paths = append(paths, p)
	}
	elsewhere := repo.PathJSON{Path: s.WrittenFor, B64: s.WrittenForB64}
	if p, err := elsewhere.Raw(); err == nil && s.WrittenFor != "" {
		paths = append(paths, p)
	}
	return paths
}
