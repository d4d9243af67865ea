package browser

import (
	"fmt"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// goFile is a file that a summary can describe, with more at its end.
func goFile(pkg, body string) string {
	return "package " + pkg + "\n\nimport \"fmt\"\n\n// Greet says hello to everybody who is named.\nfunc Greet(names []string) {\n\tfor _, name := range names {\n\t\tfmt.Println(\"hello\", name)\n\t}\n}\n" + body
}

// troubled creates a repository with most kinds of problems.
func troubled(t *testing.T) *dashboard {
	t.Helper()
	r := testrepo.New(t)
	r.Write("main.go", goFile("main", ""))
	r.Write("lib/old.go", goFile("lib", ""))
	r.Write("lib/view.go", "package lib\n\nfunc View() {}\n")
	r.Write("docs/guide.md", "# Guide\n\nSee `lib/view.go` for details.\n")
	node(r, "lib", "The library", "greets", "lib/", "# The library\n\nIt greets.\n")
	r.Commit("begin")
	d := serve(t, r)
	d.ken("summary", "set", "main.go", "-m", "Starts the program.")
	d.ken("summary", "set", "lib/old.go", "-m", "Greets people.")
	r.Git("mv", "lib/view.go", "lib/views.go")
	r.Git("mv", "lib/old.go", "lib/greet.go")
	r.Commit("move two files")
	for i := range 3 {
		r.Write("lib/greet.go", goFile("lib", fmt.Sprintf("\n// Version is %d.\nfunc Version() int { return %d }\n", i, i)))
		r.Commit(fmt.Sprintf("version %d", i))
	}
	r.Write("main.go", goFile("main", "\nfunc main() { Greet(nil) }\n"))
	d.ken("state", "init", "--type", "debug")
	r.Write(".ken/state/lunch.docx", "x\n")
	r.Write(".ken/state/half.tmp", "x\n")
	return d
}

// item returns the selector of the item with a subject.
func (d *dashboard) item(kind, subject string) string {
	d.t.Helper()
	return "#" + once[string](d, fmt.Sprintf(`[...document.querySelectorAll(".item.k-%s")].find((e) => e.querySelector(".subject").textContent === %q).id`, kind, subject))
}

// gone waits until an item disappears and the next one has the focus.
func (d *dashboard) gone(item, said string) {
	d.t.Helper()
	d.until(fmt.Sprintf(`!document.querySelector(%q)`, item))
	d.reads("#done", said)
	d.until(`document.activeElement.closest(".item, #needs") !== null`)
}

// Each kind of problem is listed with its reason, and settled on the home page. The command
// line and a second browser agree.
func TestHomeSettlesProblems(t *testing.T) {
	d := troubled(t)
	d.signIn()
	d.reads("#live", "live")
	other := *d
	other.ctx = browse(t)
	other.signIn()

	// A summary that still holds.
	stale := d.item("stale", "main.go")
	d.reads(stale, "edited since the summary was written: interface")
	d.until(fmt.Sprintf(`document.querySelector(%q).title.length > 0`, stale+" time"))
	if eval[bool](d, fmt.Sprintf(`!!document.querySelector(%q)`, stale+" form")) {
		t.Error("the summary can be confirmed before its change was shown")
	}
	d.click(stale + " summary")
	d.reads(stale+" .patch", "+func main() { Greet(nil) }")
	d.reads(stale+" .said", "Starts the program.")
	d.click(stale + " button.primary")
	d.gone(stale, "Confirmed main.go.")
	if got := d.ken("summary", "show", "main.go"); !strings.HasPrefix(got, "fresh") {
		t.Errorf("after the summary was confirmed, ken says %s", got)
	}
	other.until(`![...document.querySelectorAll(".item .subject")].some((e) => e.textContent === "main.go")`)

	// A renamed and edited file gets another summary.
	renamed := d.item("stale", "lib/greet.go")
	d.reads(renamed, "renamed from lib/old.go; edited since the summary was written")
	d.click(renamed + " summary")
	d.reads(renamed+" .patch", "+func Version()")
	d.click(renamed + " textarea")
	d.keys(" It has a version.")
	d.click(renamed + " .rewrite button")
	d.gone(renamed, "Stored the summary of lib/greet.go.")
	if got := d.ken("summary", "show", "lib/greet.go"); !strings.Contains(got, "It has a version.") || !strings.HasPrefix(got, "fresh") {
		t.Errorf("after the summary was written, ken says %s", got)
	}

	// A mention that moved.
	mention := d.item("mention", "docs/guide.md:3")
	d.reads(mention, "moved to lib/views.go")
	d.click(mention + " summary")
	d.reads(mention+" .patch", "See `lib/view.go` for details.")
	d.click(mention + " button.primary")
	d.gone(mention, "Corrected docs/guide.md, not committed yet.")
	if got := d.ken("docs"); !strings.Contains(got, "0 stale mentions") {
		t.Errorf("after the mention was corrected, ken docs says %s", got)
	}

	// A spec whose code changed.
	drift := d.item("drift", "lib")
	d.reads(drift, "to its files since it was edited or acknowledged; the gate blocks at 3")
	d.click(drift + " summary")
	d.reads(drift+" .history", "version 2")
	d.click(drift + " .history summary")
	d.reads(drift+" .history .patch", "func Version()")
	d.click(drift + " textarea")
	d.keys("it still greets")
	d.click(drift + " .rewrite button")
	d.gone(drift, "Acknowledged lib.")
	if got := d.repo.Git("log", "-1", "--format=%s"); !strings.HasPrefix(got, "ack lib: it still greets") {
		t.Errorf("the last commit is %q, want the ack", got)
	}

	// Files that do not belong in the state directory.
	for _, name := range []string{"lunch.docx", "half.tmp"} {
		foreign := d.item("foreign", name)
		d.click(foreign + " button")
		d.gone(foreign, "Moved "+name+" to the archive.")
	}
	if got := d.ken("state", "audit"); strings.Contains(got, "lunch.docx") || strings.Contains(got, "half.tmp") {
		t.Errorf("after the files were moved away, the audit says %s", got)
	}
	d.reads("#nothing", "Nothing needs attention.")
	other.reads("#nothing", "Nothing needs attention.")
	if got := d.ken("status"); !strings.Contains(got, "Nothing needs attention.") {
		t.Errorf("the home page is empty, but ken status prints %s", got)
	}

	// An edit shows on both pages.
	d.repo.Write("main.go", goFile("main", "\nfunc main() { Greet(nil); Greet(nil) }\n\nfunc More() {}\n"))
	d.item("stale", "main.go")
	other.item("stale", "main.go")
}

// A summary cannot be confirmed for content that the user has not seen: after another edit, the
// page shows the new change, and the old one is refused.
func TestHomeRefusesUnseenContent(t *testing.T) {
	d := troubled(t)
	d.signIn()
	d.reads("#live", "live")
	stale := d.item("stale", "main.go")
	d.click(stale + " summary")
	d.reads(stale+" .patch", "+func main() { Greet(nil) }")
	before := eval[string](d, fmt.Sprintf(`document.querySelector(%q).value`, stale+` input[name="read"]`))
	d.repo.Write("main.go", goFile("main", "\nfunc main() { panic(1) }\n"))
	d.reads(stale+" .patch", "+func main() { panic(1) }")
	eval[bool](d, fmt.Sprintf(`!!fetch("/api/confirm", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ path: "main.go", read: %q }) }).then((a) => { window.answer = a.status; })`, before))
	if answer := once[int](d, "window.answer"); answer != 409 {
		t.Errorf("confirming the earlier content answers %d, want 409", answer)
	}
	if got := d.ken("summary", "show", "main.go"); !strings.HasPrefix(got, "stale") {
		t.Errorf("ken says %s, want stale", got)
	}
}

// Names, summaries, subjects and lines of documents are shown as text and do not run.
func TestHomeShowsHostileTextAsText(t *testing.T) {
	const script = `<img src=x onerror=window.pwned=1>`
	r := testrepo.New(t)
	r.Write("a/"+script+".go", goFile("a", ""))
	r.Write("gone.go", "package a\n")
	r.Write("docs/guide.md", "# Guide\n\nSee `gone.go` and "+script+"\n")
	r.Commit("begin")
	d := serve(t, r)
	d.ken("summary", "set", "a/"+script+".go", "-m", script)
	r.Write("a/"+script+".go", goFile("a", "\n// "+script+"\nfunc B() {}\n"))
	r.Git("rm", "-q", "gone.go")
	r.Commit(script)
	d.ken("state", "init", "--type", "debug")
	r.Write(".ken/state/"+script+".docx", "x\n")
	d.signIn()
	stale := d.item("stale", "a/"+script+".go")
	d.click(stale + " summary")
	d.reads(stale+" .said", script)
	d.reads(stale+" .patch", "+// "+script)
	mention := d.item("mention", "docs/guide.md:3")
	d.reads(mention, `gone since`)
	d.click(mention + " summary")
	d.reads(mention+" .patch", script)
	d.item("foreign", script+".docx")
	if n := eval[int](d, `document.querySelectorAll("main img, main script, main [onerror]").length`); n != 0 {
		t.Errorf("%d elements on the page were made from text", n)
	}
	d.click(stale + " button.primary")
	d.gone(stale, "Confirmed a/"+script+".go.")
	if eval[bool](d, `"pwned" in window`) {
		t.Error("a text of the repository ran as a script")
	}
}
