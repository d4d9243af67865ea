package survey

import (
	"context"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// DirCounts counts the summaries of directories. Fresh, Stale and Unknown are texts
// that people, agents or models wrote. Outlines are counted apart, whether they hold or
// not: they are made again for free.
type DirCounts struct {
	Directories int `json:"directories"` // those that nothing leaves out
	Fresh       int `json:"fresh"`
	Stale       int `json:"stale"`
	Unknown     int `json:"unknown"`
	Outlines    int `json:"outlines"`
	None        int `json:"none"`
	// Wanting are the directories whose texts are stale or unknown, by path.
	Wanting []StaleDirectory `json:"wanting"`
}

// A StaleDirectory is a directory whose text does not hold, or of which that is not known.
type StaleDirectory struct {
	repo.PathJSON
	Verdict Verdict  `json:"verdict"`
	Reasons []string `json:"reasons"`
}

// DirCounts counts the summaries of the directories that lie within some paths, or
// all of them.
func (s *Survey) DirCounts(ctx context.Context, within []repo.Path) (*DirCounts, error) {
	j, err := s.look(ctx, func(*judgement) []*Directory { return nil })
	if err != nil {
		return nil, err
	}
	out := &DirCounts{Wanting: []StaleDirectory{}}
	for _, d := range j.order {
		if len(within) == 0 || slices.ContainsFunc(within, d.Path.Under) {
			out.add(j.at[d])
		}
	}
	slices.SortFunc(out.Wanting, func(a, b StaleDirectory) int { return slices.Compare([]byte(a.Path), []byte(b.Path)) })
	return out, nil
}

func (s *DirCounts) add(st *DirStatus) {
	if st.Verdict == Excluded {
		return
	}
	s.Directories++
	state := st.Verdict.State()
	switch {
	case st.Record == nil:
		s.None++
		return
	case st.Record.Outlined():
		s.Outlines++
		return
	case state == fresh.Fresh:
		s.Fresh++
		return
	case state == fresh.Unknown:
		s.Unknown++
	default:
		s.Stale++
	}
	s.Wanting = append(s.Wanting, StaleDirectory{repo.DirLabel(st.Dir.Path).JSON(), st.Verdict, append([]string{}, st.Reasons...)})
}
