package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A Tile is a directory or a file on the map.
type Tile struct {
	Name  string // last element of the path, or a description
	Path  repo.Path
	Dir   bool
	Rest  bool // the sum of everything that is too small to show
	Files int
	Bytes int64
	State fresh.State
	// Verdict is State in words, with details.
	Verdict string
	Mild    bool   // stale, but only subdirectories or function bodies changed
	Outline bool   // fresh, but only an outline
	Why     string // the reasons, "" for none
	Line    string // first line of its text
	Rect    Rect
	Inside  []Tile // contents of a directory, one level
}

// Limits of the map. Everything above them is merged into one tile.
const (
	mostTiles  = 160
	mostInside = 24
	// leastShare is the smallest area of a tile, so that empty files show too.
	leastShare = 1.0 / 4000
)

// Map lays out the contents of a directory within a rectangle, two levels deep. ok is
// false if the directory does not exist.
func (w *Worktree) Map(dir repo.Path, in Rect) (tiles []Tile, ok bool) {
	files, known := w.Files.Known, w.Survey.Known
	if files == nil || known == nil {
		return nil, false
	}
	at := slices.IndexFunc(known.Directories, func(d Directory) bool { return d.Raw == dir })
	if at < 0 {
		return nil, false
	}
	under := known.inside(at)
	tiles = layOut(contents(dir, under, files.under(dir)), in, mostTiles)
	for i := range tiles {
		t := &tiles[i]
		if !t.Dir {
			continue
		}
		at := slices.IndexFunc(under, func(d Directory) bool { return d.Raw == t.Path })
		inner := (&Survey{Directories: under}).inside(at)
		t.Inside = layOut(contents(t.Path, inner, files.under(t.Path)), Rect{W: 100, H: 100 * t.Rect.H / max(t.Rect.W, 1e-9)}, mostInside)
	}
	return tiles, true
}

// MapFile returns a tracked file; nil if there is none.
func (f *Files) MapFile(path repo.Path) *MapFile {
	i, ok := slices.BinarySearchFunc(f.MapFiles, path, func(l MapFile, p repo.Path) int { return cmp.Compare(l.Path, p) })
	if !ok {
		return nil
	}
	return &f.MapFiles[i]
}

// Directory returns a directory; nil if there is none.
func (s *Survey) Directory(path repo.Path) *Directory {
	i := slices.IndexFunc(s.Directories, func(d Directory) bool { return d.Raw == path })
	if i < 0 {
		return nil
	}
	return &s.Directories[i]
}

// inside returns the directories below one, which follow it.
func (s *Survey) inside(at int) []Directory {
	dir := s.Directories[at].Raw
	rest := s.Directories[at+1:]
	end := slices.IndexFunc(rest, func(d Directory) bool { return !d.Raw.Under(dir) })
	if end < 0 {
		end = len(rest)
	}
	return rest[:end]
}

// under returns the files below a directory.
func (f *Files) under(dir repo.Path) []MapFile {
	if dir == "" {
		return f.MapFiles
	}
	from, _ := slices.BinarySearchFunc(f.MapFiles, dir+"/", func(l MapFile, p repo.Path) int { return cmp.Compare(l.Path, p) })
	to, _ := slices.BinarySearchFunc(f.MapFiles, dir+"0", func(l MapFile, p repo.Path) int { return cmp.Compare(l.Path, p) }) // '0' follows '/'
	return f.MapFiles[from:to]
}

// contents returns a tile for each direct child of a directory.
func contents(dir repo.Path, below []Directory, files []MapFile) []Tile {
	var tiles []Tile
	for i := range below {
		if d := &below[i]; d.Raw.Dir() == dir {
			tiles = append(tiles, d.tile())
		}
	}
	for _, l := range files {
		if l.Path.Dir() == dir {
			tiles = append(tiles, l.Tile())
		}
	}
	return tiles
}

