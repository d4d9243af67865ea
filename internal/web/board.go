package web

import (
	"net/http"

	"ken/internal/board"
	"ken/internal/fresh"
)

// boardPage is the first page: how everything stands, and the tree of specs.
func (s *Server) boardPage(r *http.Request) (*frame, error) {
	f, err := s.begin(r, "board", "Board")
	if err != nil || f.Tree == nil {
		return f, err
	}
	f.Body = sumUp(f.Tree)
	return f, nil
}

// A summing is how the parts stand, as the head of the first page shows it.
type summing struct {
	Files, Directories []segment
}

// A segment is a part of a bar.
type segment struct {
	Word  string
	Tone  string // by which it is coloured and hatched
	Count int
	From  string // in percent
	Wide  string
}

// sumUp makes the bars.
func sumUp(w *board.Worktree) *summing {
	out := &summing{}
	if f := w.Files.Known; f != nil {
		c := f.Counts
		rest := max(c.Files-c.Fresh-c.Stale-c.None-c.Excluded, 0)
		out.Files = bar([]segment{
			{Word: "fresh", Tone: "fresh", Count: c.Fresh},
			{Word: "stale", Tone: "stale", Count: c.Stale},
			{Word: "none", Tone: "none", Count: c.None},
			{Word: "excluded", Tone: "excluded", Count: c.Excluded},
			{Word: "unknown", Tone: "unknown", Count: rest},
		})
	}
	if d := w.Survey.Known; d != nil {
		var list []segment
		for _, state := range []fresh.State{fresh.Fresh, fresh.Stale, fresh.None, fresh.Excluded, fresh.Unknown} {
			n := 0
			for _, v := range board.Verdicts {
				if v.State() == state {
					n += d.Counts[v.String()]
				}
			}
			list = append(list, segment{Word: state.String(), Tone: state.String(), Count: n})
		}
		out.Directories = bar(list)
	}
	return out
}

// bar gives segments their places, and leaves out the empty ones.
func bar(list []segment) []segment {
	total, at := 0, 0
	for _, s := range list {
		total += s.Count
	}
	var out []segment
	for _, s := range list {
		if s.Count > 0 {
			s.From, s.Wide = share100(at, total), share100(s.Count, total)
			at += s.Count
			out = append(out, s)
		}
	}
	return out
}
