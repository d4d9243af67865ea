package contract_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ken/internal/contract"
)

func TestCheckStatus(t *testing.T) {
	const legal = "DONE, DONE_WITH_CONCERNS, BLOCKED or NEEDS_CONTEXT"
	const missing = "no status heading in the first 100 lines"
	for _, tt := range []struct {
		name, content, problem, expected string
	}{
		{"on the line", "# Research\n\n## Status: DONE\n", "", ""},
		{"any case of the heading", "## STATUS: BLOCKED", "", ""},
		{"below", "## Status\n\nDONE_WITH_CONCERNS\n", "", ""},
		{"on the fourth line below", "## Status\n\n\n\nDONE\n", "", ""},
		{"on the fifth line below", "## Status\n\n\n\n\nDONE\n", "the status heading has no value", legal},
		{"below a colon", "## Status:\nDONE\n", "", ""},
		{"more words", "## Status: DONE (mostly)\n", "", ""},
		{"in bold", "## Status: **DONE**\n", "", ""},
		{"as code", "## Status\n`DONE`.\n", "", ""},
		{"CRLF", "# R\r\n## Status: DONE\r\n", "", ""},
		{"byte order mark", "\ufeff## Status: DONE\n", "", ""},
		{"line 100", strings.Repeat("x\n", 99) + "## Status: DONE\n", "", ""},
		{"line 101", strings.Repeat("x\n", 100) + "## Status: DONE\n", missing, "## Status: " + legal},
		{"empty", "", missing, "## Status: " + legal},
		{"another level", "### Status: DONE\n", missing, "## Status: " + legal},
		{"another heading", "## Status of things\n", missing, "## Status: " + legal},
		{"no value", "## Status:\n\n## Next\nDONE\n", "the status heading has no value", legal},
		{"case of the value", "## Status: done\n", `status is "done"`, legal + "; did you mean DONE?"},
		{"illegal", "## Status: FIXED\n", `status is "FIXED"`, legal},
		{"not UTF-8", "## Status: \xff\xfe\n", `status is "\xff\xfe"`, legal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"research.md", "research-caching.md"} {
				var want []contract.Problem
				if tt.problem != "" {
					want = []contract.Problem{{File: name, Problem: tt.problem, Expected: tt.expected}}
				}
				if got := contract.Default().Check(name, []byte(tt.content)); !slices.Equal(got, want) {
					t.Errorf("got %+v\nwant %+v", got, want)
				}
			}
		})
	}
}

func TestCheckJSON(t *testing.T) {
	const statuses = "DONE, PARTIAL or BLOCKED"
	const verdicts = "APPROVED, APPROVED_WITH_NOTES or NEEDS_WORK"
	for _, tt := range []struct {
		name, content string
		want          []string // problem, expected, …
	}{
		{"fine", `{"status": "DONE", "verdict": "APPROVED", "agent": "code-reviewer", "more": [1]}`, nil},
		{"least", "\r\n{\"status\":\"DONE\"}\r\n", nil},
		{"null where nothing is required", `{"status": "DONE", "verdict": null}`, nil},
		{"near miss", `{"status": "DONE", "verdict": "APPROVE"}`, []string{`verdict is "APPROVE"`, verdicts + "; did you mean APPROVED?"}},
		{"two problems", `{"verdict": "X"}`, []string{"status is missing", statuses, `verdict is "X"`, verdicts}},
		{"null", `{"status": null}`, []string{"status is null", statuses}},
		{"wrong type", `{"status": 1}`, []string{"status is 1", statuses}},
		{"list", `{"status": ["DONE"]}`, []string{"status is a list", statuses}},
		{"twice", `{"status": "DONE", "status": "BLOCKED"}`, []string{"status appears 2 times", "once"}},
		{"empty", " \n", []string{"is empty", "one JSON object"}},
		{"list at the top", `[]`, []string{"is not an object", "one JSON object"}},
		{"text at the top", `"x"`, []string{"is not an object", "one JSON object"}},
		{"two objects", `{"status":"DONE"}{}`, []string{"has more after the object", "one JSON object"}},
		{"garbage after", `{"status":"DONE"} x`, []string{"has more after the object", "one JSON object"}},
		{"cut", `{"status":"DONE"`, []string{"is not JSON: unexpected end", "one JSON object"}},
		{"broken", "{\n\"status\": DONE}", []string{"is not JSON: line 2: invalid character 'D' looking for beginning of value", "one JSON object"}},
		{"byte order mark", "\ufeff{\"status\":\"DONE\"}", []string{"begins with a byte order mark", "JSON without a byte order mark"}},
		{"not UTF-8", "{\"status\":\"DONE\", \"x\":\"\xff\"}", []string{"is not UTF-8", "one JSON object"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"review.json", "review-lane-api.json"} {
				var want []contract.Problem
				for i := 0; i < len(tt.want); i += 2 {
					want = append(want, contract.Problem{File: name, Problem: tt.want[i], Expected: tt.want[i+1]})
				}
				if got := contract.Default().Check(name, []byte(tt.content)); !slices.Equal(got, want) {
					t.Errorf("got %+v\nwant %+v", got, want)
				}
			}
		})
	}
}

