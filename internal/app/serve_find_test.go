package app

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ken/internal/testrepo"
)

// searched is a repository with a symbol, a spec and a document to find.
func searched(t *testing.T) *testrepo.Repo {
	t.Helper()
	r := specced(t)
	r.Write("docs/guide.md", "# Guide\n\nRun `tools/build.sh` before `tools/old.sh`.\n")
	r.Write("tools/build.sh", "#!/bin/sh\necho build the program, all of it\n")
	r.Write("tools/old.sh", "#!/bin/sh\necho something that nobody needs\n")
	r.Commit("tools")
	return r
}

// signed returns the header of a request with the token.
func (s *served) signed() map[string]string {
	return map[string]string{"Authorization": "Bearer " + s.token}
}

type foundRow struct{ Kind, Name, Detail, Text, Href string }

// found asks /api/find until the search index is ready.
func (s *served) found(c call) (rows []foundRow, document map[string]any) {
	s.t.Helper()
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(10 * time.Millisecond) {
		body := s.gives(http.StatusOK, c)
		var answer struct {
			Rows    []foundRow
			Reading bool
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			s.t.Fatal(err)
		}
		if !answer.Reading {
			if err := json.Unmarshal([]byte(body), &document); err != nil {
				s.t.Fatal(err)
			}
			return answer.Rows, document
		}
	}
	s.t.Fatalf("%s: ken is still reading the repository", c.path)
	return nil, nil
}

// /api/find answers with the document of ken find --json, and with rows for symbols, specs,
// documents and pages.
func TestServeFind(t *testing.T) {
	r := searched(t)
	s := serveRepo(t, r, nil)
	rows, document := s.found(call{path: "/api/find?q=serve", head: s.signed()})
	delete(document, "rows")
	delete(document, "reading")
	if want := printed(t, r.Dir, "find", "serve"); !reflect.DeepEqual(any(document), want) {
		t.Errorf("/api/find and ken find differ:\n%s", cmp.Diff(want, any(document)))
	}
	want := foundRow{Kind: "symbol", Name: "Serve", Detail: "api.go:3", Text: "func Serve() {}", Href: "/file?line=3&path=api.go"}
	if !slices.Contains(rows, want) {
		t.Errorf("the rows are %+v, want %+v among them", rows, want)
	}
	for query, want := range map[string]foundRow{
		"The API":  {Kind: "spec", Name: "The API", Detail: "api", Href: "/node/api"},
		"GUIDE.md": {Kind: "document", Name: "guide.md", Detail: "docs/guide.md", Href: "/file?path=docs%2Fguide.md"},
		"build.sh": {Kind: "file", Name: "build.sh", Detail: "tools/build.sh", Href: "/file?path=tools%2Fbuild.sh"},
		"rev":      {Kind: "page", Name: "Review", Href: "/review"},
		"":         {Kind: "page", Name: "Documents", Href: "/documents"},
	} {
		rows, _ := s.found(call{path: "/api/find?" + url.Values{"q": {query}}.Encode(), head: s.signed()})
		if !slices.Contains(rows, want) {
			t.Errorf("%q finds %+v, want %+v among them", query, rows, want)
		}
	}
	_, document = s.found(call{path: "/api/find?q=zzzyyyxxx", head: s.signed()})
	for _, list := range []string{"rows", "places"} {
		if got, ok := document[list].([]any); !ok || len(got) != 0 {
			t.Errorf("a word that occurs nowhere has the %s %v, want an empty list", list, document[list])
		}
	}
	if _, document := s.found(call{path: "/api/find?q=serve&limit=1", head: s.signed()}); len(document["places"].([]any)) != 1 {
		t.Errorf("limit=1 lists %d places", len(document["places"].([]any)))
	}
	for _, bad := range []string{"limit=0", "limit=x", "limit=9999", "q=" + strings.Repeat("a", 1000)} {
		s.gives(http.StatusBadRequest, call{path: "/api/find?" + bad, head: s.signed()})
	}
}

// /api/review answers with the document of ken review --all --json.
func TestServeReview(t *testing.T) {
	r := searched(t)
	s := serveRepo(t, r, nil)
	r.Git("rm", "-q", "tools/old.sh")
	var got any
	if err := json.Unmarshal([]byte(s.gives(http.StatusOK, call{path: "/api/review", head: s.signed()})), &got); err != nil {
		t.Fatal(err)
	}
	want := printed(t, r.Dir, "review", "--all")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("/api/review and ken review --all differ:\n%s", cmp.Diff(want, got))
	}
	if lines := got.(map[string]any)["lines"].([]any); len(lines) == 0 {
		t.Error("the review has no line, want one for docs/guide.md")
	}
}

// POST /api/docs/fix does what ken docs --fix does, needs the token, and refuses a document
// in which nothing can be corrected.
func TestServeFixDocument(t *testing.T) {
	r := searched(t)
	r.Git("mv", "tools/build.sh", "tools/make.sh")
	r.Git("rm", "-q", "tools/old.sh")
	r.Commit("move")
	s := serveRepo(t, r, nil)
	fix := func(body string) call {
		return call{method: http.MethodPost, path: "/api/docs/fix", body: body, head: s.signed()}
	}
	without := fix(`{"path": "docs/guide.md"}`)
	without.head = map[string]string{"Authorization": "Bearer wrong"}
	s.gives(http.StatusUnauthorized, without)
	s.gives(http.StatusBadRequest, fix(`{"path": ""}`))
	s.gives(http.StatusBadRequest, fix(`{"path": "docs/guide.md", "all": true}`))
	s.gives(http.StatusNotFound, fix(`{"path": "docs"}`))
	s.gives(http.StatusNotFound, fix(`{"path": "../outside.md"}`))

	want := printed(t, r.Dir, "docs", "--fix", "--dry-run", "docs/guide.md")
	want.(map[string]any)["dry_run"] = false
	var got any
	if err := json.Unmarshal([]byte(s.gives(http.StatusOK, fix(`{"path": "docs/guide.md"}`))), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("/api/docs/fix and ken docs --fix differ:\n%s", cmp.Diff(want, got))
	}
	if text := r.Read("docs/guide.md"); !strings.Contains(text, "`tools/make.sh` before `tools/old.sh`") {
		t.Errorf("the document is now %q", text)
	}
	if body := s.gives(http.StatusConflict, fix(`{"path": "docs/guide.md"}`)); !strings.Contains(body, "no mention in it moved") {
		t.Errorf("a second fix answers %s, want the reason", body)
	}
	form := fix("path=docs%2Fguide.md")
	form.head["Content-Type"] = "application/x-www-form-urlencoded"
	resp, _ := s.do(form)
	if resp.StatusCode != http.StatusConflict {
		t.Errorf("a form is answered with %s, want 409", resp.Status)
	}
}
