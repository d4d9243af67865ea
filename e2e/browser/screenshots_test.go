package browser

import (
	"encoding/base64"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"ken/internal/testrepo"
)

// screenshots is a directory. `make screenshots` sets it to docs/screenshots.
var screenshots = flag.String("screenshots", "", "write the pictures of the documents into `DIR`")

// The pictures in the documents show a repository like a user's: a web shop in three
// languages with summaries by people, specs, documents and a workflow, where several
// things need attention.
func TestScreenshots(t *testing.T) {
	dir := *screenshots
	if dir == "" {
		dir = t.TempDir()
	}
	d := serve(t, webShop(t))
	for _, p := range []struct {
		name, path, theme string
		ready             string // selector of something on the complete page
	}{
		{"home", "/", "light", "main h1"},
		{"home-dark", "/", "dark", "main h1"},
		{"file", "/file?path=api/orders.go", "light", "#said"},
		{"review", "/review", "light", "main h1"},
		{"specs", "/specs", "light", "#nodes"},
	} {
		d.media(p.theme)
		d.open(p.path)
		d.until(`document.querySelector("` + p.ready + `") && !document.getElementById("late") && !document.querySelector("main .spin, main .ghost")`)
		d.reads("#live", "live")
		d.shoot(filepath.Join(dir, p.name+".png"))
	}
}

