package web

import (
	"bytes"
	"html"
	"html/template"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	// maxMarkdown is the size of a text, in bytes, up to which it is rendered.
	maxMarkdown = 64 << 10
	// markdownDeadline bounds the rendering of one text. Crafted text of
	// maxMarkdown bytes takes goldmark longer than a page should wait.
	markdownDeadline = time.Second
)

// markdown renders Markdown from the repository. HTML in it is shown as text,
// links lead to the web or to nodes, and pictures are not fetched. A text that is
// too long, or takes too long, is shown as it was written.
//
// link returns the address of a node that is mentioned as [[id]], "" for none. It
// may be nil.
func markdown(source string, link func(id string) string) template.HTML {
	source = strings.ToValidUTF8(source, "\uFFFD")
	if len(source) > maxMarkdown {
		return unrendered(source)
	}
	rendered := make(chan template.HTML, 1)
	go func() { rendered <- render(source, link) }()
	deadline := time.NewTimer(markdownDeadline)
	defer deadline.Stop()
	select {
	case page := <-rendered:
		return page
	case <-deadline.C:
		return unrendered(source)
	}
}

// unrendered shows a text without reading its Markdown.
func unrendered(source string) template.HTML {
	return template.HTML(`<pre tabindex="0">` + html.EscapeString(source) + "</pre>\n") //nolint:gosec // it is escaped
}

func render(source string, link func(id string) string) template.HTML {
	pc := parser.NewContext()
	if link != nil {
		pc.Set(linkKey, link)
	}
	var page bytes.Buffer
	if err := prose().Convert([]byte(source), &page, parser.WithContext(pc)); err != nil {
		return unrendered(source)
	}
	return template.HTML(page.String()) //nolint:gosec // goldmark escapes all text, and parses no HTML here
}

// prose returns the Markdown of GitHub without HTML: its marks are text.
var prose = sync.OnceValue(func() goldmark.Markdown {
	blocks := withoutParser(parser.DefaultBlockParsers(), parser.NewHTMLBlockParser())
	inlines := withoutParser(parser.DefaultInlineParsers(), parser.NewRawHTMLParser())
	inlines = append(inlines, util.Prioritized(mentionParser{}, 150)) // before links, which also begin with [
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(blocks...),
			parser.WithInlineParsers(inlines...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)),
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)),
			extension.Strikethrough, extension.Linkify, extension.TaskList,
		),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(proseRenderer{}, 1))),
	)
})

// withoutParser returns a list of goldmark's parsers without one of them.
func withoutParser(list []util.PrioritizedValue, drop any) []util.PrioritizedValue {
	var kept []util.PrioritizedValue
	for _, v := range list {
		if v.Value != drop {
			kept = append(kept, v)
		}
	}
	return kept
}

// linkKey is where the parser finds the addresses of nodes.
var linkKey = parser.NewContextKey()

// A nodeLink is [[id]], the id of a node.
type nodeLink struct {
	ast.BaseInline
	id, address string
}

var kindMention = ast.NewNodeKind("Mention")

func (*nodeLink) Kind() ast.NodeKind { return kindMention }

func (n *nodeLink) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"id": n.id}, nil)
}

// mentionParser reads mentions of nodes that exist.
type mentionParser struct{}

func (mentionParser) Trigger() []byte { return []byte{'['} }

func (mentionParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	link, ok := pc.Get(linkKey).(func(id string) string)
	if !ok {
		return nil
	}
	line, _ := block.PeekLine()
	rest, ok := bytes.CutPrefix(line, []byte("[["))
	if !ok {
		return nil
	}
	id, _, ok := bytes.Cut(rest, []byte("]]"))
	if !ok {
		return nil
	}
	address := link(string(id))
	if address == "" {
		return nil
	}
	block.Advance(len("[[") + len(id) + len("]]"))
	return &nodeLink{id: string(id), address: address}
}

// proseRenderer writes the elements that differ from goldmark's own.
type proseRenderer struct{}

func (r proseRenderer) RegisterFuncs(on renderer.NodeRendererFuncRegisterer) {
	on.Register(ast.KindHeading, r.heading)
	on.Register(ast.KindCodeBlock, r.code)
	on.Register(ast.KindFencedCodeBlock, r.code)
	on.Register(ast.KindLink, r.link)
	on.Register(ast.KindAutoLink, r.autoLink)
	on.Register(ast.KindImage, r.image)
	on.Register(extast.KindTaskCheckBox, r.checkBox)
	on.Register(kindMention, r.mention)
}

// heading writes a heading two levels below the page's own.
func (proseRenderer) heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "h" + string(rune('0'+min(n.(*ast.Heading).Level+2, 6)))
	if entering {
		return write(w, "<"+tag+">")
	}
	return write(w, "</"+tag+">\n")
}

func (proseRenderer) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	code := html.EscapeString(string(n.Lines().Value(source)))
	if _, err := w.WriteString(`<pre tabindex="0"><code>` + code + "</code></pre>\n"); err != nil {
		return ast.WalkStop, err
	}
	return ast.WalkSkipChildren, nil
}

// link writes a link to the web. The words of any other link stay as text.
func (proseRenderer) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	to := onlyWeb(string(n.(*ast.Link).Destination))
	switch {
	case to == "" && entering:
		return write(w, `<span class="nolink">`)
	case to == "":
		return write(w, "</span>")
	case entering:
		return write(w, anchor(to))
	default:
		return write(w, "</a>")
	}
}

func (proseRenderer) autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	l := n.(*ast.AutoLink)
	label := html.EscapeString(string(l.Label(source)))
	to := onlyWeb(string(l.URL(source)))
	if to == "" {
		return write(w, label)
	}
	return write(w, anchor(to)+label+"</a>")
}

func anchor(to string) string {
	return `<a rel="noopener noreferrer" href="` + html.EscapeString(to) + `">`
}

// image names a picture. The page does not fetch it.
func (proseRenderer) image(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		return write(w, `<span class="nolink">[picture: `)
	}
	return write(w, "]</span>")
}

func (proseRenderer) checkBox(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch {
	case !entering:
		return ast.WalkContinue, nil
	case n.(*extast.TaskCheckBox).IsChecked:
		return write(w, `<span class="box" role="img" aria-label="done">☑</span> `)
	default:
		return write(w, `<span class="box" role="img" aria-label="to do">☐</span> `)
	}
}

func (proseRenderer) mention(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	m := n.(*nodeLink)
	return write(w, `<a href="`+html.EscapeString(m.address)+`">`+html.EscapeString(m.id)+"</a>")
}

func write(w util.BufWriter, s string) (ast.WalkStatus, error) {
	_, err := w.WriteString(s)
	return ast.WalkContinue, err
}

// onlyWeb returns an address of the web unchanged, and "" for any other: a path
// leads nowhere here.
func onlyWeb(to string) string {
	lower := strings.ToLower(to)
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		if strings.HasPrefix(lower, scheme) && !strings.ContainsFunc(to, unicode.IsControl) {
			return to
		}
	}
	return ""
}
