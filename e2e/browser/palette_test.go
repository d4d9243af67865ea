package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The palette opens with a key on every page and leads to files, symbols, specs, documents
// and pages, by keyboard alone.
func TestPalette(t *testing.T) {
	r := sample(t)
	r.Write("docs/serving.md", "# Serving\n\nHow requests are answered.\n")
	r.Commit("more")
	d := serve(t, r)
	d.signIn()
	d.reads("#live", "live")
	d.press("/")
	d.until(`document.getElementById("palette").open && document.activeElement.id === "palette-query"`)
	d.reads("#palette-rows", "Documents") // all pages, before anything is typed

	for _, c := range []struct{ typed, kind, name, leads string }{
		{"Serve", "symbol", "Serve", "/file?line=3&path=api%2Fserver.go"},
		{"client.go", "file", "client.go", "/file?path=api%2Fclient.go"},
		{"the api", "spec", "The API", "/node/api"},
		{"serving.md", "document", "serving.md", "/file?path=docs%2Fserving.md"},
		{"worktr", "page", "Worktrees", "/worktrees"},
	} {
		d.clear("#palette-query")
		d.keys(c.typed)
		d.until(`document.getElementById("palette").dataset.query === ` + quoted(c.typed) + ` && document.getElementById("palette").dataset.reading === "false"`)
		row := `[...document.querySelectorAll("#palette-rows a")].find((a) => a.querySelector(".tag").textContent === ` + quoted(c.kind) + ` && a.querySelector(".name").textContent === ` + quoted(c.name) + `)`
		d.until(row)
		if got := eval[string](d, row+`.getAttribute("href")`); got != c.leads {
			t.Errorf("%q leads to %s, want %s", c.typed, got, c.leads)
		}
	}

	// Arrow keys select a row, which a screen reader hears, and Enter opens it.
	d.clear("#palette-query")
	d.keys("server.go")
	d.until(`document.getElementById("palette").dataset.query === "server.go"`)
	selected := `document.getElementById(document.getElementById("palette-query").getAttribute("aria-activedescendant"))`
	d.until(selected + `.getAttribute("aria-selected") === "true" && ` + selected + `.textContent.includes("server.go")`)
	d.keys(kb.ArrowUp) // from the first to the last
	d.until(selected + `.nextSibling === null`)
	d.keys(kb.ArrowDown)
	d.until(selected + `.previousSibling === null`)
	d.keys(kb.Enter)
	d.until(`location.pathname === "/file" && location.search.includes("server.go")`)
	d.reads("#live", "live")

	// Escape closes it, and Ctrl-K opens and closes it.
	d.control("k")
	d.until(`document.getElementById("palette").open`)
	d.keys(kb.Escape)
	d.until(`!document.getElementById("palette").open`)
	d.control("k")
	d.until(`document.getElementById("palette").open`)
	d.control("k")
	d.until(`!document.getElementById("palette").open`)

	// The last answer wins, even if an earlier one comes later.
	d.before(`(() => { const real = window.fetch; window.fetch = (at, more) => !String(at).includes("q=Call") ? real(at, more) :
		new Promise((yes) => { window.release = async () => { yes(await real(at)); setTimeout(() => { window.released = true; }, 200); }; }); })()`)
	d.open("/")
	d.reads("#live", "live")
	d.press("/")
	d.keys("Call")
	d.until(`window.release`)
	d.clear("#palette-query")
	d.keys("guide.md")
	d.reads("#palette-rows", "guide.md")
	eval[bool](d, `release(), true`)
	d.until(`window.released`)
	if got := eval[string](d, `document.getElementById("palette").dataset.query`); got != "guide.md" {
		t.Errorf("the palette shows the answer to %q, want that to guide.md", got)
	}
}

// quoted returns a JavaScript string.
func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

// clear empties a field.
func (d *dashboard) clear(selector string) {
	d.t.Helper()
	eval[string](d, `document.querySelector(`+quoted(selector)+`).value = ""`)
}

// ctrl is the bit of the Ctrl key in the modifiers of a key event.
const ctrl = 2

// control presses Ctrl and a key.
func (d *dashboard) control(key string) {
	d.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		p := input.DispatchKeyEventParams{Type: kind, Key: key, Modifiers: ctrl}
		if _, err := chromedp.Call(d.ctx, input.DispatchKeyEvent, p); err != nil {
			d.t.Fatal(err)
		}
	}
}

