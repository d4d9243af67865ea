package web

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"ken/internal/board"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/fresh"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
)

// A filesBody lists files of one state by directory.
type filesBody struct {
	State  string // of the listed files, or "all"
	Query  string // words that the paths contain
	Tabs   []tab
	Groups []fileGroup
	Found  int // files of the state with the words
	First  int // number of the first file on the page, from 1
	Last   int
	// Prev and Next are the numbers of other pages, 0 if there is none.
	Prev, Next int
}

// A fileGroup lists the files of one directory.
type fileGroup struct {
	Dir   repo.Path
	Files []fileRow
}

// A fileRow is a file with its name in its directory.
type fileRow struct {
	board.Tile
	Name repo.Path
}

// A tab leads to the files of one state.
type tab struct {
	Name, Word string
	Count      int
}

// pageFiles is the number of files on a page.
const pageFiles = 200

// allFiles is the tab of all files.
const allFiles = "all"

// fileStates are the tabs in order: those that need attention first.
var fileStates = []fresh.State{fresh.Stale, fresh.Unknown, fresh.Gone, fresh.Fresh, fresh.None, fresh.Excluded}

// filesPage lists the files of one state: those that are stale, or all if none is.
func (s *Server) filesPage(r *http.Request) (*pageData, error) {
	f, err := s.newPage(r, "files", "Files")
	if err != nil || f.Tree == nil || f.Tree.Files.Known == nil {
		return f, err
	}
	leaves := f.Tree.Files.Known.MapFiles
	counts := make(map[fresh.State]int)
	for _, l := range leaves {
		counts[l.Tile().State]++
	}
	q := r.URL.Query()
	b := &filesBody{State: q.Get("state"), Query: q.Get("q")}
	if b.State == "" && counts[fresh.Stale] > 0 {
		b.State = fresh.Stale.String()
	} else if b.State == "" {
		b.State = allFiles
	}
	known := b.State == allFiles
	for _, st := range fileStates {
		name := st.String()
		known = known || name == b.State
		if counts[st] > 0 || st == fresh.Stale || st == fresh.Fresh || name == b.State {
			b.Tabs = append(b.Tabs, tab{name, stateText(st), counts[st]})
		}
	}
	b.Tabs = append(b.Tabs, tab{allFiles, allFiles, len(leaves)})
	if !known {
		return f, statusErr(http.StatusNotFound, "unknown state: "+b.State, "start at /files")
	}
	page, _ := strconv.Atoi(q.Get("page"))
	b.list(leaves, page)
	f.Body = b
	return f, nil
}

// list shows one page of the files, by directory.
func (b *filesBody) list(leaves []board.MapFile, page int) {
	words := strings.Fields(strings.ToLower(b.Query))
	var found []board.Tile
	for _, l := range leaves {
		t := l.Tile()
		path := strings.ToLower(t.Path.String())
		lacks := func(word string) bool { return !strings.Contains(path, word) }
		if (b.State == allFiles || t.State.String() == b.State) && !slices.ContainsFunc(words, lacks) {
			found = append(found, t)
		}
	}
	slices.SortStableFunc(found, func(x, y board.Tile) int { return cmp.Compare(x.Path.Dir(), y.Path.Dir()) })
	b.Found = len(found)
	pages := max(1, (b.Found+pageFiles-1)/pageFiles)
	page = min(max(page, 1), pages)
	if page > 1 {
		b.Prev = page - 1
	}
	if page < pages {
		b.Next = page + 1
	}
	from := (page - 1) * pageFiles
	found = found[from:min(from+pageFiles, len(found))]
	b.First, b.Last = from+1, from+len(found)
	for _, t := range found {
		dir := t.Path.Dir()
		if n := len(b.Groups); n == 0 || b.Groups[n-1].Dir != dir {
			b.Groups = append(b.Groups, fileGroup{Dir: dir})
		}
		group := &b.Groups[len(b.Groups)-1]
		group.Files = append(group.Files, fileRow{t, repo.Path(t.Path.Base())})
	}
}

// stateText names the state of a file.
func stateText(s fresh.State) string {
	switch s {
	case fresh.Fresh:
		return "fresh"
	case fresh.None:
		return "no summary"
	default:
		return s.String()
	}
}

