package survey

import (
	"context"
	"fmt"
	"slices"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey/describe"
)

// DirListing lists directories with their verdicts and texts.
type DirListing struct {
	Commit      repo.ID     `json:"commit"`
	Directories []ListedDir `json:"directories"`
	Summaries   DirCounts   `json:"summaries"`
	// Leases are the directories that agents and runs have now. Only a dispatcher lists them.
	Leases []LeasedPath `json:"leases,omitempty"`
}

// A ListedDir is a directory with its verdict and text.
type ListedDir struct {
	repo.PathJSON
	Verdict         fresh.Verdict `json:"verdict"`
	Reasons         []string      `json:"reasons"`
	ChangedChildren int           `json:"k"` // children that differ from the basis of the text
	CountedChildren int           `json:"n"` // children that count
	Text            *string       `json:"text"`
	Author          *string       `json:"author"`
	Confirmer       string        `json:"confirmed_by,omitempty"`
	Outline         bool          `json:"outline"`    // the text is an outline
	Incomplete      bool          `json:"incomplete"` // some children had no text when this one was written
	// Basis is the digest of the present basis. A confirmation of the text needs it.
	Basis string `json:"basis,omitempty"`

	Depth int `json:"-"`
}

// Show lists a directory and all below it, parents first.
func (s *Survey) Show(ctx context.Context, within repo.Path) (*DirListing, error) {
	ts, err := s.judgeAndKeep(ctx)
	if err != nil {
		return nil, err
	}
	out := &DirListing{Commit: s.tree.Commit(), Directories: []ListedDir{}, Summaries: *ts.counts([]repo.Path{within})}
	var walk func(d *Directory)
	walk = func(d *Directory) {
		out.Directories = append(out.Directories, ts.shown(ts.status[d]))
		for _, c := range d.Children {
			walk(c)
		}
	}
	if len(ts.order) == 0 && within == "" {
		return out, nil
	}
	d, err := ts.find(within)
	if err != nil {
		return nil, err
	}
	walk(d)
	return out, nil
}

// Directories returns some directories with their verdicts and texts; nil for a path that is no directory.
func (s *Survey) Directories(ctx context.Context, paths []repo.Path) ([]*ListedDir, error) {
	ts, err := s.judgeAndKeep(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]*ListedDir, len(paths))
	for i, p := range paths {
		if d, err := ts.find(p); err == nil {
			shown := ts.shown(ts.status[d])
			list[i] = &shown
		}
	}
	return list, nil
}

// Word returns the verdict in one word for people. It is "outline" for a directory with only an outline.
func (d *ListedDir) Word() string { return wordOf(d.Verdict, d.Outline) }

func wordOf(v fresh.Verdict, outline bool) string {
	if outline && v.State == fresh.Fresh {
		return "outline"
	}
	return v.Word()
}

// TextOrEmpty returns the text, "" without one.
func (d *ListedDir) TextOrEmpty() string {
	if d.Text == nil {
		return ""
	}
	return *d.Text
}

// CheckDirectories returns an error for the first path that is no directory with tracked files.
func (s *Survey) CheckDirectories(ctx context.Context, dirs []repo.Path) error {
	if len(dirs) == 0 {
		return nil
	}
	files, err := s.tree.Files(ctx)
	if err != nil {
		return err
	}
	ts := &treeStatus{order: directories(files, s.opts)}
	for _, d := range dirs {
		if _, err := ts.find(d); err != nil {
			return err
		}
	}
	return nil
}

// find returns a directory by its path.
func (ts *treeStatus) find(p repo.Path) (*Directory, error) {
	for _, d := range ts.order {
		if d.Path == p {
			return d, nil
		}
	}
	return nil, noDirectory(p)
}

// checkWithin returns an error if a request is limited to a path that is no directory. The root is always valid, also of an
// empty repository.
func (ts *treeStatus) checkWithin(p repo.Path) error {
	if p == "" {
		return nil
	}
	_, err := ts.find(p)
	return err
}

func noDirectory(p repo.Path) error {
	return &fault.Error{
		Kind: fault.Usage, Hint: "list directories: ken survey show",
		Err: fmt.Errorf("no directory with tracked files: %s", repo.DirLabel(p)),
	}
}

func (ts *treeStatus) shown(st *DirStatus) ListedDir {
	d := ListedDir{
		PathJSON: repo.DirLabel(st.Dir.Path).JSON(), Verdict: st.Verdict, Reasons: append([]string{}, st.Reasons...),
		ChangedChildren: st.ChangedChildren, CountedChildren: st.CountedChildren, Depth: st.Dir.depth,
	}
	if st.Verdict.State != fresh.Unknown && st.Verdict.State != fresh.Excluded {
		d.Basis = ts.basis(st).Digest().String()
	}
	if r := st.Record; r != nil {
		if text := r.Summary(); text != "" {
			d.Text = &text
		}
		d.Author, d.Outline, d.Incomplete = &r.Author, r.IsOutline(), r.Basis.Missing() > 0
		d.Confirmer = r.Confirmer
	}
	return d
}

// NeedsAttention reports whether a summary is stale, or whether ken could not judge a directory. A missing summary does
// not count.
func (s *DirListing) NeedsAttention() bool {
	return slices.ContainsFunc(s.Directories, func(d ListedDir) bool {
		state := d.Verdict.State
		return state == fresh.Unknown || state == fresh.Stale && !d.Outline
	})
}

// Prompt returns the prompt for a summary of a directory.
func (s *Survey) Prompt(ctx context.Context, dir repo.Path) (string, error) {
	ts, err := s.judgeStored(ctx)
	if err != nil {
		return "", err
	}
	d, err := ts.find(dir)
	if err != nil {
		return "", err
	}
	if d.Excluded != "" {
		return "", &fault.Error{
			Kind: fault.Usage, Hint: "see why: ken survey show " + fault.Quote(string(repo.DirLabel(dir))),
			Err: fmt.Errorf("%s is excluded: %s", repo.DirLabel(dir), d.Excluded),
		}
	}
	it, err := ts.item(ctx, ts.status[d])
	if err != nil {
		return "", err
	}
	return describe.Rules + "\n\n" + it.Prompt(), nil
}
