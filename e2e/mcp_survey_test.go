package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

type handed struct {
	Item *struct {
		Path, Lease, Prompt string
		Expires             string `json:"expires_at"`
	}
	Remaining int
}

type submitted struct{ Path, Result, Reason string }

// surveyed is a repository of three directories, one below the other.
func surveyed(t *testing.T) *testrepo.Repo {
	t.Helper()
	r := testrepo.New(t)
	r.Write("README.md", "# Shop\n\nRoutes orders.\n")
	r.Write("api/api.go", "package api\n\n// Serve serves.\nfunc Serve() {}\n")
	r.Write("api/v1/v1.go", "package v1\n\n// List lists.\nfunc List() {}\n")
	r.Commit("begin")
	return r
}

// submit submits a summary of a leased directory.
func (a *agent) submit(h handed, with map[string]any) (out submitted) {
	a.t.Helper()
	args := map[string]any{"path": h.Item.Path, "lease": h.Item.Lease}
	for k, v := range with {
		args[k] = v
	}
	a.call("survey_submit", args, &out)
	return out
}

// An agent summarizes a repository bottom up, and then gets its summaries from the other tools.
func TestAgentSurveys(t *testing.T) {
	r := surveyed(t)
	a := connect(t, r)

	var orientation struct{ Brief string }
	a.call("brief", nil, &orientation)
	if !strings.Contains(orientation.Brief, "\n.: \"Routes orders.\"\n") {
		t.Errorf("brief says %s, want what the README says", orientation.Brief)
	}

	var order []string
	for range 10 {
		var h handed
		a.call("survey_next", map[string]any{"lease": 60}, &h)
		if h.Item == nil {
			if h.Remaining != 0 {
				t.Fatalf("%d directories remain, but survey_next returned none", h.Remaining)
			}
			break
		}
		if n := len(order); n > 0 && !strings.Contains(h.Item.Prompt, "About "+order[n-1]+".") {
			t.Errorf("the prompt of %s does not contain the summary of %s:\n%s", h.Item.Path, order[n-1], h.Item.Prompt)
		}
		order = append(order, h.Item.Path)
		with := map[string]any{"text": "About " + h.Item.Path + "."}
		if h.Item.Path == "api" {
			with["files"] = map[string]string{"api/api.go": "Serves.", "api/v1/v1.go": "not its own"}
		}
		got := a.submit(h, with)
		if got.Path != h.Item.Path || got.Result != "stored" || (got.Reason != "") != (h.Item.Path == "api") {
			t.Fatalf("submit: %+v", got)
		}
	}
	if !slices.Equal(order, []string{"api/v1", "api", "."}) {
		t.Fatalf("survey_next returned %v", order)
	}

	var k briefs
	paths := []string{".", "api/api.go", "api", "nowhere", "api/"}
	a.call("brief", map[string]any{"paths": paths, "budget": 2000}, &k)
	if len(k.Briefs) != len(paths) {
		t.Fatalf("brief: %+v", k)
	}
	for i, want := range []string{"About ..", "Serves.", "About api.", "", "About api."} {
		b := k.Briefs[i]
		if want == "" {
			if b.Brief != nil || b.Path != "nowhere" || !strings.Contains(b.Error, "nowhere") {
				t.Errorf("brief of a missing path: %+v", b)
			}
			continue
		}
		if b.Brief == nil || !slices.ContainsFunc(b.Brief.Sections, func(s struct{ Subject, Verdict, Text string }) bool {
			return s.Text == want && strings.HasPrefix(s.Verdict, "fresh")
		}) {
			t.Errorf("brief of %s does not say %q: %+v", paths[i], want, b)
		}
	}
	if k.Briefs[4].Path != "api" {
		t.Errorf("brief of %s is about %s", paths[4], k.Briefs[4].Path)
	}

	a.call("brief", nil, &orientation)
	for _, want := range []string{`[fresh] .: "About .."`, `  "api/: About api."`, `  "api/v1/: About api/v1."`} {
		if !strings.Contains(orientation.Brief, want) {
			t.Errorf("brief does not say %q:\n%s", want, orientation.Brief)
		}
	}
	for _, budget := range []int{50, 60, 80, 120} {
		a.call("brief", map[string]any{"budget": budget}, &orientation)
		if n := len(orientation.Brief); n == 0 || n > budget*4 {
			t.Errorf("with a budget of %d tokens, the brief has %d bytes", budget, n)
		}
	}
}