// shoot writes a picture of the page, at the size of a window.
func (d *dashboard) shoot(file string) {
	d.t.Helper()
	d.do(chromedp.EmulateViewport(1280, 800))
	got, err := chromedp.Call(d.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
	if err != nil {
		d.t.Fatal(err)
	}
	picture, err := base64.StdEncoding.DecodeString(string(got.Data))
	if err != nil {
		picture = []byte(got.Data)
	}
	if !strings.HasPrefix(string(picture), "\x89PNG") || len(picture) < 10_000 {
		d.t.Fatalf("%s has %d bytes, which is no picture of a page", file, len(picture))
	}
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// webShop is a repository like a user's.
func webShop(t *testing.T) *testrepo.Repo {
	t.Helper()
	r := testrepo.New(t)
	dir := filepath.Join(t.TempDir(), "shop")
	if err := os.Rename(r.Dir, dir); err != nil {
		t.Fatal(err)
	}
	r.Dir = dir
	commit := func(author, message string) {
		t.Helper()
		r.Git("add", "--all")
		r.Git("commit", "--quiet", "--author", author, "--message", message)
	}
	ken := func(author string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Env = r.Dir, append(r.Env(), "KEN_AUTHOR="+author)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("ken %v: %v\n%s", args, err, out)
		}
	}
	describe := func(author, path, text string) {
		t.Helper()
		ken(author, "summary", "set", path, "--read", strings.TrimSpace(r.Git("hash-object", path)), "-m", text)
	}
	const ada, bob, carol = "Ada <ada@example.com>", "Bob <bob@example.com>", "Carol <carol@example.com>"

	for path, text := range webShopFiles {
		r.Write(path, text)
	}
	node(r, "orders", "Orders", "what an order is, and how it changes", "api/orders.go",
		"## raw source\n\nA customer can change an order until we ship it.\n\n## expanded spec\n\n- An order is *open*, *paid*, *shipped* or *cancelled*.\n- Only an open or paid order can be cancelled.\n- A paid order that is cancelled is refunded in full.\n")
	node(r, "payments", "Payments", "how money is taken and given back", "api/payments.go",
		"## raw source\n\nWe never charge twice.\n\n## expanded spec\n\n- Every charge has an idempotency key.\n- A refund names the charge that it gives back.\n")
	node(r, "storefront", "Storefront", "what customers see", "web/src/",
		"## raw source\n\nThe cart is always up to date.\n\n## expanded spec\n\n- The cart shows the price at which the order would be placed now.\n")
	node(r, "fulfilment", "Fulfilment", "from a paid order to a parcel", "worker/",
		"## raw source\n\nA paid order leaves within a day.\n\n## expanded spec\n\n- The worker takes each paid order once.\n")
	r.SetClock(time.Now().AddDate(0, 0, -12))
	commit(ada, "shop: orders, payments, storefront and fulfilment")

	describe("Ada", "api/orders.go", "The life of an order: open, paid, shipped, cancelled. Every change of state goes through `Move`, which refuses what the spec does not allow.")
	describe("Bob", "api/payments.go", "Charges and refunds through the payment provider. Each charge has an idempotency key, so that a retry never charges twice.")
	describe("Carol", "web/src/cart.ts", "The cart of the storefront. It asks the API for prices and never computes them itself.")
	describe("Carol", "worker/ship.py", "Takes paid orders from the queue, books a parcel and marks them as shipped.")

	r.Write("api/orders.go", strings.Replace(webShopFiles["api/orders.go"], "func Move(o *Order, to State) error {", "func Move(ctx context.Context, o *Order, to State) error {\n\tif err := ctx.Err(); err != nil {\n\t\treturn err\n\t}", 1))
	r.SetClock(time.Now().AddDate(0, 0, -4))
	commit(bob, "orders: Move can be cancelled")
	r.Write("api/payments.go", webShopFiles["api/payments.go"]+"\n// RefundPart gives back a part of a charge.\nfunc RefundPart(charge string, cents int) error { return send(\"refund\", charge, cents) }\n")
	commit(carol, "payments: refund a part of a charge")
	r.Git("mv", "api/http.go", "api/server.go")
	commit(bob, "api: http.go is server.go")
	ken("Ada", "up", "--provider", "outline")

	ken("", "state", "init", "--type", "dev", "task=refund cancelled orders")
	r.Write(".ken/state/notes-from-yesterday.txt", "call the provider\n")

	r.Git("remote", "add", "origin", "https://github.com/example/shop.git")
	r.Git("update-ref", "refs/remotes/origin/main", "main")
	r.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")

	r.SetClock(time.Now().Add(-3 * time.Hour))
	other := r.Worktree("express")
	cart := other.Read(".spec/storefront/spec.md")
	other.Write(".spec/storefront/spec.md", cart+"- The cart says when an express order arrives.\n")
	other.Commit("storefront: express orders")

	r.Git("switch", "--quiet", "--create", "refunds")
	r.Write("api/orders.go", strings.Replace(r.Read("api/orders.go"), "o.State = to", "if to == Cancelled && o.State == Paid {\n\t\tif err := Refund(o.Charge); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n\to.State = to", 1))
	commit(ada, "orders: refund a paid order when it is cancelled")
	r.Write("api/orders.go", r.Read("api/orders.go")+"\n// Reopen undoes a cancellation.\nfunc Reopen(o *Order) { o.State = Open }\n")
	commit(bob, "orders: a cancelled order can be opened again")
	r.Write(".spec/storefront/spec.md", cart+"- A cancelled order shows its refund.\n")
	commit(carol, "storefront: show refunds")
	r.Remove("worker/label.py")
	commit(ada, "worker: the provider prints the labels")
	return r
}

var webShopFiles = map[string]string{
	".gitignore":         ".ken/state/\n",
	"README.md":          "# Shop\n\nA small web shop: an API in Go, a storefront in TypeScript, and a worker in Python.\n\n- `api/http.go` has the routes.\n- `api/orders.go` has the rules of an order.\n- `worker/label.py` prints labels.\n\nRun the tests with `go test ./...`.\n",
	"docs/payments.md":   "# Payments\n\n`Charge` in `api/payments.go` takes the money, `Refund` gives it back.\n",
	"go.mod":             "module example.com/shop\n\ngo 1.26\n",
	"api/http.go":        "// Package api answers the requests of the storefront.\npackage api\n\nimport \"net/http\"\n\n// Routes returns the handlers of all requests.\nfunc Routes() *http.ServeMux {\n\tmux := http.NewServeMux()\n\tmux.HandleFunc(\"POST /orders\", createOrder)\n\treturn mux\n}\n\nfunc createOrder(w http.ResponseWriter, r *http.Request) {}\n",
	"api/orders.go":      "package api\n\nimport \"errors\"\n\n// A State is how far an order has come.\ntype State string\n\n// The states of an order.\nconst (\n\tOpen      State = \"open\"\n\tPaid      State = \"paid\"\n\tShipped   State = \"shipped\"\n\tCancelled State = \"cancelled\"\n)\n\n// An Order is what a customer wants.\ntype Order struct {\n\tID     string\n\tState  State\n\tCharge string\n}\n\n// Move changes the state of an order. It refuses what the rules do not allow.\nfunc Move(o *Order, to State) error {\n\tif o.State == Shipped {\n\t\treturn errors.New(\"the order is shipped\")\n\t}\n\to.State = to\n\treturn nil\n}\n",
	"api/orders_test.go": "package api\n\nimport \"testing\"\n\nfunc TestMove(t *testing.T) {\n\tif Move(&Order{State: Shipped}, Open) == nil {\n\t\tt.Error(\"a shipped order was opened again\")\n\t}\n}\n",
	"api/payments.go":    "package api\n\n// Charge takes money for an order. The key makes a retry harmless.\nfunc Charge(order, key string, cents int) error { return send(\"charge\", order+key, cents) }\n\n// Refund gives all of a charge back.\nfunc Refund(charge string) error { return send(\"refund\", charge, 0) }\n\nfunc send(what, id string, cents int) error { return nil }\n",
	"web/package.json":   "{\"name\": \"storefront\", \"scripts\": {\"test\": \"vitest\"}}\n",
	"web/src/cart.ts":    "/** The cart of the storefront. */\nexport interface Line { sku: string; count: number }\n\n/** total asks the API for the price of a cart. */\nexport async function total(lines: Line[]): Promise<number> {\n  const answer = await fetch(\"/price\", { method: \"POST\", body: JSON.stringify(lines) });\n  return (await answer.json()).cents;\n}\n",
	"web/src/page.ts":    "import { total, Line } from \"./cart\";\n\n/** show draws the cart. */\nexport async function show(lines: Line[]) {\n  document.title = String(await total(lines));\n}\n",
	"worker/ship.py":     "\"\"\"Ships paid orders.\"\"\"\n\nfrom worker.label import label\n\n\ndef ship(order):\n    \"\"\"Book a parcel for a paid order.\"\"\"\n    return label(order)\n",
	"worker/label.py":    "\"\"\"Prints labels.\"\"\"\n\n\ndef label(order):\n    \"\"\"Return the label of a parcel.\"\"\"\n    return f\"to {order}\"\n",
}
