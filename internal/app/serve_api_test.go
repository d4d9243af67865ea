package app

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/cli"
	"ken/internal/ken"
	"ken/internal/session"
	"ken/internal/statedir"
	"ken/internal/term"
	"ken/internal/workflow"
)

// printed is what the command line prints with --json.
func printed(t *testing.T, dir string, args ...string) any {
	t.Helper()
	deps := cli.Deps{
		Session: session.ID, Version: Version,
	}
	var out, errs bytes.Buffer
	if err := cli.Run(t.Context(), deps, &term.IO{In: strings.NewReader(""), Out: &out, Err: &errs}, append([]string{"-C", dir, "--json"}, args...)); err != nil {
		t.Fatalf("ken %s failed with %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	var v any
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatalf("ken %s did not print JSON: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	return v
}

// Each API request returns the document that the command prints with --json.
func TestServeAPIMatchesCommandLine(t *testing.T) {
	r := specced(t)
	r.Write(".spec/api/spec.md", "---\ntitle: The API\ncode:\n  - api.go\n---\nIt answers well.\n")
	r.Commit("better")
	r.Write(".ken/state/odd.txt", "x")
	space, err := statedir.Open(t.Context(), statedir.Options{From: r.Dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := space.Cleanup(t.Context(), workflow.CleanupOptions{Apply: true}); err != nil {
		t.Fatal(err)
	}
	if err := space.Close(); err != nil {
		t.Fatal(err)
	}
	w, err := ken.Open(t.Context(), ken.Options{Dir: r.Dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Briefer().Orient(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := serveRepo(t, r, nil)
	for path, args := range map[string][]string{
		"/api/spec":                {"spec", "ls"},
		"/api/spec/api":            {"spec", "show", "api"},
		"/api/spec/api/history":    {"spec", "history", "api"},
		"/api/overlays":            {"spec", "overlay"},
		"/api/survey":              {"survey", "show"},
		"/api/survey?dir=.spec":    {"survey", "show", ".spec"},
		"/api/summary?path=api.go": {"summary", "show", "api.go"},
		"/api/archive":             {"state", "archive", "ls"},
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
