package app

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/registry"
	"ken/internal/repo"
)

// post sends JSON with the token.
func (s *served) post(status int, path, body string) string {
	s.t.Helper()
	return s.gives(status, call{method: http.MethodPost, path: path, body: body})
}

// diffRead returns the content id that /api/diff gives for a path.
func (s *served) diffRead(path string) string {
	s.t.Helper()
	var diff struct{ Read string }
	body := s.gives(http.StatusOK, call{path: "/api/diff?path=" + url.QueryEscape(path)})
	if err := json.Unmarshal([]byte(body), &diff); err != nil || diff.Read == "" {
		s.t.Fatalf("the diff of %s has no content id (%v):\n%s", path, err, body)
	}
	return diff.Read
}

// The brief and the diff of a path are the documents of the command line.
func TestServeBriefAndDiffMatchCommandLine(t *testing.T) {
	r, _ := summarised(t)
	r.Write("api.go", "package api\n\nfunc Other() {}\n")
	s := serveRepo(t, r, nil)
	for path, args := range map[string][]string{
		"/api/brief?path=api.go": {"brief", "api.go", "--budget", "12000"},
		"/api/brief?path=.spec":  {"brief", ".spec", "--budget", "12000"},
		"/api/brief":             {"brief", "--budget", "12000"},
		"/api/diff?path=api.go":  {"summary", "diff", "api.go"},
	} {
		want := printed(t, r.Dir, args...)
		var got any
		if err := json.Unmarshal([]byte(s.gives(http.StatusOK, call{path: path})), &got); err != nil {
			t.Errorf("the answer of %s is not JSON: %v", path, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s and ken %s differ:\n%s", path, strings.Join(args, " "), cmp.Diff(want, got))
		}
	}
}

// A summary is written and confirmed through the API, and the registry agrees.
func TestServeWritesAndConfirmsSummaries(t *testing.T) {
	r, w := summarised(t)
	s := serveRepo(t, r, nil)
	r.Write("api.go", "package api\n\nfunc Other() {}\n")
	body := s.post(http.StatusOK, "/api/confirm", `{"path":"api.go","read":"`+s.diffRead("api.go")+`"}`)
	var done registry.WriteResult
	if err := json.Unmarshal([]byte(body), &done); err != nil || done.Result != registry.Stored || done.Path != "api.go" {
		t.Errorf("confirming answers %s (%v)", body, err)
	}
	check := func(verdict, text string) {
		t.Helper()
		known, err := w.Registry.Show(t.Context(), []repo.Path{"api.go"})
		if err != nil || known[0].Verdict.String() != verdict || known[0].Text != text {
			t.Errorf("the registry has %+v (%v), want %s %q", known[0], err, verdict, text)
		}
	}
	check("fresh", "It serves.")
	s.post(http.StatusOK, "/api/summary", `{"path_b64":"YXBpLmdv","text":"It **serves**\r\ntwice."}`)
	check("fresh", "It **serves**\ntwice.")
}

// The API refuses what it cannot store, and says why and what to do.
func TestServeRefusesSummaries(t *testing.T) {
	r, _ := summarised(t)
	r.Write("new.go", "package api\n\nfunc New() {}\n")
	r.Write("dir/a.go", "package dir\n\nfunc A() {}\n")
	r.Git("add", "dir")
	s := serveRepo(t, r, nil)
	read := s.diffRead("api.go")
	r.Write("api.go", "package api\n\nfunc Moved() {}\n")
	large := strings.Repeat("x", registry.MaxText+1)
	for _, c := range []struct {
		name, path, body string
		status           int
		want             string
	}{
		{"no path", "/api/confirm", `{"read":"` + read + `"}`, http.StatusBadRequest, "no path given"},
		{"outside", "/api/confirm", `{"path":"../x","read":"` + read + `"}`, http.StatusBadRequest, "not a path in the repository"},
		{"absolute", "/api/summary", `{"path":"/etc/passwd","text":"x"}`, http.StatusBadRequest, "not a path in the repository"},
		{"not clean", "/api/summary", `{"path":"a/../api.go","text":"x"}`, http.StatusBadRequest, "not a path in the repository"},
		{"zero byte", "/api/summary", `{"path":"a\u0000b","text":"x"}`, http.StatusBadRequest, "not a path in the repository"},
		{"broken base64", "/api/summary", `{"path_b64":"%","text":"x"}`, http.StatusBadRequest, "path_b64"},
		{"no content id", "/api/confirm", `{"path":"api.go"}`, http.StatusBadRequest, "/api/diff"},
		{"empty text", "/api/summary", `{"path":"api.go","text":" \n"}`, http.StatusBadRequest, "empty"},
		{"unknown field", "/api/summary", `{"path":"api.go","text":"x","raed":"y"}`, http.StatusBadRequest, "raed"},
		{"untracked", "/api/summary", `{"path":"new.go","text":"x"}`, http.StatusConflict, "not tracked by git"},
		{"no such file", "/api/summary", `{"path":"none.go","text":"x"}`, http.StatusConflict, "not tracked by git"},
		{"directory", "/api/summary", `{"path":"dir","text":"x"}`, http.StatusConflict, "a directory"},
		{"no summary", "/api/confirm", `{"path":"dir/a.go","read":"` + read + `"}`, http.StatusConflict, "no summary to confirm"},
		{"wrong id", "/api/confirm", `{"path":"api.go","read":"xyz"}`, http.StatusConflict, "content id"},
		{"moved on", "/api/confirm", `{"path":"api.go","read":"` + read + `"}`, http.StatusConflict, "changed since you read it"},
		{"text too long", "/api/summary", `{"path":"api.go","text":"` + large + `"}`, http.StatusConflict, "16384"},
		{"request too large", "/api/summary", `{"path":"api.go","text":"` + strings.Repeat("x", 300<<10) + `"}`, http.StatusRequestEntityTooLarge, "too large"},
	} {
		resp, body := s.do(call{method: http.MethodPost, path: c.path, body: c.body})
		if resp.StatusCode != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %s, want %d and %q:\n%.300s", c.name, resp.Status, c.status, c.want, body)
		}
		var said struct{ Error, Hint string }
		if err := json.Unmarshal([]byte(body), &said); err != nil || said.Error == "" {
			t.Errorf("%s: the answer is no error: %v", c.name, err)
		}
		if c.status == http.StatusConflict && said.Hint == "" {
			t.Errorf("%s: a rejected summary has no hint: %s", c.name, body)
		}
	}
	for _, path := range []string{"/api/brief?path=../x", "/api/diff?path=/etc/passwd", "/api/brief?path=none.go", "/api/diff?path=none.go", "/api/diff?path=dir/a.go"} {
		s.gives(http.StatusBadRequest, call{path: path})
	}
}

