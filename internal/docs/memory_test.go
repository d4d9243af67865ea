package docs

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ken/internal/session"
	"ken/internal/testrepo"
)

// A memory is judged by the commit of its time. It comes first, and nothing of it is stored.
func TestMemories(t *testing.T) {
	r := testrepo.New(t)
	r.Write("README.md", "Read `api/b.go`.\n")
	r.Write("api/a.go", "package api\n\nfunc RunAll() {}\n")
	r.Write("api/b.go", "package api\n")
	r.Commit("first")
	r.Git("rm", "-q", "api/b.go")
	r.Write("api/a.go", "package api\n\nfunc StartAll() {}\n")
	r.Commit("second")
	r.Write("LATER.md", "later\n")
	r.Commit("third")
	ask := func(written time.Time) *Report {
		t.Helper()
		memory := session.Memory{
			Client: "claude", File: "/home/ada/.claude/projects/x/memory/MEMORY.md",
			Content: []byte("Start with `RunAll()`, in `api/a.go` and `api/b.go`.\n"), Time: written,
		}
		linked := session.Memory{Client: "claude", File: "/home/ada/linked.md", Err: errors.New("it is a link")}
		rep, err := checker(t, r.Dir).Check(t.Context(), Options{Memories: []session.Memory{memory, linked}})
		if err != nil {
			t.Fatal(err)
		}
		return rep
	}
	first, err := time.Parse(time.RFC3339, "2024-01-02T03:04:05Z")
	if err != nil {
		t.Fatal(err)
	}
	rep := ask(first.Add(time.Second))
	if got, want := staleNames(rep), "MEMORY.md RunAll(), MEMORY.md api/b.go, README.md api/b.go"; got != want {
		t.Errorf("stale are %s; want %s", got, want)
	}
	if len(rep.Unread) != 1 {
		t.Errorf("unread are %+v; want the link", rep.Unread)
	}
	// A later memory may mean another function of that name. A path of the repository is one at any time.
	if got, want := staleNames(ask(time.Now())), "MEMORY.md api/b.go, README.md api/b.go"; got != want {
		t.Errorf("written later, stale are %s; want %s", got, want)
	}
	for _, m := range reportOf(t, checker(t, r.Dir)).Mentions {
		if IsOutside(m.File) {
			t.Errorf("%s of %s was stored", m.Text, m.File)
		}
	}
}

// StaleForAgents answers once all documents were checked, and not if that would take long. It leaves out README.md.
func TestStaleForAgents(t *testing.T) {
	r := testrepo.New(t)
	r.Write("README.md", "Read `api/b.go`.\n")
	r.Write("AGENTS.md", "Read `api/b.go`.\n")
	r.Write("api/b.go", "package api\n")
	r.Commit("first")
	r.Git("rm", "-q", "api/b.go")
	r.Commit("second")
	r.Age()
	first, err := time.Parse(time.RFC3339, "2024-01-02T03:04:05Z")
	if err != nil {
		t.Fatal(err)
	}
	memories := []session.Memory{{Client: "claude", File: "/home/ada/MEMORY.md", Content: []byte("See `api/b.go`.\n"), Time: first.Add(time.Second)}}
	ask := func(memories []session.Memory, wantChecked bool, want string) {
		t.Helper()
		list, wasChecked, err := checker(t, r.Dir).StaleForAgents(t.Context(), memories)
		if got := staleNames(&Report{Mentions: list}); err != nil || wasChecked != wantChecked || got != want {
			t.Errorf("stale are %q, checked %t, %v; want %q, %t", got, wasChecked, err, want, wantChecked)
		}
	}
	ask(memories, false, "")
	reportOf(t, checker(t, r.Dir))
	ask(nil, true, "AGENTS.md api/b.go")
	ask(memories, true, "AGENTS.md api/b.go, MEMORY.md api/b.go")
	for i := range 2000 {
		r.Write(fmt.Sprintf("many/%d.txt", i), "many\n")
	}
	r.Commit("many")
	if list, wasChecked, err := checker(t, r.Dir).StaleForAgents(t.Context(), nil); !errors.Is(err, ErrSlow) || !wasChecked || list != nil {
		t.Errorf("at another commit of many files: %v, %t, %v; want that it is slow", list, wasChecked, err)
	}
}

func staleNames(rep *Report) string {
	var names []string
	for _, m := range rep.Stale() {
		names = append(names, m.File.Base()+" "+m.Text)
	}
	return strings.Join(names, ", ")
}
