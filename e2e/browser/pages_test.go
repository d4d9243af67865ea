package browser

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"ken/internal/testrepo"
)

// before runs a script in every document before its own.
func (d *dashboard) before(script string) {
	d.t.Helper()
	if _, err := chromedp.Call(d.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		d.t.Fatal(err)
	}
}

// The map leads into directories, and shows new summaries and edits.
func TestMap(t *testing.T) {
	d := serve(t, sample(t))
	d.open("/map")
	d.reads("#progress", "0 of")
	d.reads("#live", "live")
	if got := eval[string](d, `document.querySelector("[id='t-api']").getAttribute("aria-label")`); !strings.HasPrefix(got, "api, no summary,") {
		t.Errorf("the directory is called %q", got)
	}
	d.ken("survey", "run", "--provider", "outline")
	d.until(`document.querySelector("[id='t-api']").getAttribute("aria-label").startsWith("api, outline")`)
	d.click("#t-api")
	d.until(`location.search === "?dir=api"`)
	d.reads("h1", "api")
	d.reads("#inside", "server.go")
	d.reads(".words .tag", "outline only")
	// After an edit the outline is made again.
	d.reads("#live", "live")
	d.repo.Write("api/server.go", "package api\n\nfunc Other() {}\n")
	d.reads(".words", "Other")
	d.reads(".words .tag", "outline only")
}

// The page of a file shows its summary, and whether it is fresh or stale. The map and
// the list of files lead to it.
func TestFilePage(t *testing.T) {
	r := sample(t)
	d := serve(t, r)
	d.ken("summary", "set", "api/server.go", "-m", "It **serves**.")
	d.open("/")
	d.reads("#sum-files", "1 of 5 have a current summary")
	d.reads("#sum-files .legend", "4 no summary")
	d.open("/map")
	d.until(`document.querySelectorAll("#t-api .small .t-fresh").length === 1 && document.querySelectorAll("#t-api .small .t-none").length === 1`)
	d.click("#t-api")
	d.until(`location.search === "?dir=api"`)
	d.click(`[id="t-api/server.go"]`)
	d.reads("#said", "It serves.")
	d.reads("#file-facts", "fresh")
	d.lacks("#file-facts", "written for")
	d.reads("#live", "live")
	r.Write("api/client.go", "package api\n\nfunc Serve() int { return 1 }\n")
	d.open("/file?path=api/client.go")
	d.reads("#file-facts", "written for api/server.go")
	r.Write("api/client.go", "package api\n\nfunc Call() {}\n")
	d.open("/file?path=api/server.go")
	d.reads("#live", "live")
	r.Write("api/server.go", "package api\n\nfunc Other() {}\n")
	d.reads("#file-facts", "stale")
	d.press("u")
	d.until(`location.pathname === "/map" && location.search === "?dir=api"`)
	d.open("/map")
	d.until(`document.querySelectorAll("#t-api .small .p-stale").length === 1 && document.querySelectorAll("#t-api .small .t-none").length === 1`)
	d.open("/")
	d.click("#sum-files h2 a")
	d.reads(`[id="in-api"]`, "server.go")
	d.reads("#tab-stale", "1")
}

