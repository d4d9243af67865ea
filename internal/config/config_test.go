package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/config"
	"ken/internal/fault"
	"ken/internal/repo"
)

// sections are those of a program with one feature.
type sections struct {
	Feature struct {
		Name  string          `yaml:"name"`
		Globs []string        `yaml:"globs"`
		Keep  config.Whole    `yaml:"keep"`
		Most  config.Positive `yaml:"most"`
	} `yaml:"feature"`
}

func (s *sections) Validate() error { return repo.CheckGlobs(s.Feature.Globs) }

func TestParse(t *testing.T) {
	var s sections
	if err := config.Parse([]byte("feature: {name: &n a, globs: [*n], keep: 0, most: 1}\n"), &s); err != nil {
		t.Fatal(err)
	}
	if f := s.Feature; f.Name != "a" || len(f.Globs) != 1 || f.Globs[0] != "a" || f.Keep != 0 || f.Most != 1 {
		t.Errorf("Parse read %+v", f)
	}
	for _, empty := range []string{"", "# nothing yet\n", "feature:\n"} {
		if err := config.Parse([]byte(empty), new(sections)); err != nil {
			t.Errorf("Parse(%q) returned the error %v", empty, err)
		}
	}
}

// An error has the line and one line of text, and says what to do.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"featur: {}\n":                          ".ken/config.yaml:1: unknown field featur",
		"feature:\n  name: a\n  nam: b\n":       ".ken/config.yaml:3: unknown field nam",
		"feature:\n  name: a\n  name: b\n":      `.ken/config.yaml:3: mapping key "name" already defined at line 2`,
		"feature:\n  globs: a\n":                ".ken/config.yaml:2: cannot unmarshal !!str `a` into []string",
		"feature:\n  globs:\n  - b\n  - '[a'\n": ".ken/config.yaml:4: glob \"[a\" is malformed",
		"feature:\n  keep: 1.5\n":               `.ken/config.yaml:2: "1.5" is not a whole number of at least 0`,
		"feature:\n  keep: -1\n":                `.ken/config.yaml:2: "-1" is not a whole number of at least 0`,
		"feature:\n  most: 0\n":                 `.ken/config.yaml:2: "0" is not a whole number of at least 1`,
		"feature: [\n":                          ".ken/config.yaml:",
	} {
		err := config.Parse([]byte(text), new(sections))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") || fault.HintOf(err) == "" {
			t.Errorf("%q: %v (hint %q), want one line that begins with %s", text, err, fault.HintOf(err), want)
		}
	}
}

// Load reads only a regular file in the work tree. It follows no link out of it.
func TestLoadStaysInside(t *testing.T) {
	root, outside := t.TempDir(), filepath.Join(t.TempDir(), "policy.yaml")
	if err := config.Load(root, new(sections)); err != nil {
		t.Fatalf("without a configuration: %v", err)
	}
	if err := os.WriteFile(outside, []byte("feature: {keep: 1}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, ".ken"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, config.Name)
	if err := os.Symlink(outside, file); err != nil {
		t.Fatal(err)
	}
	if config.Load(root, new(sections)) == nil {
		t.Error("Load followed a link out of the work tree; want an error")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := config.Load(root, new(sections)); err == nil {
		t.Error("Load accepted a directory as a configuration; want an error")
	}
}
