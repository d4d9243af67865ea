package browser

import (
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// The page shows what the change of a worktree breaks, follows edits, and has the other
// worktrees on demand.
func TestReview(t *testing.T) {
	r := sample(t)
	r.Write("cmd/main.go", "package main\n\nimport \"example.com/app/api\"\n\nfunc main() { api.Serve() }\n")
	r.Write("go.mod", "module example.com/app\n\ngo 1.24\n")
	r.Write("docs/guide.md", "# Guide\n\nSee `api/client.go`.\n")
	r.Commit("use it")
	d := serve(t, r)
	d.ken("summary", "set", "api/server.go", "-m", "It serves.")
	other := r.Worktree("other")
	d.signIn()
	d.open("/review")
	d.reads("#change .headline", "no file changed since")
	d.reads("#change .headline", "nothing to do")
	d.reads("#live", "live")
	marked := `window.sameDocument`
	eval[int](d, marked+" = 1")

	r.Write("api/server.go", "package api\n\nfunc Answer() int { return 1 }\n")
	r.Git("rm", "-q", "api/client.go")
	d.reads("#change .headline", "2 files changed since")
	d.reads("#change", "docs/guide.md:3")
	d.reads("#change", "cmd/main.go:5")
	d.reads("#change", "Summaries that are now stale")
	d.reads("#change", "ken summary diff api/server.go")
	d.until(`document.querySelector("#change .hint a").pathname === "/documents"`)
	if eval[int](d, marked) != 1 {
		t.Error("the page was loaded again")
	}
	if said := d.ken("review"); !strings.Contains(said, "docs/guide.md:3") || !strings.Contains(said, "cmd/main.go:5") {
		t.Errorf("the page and ken review differ:\n%s", said)
	}

	// A worktree's change loads when it is opened, and its page has commands for it.
	other.Write("api/client.go", "package api\n\nfunc Other() {}\n")
	d.click("#others summary")
	d.reads("#others .patch-slot", "1 file changed since")
	d.click("#others > li > a")
	d.until(`location.search === "?w=other"`)
	d.reads("#change .headline", "1 file changed since")

	// The place of a line leads to the file.
	d.open("/review")
	d.click(`#change a[href*="main.go"]`)
	d.until(`location.pathname === "/file" && new URLSearchParams(location.search).get("line") === "5"`)
	d.reads("#around .p-hunk", "5")
}

// Names and subjects on the new pages and in the palette are text.
func TestHostileNamesOnNewPages(t *testing.T) {
	const script = `<img src=x onerror=window.pwned=1>`
	r := testrepo.New(t)
	r.Write("a/"+script+".sh", "#!/bin/sh\necho something that is long enough\n")
	r.Write("a/moved.sh", "#!/bin/sh\necho another thing that is long enough\n")
	r.Write("docs/"+script+".md", "# Guide "+script+"\n\nRun `a/moved.sh` "+script+" and then `a/gone.sh`.\n")
	r.Write("a/gone.sh", "#!/bin/sh\necho a third thing\n")
	node(r, "bad", `"`+script+`"`, `"x"`, "a/**", "It holds.\n")
	r.Commit(script)
	r.Git("mv", "a/moved.sh", "a/there.sh")
	r.Commit("move " + script)
	r.Git("rm", "-q", "a/gone.sh")
	d := serve(t, r)
	d.signIn()
	d.open("/documents")
	d.reads("#docs-facts", "stale mention")
	d.reads(".docline", script)
	d.reads(".since", "move "+script)
	d.open("/review")
	d.reads("#change", "docs/"+script+".md")
	d.reads("#live", "live")
	d.press("/")
	d.keys("onerror")
	d.reads("#palette-rows", script+".sh")
	d.reads("#palette-rows", script)
	if n := eval[int](d, `document.querySelectorAll("img, main script, dialog script").length`); n != 0 {
		t.Errorf("%d elements on the page were made from words", n)
	}
	if eval[bool](d, `"pwned" in window`) {
		t.Error("something ran")
	}
}