// The commands on a page work when they are pasted, for any file name and any worktree.
func TestCommandsCanBePasted(t *testing.T) {
	r := sample(t)
	names := []string{"-dash.js", "a b's.js", "$(x).js", `"quoted".js`, "new\nline.js"}
	if runtime.GOOS == "linux" {
		names = append(names, "caf\xe9.js")
	}
	for i, name := range names {
		r.Write(name, "x = "+strings.Repeat("1", i+1)+"\n")
	}
	r.Commit("names")
	other := r.Worktree("other")
	d := serve(t, r)
	for _, tree := range []*testrepo.Repo{r, other} {
		picked := ""
		if tree == other {
			picked = filepath.Base(other.Dir)
		}
		some := names
		if picked != "" {
			some = names[len(names)-1:] // how a name is written does not depend on where it is
		}
		for i, name := range some {
			tree.Write(name, "x = "+strings.Repeat("2", i+1)+strings.Repeat(" ", len(picked))+"\n")
			d.open("/file?" + url.Values{"path": {name}, "w": {picked}}.Encode())
			if picked == "" {
				d.paste("#next code", "TEXT", "'It is.'")
			} else { // the summary of the first worktree, which is stale here
				d.paste("#next code", " diff ", " confirm ")
			}
			d.reads("#said", "It is.")
			d.reads("#file-facts", "fresh")
			tree.Write(name, "x = "+strings.Repeat("3", i+1)+strings.Repeat(" ", len(picked))+"\n")
			d.reads("#why", "edited since the summary was written")
			d.paste("#next code", " diff ", " confirm ")
			d.reads("#file-facts", "fresh")
		}
	}
	d.open("/?w=" + filepath.Base(other.Dir))
	d.reads("#entry .next", "ken -C ")
	d.paste("#entry .next", "", "")
	d.open("/files?state=gone")
	d.until(`document.querySelector(".empty").getBoundingClientRect().top - document.querySelector(".chips").getBoundingClientRect().bottom > 8`)
}

// paste runs a command from a page, with one word replaced, in the directory of the server.
func (d *dashboard) paste(selector, word, by string) {
	d.t.Helper()
	command := once[string](d, fmt.Sprintf(`document.querySelector(%q).innerText`, selector))
	command = strings.Replace(command, word, by, 1)
	cmd := exec.CommandContext(d.t.Context(), "sh", "-c", command)
	cmd.Dir, cmd.Env = d.repo.Dir, append(d.repo.Env(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("the command %s failed with %v\n%s", command, err, out)
	}
}

// A click restores the files that a cleanup moved.
func TestSnapshotIsRestored(t *testing.T) {
	r := sample(t)
	d := serve(t, r)
	d.ken("state", "init", "--type", "debug")
	r.Write(".ken/state/notes-of-mine.txt", "mine\n")
	d.signIn()
	d.open("/state")
	d.reads("#workflow", "debug")
	d.reads("#bucket-ad_hoc", "notes-of-mine.txt")
	d.reads("#cleanup", "notes-of-mine.txt")
	d.reads("#live", "live")
	d.ken("state", "cleanup", "--apply")
	d.lacks("#bucket-ad_hoc", "notes-of-mine.txt")
	d.reads("#snapshots li", "cleanup")
	d.click("#snapshots li button")
	d.reads("#bucket-ad_hoc", "notes-of-mine.txt")
	if got := r.Read(".ken/state/notes-of-mine.txt"); got != "mine\n" {
		t.Errorf("the restored file contains %q", got)
	}
}

// The page shows the proposals of each worktree, and specs that two worktrees edit.
func TestWorktreesAndTheirCollisions(t *testing.T) {
	r := sample(t)
	one, two := r.Worktree("one"), r.Worktree("two")
	d := serve(t, r)
	d.open("/worktrees")
	d.reads("#w-one", "Changes no spec")
	d.reads("#live", "live")
	node(one, "app/api", "The API", "answers all requests", "api/server.go", "It answers.\n")
	one.Commit("edit")
	d.reads("#w-one", "edited")
	node(two, "app/api", "The API", "answers no requests", "api/server.go", "It does not.\n")
	node(two, "app/new", "A new one", "more", "", "New.\n")
	d.reads("#w-two", "not committed")
	d.reads(".radar", "api")
	d.reads("#w-two", "collides with one on the spec of api")
	d.reads("#radar-title", "1 collision between worktrees")
	two.Write("api/server.go", "package api\n\nfunc Two() {}\n")
	d.reads("#w-two .code", "api/server.go")
	d.reads("#radar-title", "1 collision between worktrees")
	d.open("/")
	d.reads(".k-collision", "worktrees one and two change its")
	d.open("/specs")
	d.reads("#n-api .facts", "⚠")
	d.reads("#n-api .facts", "~")
	d.reads("#n-new", "+")
	d.reads(".radar", "collision")
}

// Every page of an empty repository says that it is empty.
func TestEmptyRepository(t *testing.T) {
	r := testrepo.New(t)
	d := serve(t, r)
	d.open("/")
	d.reads("#steps", "git add FILE")
	d.open("/specs")
	d.reads("main", "There are no specs yet")
	d.reads("#foot", "no commit yet")
	d.open("/map")
	d.reads("main", "Git tracks no files yet")
	d.open("/state")
	d.reads("main", "No current workflow")
	d.open("/nowhere")
	d.reads("h1", "page not found")
}

// A part that cannot be read is shown as unknown with its reason.
func TestUnknownPartHasReason(t *testing.T) {
	r := sample(t)
	d := serve(t, r)
	d.ken("state", "init", "--type", "debug")
	_ = os.WriteFile(r.Path(d.stateFile()), []byte("a: [\n"), 0o600)
	d.open("/state")
	d.reads("#workflow", "Unknown.")
	d.reads("#buckets-title", "Files")
}

func (d *dashboard) stateFile() string {
	for _, name := range []string{"workflow.yaml", "workflow-state.yaml", "workflow.yml"} {
		if _, err := os.Stat(d.repo.Path(".ken/state/" + name)); err == nil {
			return ".ken/state/" + name
		}
	}
	entries, _ := os.ReadDir(d.repo.Path(".ken/state"))
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".yaml") {
			return ".ken/state/" + e.Name()
		}
	}
	d.t.Fatal("there is no workflow document")
	return ""
}

