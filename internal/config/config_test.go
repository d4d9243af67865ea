package config_test

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ken/internal/config"
	"ken/internal/fault"
	"ken/internal/model"
	"ken/internal/share"
)

func TestParse(t *testing.T) {
	c, err := config.Parse([]byte("registry:\n  exclude: ['a/**']\n  max_bytes: 5\n"))
	if err != nil || len(c.Registry.Exclude) != 1 || c.Registry.MaxBytes != 5 {
		t.Errorf("Parse returned %+v, %v; want one excluded pattern and max_bytes 5", c, err)
	}
	c, err = config.Parse([]byte("state:\n  dir: .devt/state\n  archive_runs: 0\n"))
	if err != nil || c.State.Dir != ".devt/state" || c.State.ArchiveRuns == nil || *c.State.ArchiveRuns != 0 {
		t.Errorf("Parse returned the state settings %+v, %v; want .devt/state and 0 archived runs", c.State, err)
	}
	c, err = config.Parse([]byte("spec:\n  gate_threshold: 5\n  gate_unknown: block\n"))
	if err != nil || c.Spec.Gate.Threshold != 5 || !c.Spec.Gate.BlockUnknown {
		t.Errorf("Parse returned the spec settings %+v, %v; want the threshold 5, and unknown drift blocked", c.Spec, err)
	}
	c, err = config.Parse([]byte("share: {remote: team, push_on_close: true, trust: signed-off, authors: ['*@example.org'], budget: 64 MB}\n"))
	want := share.Policy{Remote: "team", PushOnClose: true, Trust: share.SignedOff, Authors: []string{"*@example.org"}, Budget: 64_000_000}
	if err != nil || !reflect.DeepEqual(c.Share, want) {
		t.Errorf("Parse returned the share settings %+v, %v; want %+v", c.Share, err, want)
	}
	for _, empty := range []string{"", "# nothing yet\n", "registry:\n"} {
		if _, err := config.Parse([]byte(empty)); err != nil {
			t.Errorf("Parse(%q) returned the error %v", empty, err)
		}
	}
}

func TestMalformedNamesTheLine(t *testing.T) {
	for text, where := range map[string]string{
		"registry:\n  include: []\n  exclud: []\n": ".ken/config.yaml:3: ",
		"registry:\n  max_bytes: many\n":           ".ken/config.yaml:2: ",
		"registry: [\n":                            ".ken/config.yaml:",
		"nonsense: 1\n":                            ".ken/config.yaml:1: ",
		"state:\n  archive_runs: 1.5\n":            ".ken/config.yaml:2: ",
		"state:\n  archive_runs: many\n":           ".ken/config.yaml:2: ",
		"state:\n  archive_runs: -1\n":             ".ken/config.yaml:2: ",
		"state:\n  dir: ../outside\n":              ".ken/config.yaml:2: ",
		"state:\n  dir: /etc\n":                    ".ken/config.yaml:2: ",
		"state:\n  dir: .ken\n":                    ".ken/config.yaml:2: ",
		"state:\n  dir: .git/x\n":                  ".ken/config.yaml:2: ",
		"state:\n  dir: .\n":                       ".ken/config.yaml:2: ",
		"spec:\n  gate_threshold: 0\n":             ".ken/config.yaml:2: ",
		"spec:\n  gate_unknown: perhaps\n":         ".ken/config.yaml:2: ",
		"share:\n  budget: much\n":                 ".ken/config.yaml:2: ",
		"share:\n  budget: 1mkB\n":                 ".ken/config.yaml:2: ",
		"share:\n  budget: 0\n":                    ".ken/config.yaml:2: ",
		"share: {trust: everybody}\n":              ".ken/config.yaml: ",
		"share: {authors: ['[a']}\n":               ".ken/config.yaml: ",
		"registry: {exclude: ['[a']}\n":            ".ken/config.yaml:1: ",
		"registry: {stale_grades: [huge]}\n":       ".ken/config.yaml: ",
	} {
		_, err := config.Parse([]byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), where) || fault.HintOf(err) == "" {
			t.Errorf("%q: %v (hint %q), want it to begin with %s", text, err, fault.HintOf(err), where)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than one line: %v", text, err)
		}
	}
}

