package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
)

// Diff returns the changes of a file or directory since its summary was written.
func (r *Reviewer) Diff(ctx context.Context, p repo.Path) (*Diff, error) {
	if p != "" {
		known, err := r.Registry.Show(ctx, []repo.Path{p})
		if err != nil {
			return nil, err
		}
		k := &known[0]
		isFile := k.Verdict != fresh.Gone && len(k.Reasons) == 0 || k.Text != "" || !k.CurrentID.IsZero()
		if isFile {
			return r.diffFile(ctx, p, k)
		}
	}
	d, err := r.diffDirectory(ctx, p)
	if err != nil || d != nil {
		return d, err
	}
	return nil, &fault.Error{
		Kind: fault.Usage, Hint: "list tracked files with: git ls-files",
		Err: fmt.Errorf("git tracks nothing at %s", p),
	}
}

func (r *Reviewer) diffFile(ctx context.Context, p repo.Path, k *registry.Summary) (*Diff, error) {
	if k.Text == "" {
		return nil, noSummary(p, "ken summary set "+fault.Quote(string(p))+" -m TEXT")
	}
	d := &Diff{PathJSON: p.JSON(), Verdict: k.Verdict.String(), Text: k.Text, Author: authorName(k.Author), Files: []FileDiff{}, Read: k.CurrentID.String()}
	d.WrittenFor = k.WrittenFor
	if k.Verdict == fresh.Fresh {
		return d, nil
	}
	if k.CurrentID.IsZero() && k.CurrentMD5.IsZero() {
		return nil, &fault.Error{Hint: cmp.Or(k.Hint, "ken summary show "+fault.Quote(string(p))), Err: fmt.Errorf("%s is %s: %s", p, k.Verdict, k.Reasons[0])}
	}
	if k.CurrentID.IsZero() {
		d.Read = k.CurrentMD5.String()
	}
	f, err := r.fileDiff(ctx, p, k.ID, k.CurrentID)
	if err != nil {
		return nil, err
	}
	d.Files = append(d.Files, f)
	return d, nil
}

func noSummary(p repo.Path, command string) error {
	return &fault.Error{Kind: fault.Usage, Hint: "write one with: " + command, Err: fmt.Errorf("%s has no summary to compare with", repo.DirLabel(p))}
}

// fileDiff compares an older content of a file with the current one.
func (r *Reviewer) fileDiff(ctx context.Context, p repo.Path, before, now repo.ID) (FileDiff, error) {
	f := FileDiff{PathJSON: p.JSON(), Old: before, New: now}
	if before.IsZero() || now.IsZero() {
		if before.IsZero() {
			f.Missing = "the summary names its content only by md5, which git cannot find"
		}
		return f, nil
	}
	sizes, err := r.Workspace.Git.Sizes(ctx, []repo.ID{before})
	if err != nil {
		return f, err
	}
	if sizes[0] < 0 {
		f.Missing = fmt.Sprintf("git does not have the content that the summary was written from (%s): it was never committed, or git removed it; read the whole file", before.Short())
		return f, nil
	}
	if f.Patch, err = r.Workspace.Git.DiffFile(ctx, before, p); err != nil {
		return f, err
	}
	if f.Patch == "" {
		f.Missing = "git shows no difference: a filter or the line ends changed"
	}
	return f, nil
}

func (r *Reviewer) diffDirectory(ctx context.Context, p repo.Path) (*Diff, error) {
	found, err := r.Surveys.WorkTree(nil).Diff(ctx, p)
	if err != nil || found == nil {
		return nil, err
	}
	s := &found.Shown
	if s.Text == nil || s.Outline {
		return nil, noSummary(p, "ken survey run "+fault.Quote(string(repo.DirLabel(p))))
	}
	d := &Diff{
		PathJSON: repo.DirLabel(p).JSON(), Directory: true, Verdict: s.Verdict.Word(), Text: s.TextOrEmpty(), Reasons: s.Reasons, Files: []FileDiff{}, Read: s.Basis,
	}
	if s.Author != nil {
		d.Author = authorName(*s.Author)
	}
	for _, c := range found.Children {
		d.Children = append(d.Children, c.String())
	}
	for _, file := range found.Files {
		f := FileDiff{PathJSON: file.Path.JSON(), Old: file.Old, New: file.New}
		if !file.Old.IsZero() && !file.New.IsZero() {
			if f, err = r.fileDiff(ctx, file.Path, file.Old, file.New); err != nil {
				return nil, err
			}
		}
		d.Files = append(d.Files, f)
	}
	if d.Read == "" {
		return nil, &fault.Error{Hint: "ken survey show " + fault.Quote(d.Path), Err: errors.New(cmp.Or(d.Path, ".") + " cannot be read as a whole")}
	}
	return d, nil
}
