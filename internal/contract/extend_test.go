package contract_test

import (
	"fmt"
	"strings"
	"testing"

	"ken/internal/contract"
	"ken/internal/fault"
)

func extend(t *testing.T, override string) *contract.Contract {
	t.Helper()
	c, err := contract.Extend("", []byte(override), ".ken/contract.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// An empty file changes nothing.
func TestExtendWithEmptyFile(t *testing.T) {
	for _, override := range []string{"", "\n", "# a comment\n", "---\n", "null\n", "files:\n", "{}", "files: []\nkeys: ~\n", "\ufeff"} {
		if c := extend(t, override); dump(t, c) != dump(t, contract.Default()) {
			t.Errorf("%q changed the contract", override)
		}
	}
}

// accepted are files that Extend and the JSON Schema accept.
var accepted = map[string]string{
	"file":             "files:\n  - name: notes.txt\n",
	"whole file":       "files: [{name: a.md, group: artifact, writer: me, purpose: x, evict: scoped, status: [OK], sidecar: a.json}, {name: a.json, schema: {required: [status], recommended: [x], enums: {status: [OK]}}}]",
	"directory":        "files: [{name: notes, dir: true, exempt: true}]",
	"log":              "files: [{name: a.jsonl, log: true, exempt: true}]",
	"own group":        "groups: [{name: mine, title: Mine}]\nfiles: [{name: a.md, group: mine}]",
	"listed group":     "groups: [{name: log}]",
	"numbers":          "stale_days: 0\narchive_runs: 0\ndir: .devt/state",
	"pattern":          `patterns: [{pattern: 'adr-\d+\.md', example: adr-12.md, use: x, evict: scoped, base: research}]`,
	"bare pattern":     `patterns: [{pattern: 'adr-\d+\.md'}]`,
	"ephemeral":        `ephemeral: [{pattern: '.*\.swp', example: .a.swp}]`,
	"phase":            "keys: [{name: phase, enum: [deploy]}]",
	"new key":          "keys: [{name: ticket, type: string, enum: [A, B], initial: A}, {name: n, type: number, initial: 3}, {name: b, type: boolean, initial: true}]",
	"nulls":            "files: [{name: a.md, group: , purpose: ~, status: , schema: ~, evict: ~, dir: ~}]\nstale_days:",
	"stays":            "files: [{name: a.md, evict: ''}]",
	"aliases":          "files: [{name: a.md, status: &s [OK]}, {name: b.md, status: *s}]",
	"listed name":      "files: [{name: .lock}]\nkeys: [{name: task}]",
	"nulls of listed":  "files: [{name: plan.md, writer: ~}]\ngroups: [{name: log, title: ~}]\nkeys: [{name: active, type: ~}]",
	"values":           "files: [{name: research.md, status: [PARKED]}, {name: review.json, schema: {enums: {verdict: [X]}}}]",
	"enum with spaces": "files: [{name: a.json, schema: {enums: {agent: [code reviewer]}}}]",
	"odd names":        "files: [{name: 'a: b'}, {name: \"\\u00fc.md\"}, {name: ...}, {name: '12'}]",
}

func TestExtendAccepts(t *testing.T) {
	for name, override := range accepted {
		t.Run(name, func(t *testing.T) {
			before := dump(t, contract.Default())
			extend(t, override)
			if dump(t, contract.Default()) != before {
				t.Error("Extend changed the default contract")
			}
		})
	}
}

// rejected are files that Extend rejects, with the line and the error. The JSON Schema
// rejects those with shape too.
var rejected = []struct {
	name, override string
	line           int
	what           string
	shape          bool
}{
	{"not a mapping", "- a", 1, "expected fields, as in name: value", true},
	{"a list of nothing", "-", 1, "expected fields, as in name: value", true},
	{"a word", "files", 1, "expected fields, as in name: value", true},
	{"unknown section", "stale_days: 3\nfile: []", 2, `unknown field "file"; did you mean files? (valid: dir, stale_days, archive_runs, groups, files, patterns, ephemeral, keys)`, true},
	{"unknown field", "files:\n  - name: a.md\n    colour: red", 3, `unknown field "colour" (valid: name, group, writer, purpose, dir, exempt, log, evict, status, sidecar, schema)`, true},
	{"misspelt field", "files:\n  - {name: a.md, purpse: x}", 2, "did you mean purpose?", true},
	{"field given twice", "files:\n  - name: a.md\n    group: log\n    group: log", 4, `mapping key "group" already defined at line 3`, false},
	{"section given twice", "files: []\nfiles: []", 2, `mapping key "files" already defined at line 1`, false},
	{"listed twice", "files:\n  - name: a.md\n  - name: a.md", 3, `"a.md" is listed twice, first on line 2`, false},
	{"key listed twice", "keys:\n  - {name: a, type: list}\n  - {name: a, type: list}", 3, "listed twice", false},
	{"no name", "files:\n  - purpose: x", 2, `the file name "" is empty`, true},
	{"null name", "files:\n  - name:", 2, `the file name "" is empty`, true},
	{"empty name", "files:\n  - name: ''", 2, "is empty", true},
	{"slash", "files:\n  - name: a/b", 2, "contains a slash", true},
	{"backslash", "files:\n  - name: a\\b", 2, "contains a slash", true},
	{"dot", "files:\n  - name: .", 2, "is a directory, not a file name", true},
	{"dots", "files:\n  - name: ..", 2, "is a directory, not a file name", true},
	{"control character", "files:\n  - name: \"a\\nb\"", 2, "contains a control character", true},
	{"long name", "files:\n  - name: " + strings.Repeat("a", 256), 2, "longer than 255", true},
	{"files as a mapping", "files:\n  a.md: {}", 2, "expected a list", true},
	{"file as null", "files:\n  - ~", 2, "files: a value is empty", true},
	{"evict by an alias", "files:\n  - {name: a.md, purpose: &p never}\n  - {name: b.md, evict: *p}", 2, `evict is "never"`, true},
	{"dir as a word", "files:\n  - {name: a, dir: 'so'}", 2, "expected true or false", true},
	{"file as a word", "files:\n  - a.md", 2, "expected fields, as in name: value", true},
	{"role", "files:\n  - name: a.md\n    role: lock", 2, "a.md cannot be given a role", true},
	{"group", "files:\n  - {name: a.md, group: nowhere}", 2, "group nowhere, which is not listed", false},
	{"evict", "files:\n  - {name: a.md, evict: allways}", 2, `evict is "allways", not always or scoped; did you mean always?`, true},
	{"exempt", "files:\n  - {name: a.md, exempt: maybe}", 2, "expected true or false", true},
	{"status as a word", "files:\n  - {name: a.md, status: OK}", 2, "expected a list", true},
	{"empty status", "files:\n  - {name: a.md, status: ['']}", 2, `the status "", which is not one plain word`, true},
	{"status of two words", "files:\n  - {name: a.md, status: [IN WORK]}", 2, `"IN WORK", which is not one plain word`, false},
	{"status of JSON", "files:\n  - {name: a.json, status: [OK]}", 2, "for Markdown", false},
	{"schema of Markdown", "files:\n  - {name: a.md, schema: {required: [x]}}", 2, "for .json", false},
	{"schema as a list", "files:\n  - {name: a.json, schema: [x]}", 2, "expected fields, as in name: value", true},
	{"field of a schema", "files:\n  - {name: a.json, schema: {require: [x]}}", 2, `did you mean required?`, true},
	{"enums as a list", "files:\n  - {name: a.json, schema: {enums: [x]}}", 2, "expected fields, as in name: value", true},
	{"sidecar", "files:\n  - {name: a.md, sidecar: b.json}", 2, "sidecar b.json of a.md is not listed", false},
	{"directory with a log", "files:\n  - {name: a, dir: true, log: true}", 2, "is a directory", false},
	{"log that leaves", "files:\n  - {name: a.jsonl, log: true, evict: always}", 2, "is a log", false},
	{"lock not exempt", "files:\n  - {name: .lock, exempt: false}", 2, ".lock is in the default contract, so a project cannot change its exempt; leave out exempt, or list a new name", false},
	{"archive as a file", "files:\n  - {name: .archive, dir: false}", 2, ".archive is in the default contract, so a project cannot change its dir", false},
	{"workflow as a log", "files:\n  - {name: workflow.yaml, log: true}", 2, "cannot change its log", false},
	{"deferred evicted", "files:\n  - {name: deferred.md, evict: always}", 2, "cannot change its evict", false},
	{"another writer", "files:\n  - name: a.md\n  - {name: plan.md, writer: us}", 3, "plan.md is in the default contract, so a project cannot change its writer", false},
	{"status of a file without", "files:\n  - {name: plan.md, status: [OK]}", 2, "cannot change its status", false},
	{"schema of a file without", "files:\n  - {name: arch-triage.json, schema: {required: [x]}}", 2, "cannot change its schema", false},
	{"legal values of a free field", "files:\n  - {name: review.json, schema: {enums: {mood: [good]}}}", 2, "cannot change its schema.enums.mood", false},
	{"another title", "groups:\n  - {name: log, title: x}", 2, "the group log is in the default contract, so a project cannot change its title", false},
	{"legal values of a free key", "keys:\n  - {name: task, enum: [x]}", 2, "the key task is in the default contract, so a project cannot change its enum", false},
	{"handoff requires less", "files:\n  - {name: handoff.json, schema: {required: [task]}}", 2, "cannot change its schema.required", false},
	{"handoff requires nothing", "files:\n  - {name: handoff.json, schema: {required: []}}", 2, "cannot change its schema.required", false},
	{"handoff recommends more", "files:\n  - {name: handoff.json, schema: {recommended: [x]}}", 2, "cannot change its schema.recommended", false},
	{"bad pattern", "patterns:\n  - pattern: 'a('", 2, "missing closing )", false},
	{"pattern out of its anchors", "patterns:\n  - pattern: 'a)|(?:b'", 2, "unexpected )", false},
	{"lookahead", "patterns:\n  - pattern: '(?!a)b'", 2, "invalid or unsupported Perl syntax", false},
	{"greedy pattern", "patterns:\n  - pattern: '((a{100}){9}){99}'", 2, "bad pattern", false},
	{"greedier pattern", "patterns:\n  - pattern: '(" + strings.Repeat("ab", 50) + "){999}'", 2, "it repeats too much", false},
	{"empty pattern", "patterns:\n  - pattern: ''", 2, "from 1 to 1000 bytes", true},
	{"long pattern", "patterns:\n  - pattern: " + strings.Repeat("a", 1001), 2, "from 1 to 1000 bytes", true},
	{"pattern there already", "patterns:\n  - pattern: 'slice-[A-Za-z0-9_.-]+\\.md'", 2, "already exists", false},
	{"pattern of any name", "patterns:\n  - pattern: '.*'", 2, "matches any name", false},
	{"pattern of any name without a dot", "patterns:\n  - pattern: '[A-Za-z0-9]+'", 2, "matches any name", false},
	{"leftovers of any name", "ephemeral:\n  - pattern: '.*[.].*'", 2, "matches any name", false},
	{"pattern of leftovers", "patterns:\n  - pattern: '.*~'", 2, "already exists", false},
	{"pattern listed twice", "patterns:\n  - pattern: b\n  - pattern: b", 3, "already exists", false},
	{"pattern in both lists", "patterns:\n  - pattern: b\nephemeral:\n  - pattern: b", 4, "already exists", false},
	{"example", "patterns:\n  - {pattern: 'a+', example: aab}", 2, "example aab does not match", false},
	{"base", "patterns:\n  - {pattern: 'a+', base: nothing}", 2, "neither nothing.md nor nothing.json is listed", false},
	{"name of a pattern", "patterns:\n  - {pattern: 'a+', name: x}", 2, `unknown field "name" (valid: pattern, example, use, evict, base)`, true},
	{"negative days", "stale_days: -1", 1, "from 0 to 36500", true},
	{"many days", "stale_days: 36501", 1, "from 0 to 36500", true},
	{"half a run", "archive_runs: 1.5", 1, "a whole number", true},
	{"custom tag", "stale_days: !x 3", 1, "a whole number", false},
	{"no run", "archive_runs: 0.5", 1, "a whole number", true},
	{"runs in words", "archive_runs: five", 1, "a whole number", true},
	{"dir above", "dir: ../state", 1, "not a plain path", false},
	{"absolute dir", "dir: /state", 1, "not a plain path", true},
	{"dir of dots", "dir: .", 1, "not a plain path", false},
	{"dir of git", "dir: a/.GIT/b", 1, "belongs to git", false},
	{"dir of settings", "dir: .ken", 1, "settings", false},
	{"key without a type", "keys:\n  - name: x", 2, "the key x has no type", false},
	{"type", "keys:\n  - {name: x, type: bool}", 2, `type is "bool", not boolean, number, string or list`, true},
	{"type of a known key", "keys:\n  - {name: active, type: string}", 2, "the key active is in the default contract, so a project cannot change its type", false},
	{"enum of a number", "keys:\n  - {name: x, type: number, enum: ['1']}", 2, "only a string has an enum", false},
	{"equals sign", "keys:\n  - {name: a=b, type: string}", 2, "equals sign", true},
	{"initial", "keys:\n  - {name: x, type: string, enum: [a], initial: nowhere}", 2, `the key x cannot start as "nowhere", expected a`, false},
	{"initial of a known key", "keys:\n  - {name: phase, initial: plan}", 2, "cannot change its initial", false},
	{"initial of a number", "keys:\n  - {name: x, type: number, initial: two}", 2, "cannot start as", false},
	{"initial of a boolean", "keys:\n  - {name: x, type: boolean, initial: maybe}", 2, "cannot start as", false},
	{"initial list", "keys:\n  - {name: x, type: string, initial: []}", 2, "expected a text", true},
	{"group without a name", "groups:\n  - title: x", 2, "the name of a group is empty", true},
	{"field of a group", "groups:\n  - {name: a, colour: red}", 2, `unknown field "colour" (valid: name, title)`, true},
	{"field of a key", "keys:\n  - {name: a, type: list, items: x}", 2, `unknown field "items" (valid: name, type, enum, initial)`, true},
	{"two documents", "files: []\n---\nfiles: []", 2, "a second YAML document", false},
	{"broken YAML", "files:\n  - {name: a\n", 2, "", false},
	{"tab", "files:\n\t- name: a", 2, "", false},
	{"unknown anchor", "files: *x", 1, "unknown anchor", false},
	{"not UTF-8", "# a\n\xff", 2, "", false},
	{"NUL", "# a\n\x00", 1, "control characters", false},
	{"too large", strings.Repeat("#", 64<<10+1), 1, "larger than 65536 bytes", false},
	{"contains itself", "files: &a [*a]", 1, "expected fields, as in name: value", false},
}

func TestExtendRejects(t *testing.T) {
	for _, tt := range rejected {
		t.Run(tt.name, func(t *testing.T) {
			c, err := contract.Extend("", []byte(tt.override), "dir/c.yaml")
			if err == nil {
				t.Fatalf("accepted: %s", dump(t, c))
			}
			text := err.Error()
			if place := fmt.Sprintf("dir/c.yaml:%d: ", tt.line); !strings.HasPrefix(text, place) && tt.what != "" || !strings.HasPrefix(text, "dir/c.yaml:") || !strings.Contains(text, tt.what) {
				t.Errorf("got %s\nwant %s… %s", text, place, tt.what)
			}
			if strings.Contains(text, "\n") || fault.KindOf(err) != fault.Failed || !strings.Contains(fault.HintOf(err), "dir/c.yaml") {
				t.Errorf("%q has the kind %d and the hint %q", text, fault.KindOf(err), fault.HintOf(err))
			}
		})
	}
}

func TestExtendAdds(t *testing.T) {
	c := extend(t, `
stale_days: 7
files:
  - {name: research.md, status: [PARKED, DONE]}
  - {name: review.json, schema: {enums: {verdict: [REJECTED]}}}
  - {name: notes.txt, exempt: true}
patterns:
  - {pattern: 'adr-\d+\.md', base: research, evict: always}
keys:
  - {name: phase, enum: [deploy, plan]}
  - {name: ticket, type: string}
`)
	research, _ := c.File("research.md")
	if research.Writer != "researcher" || fmt.Sprint(research.Status) != "[DONE DONE_WITH_CONCERNS BLOCKED NEEDS_CONTEXT PARKED]" {
		t.Errorf("research.md is %+v", research)
	}
	notes, _ := c.File("notes.txt")
	if !notes.Exempt || notes.Group != "project" || c.Groups[len(c.Groups)-1].Title != "Of this project" {
		t.Errorf("notes.txt is %+v of %+v", notes, c.Groups)
	}
	if c.StaleDays != 7 || c.ArchiveRuns != 5 || c.Bucket("notes.txt") != contract.Canonical || c.Bucket("adr-1.md") != contract.PatternAllowed || c.Evicts("adr-1.md") != contract.Always {
		t.Error("Extend ignored a given field")
	}
	for _, tt := range []struct {
		name, content string
		problems      int
	}{
		{"review.json", `{"status":"DONE","verdict":"REJECTED"}`, 0},
		{"review.json", `{"status":"DONE","verdict":"REJECT"}`, 1},
		{"adr-1.md", "## Status: PARKED", 0},
		{"adr-1.md", "## Status: parked", 1},
	} {
		if got := c.Check(tt.name, []byte(tt.content)); len(got) != tt.problems {
			t.Errorf("%s with %s: %+v", tt.name, tt.content, got)
		}
	}
	phase, _ := c.Key("phase")
	if problem, _ := phase.Check("deploy"); problem != "" || len(phase.Enum) != 26 || phase.Initial != "context_init" {
		t.Errorf("phase is %+v", phase)
	}
	base, _ := contract.Default().File("review.json")
	if contract.Default().Bucket("notes.txt") != contract.AdHoc || len(base.Schema.Enums["verdict"]) != 3 {
		t.Error("Extend changed the default contract")
	}
}

// The directory decides to which names a project adds, whether an option names it or the
// file itself.
func TestExtendOfDevt(t *testing.T) {
	for _, tt := range []struct{ dir, override string }{
		{".devt/state", "files: [{name: mine.md}]"},
		{"", "dir: .devt/state\nfiles: [{name: mine.md}]"},
	} {
		c, err := contract.Extend(tt.dir, []byte(tt.override), "c.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if c.Bucket("status.json") != contract.Canonical || c.Bucket("mine.md") != contract.Canonical {
			t.Errorf("%+v: the names of devt and of the project should be allowed", tt)
		}
	}
	_, err := contract.Extend(".devt/state", []byte("files: [{name: threads, purpose: ours}]"), "c.yaml")
	if err == nil || !strings.Contains(err.Error(), "threads is in the default contract") {
		t.Errorf("threads with another purpose gave the error %v", err)
	}
}

// A pattern is RE2 for the whole name, and ephemeral patterns come first.
func TestExtendPatterns(t *testing.T) {
	c := extend(t, `
patterns:
  - {pattern: '(?i)adr-\d+'}
  - {pattern: 'one|two'}
  - {pattern: '^three(x)$'}
  - {pattern: '(a)*b'}
  - {pattern: 'old.*'}
  - {pattern: 'x\x{FFFD}'}
`)
	for name, want := range map[string]contract.Bucket{
		"ADR-1": contract.PatternAllowed, "adr-22": contract.PatternAllowed, "adr-": contract.AdHoc, "adr-1x": contract.AdHoc,
		"one": contract.PatternAllowed, "two": contract.PatternAllowed, "onetwo": contract.AdHoc, "onex": contract.AdHoc, "xtwo": contract.AdHoc,
		"threex": contract.PatternAllowed, "three": contract.AdHoc, "b": contract.PatternAllowed, "aab": contract.PatternAllowed, "ba": contract.AdHoc,
		"old": contract.PatternAllowed, "old.tmp": contract.Ephemeral, "old~": contract.Ephemeral, "x\xff": contract.PatternAllowed,
	} {
		if got := c.Bucket(name); got != want {
			t.Errorf("%q is %v, want %v", name, got, want)
		}
	}
}

// Aliases that multiply are an error and do not fill the memory.
func TestExtendBoundsAliases(t *testing.T) {
	words := strings.Repeat("A,", 4000)
	var files strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&files, "  - {name: f%d.md, status: *s}\n", i)
	}
	bombs := []string{
		"files:\n  - {name: a.md, status: &s [" + words + "]}\n" + files.String(),
		"a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nfiles: *c",
		"files: [" + strings.Repeat("{name: x},", 6000) + "]",
		strings.Repeat("[", 20_000),
		strings.Repeat("{a: ", 20_000),
	}
	for _, bomb := range bombs {
		if _, err := contract.Extend("", []byte(bomb), "c.yaml"); err == nil {
			t.Errorf("%.60q… was accepted", bomb)
		}
	}
}