func TestCheckOthers(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		problems      int
	}{
		{"handoff.json", `{"task":"t","phase":"plan","paused_at":"now"}`, 0},
		{"handoff.json", `{"task":"t"}`, 2},
		{"preflight-brief.json", `{"scope_hint":{},"scope_trust":0.5}`, 0},
		{"preflight-brief.json", `{}`, 2},
		{"preflight-brief.md", "## Status: FRESH", 0},
		{"debug-summary-x.md", "## Status: DONE", 1},
		{"impl-summary.json", `{"status":"PARTIAL","verdict":"PASS","agent":"programmer"}`, 0},
		{"impl-summary-x.json", `{"status":"PARTIAL","verdict":"satisfied","agent":"tester"}`, 2},
		{"verification-x.json", `{"status":"VERIFIED","verdict":"satisfied","agent":"verifier"}`, 0},
		{"test-summary-x.md", "anything", 0},
		{"review.md", "anything", 0},
		{"review-lane-api.md", "anything", 0},
		{"plan.md", "", 0},
		{"research-x.md~", "", 0},
		{"notes.txt", "\xff", 0},
		{"arch-triage.json", "no JSON", 0},
	} {
		if got := contract.Default().Check(tt.name, []byte(tt.content)); len(got) != tt.problems {
			t.Errorf("%s with %q: %+v", tt.name, tt.content, got)
		}
		if tt.problems > 0 && !contract.Default().Checks(tt.name) {
			t.Errorf("%s has problems, but Checks reports false", tt.name)
		}
	}
}

// Check handles ten megabytes of anything.
func TestCheckLarge(t *testing.T) {
	c := contract.Default()
	for _, piece := range []string{"[", `{"a":`, "x", "\n", "\xff", "## Status\n", " "} {
		content := bytes.Repeat([]byte(piece), 10<<20/len(piece))
		if len(c.Check("review.json", content)) == 0 || len(c.Check("research.md", content)) == 0 {
			t.Errorf("10 MB of %q gave no problem", piece)
		}
	}
}

func TestKeyCheck(t *testing.T) {
	for _, tt := range []struct {
		key               string
		value             any
		problem, expected string
	}{
		{"active", true, "", ""},
		{"active", nil, "", ""},
		{"active", "true", `active is "true"`, "true or false"},
		{"iteration", json.Number("3"), "", ""},
		{"iteration", int64(3), "", ""},
		{"iteration", "3", `iteration is "3"`, "a number"},
		{"iteration", []any{}, `iteration is a list`, "a number"},
		{"task", "anything\nat all", "", ""},
		{"task", false, "task is false", "a text"},
		{"workflow_id_history", []any{"a"}, "", ""},
		{"workflow_id_history", "a", `workflow_id_history is "a"`, "a list"},
		{"tier", "STANDARD", "", ""},
		{"tier", "standard", `tier is "standard"`, "TRIVIAL, SIMPLE, STANDARD or COMPLEX; did you mean STANDARD?"},
		{"tier", "huge", `tier is "huge"`, "TRIVIAL, SIMPLE, STANDARD or COMPLEX"},
		{"tier", "", `tier is ""`, "TRIVIAL, SIMPLE, STANDARD or COMPLEX"},
		{"tier", json.Number("1"), `tier is 1`, "a text"},
		{"tier", map[string]any{}, `tier is an object`, "a text"},
	} {
		k, ok := contract.Default().Key(tt.key)
		if !ok {
			t.Fatalf("no key %s", tt.key)
		}
		problem, expected := k.Check(tt.value)
		if problem != tt.problem || expected != tt.expected {
			t.Errorf("%s = %v: %q, %q; want %q, %q", tt.key, tt.value, problem, expected, tt.problem, tt.expected)
		}
	}
}
