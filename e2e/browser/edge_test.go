package browser

import (
	"strings"
	"testing"
)

// Every command has a button that copies it. The button is reachable by keyboard, large
// enough for a finger, and keeps its focus when the page is drawn again.
func TestCopyButton(t *testing.T) {
	r := sample(t)
	d := serve(t, r)
	d.before(`Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } })`)
	d.open("/file?path=api/server.go")
	d.reads("#next", "ken summary set api/server.go")
	d.until(`document.querySelector("#next button.copy")`)
	size := eval[[2]float64](d, `(() => { const r = document.querySelector("#next button.copy").getBoundingClientRect(); return [r.width, r.height]; })()`)
	if size[0] < 24 || size[1] < 24 {
		t.Errorf("the button is %v by %v px, want at least 24 by 24", size[0], size[1])
	}
	d.click("#next button.copy")
	d.reads("#copied", "Copied")
	if got, want := eval[string](d, `window.copied`), eval[string](d, `document.querySelector("#next code").textContent`); got != want {
		t.Errorf("the clipboard has %q, want %q", got, want)
	}
	d.until(`document.querySelector("#next button.copy").textContent === "Copy"`)

	eval[bool](d, `(document.querySelector("#next button.copy").focus(), window.kept = document.activeElement, true)`)
	r.Write("api/server.go", "package api\n\nfunc Serve() int { return 22222 }\n")
	d.reads("#file-facts", "47 B")
	d.until(`document.activeElement === window.kept && document.querySelectorAll("#next button.copy").length === 1`)
	d.ken("summary", "set", "api/server.go", "-m", "It serves.")
	d.reads("#said", "It serves.")
	d.until(`[...document.querySelectorAll("button.copy")].every((b) => b.previousElementSibling.matches("code"))`)
}

// The button also copies if the page may not use the clipboard API.
func TestCopyWithoutClipboard(t *testing.T) {
	d := serve(t, sample(t))
	d.before(`Object.defineProperty(navigator, "clipboard", { value: undefined });
		document.execCommand = (what) => { window.copied = what + ": " + document.activeElement.value; return true; }`)
	d.open("/file?path=api/server.go")
	d.click("#next button.copy")
	d.reads("#copied", "Copied")
	if got := eval[string](d, `window.copied`); !strings.HasPrefix(got, "copy: ken summary set") {
		t.Errorf("the browser was told to %q", got)
	}
}

// A file, a directory and a spec have links to the editor and to the forge.
func TestLinksOut(t *testing.T) {
	r := sample(t)
	r.Git("remote", "add", "origin", "https://me:secret@github.com/acme/shop.git")
	r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	head := strings.TrimSpace(r.Git("rev-parse", "HEAD"))
	d := serve(t, r)
	for page, path := range map[string]string{"/file?path=api/server.go": "api/server.go", "/map?dir=api": "api", "/node/api": ".spec/app/api/spec.md"} {
		d.open(page)
		d.until(`document.querySelectorAll(".out a").length === 2`)
		got := eval[[]string](d, `[...document.querySelectorAll(".out a")].map((a) => a.getAttribute("href") + " " + a.textContent)`)
		editor := "vscode://file" + r.Dir + "/" + path + " Open in editor"
		view := "https://github.com/acme/shop/blob/" + head + "/" + path + " View on github.com"
		if got[0] != editor || got[1] != view {
			t.Errorf("%s has the links %q, want %q and %q", page, got, editor, view)
		}
		if eval[bool](d, `document.documentElement.outerHTML.includes("secret")`) {
			t.Errorf("%s shows the password of the remote", page)
		}
	}
}
