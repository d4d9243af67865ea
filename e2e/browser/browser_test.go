// Package browser tests the dashboard like a user: with the built program, a real repository,
// and a real browser whose pages the tests read.
package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"ken/internal/testrepo"
)

var (
	program  string // the built ken
	chromium string
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
			if path, err := exec.LookPath(name); err == nil {
				chromium = path
				break
			}
		}
		if chromium == "" {
			fmt.Fprintln(os.Stderr, "there is no Chromium to try the dashboard with\nhint: make setup, or as root: apt-get install chromium")
			return 1
		}
		dir, err := os.MkdirTemp("", "ken-browser")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "ken")
		if out, err := exec.CommandContext(context.Background(), "go", "build", "-o", program, "ken/cmd/ken").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build ken: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// soon is the time limit on a busy machine for events that usually take less than a second.
const soon = 2 * time.Minute

// A dashboard is a served repository, and a page of it in a browser.
type dashboard struct {
	t    *testing.T
	repo *testrepo.Repo
	url  string // without the token
	full string
	addr string // it listens on it
	ctx  context.Context
	stop func() // stops the server
}

// serve starts ken serve in a repository, and a browser that has signed in.
func serve(t *testing.T, r *testrepo.Repo) *dashboard {
	t.Helper()
	d := &dashboard{t: t, repo: r}
	d.start()
	d.ctx = browse(t)
	d.signIn()
	return d
}

// start starts the server.
func (d *dashboard) start() {
	d.t.Helper()
	ctx, stop := context.WithCancel(d.t.Context())
	cmd := exec.CommandContext(ctx, program, "serve", "--json")
	cmd.Dir, cmd.Env = d.repo.Dir, d.repo.Env()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.stop = sync.OnceFunc(func() {
		stop()
		if err := cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			d.t.Errorf("ken serve, interrupted, ended with %v", err)
		}
	})
	d.t.Cleanup(d.stop)
	var said struct{ URL, Addr string }
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&said); err != nil {
		d.t.Fatalf("ken serve said nothing: %v", err)
	}
	d.full, d.addr = said.URL, said.Addr
	d.url, _, _ = strings.Cut(said.URL, "/#")
}

// browse starts a browser that can reach only this machine, because Chromium contacts its vendor by itself.
func browse(t *testing.T) context.Context {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(chromium), chromedp.WSURLReadTimeout(soon),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost, EXCLUDE localhost"))
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900)); err != nil {
		t.Fatalf("start %s: %v", chromium, err)
	}
	return ctx
}

// tab opens another page in the same browser.
func (d *dashboard) tab() *dashboard {
	d.t.Helper()
	ctx, cancel := chromedp.NewContext(d.ctx)
	d.t.Cleanup(cancel)
	other := *d
	other.ctx = ctx
	return &other
}

// open goes to a page.
func (d *dashboard) open(path string) {
	d.t.Helper()
	if err := chromedp.Do(d.ctx, chromedp.Navigate(d.url+path)); err != nil {
		d.t.Fatalf("open %s: %v", path, err)
	}
}

// signIn opens the address that ken serve printed.
func (d *dashboard) signIn() {
	d.t.Helper()
	if err := chromedp.Do(d.ctx, chromedp.Navigate(d.full)); err != nil {
		d.t.Fatal(err)
	}
	d.until(`!location.hash.includes("token") && !document.getElementById("foot").textContent.includes("signed out")`)
}

// do performs steps.
func (d *dashboard) do(steps ...chromedp.Action[chromedp.Void]) {
	d.t.Helper()
	if err := chromedp.Do(d.ctx, steps...); err != nil {
		d.t.Fatal(err)
	}
}

// eval returns the value of an expression.
func eval[T any](d *dashboard, expression string) T {
	d.t.Helper()
	v, err := chromedp.Run(d.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		d.t.Fatalf("evaluating %s failed with %v", expression, err)
	}
	return v
}

// until waits until an expression is true, across page loads.
func (d *dashboard) until(expression string) {
	d.t.Helper()
	once[bool](d, "!!("+expression+")")
}

