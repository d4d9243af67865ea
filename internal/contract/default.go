package contract

import (
	"slices"
	"sync"
)

// Default returns the default contract, without the names of devt.
func Default() *Contract { return defaultContract() }

var defaultContract = sync.OnceValue(newDefault)

// DefaultFor returns the default contract of a state directory, a path with slashes. The
// contract of .devt/state, or of a directory in it, also has the names of devt.
func DefaultFor(dir string) *Contract {
	switch {
	case IsDevtRoot(dir):
		return devtRootContract()
	case IsDevt(dir):
		return devtContract()
	}
	return Default()
}

// Values that several files share.
var (
	done   = []string{"DONE", "DONE_WITH_CONCERNS", "BLOCKED", "NEEDS_CONTEXT"}
	worked = []string{"DONE", "DONE_WITH_CONCERNS", "PARTIAL", "BLOCKED", "NEEDS_CONTEXT"}
	passed = []string{"PASS", "FAIL", "INDETERMINATE"}
)

// variant matches the part of a name that tells the variants of a file apart.
const variant = `[A-Za-z0-9_.-]+`

func newDefault() *Contract {
	c := &Contract{Dir: ".ken/state", StaleDays: 21, ArchiveRuns: 5}

	// Each file has a name, a writer and a purpose.
	c.group("control", "Workflow control",
		file("workflow.yaml", "ken state update", "The current workflow: its id, phase, type, status and verdict",
			role(Workflow)),
		file("scratchpad.md", "any agent", "Notes that agents share"),
		file(".lock", "ken", "The process that has the lock, and since when", role(Lock), exempt),
		file(".gitignore", "ken", "Keeps the directory out of git", exempt),
		file(".journal.jsonl", "ken", "The workflow that wrote each file", role(Journal), exempt),
	)

	c.group("artifact", "Workflow files",
		file("plan.md", "architect or planner", "The plan of the work"),
		file("spec.md", "specifier", "The requirements"),
		file("scope.md", "orchestrator", "The scope of the workflow"),
		file("decisions.md", "orchestrator", "Decisions, as DEC-NNN entries"),
		file("research.md", "researcher", "Patterns and pitfalls in the code", status(done...)),
		file("scan-results.md", "architect", "Findings of an architecture scan"),
		file("scan-delta.md", "architect", "Changes since the last architecture scan"),
		file("lessons.yaml", "retro", "Draft lessons for the curator"),
		file("debug-context.md", "orchestrator", "The symptoms of a bug"),
		file("debug-investigation.md", "debugger", "Hypotheses and their results"),
		file("debug-summary.md", "debugger", "The cause and the fix", scoped,
			status("FIXED", "NEEDS_MORE_INVESTIGATION", "DONE_WITH_CONCERNS", "BLOCKED")),
		file("arch-review.md", "architect", "The review of the architecture", status(done...)),
		file("arch-health-scan.md", "architecture scan", "Report on the health of the architecture"),
		file("docs-summary.md", "docs writer", "The changed documents", status(done...)),
		file("curation-summary.md", "curator", "The promoted lessons, with reasons", status(done...)),
		file("session-report.md", "session report", "Report on one session"),
		file("weekly-report.md", "weekly report", "Report on one week"),
		file("autoskill-proposals.md", "autoskill", "Proposed changes to skills and agents"),
		file("baseline-gates.md", "orchestrator", "Results of the quality gates before the work"),
		file("claude-mem-harvest.md", "orchestrator", "Notes from the agent's memory", always),
		file("claude-mem-skipped.txt", "orchestrator", "The reason why memory was not read", always),
		file("review-scope.md", "orchestrator", "The files under review"),
		file("code-review-input.md", "orchestrator", "The input of the reviewer"),
		file("graph-impact.md", "orchestrator", "Code that the change affects, from the code graph", always),
		file("reuse-candidates.md", "orchestrator", "Existing code that could be reused", always),
		file("reuse-analysis.md", "programmer", "The decision on each reuse candidate", always),
		file("topic-symbols-dropped.json", "orchestrator", "Symbols that a truncated preflight omitted", always),
		file("continue-here.md", "/devt:pause", "A paused workflow, for people"),
	)

	c.group("pair", "Markdown files with a JSON sidecar",
		file("impl-summary.md", "programmer", "Summary of the implementation", scoped, sidecar("impl-summary.json")),
		file("impl-summary.json", "programmer", "The same for programs", scoped, verdict("programmer", worked, passed)),
		file("test-summary.md", "tester", "Summary of the tests", scoped, sidecar("test-summary.json")),
		file("test-summary.json", "tester", "The same for programs", scoped, verdict("tester", worked, passed)),
		file("verification.md", "verifier", "Whether the work meets the requirements", scoped,
			sidecar("verification.json")),
		file("verification.json", "verifier", "The same for programs", scoped, verdict("verifier",
			[]string{"VERIFIED", "GAPS_FOUND", "FAILED", "DONE_WITH_CONCERNS", "PARTIAL"},
			[]string{"satisfied", "needs_revision", "failed"})),
		file("review.md", "code reviewer", "The review of the code", scoped, sidecar("review.json")),
		file("review.json", "code reviewer", "The same for programs", scoped, verdict("code-reviewer",
			[]string{"DONE", "PARTIAL", "BLOCKED"},
			[]string{"APPROVED", "APPROVED_WITH_NOTES", "NEEDS_WORK"})),
	)

	c.group("input", "JSON input of agents",
		file("handoff.json", "/devt:pause", "A paused workflow, for programs",
			requires("task", "phase", "paused_at"),
			recommends("tier", "iteration", "last_commit", "remaining_tasks", "next_action")),
		file("preflight-brief.json", "preflight", "The scope for every dispatched agent, and how far to trust it",
			requires("scope_hint", "scope_trust")),
	)

	c.group("marker", "Gate markers",
		file("scope-check-required.txt", "orchestrator", "The user must confirm the scope", always),
		file("scope-check-answer.txt", "orchestrator", "The answer about the scope", always),
		file("consolidator-ran.txt", "code reviewer", "The review lanes were merged", always),
		file("auto-curator-considered.txt", "orchestrator", "Curation was considered", always),
		file("reuse-search-attempted.txt", "orchestrator", "Existing code was searched for reuse", always),
		file("knowledge-candidates-none.txt", "orchestrator", "No knowledge worth keeping was found", always),
		file("staleness-suppressed.txt", "orchestrator", "The code graph was too old", always),
		file("graphify-skip-reason.txt", "orchestrator", "The reason why the code graph was not used", always),
		file("last-curator-run.txt", "curator", "The last run of the curator", exempt),
	)

	c.group("log", "Logs and permanent files",
		file(".archive", "ken", "Snapshots of moved files", role(Archive), directory, exempt),
		file("deferred.md", "ken state defer", "Deferred work, as DEF-NNN entries", role(Deferred), exempt),
		file("preflight-denies.jsonl", "hooks", "Requests that the preflight refused", log, exempt),
		file("dispatch-warnings.jsonl", "hooks", "Dispatches beyond their scope", log, exempt),
		file("probe-failures.jsonl", "probes", "Failed probes of tools", role(Probes), log, exempt),
		file(".graphify-rebuild.lock", "code graph", "The process that rebuilds the code graph", exempt),
		file("static-compress.jsonl", "static compressor", "Compressed and restored files", log, exempt),
		file("graphify-impact-plan.json", "code graph", "The queries of the code graph about the change", exempt),
	)

	c.group("audit", "Audit files",
		file("preflight-brief.md", "preflight", "The brief of the preflight, for people",
			status("FRESH", "STALE", "MISSING")),
		file("arch-baseline.json", "architecture scan", "The reference for later scans"),
		file("arch-triage.json", "architecture scan", "The rating of findings"),
		file("arch-scan-report.md", "architecture scan", "Report of the project's scanner"),
		file("scanner-output.txt", "architecture scan", "Output of an older scanner"),
	)

	// The first pattern that matches decides.
	c.Patterns = []Pattern{
		pattern(`review-lane-[a-z][a-z0-9_]{0,31}\.(md|json)`, "review-lane-api.md",
			"One lane of a parallel review", Scoped, "review"),
		pattern(`review-`+variant+`\.md`, "review-pr367-slice-A.md", "A review of one slice or theme", Scoped, "review"),
		pattern(`impl-summary-`+variant+`\.(md|json)`, "impl-summary-cr3.json",
			"A further implementation pass", Scoped, "impl-summary"),
		pattern(`test-summary-`+variant+`\.(md|json)`, "test-summary-integration.json",
			"A further test run", Scoped, "test-summary"),
		pattern(`verification-`+variant+`\.(md|json)`, "verification-rerun.json",
			"A further verification pass", Scoped, "verification"),
		pattern(`slice-`+variant+`\.md`, "slice-frontend.md", "A slice of work other than a review", Scoped, ""),
		pattern(`plan-`+variant+`\.md`, "plan-api.md", "A plan for one part", Stays, ""),
		pattern(`research-`+variant+`\.md`, "research-caching.md", "Research on one topic", Stays, "research"),
		pattern(`spec-`+variant+`\.md`, "spec-api.md", "Requirements of one part", Stays, ""),
		pattern(`debug-context-`+variant+`\.md`, "debug-context-login.md", "The symptoms of one of several bugs", Stays, ""),
		pattern(`debug-investigation-`+variant+`\.md`, "debug-investigation-login.md",
			"The hypotheses about one bug", Stays, ""),
		pattern(`debug-summary-`+variant+`\.md`, "debug-summary-login.md",
			"The cause and the fix of one bug", Stays, "debug-summary"),
		pattern(`[a-z]+(-[a-z]+)*-summary\.md`, "module-md-update-summary.md", "A summary of another topic", Stays, ""),
	}
	c.Ephemeral = []Pattern{
		pattern(`\..*\.tmp`, ".foo.tmp", "A hidden temporary file of an interrupted write", Stays, ""),
		pattern(`.*\.tmp`, "bar.tmp", "A temporary file of an interrupted write", Stays, ""),
		pattern(`.*~`, "baz~", "An editor's backup", Stays, ""),
	}

	// The workflow document may have other keys too.
	c.Keys = slices.Concat(
		keys(Boolean, "active", "autonomous", "tdd_mode"),
		keys(Number, "iteration", "verify_iteration", "validation_warnings"),
		keys(List, "workflow_id_history"),
		[]Key{
			{Name: "phase", Type: String, Initial: "context_init", Enum: []string{
				"context_init", "flow_deviation", "assess", "risk_warning", "scan", "regression_baseline", "arch_health",
				"arch_health_scan", "plan", "architect", "implement", "test", "simplify", "review", "verify", "docs", "retro",
				"curate", "autoskill", "review_deferred", "identify_scope", "debug", "complete", "finalize", "cancelled",
			}},
			{Name: "tier", Type: String, Enum: []string{"TRIVIAL", "SIMPLE", "STANDARD", "COMPLEX"}},
		},
		keys(String, "task", "workflow_id"),
		[]Key{
			{Name: "workflow_type", Type: String, Enum: []string{
				"dev", "quick_implement", "debug", "retro", "code_review", "code_review_parallel", "arch_health_scan",
				"research", "plan", "specify", "clarify", "memory_promote", "memory_reject", "preflight", "docs",
			}},
		},
		keys(String,
			"created_at", "first_created_at", "original_workflow_id", "last_session", "stopped_at", "stopped_phase",
			"skipped_phases", "resume_context", "decisions_file", "status", "autonomous_chain", "stop_at_phase",
			"only_phase", "verdict", "repair", "validation_status"),
	)
	return c
}

