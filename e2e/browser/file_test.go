package browser

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"ken/internal/testrepo"
)

const serverCode = "package api\n\n// Serve answers requests.\nfunc Serve() int { return 1 }\n"

// fileShop creates a repository with code that is used and tested.
func fileShop(t *testing.T) *testrepo.Repo {
	t.Helper()
	r := testrepo.New(t)
	r.Write("go.mod", "module shop\n\ngo 1.24\n")
	r.Write("api/server.go", serverCode)
	r.Write("api/server_test.go", "package api\n\nimport \"testing\"\n\nfunc TestServe(t *testing.T) {\n\tif Serve() != 1 {\n\t\tt.Error(\"Serve\")\n\t}\n}\n")
	r.Write("cmd/shop/main.go", "package main\n\nimport \"shop/api\"\n\nfunc main() { api.Serve() }\n")
	r.Write("docs/guide.md", "# Guide\n\nStart at `api/server.go`.\n")
	node(r, "api", "The API", "answers requests", "api/", "It answers.\n")
	r.Commit("serve requests")
	return r
}

// The page of a file has what ken brief says: symbols with their lines, the files that use
// it, its tests with their command, its history, and the spec that governs it.
func TestFilePageHasTheBrief(t *testing.T) {
	d := serve(t, fileShop(t))
	d.signIn()
	d.open("/map")
	d.click("#t-api")
	d.until(`location.search === "?dir=api"`)
	d.click(`[id="t-api/server.go"]`)
	d.until(`location.pathname === "/file"`)
	d.reads("#brief-symbols", "4 func Serve() int")
	d.reads("#brief-used-by", "cmd/shop/main.go")
	d.reads("#brief-tests .cmd", "go test ./api")
	d.reads("#brief-last-commits", "serve requests")
	d.reads("#brief-named-in", "docs/guide.md")
	d.reads("#whose", "The API")
	d.reads("#own", "from the file itself")
	d.click("#brief-tests a")
	d.until(`location.search === "?path=api%2Fserver_test.go"`)
	d.reads("#brief-run-this-test .cmd", "go test ./api")
	d.open("/file?path=api/server.go")
	d.click("#brief-used-by a")
	d.until(`location.search === "?path=cmd%2Fshop%2Fmain.go"`)
	d.reads("#brief-uses", "api/server.go")
	d.open("/map?dir=api")
	d.reads("#brief-central-files", "api/server.go")
	d.reads("#brief-used-from-outside-by", "cmd/shop/main.go")
	d.reads("#brief-run-its-tests .cmd", "go test ./api")
	d.reads("#brief-last-commits", "serve requests")
	d.reads("#whose", "The API")
}

// A summary is written on the page of a file. After an edit the page shows the patch, and
// confirming it there is what the command line sees.
func TestSummaryIsWrittenAndConfirmed(t *testing.T) {
	r := fileShop(t)
	d := serve(t, r)
	d.signIn()
	d.open("/file?path=api/server.go")
	d.reads("#live", "live")
	d.click("#text")
	d.keys("It serves <b>requests</b>.")
	d.click("#write button")
	d.reads("#said .prose", "It serves <b>requests</b>.")
	d.reads("#file-facts", "fresh")
	if got := d.ken("summary", "show", "api/server.go"); !strings.Contains(got, "It serves <b>requests</b>.") || !strings.HasPrefix(got, "fresh") {
		t.Errorf("ken summary show prints\n%s\nwant the summary that was written on the page, fresh", got)
	}
	r.Write("api/server.go", strings.Replace(serverCode, "Serve() int { return 1 }", "Serve(n int) int { return n }", 1))
	d.reads("#file-facts", "stale, interface")
	d.reads("#changes .p-minus", "-func Serve() int { return 1 }")
	d.reads("#changes .p-plus", "+func Serve(n int) int { return n }")
	d.reads("#brief-symbols", "func Serve(n int) int")
	d.click("#confirm button")
	d.reads(".toast", "Confirmed")
	d.reads("#file-facts", "fresh")
	d.until(`!document.getElementById("changes")`)
	if got := d.ken("summary", "show", "api/server.go"); !strings.HasPrefix(got, "fresh") || !strings.Contains(got, "confirmed by") {
		t.Errorf("ken summary show prints\n%s\nwant the summary fresh and confirmed", got)
	}
	d.click("#write summary")
	d.until(`document.getElementById("text").value === "It serves <b>requests</b>."`)
	d.do(chromedp.SetValue("#text", "It serves n requests.\n\nTwice."))
	d.click("#write button")
	d.reads("#said .prose", "It serves n requests.")
	if got := d.ken("summary", "show", "api/server.go", "--json"); !strings.Contains(got, `"It serves n requests.\n\nTwice."`) {
		t.Errorf("ken summary show prints\n%s\nwant the rewritten summary with its two paragraphs", got)
	}
}

// The page of a directory shows the patch since its summary was written, and confirms it.
func TestSummaryOfDirectoryIsConfirmed(t *testing.T) {
	r := fileShop(t)
	d := serve(t, r)
	d.signIn()
	d.describe("api", "The API of the shop.")
	d.open("/map?dir=api")
	d.reads("#said", "The API of the shop.")
	d.reads("#said .tag", "fresh")
	r.Write("api/server.go", strings.Replace(serverCode, "return 1", "return 2", 1))
	d.reads("#said .tag", "stale")
	d.reads("#changes", "+func Serve() int { return 2 }")
	d.click("#confirm button")
	d.reads("#said .tag", "fresh")
	if got := d.ken("survey", "show", "api"); !strings.HasPrefix(got, "fresh") {
		t.Errorf("ken survey show prints\n%s\nwant the summary of api fresh", got)
	}
}