// Without the token every page is the sign-in page, which leads to the page that was
// asked for.
func TestSignIn(t *testing.T) {
	d := &dashboard{t: t, repo: sample(t)}
	d.start()
	d.ctx = browse(t)
	d.open("/node/api")
	d.reads("h1", "Sign in")
	d.reads("#foot", "signed out")
	d.lacks("body", "The API")
	// The page checks once whether the cookie exists by now, and stays.
	d.until(`performance.getEntriesByType("resource").some((e) => e.name.endsWith("/node/api"))`)
	eval[bool](d, `(window.same = true)`)
	d.click("#token")
	d.keys("WRONG")
	d.click("[data-login] button")
	d.reads(".outcome", "wrong token")
	if !eval[bool](d, `window.same === true`) {
		t.Error("the sign-in page loaded itself again")
	}
	d.do(chromedp.Navigate(d.url + "/node/api#token=WRONG"))
	d.reads(".toast", "not valid")
	if got := eval[string](d, `location.hash`); got != "" {
		t.Errorf("the token stays in the address: %q", got)
	}
	_, token, _ := strings.Cut(d.full, "#token=")
	eval[bool](d, `(document.getElementById("token").value = "", true)`)
	d.click("#token")
	d.keys(token)
	d.click("[data-login] button")
	d.until(`location.pathname === "/node/api"`)
	d.reads("h1", "The API")

	// The printed token works in the address of any page.
	other := &dashboard{t: t, repo: d.repo, ctx: browse(t)}
	other.url, other.full = d.url, d.url+"/node/api#token="+token
	other.do(chromedp.Navigate(other.full))
	other.until(`location.pathname === "/node/api" && !location.hash`)
	other.reads("h1", "The API")
}

