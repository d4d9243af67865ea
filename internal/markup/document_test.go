package markup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/markup"
)

var kinds = map[markup.Kind]string{
	markup.Paragraph: "text", markup.Heading: "heading", markup.Code: "code", markup.HTML: "html", markup.LinkDefinition: "link",
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"a.md", "---\ntitle: x\n---\n# One #\n\nTwo\n---\n\n> a\n> b\n\n1. c\n\n   ```Go {x}\n   # no heading\n   ```\n\n<b>\n\n[x]: y\n",
			"4 heading 1: One|6 heading 2: Two|9 text: a/b|12 text: c|15 code go: # no heading|18 html: <b>|20 link: [x]: y",
		},
		{
			"a.rst", "===\nOne\n===\n\nTwo\n----\n\nShort\n---\n\na::\n\n    b\n\n  c\n\n.. code-block:: Python\n\n   d\n\ne\n",
			"2 heading 3: One|5 heading 4: Two|8 text: Short/---|11 text: a::|13 code:     b//  c/|17 text: .. code-block:: Python|19 code python:    d/|21 text: e",
		},
		{"a.adoc", "= One\n:toc:\n\n== Two\na\n----\n== b\n----\nc\n", "1 heading 1: One|2 text: :toc:|4 heading 2: Two|5 text: a|7 code: == b|9 text: c"},
		{"README", "One\n===\n# a\n    b\n\n    c\n\n    d\ne\n", "1 heading 3: One|3 text: # a/    b|6 code:     c|8 text:     d/e"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := markup.Parse(markup.FormatOf(c.name), []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range doc.Blocks {
				b := &doc.Blocks[i]
				head := fmt.Sprintf("%d %s", doc.Line(b.Lines[0].Start), kinds[b.Kind])
				if b.Level > 0 {
					head += fmt.Sprintf(" %d", b.Level)
				}
				if b.Language != "" {
					head += " " + b.Language
				}
				got = append(got, head+": "+strings.ReplaceAll(doc.Text(b), "\n", "/"))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "|")); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
		})
	}
}
