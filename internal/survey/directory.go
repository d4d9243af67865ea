package survey

import (
	"context"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ken/internal/repo"
	"ken/internal/survey/describe"
)

// A Directory is a directory with tracked files, in it or below it.
type Directory struct {
	Path     repo.Path    // "" is the root
	Files    []*repo.File // own files that count, sorted by path
	Children []*Directory
	Parent   *Directory // nil for the root
	Excluded string     // why it is left out, "" if it is not

	leftOut map[string]bool // names of own files that exist and do not count

	rank  Rank
	band  Rank // its place in the order of work, never after the directories above it
	depth int
}

// Name returns the last element of the path.
func (d *Directory) Name() string { return d.Path.Base() }

// IsCode reports whether the name of a directory suggests product code, not tests, documents, examples or tools.
func (d *Directory) IsCode() bool { return describe.IsCodeDir(d.Name()) }

// IsHidden reports whether the name of a directory starts with a dot.
func (d *Directory) IsHidden() bool { return describe.IsHiddenDir(d.Name()) }

// Layout returns the directories of the tree, subdirectories first, with the files that count.
func (s *Survey) Layout(ctx context.Context) ([]*Directory, error) {
	files, err := s.tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	return directories(files, s.opts), nil
}

// directories makes the tree of directories from tracked files, which are sorted by path. It returns them with
// subdirectories first. A repository without files has none.
func directories(files []repo.File, opts Options) []*Directory {
	if len(files) == 0 {
		return nil
	}
	byPath := make(map[repo.Path]*Directory)
	root := &Directory{}
	byPath[""] = root
	var enter func(p repo.Path) *Directory
	enter = func(p repo.Path) *Directory {
		if d, ok := byPath[p]; ok {
			return d
		}
		up := enter(p.Dir())
		d := &Directory{Path: p, Parent: up, depth: up.depth + 1}
		up.Children = append(up.Children, d)
		byPath[p] = d
		return d
	}
	reasons := make(map[*Directory]string) // why a directory's own files are left out
	at := root
	for i := range files {
		f := &files[i]
		if dir := f.Path.Dir(); dir != at.Path {
			at = enter(dir)
		}
		if why := at.add(f, opts); why != "" && reasons[at] == "" {
			reasons[at] = why
		}
	}
	opts.rank(root, rankUnset, RankSkip)
	var order []*Directory
	var walk func(d *Directory, why string)
	walk = func(d *Directory, why string) {
		if why == "" && d.Path != "" && matches(opts.Exclude, d.Path) {
			why = "policy"
		}
		if d.rank == RankSkip {
			why = "skipped by rank"
			if slices.ContainsFunc(ownDirs, d.Path.Under) {
				why = leftOutByDefault
			}
		}
		slices.SortFunc(d.Children, func(a, b *Directory) int { return strings.Compare(string(a.Path), string(b.Path)) })
		wanted := len(d.Files) > 0
		for _, c := range d.Children {
			walk(c, why)
			wanted = wanted || c.Excluded == ""
		}
		d.Excluded = why
		if why == "" && !wanted {
			d.Excluded = "no file in it needs a summary"
			if why := reasons[d]; why != "" {
				d.Excluded += ": " + why
			}
		}
		order = append(order, d)
	}
	walk(root, "")
	return order
}

// add adds an own file. It returns why the file is left out, "" if it counts.
func (d *Directory) add(f *repo.File, opts Options) (why string) {
	why = f.Excluded
	switch {
	case f.Path == configFile:
		why = leftOutByDefault
	case why == "" && matches(opts.Exclude, f.Path):
		why = "policy"
	}
	if why == "" {
		d.Files = append(d.Files, f)
		return ""
	}
	if d.leftOut == nil {
		d.leftOut = make(map[string]bool)
	}
	d.leftOut[f.Path.Base()] = true
	return why
}

// matches reports whether a path matches one of the globs.
func matches(globs []string, p repo.Path) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		return doublestar.MatchUnvalidated(g, string(p))
	})
}