// On a phone a button opens the palette, and the palette fits.
func TestPaletteOnPhone(t *testing.T) {
	d := serve(t, sample(t))
	d.do(chromedp.EmulateViewport(390, 800))
	d.open("/specs")
	d.reads("#live", "live")
	d.click("#find")
	d.until(`document.getElementById("palette").open`)
	d.keys("server")
	d.reads("#palette-rows", "server.go")
	if wide := eval[float64](d, `document.getElementById("palette").getBoundingClientRect().right - innerWidth`); wide > 0 {
		t.Errorf("the palette is %v pixels wider than the screen", wide)
	}
	d.click("#palette-rows a")
	d.until(`location.pathname === "/file"`)
}

// Every key of the help opens its page. The filter of the specs has a key of its own.
func TestKeysOpenPages(t *testing.T) {
	d := serve(t, sample(t))
	d.open("/")
	for _, c := range []struct{ key, page string }{{"r", "/review"}, {"m", "/map"}, {"d", "/documents"}, {"p", "/specs"}, {"s", "/state"}, {"w", "/worktrees"}, {"h", "/"}} {
		d.reads("#live", "live")
		d.press(c.key)
		d.until(`location.pathname === ` + quoted(c.page) + ` && document.readyState === "complete"`)
	}
	d.reads("#live", "live")
	d.press("?")
	d.until(`document.getElementById("keys").open`)
	d.reads("#keys", "Documents")
	d.press("d") // keys do nothing behind a dialog
	d.keys(kb.Escape)
	d.until(`!document.getElementById("keys").open && location.pathname === "/"`)
	d.press("p")
	d.until(`location.pathname === "/specs"`)
	d.reads("#n-api", "The API")
	d.reads("#live", "live")
	d.press("f")
	d.until(`document.activeElement.id === "search"`)
	d.keys("api/")
	d.until(`!document.getElementById("palette").open && document.getElementById("search").value === "api/"`)
}

// The pages for documents and review, the palette and the help have no defects for screen
// readers, eyes and fingers, in both themes, on a desk and on a phone.
func TestNewPagesAreAccessible(t *testing.T) {
	r := withStaleMentions(t)
	deep := "long/" + strings.Repeat("very-long-name-", 12)
	r.Write(deep+"/server.go", "package x\n\nfunc Serve"+strings.Repeat("Long", 40)+"() {}\n")
	r.Write("docs/"+strings.Repeat("wide", 40)+".md", "Read `"+deep+"/server.go` "+strings.Repeat("word ", 60)+".\n")
	r.Commit("long")
	r.Git("mv", deep+"/server.go", deep+"/service.go")
	r.Commit("rename the long one")
	r.Worktree("other")
	d := serve(t, r)
	d.signIn()
	d.ken("summary", "set", "api/server.go", "-m", "It serves.")
	r.Write("api/server.go", "package api\n\nfunc Serve(n int) int { return n }\n")
	r.Git("rm", "-q", "api/client.go")
	// Links within sentences may be smaller.
	const targets = `[...document.querySelectorAll("header.top a, header.top button, header.top select, main a, main button, main summary, dialog[open] button, dialog[open] a, dialog[open] input")].filter((e) => e.checkVisibility() && !e.closest("p")).filter((e) => { const r = e.getBoundingClientRect(); return r.width < 24 || r.height < 24; }).map((e) => e.outerHTML.slice(0, 100)).join("\n")`
	judge := func(what string) {
		t.Helper()
		if bad := eval[string](d, accessibility); bad != "" {
			t.Errorf("%s is not accessible:\n%s", what, bad)
		}
		if small := eval[string](d, targets); small != "" {
			t.Errorf("%s: smaller than 24 pixels:\n%s", what, small)
		}
	}
	for _, theme := range []string{"light", "dark"} {
		d.media(theme)
		for _, width := range []int64{1280, 390} {
			d.do(chromedp.EmulateViewport(width, 800))
			where := fmt.Sprintf("%s, %d wide", theme, width)
			d.open("/documents")
			d.reads("#docs-facts", "3 stale mentions")
			judge("documents, " + where)
			d.open("/review")
			d.reads("#change", "Summaries that are now stale")
			d.until(`!document.querySelector("[data-again]")`)
			judge("review, " + where)
			d.reads("#live", "")
			d.press("/")
			d.keys("serv")
			d.reads("#palette-rows", "service.go")
			d.until(`document.getElementById("palette").dataset.reading === "false"`)
			judge("palette, " + where)
			d.keys(kb.Escape)
			d.until(`!document.getElementById("palette").open`)
			d.press("?")
			d.until(`document.getElementById("keys").open`)
			judge("keys, " + where)
		}
	}
}
