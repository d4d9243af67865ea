package app

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// A boardJSON is a part of the document of /api/board.
type boardJSON struct {
	Worktrees []struct {
		Files  struct{ Known *struct{ Bytes int64 } }
		Survey struct {
			Known *struct {
				Directories []struct{ Path, Verdict, Line string }
				Summaries   struct{ Outlines, Stale int }
			}
		}
		State struct {
			Known *struct {
				Workflow struct{ Unknown *struct{ Why string } }
			}
		}
		Spec struct {
			Known *struct {
				Counts struct{ Drift, Missing int }
				Nodes  []struct {
					ID      string
					Missing []string
				}
			}
		}
	}
	Proposals struct {
		Known *struct {
			Worktrees []struct{ Unknown []any }
			Meetings  []struct{ Node, Kind string }
		}
	}
}

// board returns the document of /api/board.
func (s *served) board() (b boardJSON) {
	s.t.Helper()
	body := s.gives(http.StatusOK, call{path: "/api/board"})
	if err := json.Unmarshal([]byte(body), &b); err != nil || len(b.Worktrees) == 0 {
		s.t.Fatalf("/api/board is not a board: %v\n%s", err, body)
	}
	return b
}

// A part that cannot be read is unknown, and the other parts are in the document.
func TestBoardTellsWhatIsUnknown(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	printed(t, r.Dir, "state", "init", "--type", "dev")
	if known := s.board().Worktrees[0].State.Known; known == nil || known.Workflow.Unknown != nil {
		t.Errorf("the state directory is %+v; want a known workflow", known)
	}
	r.Write(".ken/state/workflow.yaml", "a: [")
	here := s.board().Worktrees[0]
	if u := here.State.Known.Workflow.Unknown; u == nil || !strings.Contains(u.Why, "corrupt") {
		t.Errorf("a corrupt workflow is unknown for the reason %+v; want corrupt", u)
	}
	if here.Spec.Known == nil || here.Spec.Known.Counts.Drift != 1 {
		t.Errorf("beside a corrupt workflow, the specs are %+v; want one with drift", here.Spec.Known)
	}

	away := r.Path("../away")
	r.Git("worktree", "add", "-q", "--detach", away)
	unknown := func() int {
		t.Helper()
		n := 0
		for _, w := range s.board().Proposals.Known.Worktrees {
			if len(w.Unknown) > 0 {
				n++
			}
		}
		return n
	}
	if n := unknown(); n != 0 {
		t.Errorf("%d worktrees are unknown, want 0", n)
	}
	if err := os.RemoveAll(away); err != nil {
		t.Fatal(err)
	}
	if n := unknown(); n != 1 {
		t.Errorf("without the directory of a worktree, %d are unknown; want 1", n)
	}
}

// The board lists a spec that several worktrees change once.
func TestBoardListsCollisions(t *testing.T) {
	r := specced(t)
	side := r.Worktree("side")
	other := r.Worktree("other")
	side.Write(".spec/api/spec.md", "---\ntitle: The API\ncode:\n  - api.go\n---\nIt listens.\n")
	other.Write(".spec/api/spec.md", "---\ntitle: The API\ncode:\n  - api.go\n---\nIt speaks.\n")
	list := serveRepo(t, r, nil).board().Proposals.Known.Meetings
	if len(list) != 1 || list[0].Node != "api" || list[0].Kind != "spec" {
		t.Errorf("the collisions are %+v; want one on the spec api", list)
	}
}

// After an edit, the board has the new outline of a directory.
func TestBoardHasCurrentOutlines(t *testing.T) {
	r := testrepo.New(t)
	r.Write("lib/lib.go", "// Package lib helps.\npackage lib\n")
	r.Commit("begin")
	printed(t, r.Dir, "survey", "run")
	s := serveRepo(t, r, nil)
	r.Write("lib/lib.go", "// Package lib sorts parcels.\npackage lib\n")
	known := s.board().Worktrees[0].Survey.Known
	if known == nil || known.Summaries.Outlines != 2 || known.Summaries.Stale != 0 {
		t.Fatalf("the directories are %+v; want 2 outlines and nothing stale", known)
	}
	i := slices.IndexFunc(known.Directories, func(d struct{ Path, Verdict, Line string }) bool { return d.Path == "lib" })
	if i < 0 || known.Directories[i].Verdict != "fresh" || known.Directories[i].Line != "Package lib sorts parcels." {
		t.Errorf("the directories are %+v; want lib with its new outline", known.Directories)
	}
}

// The size of a worktree does not include submodules.
func TestBoardSizesWithoutSubmodules(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.txt", "twelve bytes")
	r.Git("init", "-q", "lib")
	r.Git("-C", "lib", "commit", "-q", "--allow-empty", "-m", "first")
	r.Write("lib/large.txt", strings.Repeat("x", 5000))
	r.Git("-c", "advice.addEmbeddedRepo=false", "add", "lib")
	r.Commit("begin")
	if n := serveRepo(t, r, nil).board().Worktrees[0].Files.Known.Bytes; n != 12 {
		t.Errorf("the worktree has %d bytes, want 12", n)
	}
}

// The page of a spec loads the patch of a version by its commit id or the beginning of it.
func TestServePatchOfVersion(t *testing.T) {
	r := specced(t)
	r.Write(".spec/api/spec.md", "---\ntitle: The API\ncode:\n  - api.go\n---\nIt answers well.\n")
	r.Commit("better")
	s := serveRepo(t, r, nil)
	head := strings.TrimSpace(r.Git("rev-parse", "HEAD"))
	for _, id := range []string{head, head[:10]} {
		page := s.gives(http.StatusOK, call{path: "/node/api/patch/" + id, head: map[string]string{"Accept": "text/html"}})
		if !strings.Contains(page, "It answers well.") {
			t.Errorf("the patch of %s does not have the new line:\n%s", id, page)
		}
	}
	for _, id := range []string{"0000000", strings.TrimSpace(r.Git("rev-parse", "HEAD~1"))} {
		s.gives(http.StatusBadRequest, call{path: "/node/api/patch/" + id})
	}
}
