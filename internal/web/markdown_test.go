package web

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"<script>alert(1)</script>":             "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
		"a <b onclick=x>c</b>":                  "a &lt;b onclick=x&gt;c&lt;/b&gt;",
		"[a](javascript:alert(1))":              `<span class="nolink">a</span>`,
		"[a](JaVaScRiPt:alert(1))":              `<span class="nolink">a</span>`,
		"[a](data:text/html,x)":                 `<span class="nolink">a</span>`,
		"[a](../secret)":                        `<span class="nolink">a</span>`,
		"[a](//evil.example)":                   `<span class="nolink">a</span>`,
		"[a](https://a.example/?q=\"><script>)": `href="https://a.example/?q=&#34;&gt;&lt;script&gt;"`,
		"[p](http://a.example/b(5)) c)":         `href="http://a.example/b(5)">p</a> c)`,
		"[p](http://a.example/b(5":              "[p](<a",
		"- [ ] a\n- [x] b\n- [y] c":             "<li><span class=\"box\" role=\"img\" aria-label=\"to do\">☐</span> a</li>\n<li><span class=\"box\" role=\"img\" aria-label=\"done\">☑</span> b</li>\n<li>[y] c</li>",
		"![p](https://a.example/x.png)":         "[picture: p]",
		"<https://a.example/>":                  `<a rel="noopener noreferrer" href="https://a.example/">https://a.example/</a>`,
		"see https://a.example/b.":              `href="https://a.example/b">https://a.example/b</a>.`,
		"<https://a.example/\"onclick=x>":       `href="https://a.example/&#34;onclick=x"`,
		"`<script>`":                            "<code>&lt;script&gt;</code>",
		"[[<b >]]":                              `<a href="/node/%3Cb%20%3E">&lt;b &gt;</a>`,
		"<javascript:alert(1)>":                 "<p>javascript:alert(1)</p>",
		"**b** *i* __b__ _i_ ~~d~~ `c`":         "<strong>b</strong> <em>i</em> <strong>b</strong> <em>i</em> <del>d</del> <code>c</code>",
		"a_b_c 2*3*4 ** x":                      "<p>a_b_c 2<em>3</em>4 ** x</p>",
		"``a`b`` `":                             "<code>a`b</code> `",
		"\\*a\\* \\<b>":                         "*a* &lt;b&gt;",
		"| a | b |\n|---|---|\n| 1 | `x\\|y` |": "<tr>\n<td>1</td>\n<td><code>x|y</code></td>\n</tr>",
		"<!-- hidden -->\n":                     "&lt;!-- hidden --&gt;",
		"# One\n\nTwo\n===\n\nThree\n---":       "<h3>One</h3>\n<h3>Two</h3>\n<h4>Three</h4>",
		"- a\n- b\n  - c\n":                     "<ul>\n<li>a</li>\n<li>b\n<ul>\n<li>c</li>\n</ul>\n</li>\n</ul>",
		"1. a\n\n   more\n2. b":                 "<ol>\n<li>\n<p>a</p>\n<p>more</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ol>",
		"> q\n> r\n\nafter":                     "<blockquote>\n<p>q\nr</p>\n</blockquote>\n<p>after</p>",
		"```go\n<b>\n```\nafter":                "<pre tabindex=\"0\"><code>&lt;b&gt;\n</code></pre>\n<p>after</p>",
		"    code <b>\n\ntext":                  "<pre tabindex=\"0\"><code>code &lt;b&gt;\n</code></pre>\n<p>text</p>",
		"---":                                   "<hr>",
		"as [[api]] says, [[no]] not":           `as <a href="/node/api">api</a> says, [[no]] not`,
		"a  \nb":                                "a<br>\nb",
	} {
		got := string(markdown(in, nodes))
		if !strings.Contains(got, want) {
			t.Errorf("%q becomes %q, want %q in it", in, got, want)
		}
		for _, bad := range []string{"<script", "<img", "<b ", `href="javascript`, `href="data`, "<!--"} {
			if strings.Contains(strings.ToLower(got), bad) {
				t.Errorf("%q becomes %q, with %q in it", in, got, bad)
			}
		}
	}
}

func nodes(id string) string {
	switch id {
	case "api", "<b >":
		return "/node/" + url.PathEscape(id)
	}
	return ""
}

// A text over the size limit is shown unrendered.
func TestLongMarkdownIsNotRendered(t *testing.T) {
	long := strings.Repeat("*a* <b>\n", maxMarkdown/8+1)
	got := string(markdown(long, nodes))
	if want := "<pre tabindex=\"0\">*a* &lt;b&gt;\n"; !strings.HasPrefix(got, want) {
		t.Errorf("a text of %d bytes begins %.40q, want %q", len(long), got, want)
	}
}

// Any text renders to the allowed elements only.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"# a\n\n<b>", "[x](javascript:y)", "![](x)", "```\n<script>\n```", "<a href='javascript:x'>", "| a |\n| b |", "&#106;avascript:"} {
		f.Add(s)
	}
	element := regexp.MustCompile(`<(/?)([a-z0-9]+)((?: [a-z]+="[^"<>]*")*)>`)
	ours := strings.Fields("p h3 h4 h5 h6 hr br ul ol li blockquote pre code table thead tbody tr th td em strong del a span")
	f.Fuzz(func(t *testing.T, source string) {
		got := string(markdown(source, nodes))
		left := element.ReplaceAllStringFunc(got, func(tag string) string {
			m := element.FindStringSubmatch(tag)
			if !slices.Contains(ours, m[2]) {
				t.Errorf("%q becomes %q, with %s", source, got, tag)
			}
			if to := regexp.MustCompile(`href="([^"]*)"`).FindStringSubmatch(m[3]); to != nil && !strings.HasPrefix(to[1], "/node/") && onlyWeb(to[1]) == "" {
				t.Errorf("%q leads to %q", source, to[1])
			}
			return ""
		})
		if strings.ContainsAny(left, "<>") {
			t.Errorf("%q becomes %q, which has unescaped characters", source, got)
		}
	})
}
