package contract_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ken/internal/contract"
)

// names lists the files of the default contract that are accepted.
func names(accept func(contract.Entry) bool) []string {
	var out []string
	for _, f := range contract.Default().Files {
		if accept(f) {
			out = append(out, f.Name)
		}
	}
	slices.Sort(out)
	return out
}

func sorted(words string) []string {
	out := strings.Fields(words)
	slices.Sort(out)
	return out
}

// The sets that the commands rely on are listed here again, to catch mistakes in
// default.go.
func TestDefaultSets(t *testing.T) {
	for _, tt := range []struct {
		name   string
		accept func(contract.Entry) bool
		want   string
	}{
		{
			"exempt", func(f contract.Entry) bool { return f.Exempt },
			`.lock .archive .gitignore .journal.jsonl .graphify-rebuild.lock deferred.md preflight-denies.jsonl dispatch-warnings.jsonl
			probe-failures.jsonl static-compress.jsonl last-curator-run.txt graphify-impact-plan.json`,
		},
		{
			"always evicted", func(f contract.Entry) bool { return f.Evict == contract.Always },
			`scope-check-required.txt scope-check-answer.txt consolidator-ran.txt auto-curator-considered.txt
			reuse-search-attempted.txt knowledge-candidates-none.txt reuse-candidates.md reuse-analysis.md claude-mem-harvest.md
			claude-mem-skipped.txt topic-symbols-dropped.json graph-impact.md graphify-skip-reason.txt staleness-suppressed.txt`,
		},
		{
			"workflow-scoped", func(f contract.Entry) bool { return f.Evict == contract.Scoped },
			`review.md review.json test-summary.md test-summary.json impl-summary.md impl-summary.json
			verification.md verification.json debug-summary.md`,
		},
		{
			"logs", func(f contract.Entry) bool { return f.Log },
			`preflight-denies.jsonl dispatch-warnings.jsonl probe-failures.jsonl static-compress.jsonl`,
		},
		{"directories", func(f contract.Entry) bool { return f.Dir }, `.archive`},
		{
			"gated by status", func(f contract.Entry) bool { return len(f.Status) > 0 },
			`research.md arch-review.md docs-summary.md curation-summary.md debug-summary.md preflight-brief.md`,
		},
		{
			"gated by schema", func(f contract.Entry) bool { return f.Schema != nil },
			`impl-summary.json test-summary.json verification.json review.json handoff.json preflight-brief.json`,
		},
		{
			"with a sidecar", func(f contract.Entry) bool { return f.Sidecar != "" },
			`impl-summary.md test-summary.md verification.md review.md`,
		},
		{"neither gated, lasting nor evicted", func(f contract.Entry) bool {
			return !f.Exempt && f.Evict == contract.Stays && len(f.Status) == 0 && f.Schema == nil
		}, `workflow.yaml scratchpad.md plan.md spec.md scope.md decisions.md scan-results.md scan-delta.md lessons.yaml debug-context.md
			debug-investigation.md arch-health-scan.md session-report.md weekly-report.md autoskill-proposals.md baseline-gates.md review-scope.md
			code-review-input.md continue-here.md arch-baseline.json arch-triage.json arch-scan-report.md scanner-output.txt`},
	} {
		if got, want := names(tt.accept), sorted(tt.want); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, want)
		}
	}
}

// The default contract follows the rules that Extend checks.
func TestDefaultFollowsTheRules(t *testing.T) {
	c := contract.Default()
	roles := []contract.Role{
		contract.Workflow, contract.Lock, contract.Archive, contract.Journal,
		contract.Deferred, contract.Probes,
	}
	for _, r := range roles {
		if n := names(func(f contract.Entry) bool { return f.Role == r }); len(n) != 1 || n[0] != c.Name(r) {
			t.Errorf("the role %s belongs to %q, Name says %s", r, n, c.Name(r))
		}
	}
	var groups []string
	for _, g := range c.Groups {
		groups = append(groups, g.Name)
	}
	seen := make(map[string]bool)
	for _, f := range c.Files {
		if seen[f.Name] {
			t.Errorf("%s is listed twice", f.Name)
		}
		seen[f.Name] = true
		if !slices.Contains(groups, f.Group) || f.Writer == "" || f.Purpose == "" {
			t.Errorf("%s lacks a group, a writer or a purpose", f.Name)
		}
		if _, ok := c.File(f.Sidecar); f.Sidecar != "" && !ok {
			t.Errorf("the sidecar of %s is not listed", f.Name)
		}
	}
	for _, p := range slices.Concat(c.Patterns, c.Ephemeral) {
		if !regexp.MustCompile(`\A(?:` + p.Pattern + `)\z`).MatchString(p.Example) {
			t.Errorf("%s does not match %s", p.Example, p.Pattern)
		}
	}
	for _, p := range c.Patterns {
		if q, ok := c.Match(p.Example); !ok || q != p {
			t.Errorf("%s is the example of %s, and %s comes first", p.Example, p.Pattern, q.Pattern)
		}
		_, md := c.File(p.Base + ".md")
		if p.Base != "" && !md {
			t.Errorf("%s has the base %s, which is not listed", p.Pattern, p.Base)
		}
	}
	for _, k := range c.Keys {
		if again, ok := c.Key(k.Name); !ok || !reflect.DeepEqual(k, again) {
			t.Errorf("the key %s is listed twice", k.Name)
		}
	}
	if phase, _ := c.Key("phase"); phase.Initial != "context_init" || len(phase.Enum) != 25 {
		t.Errorf("phase is %+v", phase)
	}
}

// dump writes a contract whole, to compare it.
func dump(t *testing.T, c *contract.Contract) string {
	t.Helper()
	b, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The printed contract reads back unchanged.
func TestYAML(t *testing.T) {
	b, err := contract.Default().YAML()
	if err != nil {
		t.Fatal(err)
	}
	again := new(contract.Contract)
	if err := yaml.Unmarshal(b, again); err != nil {
		t.Fatal(err)
	}
	if dump(t, again) != dump(t, contract.Default()) {
		t.Errorf("the YAML reads back as a different contract:\n%s", b)
	}
}

func TestByRolePanicsWithoutTheRole(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("ByRole of an empty contract did not panic")
		}
	}()
	new(contract.Contract).ByRole(contract.Lock)
}

func BenchmarkBucketOfForeignName(b *testing.B) {
	c := contract.Default()
	for b.Loop() {
		c.Bucket("some-foreign-file-0012345.txt")
	}
}
