package contract_test

import (
	"strings"
	"testing"

	"ken/internal/contract"
)

func TestSuggestFile(t *testing.T) {
	for name, want := range map[string]string{
		"review_pr12.md":                  "review-pr12.md",
		"review pr12.md":                  "review-pr12.md",
		"Review.md":                       "review.md",
		"REVIEW_PR12.MD":                  "review-pr12.md",
		"Review_PR12-slice-A.md":          "review-pr12-slice-a.md",
		"review_PR12.md":                  "review-PR12.md",
		"implementation-summary.md":       "impl-summary.md",
		"implementation_summary.json":     "impl-summary.json",
		"implementation-summary-cr3.json": "impl-summary-cr3.json",
		"impl_summary.json":               "impl-summary.json",
		"impl-sumary.json":                "impl-summary.json",
		"deferrred.md":                    "deferred.md",
		"reveiw.md":                       "review.md",
		"reviews-pr12.md":                 "review-pr12.md",
		"verify.md":                       "verification.md",
		"specification.md":                "spec.md",
		"documentation-summary.json":      "docs-summary.md",
		"planning.md":                     "plan.md",
		"plan.txt":                        "plan.md",
		"plan":                            "plan.md",
		"review.yaml":                     "review.md",
		"review.jsonl":                    "review.json",
		"workflow.yml":                    "workflow.yaml",
		"preflight-denies.log":            "preflight-denies.jsonl",
		"review-pr12.json":                "review-pr12.md",
		"slices-a.txt":                    "slice-a.md",
		"architecture-review.md":          "arch-review.md",
		"pr12-review.md":                  "review-pr12.md",
		"module_update_summary.md":        "module-update-summary.md",
		"review.md":                       "review.md",
		"hand-off.json":                   "handoff.json",
		"scratch-pad.md":                  "scratchpad.md",
		// Nothing that an agent can have meant.
		"notes.txt":                  "",
		"summary.md":                 "",
		"todo.md":                    "",
		"screenshot.png":             "",
		"review.png":                 "",
		"rubric-code_review.md":      "",
		"lock":                       "",
		".loc":                       "",
		".lock":                      "",
		".archive":                   "",
		"journal.jsonl":              "",
		"":                           "",
		".":                          "",
		"\xff\xfe":                   "",
		strings.Repeat("review", 99): "",
	} {
		got, ok := contract.Default().SuggestFile(name)
		if got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %v; want %q", name, got, ok, want)
		}
	}
}

func TestLine(t *testing.T) {
	for name, want := range map[string]string{
		"notes.txt":  "files: [{name: notes.txt}]",
		"a: b #c.md": "files: [{name: \"a: b #c.md\"}]",
		"true":       "files: [{name: \"true\"}]",
		"a/b":        "",
		"a\nb":       "",
		"..":         "",
		"\xff":       "",
	} {
		if got := contract.Default().Line(name); got != want {
			t.Errorf("Line(%q) = %q, want %q", name, got, want)
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	c := contract.Default()
	for b.Loop() {
		c.SuggestFile("some-foreign-file-0012345.txt")
	}
}