// survey_submit reports a late or invalid summary in its result.
func TestAgentSubmitsInvalidSummaries(t *testing.T) {
	r := surveyed(t)
	a, b := connect(t, r), connect(t, r)
	var h, other, third handed
	a.call("survey_next", nil, &h)
	b.call("survey_next", nil, &other)
	if h.Item == nil || h.Item.Path != "api/v1" || other.Item != nil || other.Remaining != 3 {
		t.Fatalf("one is ready: %+v, %+v", h, other)
	}
	b.call("survey_next", map[string]any{"path": "api/v1"}, &other)
	if other.Item != nil || other.Remaining != 1 {
		t.Errorf("survey_next in api/v1 returned %+v; want no item and 1 remaining", other)
	}
	if words := b.refused("survey_next", map[string]any{"path": "nowhere"}); !strings.Contains(words, "no directory with tracked files: nowhere") {
		t.Errorf("survey_next in nowhere: %s", words)
	}
	for want, with := range map[string]map[string]any{
		"empty":                        {"text": "  "},
		"4096":                         {"text": strings.Repeat("x", 20_000)},
		"control":                      {"text": "a\x1b[31mb"},
		"there was no summary to keep": {"keep": true},
		"to keep: submit a text":       {"text": "keep"},
	} {
		if got := a.submit(h, with); got.Result != "rejected" || !strings.Contains(got.Reason, want) {
			t.Errorf("submit returned %+v; want a rejection with %q", got, want)
		}
	}
	wrong := h
	item := *h.Item
	item.Lease = "other"
	wrong.Item = &item
	if got := b.submit(wrong, map[string]any{"text": "x"}); got.Result != "fenced" {
		t.Errorf("the lease of another agent: %+v", got)
	}
	r.Write("api/v1/v1.go", "package v1\n\n// Rows lists.\nfunc Rows() {}\n")
	if got := a.submit(h, map[string]any{"text": "It lists."}); got.Result != "superseded" {
		t.Errorf("a directory that changed meanwhile: %+v", got)
	}
	a.call("survey_next", nil, &third)
	if third.Item == nil || third.Item.Path != "api/v1" || !strings.Contains(third.Item.Prompt, "It lists.") {
		t.Fatalf("the changed directory was not returned again: %+v", third)
	}
	if got := a.submit(third, map[string]any{"keep": true}); got.Result != "stored" {
		t.Errorf("keep: %+v", got)
	}
	words := a.refused("survey_next", map[string]any{"lease": -1})
	if !strings.Contains(words, "lease") {
		t.Errorf("a lease of no time: %s", words)
	}
	if words = a.refused("survey_submit", map[string]any{"path": "../x", "lease": "x", "text": "x"}); !strings.Contains(words, "../x") {
		t.Errorf("a path that leads outside: %s", words)
	}
}

// If many agents call survey_next at once, no two get the same directory.
func TestAgentsShareASurvey(t *testing.T) {
	r := testrepo.New(t)
	for i := range 6 {
		r.Write(fmt.Sprintf("d%d/a.go", i), fmt.Sprintf("package a // %d\n", i)) // what is the same is described once
	}
	r.Commit("begin")
	got := make(chan handed)
	for range 3 {
		a := connect(t, r)
		for range 2 {
			go func() {
				var h handed
				defer func() { got <- h }()
				a.call("survey_next", nil, &h)
			}()
		}
	}
	seen := make(map[string]bool)
	for range 6 {
		h := <-got
		if h.Item == nil || seen[h.Item.Path] {
			t.Errorf("survey_next returned %+v", h)
			continue
		}
		seen[h.Item.Path] = true
	}
}
