package contract_test

import (
	"strings"
	"testing"

	"ken/internal/contract"
)

// The names that devt 0.244 declares for its state directory.
const (
	devtFiles = `workflow.yaml scratchpad.md plan.md spec.md scope.md decisions.md research.md scan-results.md scan-delta.md
		test-summary.md lessons.yaml debug-context.md debug-investigation.md debug-summary.md arch-review.md arch-health-scan.md
		arch-baseline.json subagent-events.jsonl arch-triage.json arch-scan-report.md scanner-output.txt evolution-report.md
		evolution-report.json docs-summary.md curation-summary.md session-report.md autoskill-proposals.md baseline-gates.md
		claude-mem-harvest.md claude-mem-skipped.txt last-curator-run.txt continue-here.md graph-impact.md
		graphify-impact-plan.json graphify-skip-reason.txt staleness-suppressed.txt partition-degraded.txt preflight-brief.json
		weekly-report.md review.md code-review-input.md scope-check-required.txt scope-check-answer.txt review-depth.txt
		dispatch-stamps.jsonl consolidator-ran.txt auto-curator-considered.txt reuse-candidates.md reuse-analysis.md
		reuse-search-attempted.txt knowledge-candidates-none.txt topic-symbols-dropped.json probe-failures.jsonl
		workflow-id-rotations.jsonl lane-status-overrides.jsonl claim-checks.jsonl status.json lane-unassigned.txt
		lane-snapshot.json gate-trace.jsonl preflight-denies.jsonl dispatch-warnings.jsonl static-compress.jsonl
		.graphify-rebuild.lock deferred.md .lock handoff.json acceptance-criteria.json impl-summary.md impl-summary.json
		test-summary.json verification.md verification.json review.json preflight-brief.md`
	devtDirs     = `.archive threads lane-files project hook-trace`
	devtVariants = `lane-diff-L1.txt review-lane-L1.json review-lane-L1.md rubric-code_review.md
		claim-checks.archive-2026-01-01T00-00-00.000Z.jsonl py3-upgrade-summary.md plan-api.md slice-A.md`
	devtExempt = `.lock .archive threads deferred.md preflight-denies.jsonl dispatch-warnings.jsonl probe-failures.jsonl
		.graphify-rebuild.lock last-curator-run.txt graphify-impact-plan.json workflow-id-rotations.jsonl
		lane-status-overrides.jsonl static-compress.jsonl gate-trace.jsonl`
	devtPhases = `scope_check partition_lanes dispatch_lanes substance_check_lanes redispatch_lanes consolidate present_findings`
)

// Every name of devt belongs in a devt tree, and a reset keeps what devt keeps.
func TestDevtNames(t *testing.T) {
	c := contract.DefaultFor("/home/me/shop/.devt/state")
	for _, name := range strings.Fields(devtFiles) {
		if got := c.Bucket(name); got != contract.Canonical {
			t.Errorf("the file %s is %v; it should be canonical", name, got)
		}
	}
	for _, name := range strings.Fields(devtDirs) {
		if got := c.DirBucket(name); got != contract.Canonical {
			t.Errorf("the directory %s is %v; it should be canonical", name, got)
		}
	}
	for _, name := range strings.Fields(devtVariants) {
		if got := c.Bucket(name); got != contract.PatternAllowed {
			t.Errorf("the file %s is %v; it should be pattern_allowed", name, got)
		}
	}
	for _, name := range strings.Fields(devtExempt) {
		if f, ok := c.File(name); !ok || !f.Exempt {
			t.Errorf("reset moves %s; devt keeps it", name)
		}
	}
	phase, _ := c.Key("phase")
	for _, value := range strings.Fields(devtPhases) {
		if problem, _ := phase.Check(value); problem != "" {
			t.Errorf("the phase %s is refused: %s; devt has it", value, problem)
		}
	}
	if problem, _ := phase.Check("brand_new"); problem != "" {
		t.Errorf("an unknown phase is refused: %s; devt warns", problem)
	}
	if problem, _ := phase.Warning("brand_new"); problem == "" {
		t.Error("an unknown phase has no warning; devt warns")
	}
	for name, want := range map[string]contract.Bucket{"8f3a91c0": contract.Canonical, "a.b": contract.AdHoc} {
		if got := c.DirBucket(name); got != want {
			t.Errorf("the directory %s is %v in the shared directory; want %v", name, got, want)
		}
	}
	session := contract.DefaultFor("/home/me/shop/.devt/state/8f3a91c0")
	if got := session.DirBucket("8f3a91c0"); got != contract.AdHoc {
		t.Errorf("a directory in that of a session is %v; it should be ad_hoc", got)
	}
	if got := c.Bucket("notes-of-mine.md"); got != contract.AdHoc {
		t.Errorf("notes-of-mine.md is %v; it should be ad_hoc", got)
	}
}

// Only a directory of devt gets the names of devt.
func TestDefaultFor(t *testing.T) {
	for dir, devt := range map[string]bool{
		"":                          false,
		".ken/state":                false,
		".devt/state":               true,
		"a/.devt/state":             true,
		"/a/b/.devt/state":          true,
		"/a/b/.devt/state/8f3a91c0": true, // of one session
		".devt":                     false,
		"devt/state":                false,
		".devt/states":              false,
		"x.devt/state":              false,
		".devt/memory":              false,
	} {
		if got := contract.DefaultFor(dir) != contract.Default(); got != devt {
			t.Errorf("DefaultFor(%q) has the names of devt: %v; want %v", dir, got, devt)
		}
	}
}