// Every page has one h1, landmarks and names of all controls for screen readers, and fits the
// width of a phone.
func TestEveryPageIsAccessible(t *testing.T) {
	r := sample(t)
	r.Write("api/server.go", "package api\n\nfunc Serve(n int) int { return n }\n")
	deep := "long/" + strings.Repeat("very-long-name-", 12)
	r.Write(deep+"/"+strings.Repeat("x", 120)+".go", "package x\n")
	r.Write(deep+"/"+strings.Repeat("y", 120)+".go", "package x\n")
	node(r, "app/rtl", "\"\u0645\u0648\u0627\u0635\u0641\u0627\u062a\"", "\"\u0646\u0635 \u0645\u0646 \u0627\u0644\u064a\u0645\u064a\u0646\"", "", "\u0646\u0635\n")
	node(r, "app/"+strings.Repeat("long", 30), strings.Repeat("Unbreakable", 30), strings.Repeat("word ", 100), deep+"/"+strings.Repeat("x", 120)+".go", "x\n")
	r.Commit("move")
	r.Worktree("other")
	for _, name := range []string{"held", "outlined", "moved", "inside", "said"} { // a tile of every look
		r.Write("looks/"+name+"/a.go", "package a\n\n// A does it.\nfunc A() int { return 1 }\n")
	}
	r.Write("looks/picture.png", "\x89PNG\r\n\x1a\n"+strings.Repeat("\x00", 60))
	r.Write("looks/plain.go", "package looks\n\n// P is said nothing of.\nfunc P() {}\n")
	r.Write("looks/conflict.go", "package looks\n\n// C is being merged.\nfunc C() {}\n")
	r.Write("looks/aged.go", "package looks\n\n// A was described.\nfunc A() {}\n")
	r.Commit("looks")
	d := serve(t, r)
	d.signIn()
	d.ken("survey", "run", "--provider", "outline")
	d.ken("summary", "set", "looks/aged.go", "-m", "aged")
	r.Write("looks/aged.go", "package looks\n\n// A was described.\nfunc A(int) {}\n")
	d.ken("summary", "set", "looks/plain.go", "-m", "plain")
	d.ken("summary", "set", deep+"/"+strings.Repeat("x", 120)+".go", "-m", "long") // and of the other, which has the same bytes
	r.Write("looks/moved/b.go", "package a\n")
	r.Write("looks/inside/a.go", "package a\n\n// A does it.\nfunc A() int { return 2 }\n")
	r.Git("add", ".")
	d.ken("state", "init", "--type", "debug")
	r.Write(".ken/state/"+strings.Repeat("n", 200)+".txt", "x\n")
	for _, theme := range []string{"light", "dark"} {
		d.media(theme)
		for _, width := range []int64{1280, 360} {
			d.do(chromedp.EmulateViewport(width, 800))
			for _, path := range []string{"/", "/specs", "/attention/summary?path=looks/aged.go", "/node/api", "/node/rtl", "/map", "/map?dir=long", "/map?dir=" + deep, "/file?path=" + deep + "/" + strings.Repeat("y", 120) + ".go", "/node/" + strings.Repeat("long", 30), "/map?dir=" + deep + "/none", "/?w=" + strings.Repeat("n", 200), "/map?dir=looks&looks=fresh,outline,stale,none,excluded", "/files", "/files?state=none", "/files?state=all&q=looks", "/file?path=looks/plain.go", "/file?path=looks/aged.go", "/brief?path=looks/aged.go", "/state", "/worktrees", "/login", "/nowhere"} {
				d.open(path)
				if path != "/login" && path != "/nowhere" && !strings.HasSuffix(path, "none") && !strings.HasPrefix(path, "/?w") {
					d.until(`document.body.dataset.tag !== ""`)
				}
				if path == "/node/api" { // a patch may be wider than the screen; the page may not
					d.reads("#live", "")
					d.click("#history summary")
					d.reads("#history", "+title: The API")
				}
				if path == "/node/rtl" { // whatever it is written in, a page begins where pages do
					if left := eval[float64](d, `document.querySelector("h1 bdi").getBoundingClientRect().left - document.querySelector("main").getBoundingClientRect().left`); left > 48 {
						t.Errorf("%s, %d wide: the title is %v from the edge", path, width, left)
					}
				}
				if bad := eval[string](d, accessibility); bad != "" {
					t.Errorf("%s, %s, %d wide:\n%s", path, theme, width, bad)
				}
			}
		}
	}
}

