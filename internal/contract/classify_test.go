package contract_test

import (
	"strings"
	"sync"
	"testing"

	"ken/internal/contract"
)

func TestBuckets(t *testing.T) {
	const (
		canonical, allowed = contract.Canonical, contract.PatternAllowed
		ephemeral, adHoc   = contract.Ephemeral, contract.AdHoc
	)
	for _, tt := range []struct {
		name string
		dir  bool
		want contract.Bucket
	}{
		{"review.md", false, canonical},
		{"review.md", true, adHoc},
		{".archive", true, canonical},
		{".archive", false, adHoc},
		{".archive.tmp", true, adHoc},
		{"review-pr12.md", true, adHoc},
		{"Review.md", false, adHoc},
		{"review.md ", false, adHoc},
		{"review.md\n", false, adHoc},
		{"review-scope.md", false, canonical},
		{"review-pr367-slice-A.md", false, allowed},
		{"review-pr12.md\n", false, adHoc},
		{"xreview-pr12.md", false, adHoc},
		{"review-.md", false, adHoc},
		{"review-pr12.json", false, adHoc},
		{"review-lane-api.json", false, allowed},
		{"review-lane-Api.json", false, adHoc},
		{"review-lane-" + strings.Repeat("a", 32) + ".json", false, allowed},
		{"review-lane-" + strings.Repeat("a", 33) + ".json", false, adHoc},
		{"impl-summary-cr3.json", false, allowed},
		{"test-summary-x.md", false, allowed},
		{"verification-rerun.json", false, allowed},
		{"slice-A.md", false, allowed},
		{"plan-a.md", false, allowed},
		{"plan-a.json", false, adHoc},
		{"research-a.md", false, allowed},
		{"spec-a.md", false, allowed},
		{"debug-context-a.md", false, allowed},
		{"debug-investigation-a.md", false, allowed},
		{"debug-summary-a.md", false, allowed},
		{"debug-other-a.md", false, adHoc},
		{"module-summary.md", false, allowed},
		{"module-md-update-summary.md", false, allowed},
		{"Module-summary.md", false, adHoc},
		{"-summary.md", false, adHoc},
		{"a--summary.md", false, adHoc},
		{".foo.tmp", false, ephemeral},
		{"bar.tmp", false, ephemeral},
		{".tmp", false, ephemeral},
		{"review-a.md~", false, ephemeral},
		{"\xff.tmp", false, ephemeral},
		{"\xff", false, adHoc},
		{"", false, adHoc},
		{"notes.txt", false, adHoc},
	} {
		bucket := contract.Default().Bucket
		if tt.dir {
			bucket = contract.Default().DirBucket
		}
		if got := bucket(tt.name); got != tt.want {
			t.Errorf("%q (directory: %v) is %v, want %v", tt.name, tt.dir, got, tt.want)
		}
	}
}

func TestEvicts(t *testing.T) {
	for name, want := range map[string]contract.Evict{
		"review.md": contract.Scoped, "review-a.md": contract.Scoped, "review-lane-a.json": contract.Scoped,
		"impl-summary-a.md": contract.Scoped, "test-summary-a.json": contract.Scoped, "verification-a.md": contract.Scoped, "slice-a.md": contract.Scoped,
		"graph-impact.md": contract.Always, "plan.md": contract.Stays, "plan-a.md": contract.Stays,
		"module-summary.md": contract.Stays, "debug-summary-a.md": contract.Stays, "notes.txt": contract.Stays, "slice-a.md~": contract.Stays,
	} {
		if got := contract.Default().Evicts(name); got != want {
			t.Errorf("%s is evicted %q, want %q", name, got, want)
		}
	}
}

// Several goroutines may use a new contract at once.
func TestConcurrentUse(t *testing.T) {
	c, err := contract.Extend("", nil, "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if c.Bucket("review-a.md") != contract.PatternAllowed || c.Bucket("review.md") != contract.Canonical {
				t.Error("concurrent calls gave a wrong bucket")
			}
			c.SuggestFile("reviw.md")
		})
	}
	wg.Wait()
}