// Load reads only a regular file in the work tree. It follows no link out of it.
func TestLoadStaysInside(t *testing.T) {
	root, outside := t.TempDir(), filepath.Join(t.TempDir(), "policy.yaml")
	if _, err := config.Load(root); err != nil {
		t.Fatalf("without a policy: %v", err)
	}
	if err := os.WriteFile(outside, []byte("registry: {max_bytes: 1}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, ".ken"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, config.Name)
	if err := os.Symlink(outside, file); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(root); err == nil {
		t.Errorf("Load followed a link out of the work tree: %+v; want an error", c)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(root); err == nil {
		t.Error("Load accepted a directory as a policy; want an error")
	}
}

// No text crashes the parser, and every policy that it accepts is valid.
func FuzzParse(f *testing.F) {
	f.Add([]byte("registry:\n  exclude: ['a/**']\n"))
	f.Add([]byte("registry: {stale_grades: [body]}"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := config.Parse(b)
		if err == nil && c.Registry.Validate() != nil {
			t.Errorf("%q gives an invalid policy", b)
		}
	})
}

// Prices are in dollars. An empty price means that the model is free.
func TestPrices(t *testing.T) {
	c, err := config.Parse([]byte("survey: {prices: {m1: {input: 1.5, output: 6, cached: 0.1, written: 2}, local: {}}}"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]model.Price{"m1": {Input: 1.5, Output: 6, Cached: 0.1, Written: 2}, "local": {Free: true}}
	if !maps.Equal(c.Survey.Prices, want) {
		t.Errorf("prices are %+v, want %+v", c.Survey.Prices, want)
	}
	for _, bad := range []string{"{m: {input: -1}}", "{m: {output: .nan}}", "{m: {input: .inf}}", "{m: {price: 1}}", "{m: cheap}", "[m]"} {
		if _, err := config.Parse([]byte("survey: {prices: " + bad + "}")); err == nil {
			t.Errorf("Parse accepted the prices %s; want an error", bad)
		}
	}
}

// A budget has the form in which ken prints sizes, or no unit.
func TestBudget(t *testing.T) {
	for text, want := range map[string]int64{"600": 600, "600B": 600, "239 B": 239, "2kB": 2000, "64 MB": 64_000_000, "1gb": 1_000_000_000} {
		c, err := config.Parse([]byte("share: {budget: " + text + "}\n"))
		if err != nil || c.Share.Budget != want {
			t.Errorf("budget %s is %d, %v; want %d", text, c.Share.Budget, err, want)
		}
	}
}

// Parse refuses a glob that would take long to match, in every section. The error has the line and the limit.
func TestGlobLimits(t *testing.T) {
	nested := strings.Repeat("{", 300) + "a" + strings.Repeat("}", 300)
	for _, c := range []struct{ text, want string }{
		{"registry:\n  exclude:\n    - a\n    - '" + nested + "'\n", ".ken/config.yaml:4: registry: glob"},
		{"registry:\n  include: ['" + nested + "']\n", ".ken/config.yaml:2: registry: glob"},
		{"survey:\n  exclude: ['" + nested + "']\n", ".ken/config.yaml:2: survey: glob"},
		{"docs:\n  exclude: ['" + nested + "']\n", ".ken/config.yaml:2: docs: glob"},
		{"docs:\n  ok: ['" + nested + "']\n", ".ken/config.yaml:2: docs: glob"},
		{"share:\n  authors: ['" + strings.Repeat("*a", 600) + "']\n", ".ken/config.yaml:2: share: authors: glob"},
		{"docs:\n  exclude: [" + strings.Repeat("a,", 1001) + "]\n", "docs: 1001 globs in one list, more than 1000"},
		{"registry:\n  exclude: [" + strings.Repeat("a,", 1001) + "]\n", "registry: 1001 globs in one list, more than 1000"},
	} {
		_, err := config.Parse([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%.60q gives %v, want %q and the limit", c.text, err, c.want)
		}
	}
}