// describe submits the summary of a directory as an agent does.
func (d *dashboard) describe(dir, text string) {
	d.t.Helper()
	for {
		var next struct {
			Item *struct{ Path, Lease string }
		}
		if err := json.Unmarshal([]byte(d.ken("survey", "next", "--json")), &next); err != nil {
			d.t.Fatal(err)
		}
		if next.Item == nil {
			return
		}
		about := "About " + next.Item.Path + "."
		if next.Item.Path == dir {
			about = text
		}
		d.ken("survey", "submit", next.Item.Path, "--lease", next.Item.Lease, "-m", about)
	}
}

// The list of files is grouped by directory, has pages, and is filtered while the user types.
func TestFilesAreGroupedFilteredAndPaged(t *testing.T) {
	r := fileShop(t)
	for i := range 450 {
		r.Write(fmt.Sprintf("many/%c/f%03d.txt", 'a'+i%3, i), fmt.Sprint(i, "\n"))
	}
	r.Commit("many")
	d := serve(t, r)
	d.signIn()
	d.open("/files")
	d.reads("#files-found", "1 to 200 of 456 files")
	d.reads(`[id="in-many/a"] h2`, "many/a/")
	d.click("#next")
	d.reads("#files-found", "201 to 400 of 456 files")
	d.click("#next")
	d.reads("#files-found", "401 to 456 of 456 files")
	d.until(`!document.getElementById("next")`)
	d.click("#prev")
	d.reads("#files-found", "201 to 400")
	d.click("#filter-text")
	d.keys("many/b F00")
	d.reads("#files-found", "3 files")
	d.reads("#files", "f001.txt")
	d.lacks("#files", "f003.txt")
	if got := eval[string](d, `document.activeElement.id + " " + document.activeElement.value`); got != "filter-text many/b F00" {
		t.Errorf("after filtering, %q has the focus", got)
	}
	d.open("/files?state=all&q=server")
	d.reads("#files-found", "2 files")
	d.reads("#files", "server_test.go")
	d.open("/files?state=all&q=nowhere")
	d.reads("#files", "No such path")
}

// Names, summaries, instructions and subjects stay text on the pages of files and directories.
func TestHostileFilesAreShownAsText(t *testing.T) {
	const evil = `<img src=x onerror="window.pwned=1">`
	r := testrepo.New(t)
	dir := `<script>window.pwned=1<`
	name := dir + `/` + evil + `.go`
	r.Write("go.mod", "module shop\n")
	r.Write("AGENTS.md", "# Rules\n\n## Never write "+evil+" here\n")
	r.Write(name, "package x\n\n// A is "+evil+"\nfunc A() {}\n")
	r.Commit(`subject ` + evil)
	d := serve(t, r)
	d.signIn()
	d.ken("summary", "set", name, "-m", "Summary "+evil+` [link](javascript:window.pwned=1)`)
	r.Write(name, "package x\n\n// A is "+evil+"\nfunc A(s string) { _ = `"+evil+"` }\n")
	for _, at := range []string{"/file?" + url.Values{"path": {name}}.Encode(), "/map?" + url.Values{"dir": {dir}}.Encode(), "/files?state=all&q=%3Cscript%3E", "/brief?" + url.Values{"path": {name}}.Encode()} {
		d.open(at)
		d.reads("main", `<script>window.pwned=1<`)
		d.until(`document.body.dataset.tag !== ""`)
		if strings.HasPrefix(at, "/file?") {
			d.reads("#said", "Summary "+evil)
			d.reads("#changes", "`"+evil+"`")
			d.reads("#brief-last-commits", "subject "+evil)
			d.reads("#brief-instructions", "Never write "+evil)
		}
		if bad := eval[string](d, `[window.pwned && "a script ran", document.querySelector("main img, main script, main a[href^=javascript]")?.outerHTML].filter(Boolean).join()`); bad != "" {
			t.Errorf("%s: text became an element: %s", at, bad)
		}
	}
}

// Links and buttons on the pages of files and directories are large enough to touch, in every
// theme and width.
func TestFilePagesHaveLargeTargets(t *testing.T) {
	r := fileShop(t)
	d := serve(t, r)
	d.signIn()
	d.ken("summary", "set", "api/server.go", "-m", "It serves.")
	r.Write("api/server.go", strings.Replace(serverCode, "Serve()", "Serve(n int)", 1))
	const small = `[...document.querySelectorAll("main .items a, main .rows a, main button, main summary, main .chip, main .pager a, main .find a")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 24).map((e) => Math.round(e.getBoundingClientRect().height) + " " + e.outerHTML.slice(0, 90)).join("\n")`
	for _, theme := range []string{"light", "dark"} {
		d.media(theme)
		for _, width := range []int64{1280, 390} {
			d.do(chromedp.EmulateViewport(width, 844))
			for _, at := range []string{"/file?path=api/server.go", "/file?path=cmd/shop/main.go", "/map?dir=api", "/map", "/files?state=all"} {
				d.open(at)
				d.until(`document.body.dataset.tag !== "" && !document.getElementById("late") && !document.querySelector("main .reading")`)
				if bad := eval[string](d, small); bad != "" {
					t.Errorf("%s, %s, %d wide, has targets lower than 24 px:\n%s", at, theme, width, bad)
				}
				d.picture(fmt.Sprintf("%s-%s-%d", strings.NewReplacer("/", "_", "?", "_", "=", "_").Replace(at), theme, width))
			}
		}
	}
}

// picture writes a screenshot for people into the directory that KEN_PICTURES names.
func (d *dashboard) picture(name string) {
	d.t.Helper()
	dir := os.Getenv("KEN_PICTURES")
	if dir == "" {
		return
	}
	shot, err := chromedp.Run(d.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), shot, 0o600); err != nil {
		d.t.Fatal(err)
	}
}
