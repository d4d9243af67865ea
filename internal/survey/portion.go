package survey

import (
	"context"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A Portion is a directory of a survey that many hands share, with what the others have to
// know of it: whoever describes one needs its own portion, those right below it, and the
// files that lie in it, but nothing else of the tree.
type Portion struct {
	Path repo.Path
	// Work says that it is to be described. One that is not is told to whoever describes
	// the directory above.
	Work bool
	// Above is the nearest directory above that is to be described too, and waits for this
	// one; it is nowhere when Top.
	Above repo.Path
	Top   bool
	Waits int // for so many that have it for their Above
	Rank  Rank
	Band  Rank // when it is worked on: never after what is above it

	Verdict Verdict
	Reasons []string
	Record  fresh.Digest // that speaks for it, zero when none does
}

// A Handout is a survey in portions.
type Handout struct {
	About    string    // what the repository seems to be, "" when nobody has said
	Portions []Portion // in the order of work
	Work     int       // how many of them are to be described
	Estimate int64     // in tokens, of all of it
}

// Portions divides what a writer has to describe, in a directory and all below it.
func (s *Survey) Portions(ctx context.Context, w Writer, within repo.Path) (*Handout, error) {
	j, err := s.judge(ctx)
	if err != nil {
		return nil, err
	}
	if within != "" {
		if _, err := j.find(within); err != nil {
			return nil, err
		}
	}
	out := &Handout{}
	if j.plan != nil {
		out.About = j.plan.About
	}
	in := make(map[*Directory]bool)
	for _, d := range j.order {
		in[d] = d.Path.Under(within) && wanted(j.at[d], w)
	}
	waits := make(map[*Directory]int)
	for _, d := range j.order {
		if up := above(d, in); in[d] && up != nil {
			waits[up]++
		}
	}
	for _, d := range inOrder(j.order) {
		if !in[d] && (d.Parent == nil || !in[d.Parent]) {
			continue // nobody asks for it
		}
		st := j.at[d]
		p := Portion{
			Path: d.Path, Work: in[d], Top: true, Waits: waits[d], Rank: d.rank, Band: d.band,
			Verdict: st.Verdict, Reasons: append([]string{}, st.Reasons...), Record: st.recordID(),
		}
		if up := above(d, in); up != nil {
			p.Above, p.Top = up.Path, false
		}
		if p.Work {
			out.Work++
			if !outlines(w) {
				out.Estimate += st.estimate()
			}
		}
		out.Portions = append(out.Portions, p)
	}
	return out, nil
}

func (s *Standing) recordID() fresh.Digest {
	if s.Record == nil {
		return fresh.Digest{}
	}
	return s.Record.ID()
}

// Told is a portion with the record that speaks for it.
type Told struct {
	Portion

	Said *store.DirRecord // nil when there is none
}

// A Piece is a directory in the hands of a writer.
type Piece struct {
	// Item is what is to be described; nil when there is nothing to be asked: what lies
	// below turned out as it was, or the same was described before.
	Item *Item

	j      *judgement
	st     *Standing
	writer Writer
}

// Piece finds how a directory stands now that those right below it are as told, and puts
// together what a text about it is written from.
func (s *Survey) Piece(ctx context.Context, w Writer, about string, of Told, below []Told) (*Piece, error) {
	files, err := s.tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	d := &Directory{Path: of.Path, Files: ownFiles(files, of.Path, s.opts), rank: of.Rank, band: of.Band}
	if len(d.Files) == 0 && len(below) == 0 {
		return nil, noDirectory(of.Path)
	}
	j := &judgement{
		Survey: s, files: files, plan: &Recon{About: about},
		latest: make(map[repo.Path][]*store.DirRecord), at: make(map[*Directory]*Standing),
	}
	slices.SortFunc(below, func(a, b Told) int { return strings.Compare(string(a.Path), string(b.Path)) })
	for _, t := range below {
		c := &Directory{Path: t.Path, Parent: d, rank: t.Rank, band: t.Band}
		if t.Verdict == Excluded {
			c.Excluded = strings.Join(t.Reasons, ", ")
		}
		d.Children, j.order = append(d.Children, c), append(j.order, c)
		j.at[c] = &Standing{Dir: c, Verdict: t.Verdict, Record: t.Said, Reasons: t.Reasons}
	}
	j.order = append(j.order, d)
	// Somebody may have described it since it was handed out.
	written, err := s.store.WrittenOf(ctx, []repo.Path{of.Path})
	if err != nil {
		return nil, err
	}
	if list := written[of.Path]; len(list) > 0 {
		j.latest[of.Path] = list[:1:1]
	}
	if r := of.Said; r != nil && (len(j.latest[of.Path]) == 0 || r.Outlined()) {
		j.latest[of.Path] = append(j.latest[of.Path], r)
	}
	if err := j.judgeLevel(ctx, []*Directory{d}); err != nil {
		return nil, err
	}
	p := &Piece{j: j, st: j.at[d], writer: w}
	if !wanted(p.st, w) || j.inVain(p.st, w) {
		return p, nil
	}
	if m, ok := w.(Mind); ok {
		m.See(s.tree)
	}
	p.Item, err = j.item(ctx, p.st)
	return p, err
}

// Take makes a record of an answer, which from then on speaks for the directory.
func (p *Piece) Take(d Draft) (*store.DirRecord, error) {
	r, err := p.j.record(p.Item, d, p.writer.Author(), p.writer.Recipe())
	if err != nil {
		return nil, err
	}
	p.st.Record, p.st.Reasons, p.st.K = r, nil, 0
	p.st.finish()
	return r, nil
}

// Turned is how the directory stands.
func (p *Piece) Turned() (v Verdict, reasons []string, record fresh.Digest) {
	return p.st.Verdict, p.st.Reasons, p.st.recordID()
}

// ownFiles returns the files that lie directly in a directory, and count. All are sorted
// by path.
func ownFiles(files []File, dir repo.Path, opts Options) []*File {
	first := 0
	prefix := ""
	if dir != "" {
		prefix = string(dir) + "/"
		first, _ = slices.BinarySearchFunc(files, prefix, func(f File, p string) int { return strings.Compare(string(f.Path), p) })
	}
	var own []*File
	for i := first; i < len(files); i++ {
		f := &files[i]
		rest, in := strings.CutPrefix(string(f.Path), prefix)
		if !in {
			break
		}
		if !strings.Contains(rest, "/") && f.Excluded == "" && !matches(opts.Exclude, f.Path) {
			own = append(own, f)
		}
	}
	return own
}