// group adds a group and its files.
func (c *Contract) group(name, title string, files ...Entry) {
	c.Groups = append(c.Groups, Group{Name: name, Title: title})
	for _, f := range files {
		f.Group = name
		c.Files = append(c.Files, f)
	}
}

// file returns a file with some properties.
func file(name, writer, purpose string, properties ...func(*Entry)) Entry {
	f := Entry{Name: name, Writer: writer, Purpose: purpose}
	for _, set := range properties {
		set(&f)
	}
	return f
}

func directory(f *Entry) { f.Dir = true }
func exempt(f *Entry)    { f.Exempt = true }
func log(f *Entry)       { f.Log = true }
func always(f *Entry)    { f.Evict = Always }
func scoped(f *Entry)    { f.Evict = Scoped }

func role(r Role) func(*Entry) {
	return func(f *Entry) { f.Role = r }
}

func status(words ...string) func(*Entry) {
	return func(f *Entry) { f.Status = words }
}

func sidecar(name string) func(*Entry) {
	return func(f *Entry) { f.Sidecar = name }
}

func requires(fields ...string) func(*Entry) {
	return func(f *Entry) { f.Schema = &Schema{Required: fields} }
}

// recommends comes after requires.
func recommends(fields ...string) func(*Entry) {
	return func(f *Entry) { f.Schema.Recommended = fields }
}

// verdict is the schema of a sidecar with the verdict of an agent.
func verdict(agent string, statuses, verdicts []string) func(*Entry) {
	enums := map[string][]string{"agent": {agent}, "status": statuses, "verdict": verdicts}
	return func(f *Entry) { f.Schema = &Schema{Required: []string{"status"}, Enums: enums} }
}

// pattern returns a pattern. The variants of base have its status values and schema.
func pattern(text, example, use string, evict Evict, base string) Pattern {
	return Pattern{Pattern: text, Example: example, Use: use, Evict: evict, Base: base}
}

// keys returns keys of one type that may have any value.
func keys(t KeyType, names ...string) []Key {
	var out []Key
	for _, name := range names {
		out = append(out, Key{Name: name, Type: t})
	}
	return out
}
