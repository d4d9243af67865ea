package ken_test

import (
	"reflect"
	"strings"
	"testing"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/share"
)

func TestParseConfig(t *testing.T) {
	c, err := ken.ParseConfig([]byte("registry:\n  exclude: ['a/**']\n  max_bytes: 5\n"))
	if err != nil || len(c.Registry.Exclude) != 1 || c.Registry.MaxBytes != 5 {
		t.Errorf("ParseConfig returned %+v, %v; want one excluded pattern and max_bytes 5", c, err)
	}
	c, err = ken.ParseConfig([]byte("state:\n  dir: .devt/state\n  archive_runs: 0\n"))
	if err != nil || c.State.Dir != ".devt/state" || c.State.ArchiveRuns == nil || *c.State.ArchiveRuns != 0 {
		t.Errorf("ParseConfig returned the state settings %+v, %v; want .devt/state and 0 archived runs", c.State, err)
	}
	c, err = ken.ParseConfig([]byte("spec:\n  gate_threshold: 5\n  gate_unknown: block\n"))
	if err != nil || c.Spec.Threshold != 5 || !c.Spec.BlockUnknown {
		t.Errorf("ParseConfig returned the spec settings %+v, %v; want the threshold 5, and unknown drift blocked", c.Spec, err)
	}
	c, err = ken.ParseConfig([]byte("share: {remote: team, push_on_close: true, trust: signed-off, authors: ['*@example.org'], budget: 64 MB}\n"))
	want := share.Policy{Remote: "team", PushOnClose: true, Trust: share.SignedOff, Authors: []string{"*@example.org"}, Budget: 64_000_000}
	if err != nil || !reflect.DeepEqual(c.Share, want) {
		t.Errorf("ParseConfig returned the share settings %+v, %v; want %+v", c.Share, err, want)
	}
	for _, empty := range []string{"", "# nothing yet\n", "registry:\n"} {
		if _, err := ken.ParseConfig([]byte(empty)); err != nil {
			t.Errorf("ParseConfig(%q) returned the error %v", empty, err)
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
		_, err := ken.ParseConfig([]byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), where) || fault.HintOf(err) == "" {
			t.Errorf("%q: %v (hint %q), want it to begin with %s", text, err, fault.HintOf(err), where)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than one line: %v", text, err)
		}
	}
}

// No text crashes the parser, and every policy that it accepts is valid.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("registry:\n  exclude: ['a/**']\n"))
	f.Add([]byte("registry: {stale_grades: [body]}"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := ken.ParseConfig(b)
		if err == nil && c.Registry.Validate() != nil {
			t.Errorf("%q gives an invalid policy", b)
		}
	})
}

// ParseConfig refuses a glob that would take long to match, in every section. The error has the line and the limit.
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
		_, err := ken.ParseConfig([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%.60q gives %v, want %q and the limit", c.text, err, c.want)
		}
	}
}
