package contract_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ken/internal/contract"
)

var update = flag.Bool("update", false, "rewrite what is generated from default.yaml")

// compiledFile is default.yaml as Go.
const compiledFile = "default_compiled.go"

// The compiled contract equals default.yaml.
func TestCompiled(t *testing.T) {
	want, err := format.Source(compile(parseDefault(t)))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, compiledFile, want)
}

// golden compares got with the file's content, or writes it there with -update.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from default.yaml; run: go generate ./internal/contract", file)
	}
}

// parseDefault reads default.yaml as strictly as YAML can be read.
func parseDefault(t *testing.T) *contract.Contract {
	t.Helper()
	b, err := os.ReadFile("default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	c := new(contract.Contract)
	if err := dec.Decode(c); err != nil {
		t.Fatal(err)
	}
	return c
}

// compile writes a contract as a Go function that returns it.
func compile(c *contract.Contract) []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("// Code generated from default.yaml by go generate; DO NOT EDIT.\n\npackage contract\n\n")
	p("// compiled returns the default contract.\nfunc compiled() *Contract {\nreturn &Contract{\n")
	p("Dir: %q,\nStaleDays: %d,\nArchiveRuns: %d,\n", c.Dir, c.StaleDays, c.ArchiveRuns)
	p("Groups: []Group{\n")
	for _, g := range c.Groups {
		p("{Name: %q, Title: %q},\n", g.Name, g.Title)
	}
	p("},\nFiles: []File{\n")
	for _, f := range c.Files {
		p("{Name: %q, Group: %q, Writer: %q, Purpose: %q", f.Name, f.Group, f.Writer, f.Purpose)
		p("%s%s", text("Role", string(f.Role)), flagged("Dir", f.Dir))
		p("%s%s", flagged("Exempt", f.Exempt), flagged("Log", f.Log))
		p("%s%s", text("Evict", string(f.Evict)), texts("Status", f.Status))
		p("%s", text("Sidecar", f.Sidecar))
		if s := f.Schema; s != nil {
			p(", Schema: &Schema{")
			sep := ""
			for _, field := range []string{texts("Required", s.Required), texts("Recommended", s.Recommended)} {
				if field = strings.TrimPrefix(field, ", "); field != "" {
					p("%s%s", sep, field)
					sep = ", "
				}
			}
			if len(s.Enums) > 0 {
				p("%sEnums: map[string][]string{", sep)
				for i, k := range slices.Sorted(maps.Keys(s.Enums)) {
					if i > 0 {
						p(", ")
					}
					p("%q: %s", k, list(s.Enums[k])[len("[]string"):])
				}
				p("}")
			}
			p("}")
		}
		p("},\n")
	}
	for _, part := range []struct {
		name     string
		patterns []contract.Pattern
	}{{"Patterns", c.Patterns}, {"Ephemeral", c.Ephemeral}} {
		p("},\n%s: []Pattern{\n", part.name)
		for _, q := range part.patterns {
			p("{Pattern: %s, Example: %q, Use: %q", quote(q.Pattern), q.Example, q.Use)
			p("%s%s},\n", text("Evict", string(q.Evict)), text("Base", q.Base))
		}
	}
	p("},\nKeys: []Key{\n")
	for _, k := range c.Keys {
		p("{Name: %q, Type: %q%s%s},\n", k.Name, k.Type, texts("Enum", k.Enum), text("Initial", k.Initial))
	}
	p("},\n}\n}\n")
	return b.Bytes()
}

func quote(s string) string {
	if strconv.CanBackquote(s) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

func text(field, value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(", %s: %q", field, value)
}

func flagged(field string, value bool) string {
	if !value {
		return ""
	}
	return ", " + field + ": true"
}

func texts(field string, values []string) string {
	if len(values) == 0 {
		return ""
	}
	return ", " + field + ": " + list(values)
}

func list(values []string) string { return fmt.Sprintf("%#v", values) }