func (d *Directory) tile() Tile {
	reasons := d.Why()
	switch d.Verdict.Reason {
	case fresh.StaleBelow:
		reasons = slices.Insert(reasons, 0, fmt.Sprintf("%d of %d subdirectories changed", d.ChangedChildren, d.Children))
	case fresh.Incomplete:
		reasons = slices.Insert(reasons, 0, fmt.Sprintf("%d of %d subdirectories had no summary", d.ChangedChildren, d.Children))
	default:
	}
	verdict := short(d.Verdict)
	if d.Outline && d.Verdict.State == fresh.Fresh {
		verdict = "outline"
	}
	return Tile{
		Name: repo.Path(d.Raw.Base()).String(), Path: d.Raw, Dir: true, Files: d.Files, Bytes: d.Bytes,
		State: d.Verdict.State, Verdict: verdict, Why: strings.Join(reasons, "; "), Line: d.Line, Outline: d.Outline,
		Mild: d.Verdict.Reason != fresh.StaleSelf && d.Verdict.Reason != fresh.Failed,
	}
}

// Why returns the reasons for the verdict, with verdicts in plain words.
func (d *Directory) Why() []string {
	list := slices.Clone(d.Reasons)
	for i, reason := range list {
		for _, v := range []fresh.Verdict{fresh.StaleSelf.Verdict(), fresh.StaleBelow.Verdict()} {
			if of, ok := strings.CutSuffix(reason, " is "+v.String()); ok {
				list[i] = of + " is " + short(v)
			}
		}
	}
	return list
}

// short names a verdict in one or two words.
func short(v fresh.Verdict) string {
	if v.State == fresh.None {
		return "no summary"
	}
	return v.Word()
}

// Tile returns the tile of a file.
func (l MapFile) Tile() Tile {
	t := Tile{Name: repo.Path(l.Path.Base()).String(), Path: l.Path, Files: 1, Bytes: l.Size, State: l.Summary, Verdict: l.Summary.String(), Why: l.Reason}
	if l.Summary == fresh.None {
		t.Verdict = "no summary"
	}
	if l.Content.State == fresh.Unknown {
		t.State, t.Verdict = fresh.Unknown, l.Content.String()
	}
	if l.Summary == fresh.Stale && l.Grade != "" {
		t.Verdict += ", " + string(l.Grade)
		t.Mild = l.Grade == fresh.GradeFormat || l.Grade == fresh.GradeBody
	}
	return t
}

// worse reports whether one state is worse than another.
func worse(one, other fresh.State) bool {
	order := []fresh.State{fresh.Unknown, fresh.Stale, fresh.None, fresh.Fresh, fresh.Excluded}
	return slices.Index(order, one) < slices.Index(order, other)
}

// layOut computes the positions of tiles, the largest first, and merges those above the
// limit into one.
func layOut(tiles []Tile, in Rect, most int) []Tile {
	slices.SortStableFunc(tiles, func(a, b Tile) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Path, b.Path))
	})
	if len(tiles) > most {
		rest := Tile{Rest: true, State: fresh.Excluded, Outline: true, Verdict: "too small to show", Name: fmt.Sprintf("%d more", len(tiles)-most+1)}
		for _, t := range tiles[most-1:] {
			rest.Files += t.Files
			rest.Bytes += t.Bytes
			rest.Outline = rest.Outline && (t.Outline || t.State != fresh.Fresh)
			if worse(t.State, rest.State) {
				rest.State, rest.Verdict = t.State, "too small to show; some "+t.State.String()
			}
		}
		tiles = append(tiles[:most-1:most-1], rest)
	}
	var total float64
	for _, t := range tiles {
		total += float64(t.Bytes)
	}
	weights := make([]float64, len(tiles))
	for i, t := range tiles {
		weights[i] = max(float64(t.Bytes), total*leastShare, 1)
	}
	for i, r := range Squarify(in, weights) {
		tiles[i].Rect = r
	}
	return tiles
}