// Without scripts, the forms lead back to the page of the file or directory.
func TestServeSummaryFormsWithoutScripts(t *testing.T) {
	r, _ := summarised(t)
	r.Worktree("other")
	s := serveRepo(t, r, nil)
	s.gives(http.StatusOK, call{path: "/api/board"})
	form := func(path string, fields url.Values) (reply, string) {
		return s.do(call{method: http.MethodPost, path: path, body: fields.Encode(), head: map[string]string{
			"Cookie": s.signIn(), "Host": s.host(), "Origin": "http://" + s.host(), "Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html",
		}})
	}
	read := s.diffRead("api.go")
	for path, want := range map[string]string{"/api/confirm": "/file?path=api.go", "/api/confirm?w=other": "/file?path=api.go&w=other"} {
		resp, body := form(path, url.Values{"path": {"api.go"}, "read": {read}})
		if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != want {
			t.Errorf("%s leads to %s %s, want %s\n%s", path, resp.Status, resp.Header.Get("Location"), want, body)
		}
	}
	resp, body := form("/api/confirm", url.Values{"path": {"api.go"}, "read": {"xyz"}})
	if resp.StatusCode != http.StatusConflict || !strings.Contains(body, "<!doctype html>") {
		t.Errorf("a rejected form answers %s\n%s", resp.Status, body)
	}
}

// Viewing the page of a file or directory is no check: the next session still hears which
// files changed.
func TestViewingPagesIsNoCheck(t *testing.T) {
	r, w := summarised(t)
	if _, err := w.Registry.Verify(t.Context(), registry.VerifyOptions{}); err != nil {
		t.Fatal(err)
	}
	r.Write("lib/a.go", "package lib\n\n// A is new.\nfunc A() {}\n")
	r.Git("add", "lib")
	r.Write("api.go", "package api\n\n// Other does it.\nfunc Other() {}\n")
	s := serveRepo(t, r, nil)
	if page := s.page(http.StatusOK, "/file?path=api.go"); !strings.Contains(page, "func Other()") {
		t.Errorf("the page of a file has no outline of its content:\n%s", page)
	}
	if page := s.page(http.StatusOK, "/map?dir=lib"); !strings.Contains(page, "touched this directory") {
		t.Errorf("the page of a new directory has no brief:\n%s", page)
	}
	s.gives(http.StatusOK, call{path: "/api/brief?path=api.go"})
	s.gives(http.StatusOK, call{path: "/api/diff?path=api.go"})
	rep, err := w.Registry.Status(t.Context(), registry.VerifyOptions{})
	if err != nil || rep.State != registry.StateVerify || rep.Counts.Mismatch == 0 {
		t.Errorf("after viewing, the registry says %q with %+v (%v), want the changes since the last check", rep.State, rep.Counts, err)
	}
}
