package web

import (
	"context"
	"html/template"
	"net/http"

	"ken/internal/board"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
)

// A filesBody lists files of one state.
type filesBody struct {
	State string // of the listed files
	Tabs  []tab
	Files []board.Tile
	More  int // files not listed
}

// A tab leads to the files of one state.
type tab struct {
	Name, Word string
	Count      int
}

// mostFiles is the number of files to list.
const mostFiles = 1000

// fileStates are the tabs in order: those that need attention first.
var fileStates = []fresh.State{fresh.Stale, fresh.Unknown, fresh.Gone, fresh.Fresh, fresh.None, fresh.Excluded}

// filesPage lists the files of one state; stale by default.
func (s *Server) filesPage(r *http.Request) (*pageData, error) {
	f, err := s.newPage(r, "files", "Files")
	if err != nil || f.Tree == nil || f.Tree.Files.Known == nil {
		return f, err
	}
	by := make(map[string][]board.Tile)
	for _, l := range f.Tree.Files.Known.Leaves {
		t := l.Tile()
		by[t.State.String()] = append(by[t.State.String()], t)
	}
	b := &filesBody{State: r.URL.Query().Get("state")}
	known := b.State == ""
	for _, st := range fileStates {
		name := st.String()
		known = known || name == b.State
		if len(by[name]) > 0 || st == fresh.Stale || st == fresh.Fresh {
			b.Tabs = append(b.Tabs, tab{name, stateText(st), len(by[name])})
		}
	}
	if !known {
		return f, statusErr(http.StatusNotFound, "unknown state: "+b.State, "start at /files")
	}
	if b.State == "" {
		b.State = fresh.Stale.String()
	}
	b.Files = by[b.State]
	if len(b.Files) > mostFiles {
		b.Files, b.More = b.Files[:mostFiles], len(b.Files)-mostFiles
	}
	f.Body = b
	return f, nil
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
	Path  repo.Path
	Above []crumb
	Tile  board.Tile
	Known registry.Knowledge
	Words template.HTML
	// Owners are the specs that govern the file. OwnersUnknown says why they are unknown.
	Owners        []spec.Claim
	OwnersUnknown *board.Unread
	// Unmerged reports merge conflicts. ken stores no summary until they are resolved.
	Unmerged bool
	Arg      string // the path for ken commands
	Add      string // the path for git add, "" if a shell cannot express it
}

// Why explains the verdict.
func (b *fileBody) Why() []string {
	list := make([]string, len(b.Known.Reasons))
	for i, r := range b.Known.Reasons {
		switch r {
		case "content_changed":
			list[i] = "edited since the summary was written"
		case "conflicted":
			list[i] = "has merge conflicts"
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
	leaf := f.Tree.Files.Known.Leaf(path)
	if leaf == nil {
		return f, statusErr(http.StatusNotFound, "not a tracked file: "+path.String(), "start at /map")
	}
	b := &fileBody{
		Path: path, Tile: leaf.Tile(), Above: crumbs(f.Board.Repository, path),
		Unmerged: leaf.Found == registry.FoundConflicted, Arg: pathArg(path),
	}
	if path.String() == string(path) {
		b.Add = fault.Quote(plainArg(path))
	}
	err = s.withWorkspace(r.Context(), f.Worktree, func(ctx context.Context, w Workspace) error {
		known, err := w.Summaries(ctx, []repo.Path{path})
		if err != nil {
			return err
		}
		b.Known, b.Words = known[0], markdown(known[0].Text, nil)
		if owners, err := w.Spec().Owners(ctx, []repo.Path{path}); err != nil {
			b.OwnersUnknown = &board.Unread{Reason: err.Error(), Hint: fault.HintOf(err)}
		} else {
			b.Owners = owners[0].Governing
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	f.Body = b
	return f, nil
}