// media sets what the system prefers.
func (d *dashboard) media(theme string) {
	d.t.Helper()
	_, err := chromedp.Call(d.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// The button goes round the themes, and the choice outlives the page.
func TestTheme(t *testing.T) {
	d := serve(t, sample(t))
	d.media("light")
	d.open("/")
	d.reads("#live", "live")
	light := eval[string](d, `getComputedStyle(document.documentElement).backgroundColor`)
	d.click("#theme")
	d.click("#theme")
	d.reads("#theme", "dark")
	d.open("/state")
	d.reads("#theme", "dark")
	if dark := eval[string](d, `getComputedStyle(document.documentElement).backgroundColor`); dark == light {
		t.Errorf("light and dark are both %s", dark)
	}
}

// accessibility lists the defects of a page, one on each line.
const accessibility = `(() => {
		const bad = [];
		if (document.querySelectorAll("h1").length !== 1) bad.push("there are " + document.querySelectorAll("h1").length + " h1");
		for (const tag of ["header", "nav", "main", "footer"]) if (!document.querySelector(tag)) bad.push("no " + tag);
		if (!document.documentElement.lang) bad.push("no language");
		const name = (e) => (e.getAttribute("aria-label") || e.textContent || e.title || "").trim() || (e.labels && e.labels[0] && e.labels[0].textContent.trim());
		for (const e of document.querySelectorAll("a, button, summary, [role=img]")) if (!name(e)) bad.push("no name: " + e.outerHTML.slice(0, 120));
		for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea")) if (!name(e)) bad.push("no label: " + e.outerHTML.slice(0, 120));
		const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
		for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) bad.push("twice: " + id);
		for (const e of document.querySelectorAll("[aria-labelledby]")) if (!document.getElementById(e.getAttribute("aria-labelledby"))) bad.push("labelled by nothing: " + e.getAttribute("aria-labelledby"));
		let last = 0;
		for (const h of document.querySelectorAll("h1, h2, h3, h4")) { if (h.closest("dialog, .prose")) continue; const l = Number(h.tagName[1]); if (l > last + 1) bad.push("heading jumps to " + h.outerHTML.slice(0, 80)); last = l; }
		if (document.documentElement.scrollWidth > innerWidth) { const wide = [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest("pre, svg, .prose table")).slice(0, 3); bad.push("wider than the screen by " + (document.documentElement.scrollWidth - innerWidth) + ": " + wide.map((e) => e.outerHTML.slice(0, 100)).join(" | ")); }
		const rgb = (c) => { const m = c.match(/[\d.]+/g).map(Number); return c.startsWith("color(") ? [m[0] * 255, m[1] * 255, m[2] * 255, m[3] ?? 1] : [m[0], m[1], m[2], m[3] ?? 1]; };
		const lum = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
		const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] > 0.9) return c; } return [255, 255, 255, 1]; };
		const looks = new Set();
		for (const e of document.querySelectorAll("main *, header *, footer *")) {
			const tile = e.closest(".lab"); // its words stand on a colour that means something
			if (!tile && e.closest("svg, .sr, [hidden], dialog") || ![...e.childNodes].some((n) => n.nodeType === 3 && n.nodeValue.trim()) || !e.checkVisibility()) continue;
			if (!tile && (e.matches(".st, [aria-hidden]") || e.closest("[aria-hidden]"))) continue;
			if (tile) looks.add(tile.className);
			const a = lum(rgb(getComputedStyle(e).color)), b = lum(behind(e));
			const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			if (ratio < 4.5) bad.push("contrast " + ratio.toFixed(2) + ": " + e.outerHTML.slice(0, 100));
		}
		for (const look of (new URLSearchParams(location.search).get("looks") || "").split(",").filter(Boolean)) if (!looks.has("lab l-" + look)) bad.push("no tile is " + look + ", but " + [...looks]);
		return bad.join("\n");
	})()`
