package web

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"ken/internal/board"
	"ken/internal/english"
	"ken/internal/fresh"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/survey"
)

// A mapBody has the values of the map of one directory.
type mapBody struct {
	pathDetails
	About     *board.Directory
	Words     template.HTML
	Above     []crumb
	Tiles     []tile
	Counts    []barSegment
	Summaries survey.DirCounts
}

// A crumb is a parent directory in the heading.
type crumb struct {
	Name string
	Path repo.Path
}

// A tile is a [board.Tile] with its position in percent of the picture.
type tile struct {
	board.Tile
	X, Y, W, H string
	Wide, Tall bool // there is room for a name; for a second line
	Small      []tile
	Label      string // for screen readers
	Look       string // CSS class of its colour
	Pattern    string // over the colour, "" for none
}

// mapPage shows the repository as a treemap.
func (s *Server) mapPage(r *http.Request) (*pageData, error) {
	f, err := s.newPage(r, "map", "Map")
	if err != nil || f.Tree == nil {
		return f, err
	}
	if f.Tree.Survey.Known == nil || f.Tree.Files.Known == nil {
		return f, nil // the template shows the reason
	}
	known := f.Tree.Survey.Known
	b := &mapBody{pathDetails: pathDetails{Path: repo.Path(r.URL.Query().Get("dir"))}}
	b.Counts, b.Summaries = summarize(f.Tree).Directories, known.Summaries
	f.Body = b
	if len(known.Directories) == 0 && b.Path == "" {
		return f, nil
	}
	if b.About = known.Directory(b.Path); b.About == nil {
		return f, statusErr(http.StatusNotFound, "not a tracked directory: "+b.Path.String(), "start at /map")
	}
	b.Words = markdown(b.About.Text, nil)
	b.Above = crumbs(f.Board.Repository, b.Path)
	// The aspect ratio of the picture, so that tiles are nearly square.
	tiles, _ := f.Tree.Map(b.Path, board.Rect{W: 160, H: 100})
	for _, t := range tiles {
		b.Tiles = append(b.Tiles, layOutTile(t, 160, 100))
	}
	return f, s.withRepository(r.Context(), f.Worktree, func(ctx context.Context, w *ken.Repository) error {
		b.read(ctx, f, w, b.Written() && b.About.Verdict.State != fresh.Fresh)
		return nil
	})
}

// Arg returns the directory as an argument of ken.
func (b *mapBody) Arg() string { return pathArg(repo.DirLabel(b.Path)) }

// Written reports whether somebody wrote a summary of the directory.
func (b *mapBody) Written() bool { return b.About.Text != "" && !b.About.Outline }

func crumbs(name string, dir repo.Path) []crumb {
	list := []crumb{{name, ""}}
	if dir == "" {
		return list
	}
	parts := strings.Split(string(dir), "/")
	for i := range parts {
		list = append(list, crumb{repo.Path(parts[i]).String(), repo.Path(strings.Join(parts[:i+1], "/"))})
	}
	return list
}

func layOutTile(t board.Tile, w, h float64) tile {
	percent := func(part, whole float64) string { return fmt.Sprintf("%.3f%%", 100*part/whole) }
	out := tile{
		Tile: t, X: percent(t.Rect.X, w), Y: percent(t.Rect.Y, h), W: percent(t.Rect.W, w), H: percent(t.Rect.H, h),
		Wide: t.Rect.W > 4 && t.Rect.H > 4, Tall: t.Rect.W > 14 && t.Rect.H > 11,
	}
	out.Look = t.State.String()
	switch {
	case t.State == fresh.Stale && t.Mild:
		out.Look = "mild"
	case t.State == fresh.Fresh && t.Outline:
		out.Look = "outline"
	}
	if t.State == fresh.Stale || t.State == fresh.Excluded || t.State == fresh.Unknown {
		out.Pattern = t.State.String()
	}
	for _, in := range t.Inside {
		// Inner positions are relative to a width of 100.
		small := layOutTile(in, 100, 100*t.Rect.H/max(t.Rect.W, 1e-9))
		scale := t.Rect.W / 100
		small.Wide = in.Rect.W*scale > 6 && in.Rect.H*scale > 4
		out.Small = append(out.Small, small)
	}
	kind := "file"
	if t.Dir {
		kind = "directory, " + english.Count(t.Files, "file")
	}
	out.Label = fmt.Sprintf("%s, %s, %s, %s", t.Name, t.Verdict, bytesText(t.Bytes), kind)
	if t.Why != "" {
		out.Label += ": " + t.Why
	}
	return out
}