// once waits until an expression has a value, across page loads, and returns it.
func once[T any](d *dashboard, expression string) T {
	d.t.Helper()
	wait := fmt.Sprintf(`new Promise((yes) => { const end = performance.now() + 2000; const look = () => {
		try { const value = %s; if (value) { yes(value); return; } } catch { /* not yet */ }
		if (performance.now() > end) yes(null); else setTimeout(look, 10);
	}; look(); })`, expression)
	end := time.Now().Add(soon)
	var err error
	for time.Now().Before(end) {
		var value *T
		value, err = chromedp.Run(d.ctx, chromedp.Evaluate[*T](wait, chromedp.EvalAwaitPromise))
		if value != nil && err == nil {
			return *value
		}
	}
	text, _ := chromedp.Run(d.ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	d.t.Fatalf("timeout waiting for %s (%v)\nthe text of the page:\n%s", expression, err, text)
	panic("unreachable")
}

// click clicks an element when it does not move and nothing covers it. A script in the page finds
// the element, because node ids of the inspector become invalid with each page load.
func (d *dashboard) click(selector string) {
	d.t.Helper()
	at := once[[2]float64](d, fmt.Sprintf(`(() => {
		if (document.readyState !== "complete") return null;
		const e = document.querySelector(%q);
		e.scrollIntoView({ block: "nearest", behavior: "instant" });
		const r = e.getClientRects()[0], at = [r.left + r.width / 2, r.top + r.height / 2];
		const rests = String(window.rested) === String(at);
		window.rested = at;
		return rests && e.contains(document.elementFromPoint(...at)) ? at : null;
	})()`, selector))
	d.do(chromedp.MouseClickXY(at[0], at[1]))
}

// reads waits until an element contains a text.
func (d *dashboard) reads(selector, text string) {
	d.t.Helper()
	d.until(fmt.Sprintf(`document.querySelector(%q).textContent.replace(/\s+/g, " ").includes(%q)`, selector, text))
}

// lacks waits until an element does not contain a text.
func (d *dashboard) lacks(selector, text string) {
	d.t.Helper()
	d.until(fmt.Sprintf(`!document.querySelector(%q).textContent.replace(/\s+/g, " ").includes(%q)`, selector, text))
}

// keys presses keys.
func (d *dashboard) keys(text string) {
	d.t.Helper()
	d.do(chromedp.KeyEvent(text))
}

// press presses one key and waits until the page has handled it.
func (d *dashboard) press(key string) {
	d.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		p := input.DispatchKeyEventParams{Type: kind, Key: key}
		if kind == input.DispatchKeyEventTypeKeyDown {
			p.Text = key
		}
		if _, err := chromedp.Call(d.ctx, input.DispatchKeyEvent, p); err != nil {
			d.t.Fatal(err)
		}
	}
}

// ken runs a command while the server runs.
func (d *dashboard) ken(args ...string) string {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), program, args...)
	cmd.Dir, cmd.Env = d.repo.Dir, d.repo.Env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("ken %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// node writes a spec.
func node(r *testrepo.Repo, dir, title, desc, code, body string) {
	entries := ""
	if code != "" {
		entries = "code:\n  - " + code + "\n"
	}
	r.Write(".spec/"+dir+"/spec.md", "---\ntitle: "+title+"\ndesc: "+desc+"\n"+entries+"---\n"+body)
}

// sample is a repository with two specs, and code under one of them.
func sample(t *testing.T) *testrepo.Repo {
	t.Helper()
	r := testrepo.New(t)
	r.Write("api/server.go", "package api\n\nfunc Serve() int { return 1 }\n")
	r.Write("api/client.go", "package api\n\nfunc Call() {}\n")
	r.Write("docs/guide.md", "# Guide\n\nHow to.\n")
	node(r, "app", "The app", "everything", "", "# The app\n")
	node(r, "app/api", "The API", "answers requests, all of them, whoever asks, at any time, in the order in which they came, and never twice", "api/server.go",
		"## raw source\n\nIt answers.\n\n## expanded spec\n\nIt answers **quickly**, as [[app]] wants.\n")
	r.Commit("begin")
	return r
}
