package parse_test

import (
	"encoding/json"
	"testing"

	"ken/internal/spec/parse"

	"github.com/google/go-cmp/cmp"
)

var bodies = []struct {
	name, body string
	want       *parse.Parts
}{
	{"no parts", "# Title\n\nwords\n\n## other\n", nil},
	{"both", "intro\n\n## raw source\n\nwhat was said\n\n## expanded spec\n\nwhat it means\n", &parse.Parts{RawSource: "what was said", Expanded: "what it means"}},
	{"one", "## expanded spec\nall\n\nof it\n\n", &parse.Parts{Expanded: "all\n\nof it"}},
	{"empty", "## raw source", &parse.Parts{}},
	{"spelling", "  ##  Raw Source  ## \na\n##\tEXPANDED SPEC #####\nb\n", &parse.Parts{RawSource: "a", Expanded: "b"}},
	{"not quite", "##raw source\n### raw source\n# raw source\n## raw source#\n## raw sources\n\\## raw source\n> ## raw source\n", nil},
	{"ends at the next part", "## raw source\na\n### deeper\nb\n## other\nc\n## expanded spec\nd\n# Top\ne\n", &parse.Parts{RawSource: "a\n### deeper\nb\n## other\nc", Expanded: "d\n# Top\ne"}},
	{"indentation stays", "## raw source\n\n  \n    code\n\n\n", &parse.Parts{RawSource: "    code"}},
	{"in a fence", "```\n## raw source\n```\n", nil},
	{"in tildes", "~~~ md `x`\n## raw source\n```\n## raw source\n~~~\n", nil},
	{"in a fence with less inside", "````\n```\n## raw source\n```\n````\n## expanded spec\na", &parse.Parts{Expanded: "a"}},
	{"in a fence with more at its end", "```go\n## raw source\n  ````  \n## expanded spec\na", &parse.Parts{Expanded: "a"}},
	{"in a fence that info does not close", "```\n``` go\n## raw source\n```\n", nil},
	{"in a fence that stays open", "## raw source\na\n```\n## expanded spec\n", &parse.Parts{RawSource: "a\n```\n## expanded spec"}},
	{"below what is no fence", "``` `x`\n## raw source\na\n``\n## expanded spec\nb", &parse.Parts{RawSource: "a\n``", Expanded: "b"}},
	{"in a fence within a part", "## raw source\n```\n## other\n```\nmore\n", &parse.Parts{RawSource: "```\n## other\n```\nmore"}},
	{"indented code", "    ## raw source\n\t## raw source\n  \t## raw source\n", nil},
	{"a fence in indented code", "    ```\n## raw source\na", &parse.Parts{RawSource: "a"}},
	{"in a comment", "<!-- once\n## raw source\n-->\n## expanded spec\n<!-- here --> a\n", &parse.Parts{Expanded: "<!-- here --> a"}},
	{"in a comment that stays open", "<!--\n## raw source\n", nil},
}

func TestParts(t *testing.T) {
	for _, tt := range bodies {
		t.Run(tt.name, func(t *testing.T) {
			for _, front := range []string{"", "---\ntitle: a\n---\n"} {
				n := one(t, front+tt.body)
				if d := cmp.Diff(tt.want, n.Parts); d != "" {
					t.Errorf("parts of the body (-want +got):\n%s", d)
				}
				if n.Body != tt.body || n.Problems != nil {
					t.Errorf("body %q, problems %v", n.Body, n.Problems)
				}
			}
		})
	}
}

func TestPartsTwice(t *testing.T) {
	n := one(t, "---\ntitle: a\n---\n## raw source\na\n## raw source\nb\n## Expanded Spec\nc\n## expanded spec\n")
	if d := cmp.Diff(&parse.Parts{RawSource: "a", Expanded: "c"}, n.Parts); d != "" {
		t.Errorf("parts of the body (-want +got):\n%s", d)
	}
	want := []parse.Problem{{Rule: parse.RuleBody, Line: 6}, {Rule: parse.RuleBody, Line: 10}}
	if d := cmp.Diff(want, problemsOf(n)); d != "" {
		t.Errorf("problems (-want +got):\n%s", d)
	}
}

func TestPartsJSON(t *testing.T) {
	b, err := json.Marshal(parse.Parts{RawSource: "a", Expanded: "b"})
	if want := `{"raw_source":"a","expanded_spec":"b"}`; err != nil || string(b) != want {
		t.Errorf("the JSON is %s, %v; want %s", b, err, want)
	}
}

func TestTitleOfBody(t *testing.T) {
	for body, want := range map[string]string{
		"## two\n#\n# One #\n# Other\n":       "One",
		"```\n# no\n```\n# C#\n":              "C#",
		"<!-- # no -->\ntext\n   # yes\n":     "yes",
		"---\ntitle: given\n---\n# heading\n": "given",
		"---\ntitle: ' '\n---\n# heading\n":   "heading",
		"#hashtag\n":                          "node",
	} {
		if n := one(t, body); n.Title != want {
			t.Errorf("%q is titled %q, want %q", body, n.Title, want)
		}
	}
	if n := load(".spec/caf\xe9/spec.md", "")[0]; n.Title != "caf\uFFFD" {
		t.Errorf("bytes are titled %q", n.Title)
	}
}
