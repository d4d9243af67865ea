package contract_test

import (
	"reflect"
	"strings"
	"testing"

	"ken/internal/contract"
)

// A contract that Extend accepts has everything that ken relies on and can be used. An
// error names the file and a line.
func FuzzExtend(f *testing.F) {
	for _, s := range accepted {
		f.Add([]byte(s))
	}
	for _, tt := range rejected {
		if len(tt.override) < 2000 {
			f.Add([]byte(tt.override))
		}
	}
	base := contract.Default()
	f.Fuzz(func(t *testing.T, override []byte) {
		c, err := contract.Extend("", override, "c.yaml")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "c.yaml:") {
				t.Fatalf("the error has no line: %v", err)
			}
			return
		}
		for _, file := range base.Files {
			now, ok := c.File(file.Name)
			if !ok || len(now.Status) < len(file.Status) {
				t.Fatalf("%s is %+v", file.Name, now)
			}
			if now.Schema != nil && file.Schema != nil && len(now.Schema.Enums) == len(file.Schema.Enums) {
				now.Schema = file.Schema // its values may have grown
			}
			now.Status = file.Status
			if !reflect.DeepEqual(now, file) {
				t.Fatalf("%s became %+v", file.Name, now)
			}
		}
		for _, p := range c.Patterns {
			if p.Example != "" && c.Bucket(p.Example) == contract.AdHoc {
				if f, ok := c.File(p.Example); !ok || !f.Dir {
					t.Fatalf("%s is not allowed", p.Example)
				}
			}
		}
		c.SuggestFile("reviw.md")
		if _, err := c.YAML(); err != nil {
			t.Fatal(err)
		}
		if _, err := contract.Extend("", override, "c.yaml"); err != nil {
			t.Fatalf("the second call failed: %v", err)
		}
	})
}

// Check accepts any content, and its problems are on one line.
func FuzzCheck(f *testing.F) {
	f.Add("review.json", []byte(`{"status":"DONE"}`))
	f.Add("review-lane-a.json", []byte(`{"status":"done","status":1}`))
	f.Add("research.md", []byte("## Status: DONE"))
	f.Add("research-x.md", []byte("\ufeff## status\r\n\r\n**done**"))
	f.Add("handoff.json", []byte("{"))
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		c := contract.Default()
		found := c.Check(name, content)
		if len(found) > 0 && !c.Checks(name) {
			t.Fatalf("%q has problems, but Checks reports false", name)
		}
		for _, p := range found {
			if p.File != name || p.Problem == "" || p.Expected == "" || strings.ContainsAny(p.Problem+p.Expected, "\n\r\x00") {
				t.Fatalf("the problem is %+v; want the file name, and texts of one line", p)
			}
		}
	})
}

// Lint accepts any document, and reports only existing lines and names that are not
// allowed.
func FuzzLint(f *testing.F) {
	for _, s := range []string{
		".ken/state/foo.md", `.ken\state\foo.md`, ".ken/state/{a,b}.md", ".ken/state/{a,{b,c}}<x>.md", ".ken/state/$(a.md", ".ken/state/a\\.md\n.ken/state/%s[",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		c := contract.Default()
		lines := strings.Count(string(content), "\n") + 1
		wrong, checked := c.Lint("a.md", content, []string{".ken/state", ".devt/state"})
		if len(wrong) > 0 && checked == 0 {
			t.Errorf("%d wrong mentions, and none was checked", len(wrong))
		}
		for _, r := range wrong {
			if r.Line < 1 || r.Line > lines || r.Name == "" || strings.ContainsAny(r.Name, "\n") {
				t.Fatalf("the wrong mention is %+v; want a name and a line of the text", r)
			}
			if c.Bucket(r.Name) == contract.Canonical && !strings.Contains(string(content), r.Name+"/") && !strings.Contains(string(content), `\`) && !strings.Contains(string(content), "{") {
				t.Fatalf("Lint reports %s, which is allowed", r.Name)
			}
		}
	})
}
