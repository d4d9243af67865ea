package app

import (
	"net/http"
	"path"
	"strings"
	"testing"

	"ken/internal/session"
	"ken/internal/statedir"
	"ken/internal/testrepo"
	"ken/internal/web"
	"ken/internal/workflow"
)

const ackPath = "/api/spec/api/ack"

// host returns the name under which browsers sign in, with the port.
func (s *served) host() string {
	return web.Host(s.token, "the-start") + s.base[strings.LastIndexByte(s.base, ':'):]
}

// signIn trades the token for a cookie.
func (s *served) signIn() string {
	s.t.Helper()
	head := map[string]string{"Host": s.host()}
	resp, _ := s.do(call{method: http.MethodPost, path: "/api/login", body: `{"token":"` + s.token + `"}`, anonymous: true, head: head})
	pair, _, _ := strings.Cut(resp.Header.Get("Set-Cookie"), ";")
	if resp.StatusCode != http.StatusOK || pair == "" {
		s.t.Fatalf("signing in: %s", resp.Status)
	}
	return pair
}

// Without scripts, a form redirects to its page, and an error is a page.
func TestServeFormsWithoutScripts(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	form := func(path, body string) call {
		return call{method: http.MethodPost, path: path, body: body, anonymous: true, head: map[string]string{
			"Cookie": s.signIn(), "Host": s.host(), "Origin": "http://" + s.host(), "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate",
			"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html,*/*",
		}}
	}
	resp, body := s.do(form(ackPath, "reason=it+holds"))
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/node/api" {
		t.Errorf("it leads to %s %s\n%s", resp.Status, resp.Header.Get("Location"), body)
	}
	resp, body = s.do(form(ackPath, "reason="))
	if resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, "<!doctype html>") {
		t.Errorf("without a reason: %s\n%s", resp.Status, body)
	}
	// A browser that is told to send no referrer calls its own page's origin null.
	if got := resp.Header.Get("Referrer-Policy"); got != "same-origin" {
		t.Errorf("the referrer policy is %q", got)
	}
}

// Acks from pages and from agents over HTTP do not carry the session of the server.
func TestServeAcksHaveNoSession(t *testing.T) {
	t.Setenv("KEN_SESSION", "the-servers-own")
	if session.ID() == "" {
		t.Fatal("the server runs in no session")
	}
	r := specced(t)
	s := serveRepo(t, r, nil)
	s.gives(http.StatusOK, call{method: http.MethodPost, path: ackPath, body: `{"reason":"from a page"}`})
	r.Write("api.go", "package api\n\nfunc Again() {}\n")
	r.Commit("again")
	a := s.agent(nil)
	a.call("spec_ack", map[string]any{"ids": []string{"api"}, "reason": "from afar"})
	if got := r.Git("log", "-3", "--format=%B"); strings.Contains(got, "the-servers-own") || !strings.Contains(got, "from afar") {
		t.Errorf("the commits say:\n%s", got)
	}
}

// An ack for an older commit is refused.
func TestServeAckNeedsSeenCommit(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	seen := strings.TrimSpace(r.Git("rev-parse", "HEAD"))
	ack := call{method: http.MethodPost, path: ackPath, body: `{"reason":"x","head":"` + seen + `"}`}
	r.Write("api.go", "package api\n\nfunc Meanwhile() {}\n")
	r.Commit("meanwhile")
	if body := s.gives(http.StatusConflict, ack); !strings.Contains(body, "the repository changed") {
		t.Errorf("the answer is %s", body)
	}
	ack.body = `{"reason":"x","head":"nonsense"}`
	s.gives(http.StatusBadRequest, ack)
	if n := strings.TrimSpace(r.Git("rev-list", "--count", "HEAD")); n != "3" {
		t.Errorf("there are %s commits, want 3", n)
	}
}

// Restore replaces newer files only with overwrite.
func TestServeRestoreOverwrites(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("begin")
	r.Write(".ken/state/odd.txt", "old")
	s := serveRepo(t, r, nil)
	space, err := statedir.Open(t.Context(), statedir.Options{From: r.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer space.Close()
	sweep, err := space.Cleanup(t.Context(), workflow.CleanupOptions{Apply: true})
	if err != nil || sweep.Archive == nil {
		t.Fatalf("Cleanup returned %+v, %v; want an archive", sweep, err)
	}
	snapshot := path.Base(*sweep.Archive)
	s.gives(http.StatusOK, call{path: "/api/board"}) // a page does not wait for it
	page := s.gives(http.StatusOK, call{path: "/state", head: map[string]string{"Accept": "text/html"}})
	if !strings.Contains(page, `action="/api/state/restore"`) {
		t.Errorf("the page has no form to restore a snapshot:\n%s", page)
	}
	r.Write(".ken/state/odd.txt", "new")
	restore := call{method: http.MethodPost, path: "/api/state/restore", body: `{"snapshot":"` + snapshot + `"}`}
	s.do(restore)
	if got := r.Read(".ken/state/odd.txt"); got != "new" {
		t.Errorf("the file has %q", got)
	}
	restore.body = "snapshot=" + snapshot + "&overwrite=on"
	restore.head = map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	s.gives(http.StatusOK, restore)
	if got := r.Read(".ken/state/odd.txt"); got != "old" {
		t.Errorf("after overwriting the file has %q", got)
	}
}
