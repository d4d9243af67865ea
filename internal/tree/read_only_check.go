package tree

import (
	"cmp"
	"context"
	"sync"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/workspace"
)

// A ReadOnlyCheck is the work tree, judged once without recording a check.
type ReadOnlyCheck struct {
	Workspace *workspace.Workspace
	Registry  *registry.Registry

	once   sync.Once
	report *registry.Report
	sizes  map[repo.Path]int64
	err    error
}

// Report judges all tracked files on the first call, and writes nothing. It returns the verdicts and the sizes of the
// files.
func (c *ReadOnlyCheck) Report(ctx context.Context) (*registry.Report, map[repo.Path]int64, error) {
	c.once.Do(func() { c.err = c.read(ctx) })
	return c.report, c.sizes, c.err
}

func (c *ReadOnlyCheck) read(ctx context.Context) (err error) {
	c.report, err = c.Registry.Status(ctx, registry.VerifyOptions{All: true})
	if err != nil {
		return err
	}
	snap, err := c.Workspace.Git.Snapshot(ctx)
	if err != nil {
		return err
	}
	return c.readSizes(ctx, snap.Index.Entries)
}

// readSizes reads the sizes of files from the disk, because those in the index may be old. The size of a file outside
// the sparse checkout is that of the index. A directory, such as a submodule, has size 0.
func (c *ReadOnlyCheck) readSizes(ctx context.Context, index []repo.Entry) error {
	found, err := c.Workspace.Files.Stat(ctx, index)
	if err != nil {
		return err
	}
	c.sizes = make(map[repo.Path]int64, len(index))
	for i := range index {
		size := found[i].Stat.Size
		switch {
		case found[i].Presence == repo.Directory:
			size = 0
		case found[i].Presence == repo.Absent && index[i].Flags.Has(repo.SkipWorktree):
			size = index[i].Stat.Size
		}
		c.sizes[index[i].Path] = size
	}
	return nil
}

// files lists the tracked files of the report.
func (c *ReadOnlyCheck) files() []repo.File {
	var files []repo.File
	for i := range c.report.Verdicts {
		v := &c.report.Verdicts[i]
		size, tracked := c.sizes[v.RawPath()]
		if !tracked || v.Content.State == fresh.Gone {
			continue
		}
		f := repo.File{Path: v.RawPath(), ID: v.ID, Size: size, Kind: v.Kind}
		if v.Summary == fresh.Excluded {
			f.Excluded = cmp.Or(v.Reason, "policy")
		}
		if v.Content.State == fresh.Unknown {
			f.ID = repo.ID{}
			f.Problem = cmp.Or(v.Reason, v.Content.String())
		}
		files = append(files, f)
	}
	return files
}
