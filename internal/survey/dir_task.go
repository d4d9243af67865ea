package survey

import (
	"context"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey/describe"
)

// A DirTask is one directory of a survey that several workers share. To summarise a
// directory, a worker needs its task, the tasks of its children and its own files, and
// nothing else of the tree.
type DirTask struct {
	Path repo.Path
	// Work says that the directory needs a new summary. A task without work is in the
	// list because its parent needs it.
	Work bool
	// Above is the nearest directory above that needs a summary and waits for this one;
	// Top says that there is none.
	Above repo.Path
	Top   bool
	Waits int // number of tasks whose Above is this one
	Rank  Rank
	Band  Rank // its place in the order of work, never after the directories above it

	Verdict fresh.Verdict
	Reasons []string
	Record  fresh.Digest // of its current summary, zero when it has none
}

// A TaskList is the work of a survey.
type TaskList struct {
	Tasks    []DirTask // in the order of work
	Work     int       // number of tasks with work
	Estimate int64     // of all tokens
}

// Tasks lists the directories that a writer has to summarise, in a directory and all below it.
func (s *Survey) Tasks(ctx context.Context, w describe.Writer, within repo.Path) (*TaskList, error) {
	ts, err := s.judgeStored(ctx)
	if err != nil {
		return nil, err
	}
	if err := ts.checkWithin(within); err != nil {
		return nil, err
	}
	out := &TaskList{}
	in := make(map[*Directory]bool)
	for _, d := range ts.order {
		in[d] = d.Path.Under(within) && wanted(ts.status[d], w.Recipe())
	}
	waits := make(map[*Directory]int)
	for _, d := range ts.order {
		if up := above(d, in); in[d] && up != nil {
			waits[up]++
		}
	}
	for _, d := range inOrder(ts.order) {
		if !in[d] && (d.Parent == nil || !in[d.Parent]) {
			continue // no task needs it
		}
		st := ts.status[d]
		p := DirTask{
			Path: d.Path, Work: in[d], Top: true, Waits: waits[d], Rank: d.rank, Band: d.band,
			Verdict: st.Verdict, Reasons: append([]string{}, st.Reasons...), Record: st.recordID(),
		}
		if up := above(d, in); up != nil {
			p.Above, p.Top = up.Path, false
		}
		if p.Work {
			out.Work++
			if !makesOutlines(w.Recipe()) {
				out.Estimate += st.estimate()
			}
		}
		out.Tasks = append(out.Tasks, p)
	}
	return out, nil
}

func (s *DirStatus) recordID() fresh.Digest {
	if s.Record == nil {
		return fresh.Digest{}
	}
	return s.Record.ID()
}

// A TaskInput is a task with the current summary of its directory.
type TaskInput struct {
	DirTask

	Summary *store.DirRecord // nil when there is none
}

// An Assignment is a directory that a writer summarises.
type Assignment struct {
	// Item is the input of the writer. It is nil when there is nothing to write: the
	// children did not change, or a record of the same input exists.
	Item *describe.Item

	ts     *treeStatus
	st     *DirStatus
	writer describe.Writer
}

// Assign judges a directory with its current files and the summaries of its children, and
// collects the input of a new summary.
func (s *Survey) Assign(ctx context.Context, w describe.Writer, of TaskInput, below []TaskInput) (*Assignment, error) {
	files, err := s.tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	d := &Directory{Path: of.Path, rank: of.Rank, band: of.Band}
	d.addOwn(files, s.opts)
	if len(d.Files) == 0 && len(below) == 0 {
		return nil, noDirectory(of.Path)
	}
	ts := &treeStatus{
		Survey: s, files: files,
		latest: make(map[repo.Path][]*store.DirRecord), status: make(map[*Directory]*DirStatus),
	}
	slices.SortFunc(below, func(a, b TaskInput) int { return strings.Compare(string(a.Path), string(b.Path)) })
	for _, t := range below {
		c := &Directory{Path: t.Path, Parent: d, rank: t.Rank, band: t.Band}
		if t.Verdict.State == fresh.Excluded {
			c.Excluded = strings.Join(t.Reasons, ", ")
		}
		d.Children, ts.order = append(d.Children, c), append(ts.order, c)
		ts.status[c] = &DirStatus{Dir: c, Verdict: t.Verdict, Record: t.Summary, Reasons: t.Reasons}
	}
	ts.order = append(ts.order, d)
	// Another agent may have summarised it since the run started.
	written, err := s.store.PastDirRecords(ctx, []repo.Path{of.Path})
	if err != nil {
		return nil, err
	}
	if list := written[of.Path]; len(list) > 0 {
		ts.latest[of.Path] = list[:1:1]
	}
	if r := of.Summary; r != nil && (len(ts.latest[of.Path]) == 0 || r.IsOutline()) {
		ts.latest[of.Path] = append(ts.latest[of.Path], r)
	}
	if err := ts.judgeLevel(ctx, []*Directory{d}); err != nil {
		return nil, err
	}
	p := &Assignment{ts: ts, st: ts.status[d], writer: w}
	if !wanted(p.st, w.Recipe()) || ts.sameInputAsBefore(p.st, w.Recipe()) {
		return p, nil
	}
	if m, ok := w.(*describe.ModelWriter); ok {
		m.Tree = s.tree
	}
	p.Item, err = ts.item(ctx, p.st)
	return p, err
}

// Record makes a record of a draft. It is the current summary of the directory from then on.
func (a *Assignment) Record(d describe.Draft) (*store.DirRecord, error) {
	r, err := a.ts.record(a.Item, d, a.writer.Author(), a.writer.Recipe())
	if err != nil {
		return nil, err
	}
	a.st.Record, a.st.Reasons, a.st.ChangedChildren = r, nil, 0
	a.st.finish()
	return r, nil
}

// Result returns the verdict of the directory and the id of its current summary.
func (a *Assignment) Result() (v fresh.Verdict, reasons []string, record fresh.Digest) {
	return a.st.Verdict, a.st.Reasons, a.st.recordID()
}

// addOwn adds the own files of the directory. The list of all files is sorted by path.
func (d *Directory) addOwn(files []repo.File, opts Options) {
	first := 0
	prefix := ""
	if d.Path != "" {
		prefix = string(d.Path) + "/"
		first, _ = slices.BinarySearchFunc(files, prefix, func(f repo.File, p string) int { return strings.Compare(string(f.Path), p) })
	}
	for i := first; i < len(files); i++ {
		f := &files[i]
		rest, in := strings.CutPrefix(string(f.Path), prefix)
		if !in {
			break
		}
		if !strings.Contains(rest, "/") {
			d.add(f, opts)
		}
	}
}
