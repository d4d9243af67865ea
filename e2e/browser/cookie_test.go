//go:build unix

package browser

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// nobody is the other user of the machine.
const nobody = 65534

// listenerProgram listens on both loopback addresses, prints every request, and answers with a page that asks for more.
const listenerProgram = `
import http.server, json, socket, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(json.dumps({"path": self.path, "host": self.headers.get("Host", ""), "cookie": self.headers.get("Cookie", "")}), flush=True)
        body = b"<!doctype html><title>other</title><script>fetch('/steal').then(() => { document.title = 'done'; })</script>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
    def log_message(self, *args): pass
class Server6(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
port = int(sys.argv[1])
first = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
port = first.server_address[1]
try:
    second = Server6(("::1", port), Handler)
    threading.Thread(target=second.serve_forever, daemon=True).start()
except OSError: pass
print(json.dumps({"port": str(port)}), flush=True)
first.serve_forever()
`

// A listener is a program of another user of the machine that waits for requests.
type listener struct {
	t        *testing.T
	port     string
	requests chan request
	end      func() // ends the program
}

// A request is what a listener got.
type request struct{ Port, Path, Host, Cookie string }

// listenAs starts a listener on a port, as another user if the test may.
func listenAs(t *testing.T, port string) *listener {
	t.Helper()
	python := "/usr/bin/python3" // another user may not reach one in a home directory
	if _, err := os.Stat(python); err != nil {
		python = "python3"
	}
	cmd := exec.CommandContext(t.Context(), python, "-I", "-c", listenerProgram, port)
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l := &listener{t: t, requests: make(chan request, 1000)}
	go func() {
		defer close(l.requests)
		in := json.NewDecoder(bufio.NewReader(out))
		for {
			var r request
			if in.Decode(&r) != nil {
				return
			}
			l.requests <- r
		}
	}()
	l.end = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		for range l.requests { // until the output ends
		}
		_ = cmd.Wait()
	})
	t.Cleanup(l.end)
	l.port = l.next().Port
	return l
}

// next returns the next request.
func (l *listener) next() request {
	l.t.Helper()
	select {
	case r, ok := <-l.requests:
		if !ok {
			l.t.Fatal("the other user's listener ended")
		}
		return r
	case <-time.After(soon):
		l.t.Fatal("the other user's listener got no request")
	}
	return request{}
}

// A page that leads to a listener of another user on this machine takes no cookie of the dashboard along.
func TestOtherPortsGetNoCookie(t *testing.T) {
	d := serve(t, sample(t))
	other := listenAs(t, "0")
	for _, host := range []string{"127.0.0.1", "localhost", "ken.localhost"} {
		d.do(chromedp.Navigate("http://127.0.0.1:" + other.port + "/step1"))
		d.until(`document.title === "done"`)
		eval[bool](d, `(location.href = "http://`+host+":"+other.port+`/step2", true)`)
		d.until(`location.pathname === "/step2" && document.title === "done"`)
		// The first page fetched /steal too.
		for seen := map[string]int{}; seen["/step2"] < 1 || seen["/steal"] < 2; {
			r := other.next()
			seen[r.Path]++
			if r.Cookie != "" {
				t.Errorf("the listener of another user got the cookie %q for %s%s", r.Cookie, r.Host, r.Path)
			}
		}
	}
	d.open("/")
	d.lacks("#foot", "signed out")
}

// Another user who listens on the port after the dashboard stopped gets the cookie of an open tab. It opens nothing
// when the dashboard runs again.
func TestCookieOfStoppedDashboardOpensNothing(t *testing.T) {
	d := serve(t, sample(t))
	d.until(`document.getElementById("live").dataset.state === "live"`)
	before := d.url
	_, port, err := net.SplitHostPort(d.addr)
	if err != nil {
		t.Fatal(err)
	}
	status := func(host, cookie string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+d.addr+"/api/board", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		req.Header.Set("Cookie", cookie)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	d.stop()
	thief := listenAs(t, port)
	stolen := request{}
	for stolen.Cookie == "" {
		stolen = thief.next()
	}
	if got, want := "http://"+stolen.Host, before; got != want {
		t.Errorf("the tab asked %s, want %s", got, want)
	}
	thief.end()
	d.start()
	if d.url == before {
		t.Fatalf("the dashboard has the same name after a restart, %s", d.url)
	}
	if _, again, _ := net.SplitHostPort(d.addr); again != port {
		t.Fatalf("the dashboard has port %s after a restart, before it had %s", again, port)
	}
	for _, host := range []string{stolen.Host, strings.TrimPrefix(d.url, "http://"), d.addr, "localhost:" + port} {
		if got := status(host, stolen.Cookie); got != http.StatusUnauthorized && got != http.StatusMisdirectedRequest {
			t.Errorf("with the stolen cookie, %s answers with status %d", host, got)
		}
	}
	d.open("/")
	d.reads("h1", "Sign in")
	d.signIn()
	d.do(chromedp.Navigate(before + "/"))
	d.reads("main", "run ken serve in the repository")
}
