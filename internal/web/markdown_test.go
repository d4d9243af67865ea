package web

import (
	"strings"
	"testing"
)

func TestMarkdownIsText(t *testing.T) {
	for in, want := range map[string]string{
		"<script>alert(1)</script>":                  "<pre>&lt;script&gt;alert(1)&lt;/script&gt;</pre>",
		"a <b onclick=x>c</b>":                       "a &lt;b onclick=x&gt;c&lt;/b&gt;",
		"[a](javascript:alert(1))":                   `<span class="nolink">a</span>`,
		"[a](JaVaScRiPt:alert(1))":                   `<span class="nolink">a</span>`,
		"[a](data:text/html,x)":                      `<span class="nolink">a</span>`,
		"[a](../secret)":                             `<span class="nolink">a</span>`,
		"[a](//evil.example)":                        `<span class="nolink">a</span>`,
		"[a](https://a.example/?q=\"><script>)":      "a.example",
		"![p](https://a.example/x.png)":              "[picture: p]",
		"<https://a.example/>":                       `rel="noopener noreferrer"`,
		"<javascript:alert(1)>":                      "javascript:alert(1)",
		"**b** `c`":                                  "<strong>b</strong> <code>c</code>",
		"| a | b |\n|---|---|\n| 1 | 2 |":            "<pre><code>| a | b |",
		"<!-- hidden -->\n":                          "&lt;!-- hidden --&gt;",
		"&lt;img&gt; <img src=x onerror=alert(1)>\n": "&lt;img src=x onerror=alert(1)&gt;",
	} {
		got := string(markdown(in))
		if !strings.Contains(got, want) {
			t.Errorf("%q becomes %q, want %q in it", in, got, want)
		}
		for _, bad := range []string{"<script", "<img", "onclick=x>c</b>", `href="javascript`, `href="data`, "<!--"} {
			if strings.Contains(strings.ToLower(got), bad) {
				t.Errorf("%q becomes %q, with %q in it", in, got, bad)
			}
		}
	}
}

// Whatever is written, no element but those of prose comes of it.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"# a\n\n<b>", "[x](javascript:y)", "![](x)", "```\n<script>\n```", "<a href='javascript:x'>", "| a |\n| b |", "&#106;avascript:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		got := strings.ToLower(string(markdown(source)))
		for _, bad := range []string{"<script", "<img", "<iframe", "<object", "<svg", "<style", "<form", "<input", `href="javascript`, `href="data`, `href="vbscript`, ` onerror="`} {
			if strings.Contains(got, bad) {
				t.Errorf("%q becomes %q", source, got)
			}
		}
	})
}