// A fileBody has the values of the page of a file.
type fileBody struct {
	pathDetails
	Above []crumb
	Tile  board.Tile
	Known registry.Summary
	Words template.HTML
	// Line is the line that a link asked for, 0 for none; Around are the lines near it.
	Line   int
	Around []mentionLine
	// Unmerged reports merge conflicts. ken stores no summary until they are resolved.
	Unmerged bool
	Arg      string // the path for ken commands
	Add      string // the path for git add, "" if a shell cannot express it
}

// MayWrite reports whether ken keeps a summary of the file.
func (b *fileBody) MayWrite() bool {
	return !b.Unmerged && b.Known.Verdict != fresh.Excluded && b.Read() != ""
}

// Read identifies the content that the page is about.
func (b *fileBody) Read() string {
	switch {
	case !b.Known.CurrentID.IsZero():
		return b.Known.CurrentID.String()
	case !b.Known.CurrentMD5.IsZero():
		return b.Known.CurrentMD5.String()
	}
	return ""
}

// Why explains the verdict.
func (b *fileBody) Why() []string {
	list := make([]string, len(b.Known.Reasons))
	for i, r := range b.Known.Reasons {
		switch r {
		case "content_changed":
			list[i] = "edited since the summary was written"
		case "not_tracked":
			list[i] = "git does not track it"
		default:
			list[i] = r
		}
	}
	return list
}

// filePage shows the summary of one file.
func (s *Server) filePage(r *http.Request) (*pageData, error) {
	path := repo.Path(r.URL.Query().Get("path"))
	f, err := s.newPage(r, "file", path.String())
	if err != nil || f.Tree == nil || f.Tree.Files.Known == nil {
		return f, err
	}
	leaf := f.Tree.Files.Known.MapFile(path)
	if leaf == nil {
		err := s.withRepository(r.Context(), f.Worktree, func(ctx context.Context, w *ken.Repository) error {
			known, err := w.Registry.Show(ctx, []repo.Path{path})
			if err == nil && known[0].Verdict == fresh.Gone {
				err = statusErr(http.StatusNotFound, path.String()+" is gone: "+strings.Join(known[0].Reasons, "; "), "start at /map")
			}
			return err
		})
		if err != nil {
			return f, err
		}
		return f, statusErr(http.StatusNotFound, "not a tracked file: "+path.String(), "start at /map")
	}
	b := &fileBody{
		pathDetails: pathDetails{Path: path}, Tile: leaf.Tile(), Above: crumbs(f.Board.Repository, path),
		Unmerged: leaf.Content.Reason == fresh.Conflicted, Arg: pathArg(path),
	}
	if path.String() == string(path) {
		b.Add = fault.Quote(plainArg(path))
	}
	err = s.withRepository(r.Context(), f.Worktree, func(ctx context.Context, w *ken.Repository) error {
		known, err := w.Registry.Show(ctx, []repo.Path{path})
		if err != nil {
			return err
		}
		b.Known, b.Words = known[0], markdown(known[0].Text, nil)
		stale := b.Known.Text != "" && b.Known.Verdict != fresh.Fresh && !b.Unmerged
		b.read(ctx, f, w, stale)
		return b.readLine(ctx, w, r.URL.Query().Get("line"))
	})
	if err != nil {
		return f, err
	}
	f.Body = b
	return f, nil
}

// readLine reads the lines around the line that a link asked for; none if it is not a line
// of the file, or if the file cannot be read.
func (b *fileBody) readLine(ctx context.Context, w *ken.Repository, asked string) error {
	line, err := strconv.Atoi(asked)
	if err != nil || line < 1 {
		return nil //nolint:nilerr // the page shows the file without a line
	}
	return w.Files.Bytes(ctx, []repo.Path{b.Path}, find.MaxBytes, func(_ int, content []byte, err error) {
		var lines mentionLines
		if err == nil {
			lines.around(content, line)
		}
		if slices.ContainsFunc(lines.Lines, func(l mentionLine) bool { return l.Here }) {
			b.Line, b.Around = line, lines.Lines
		}
	})
}
