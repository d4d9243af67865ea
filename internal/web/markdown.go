package web

import (
	"bytes"
	"html"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown renders what people wrote. It is text, whatever it says: HTML in it is
// shown, not obeyed, links lead nowhere but to the web, and nothing is fetched.
func markdown(source string) template.HTML {
	if strings.TrimSpace(source) == "" {
		return ""
	}
	m := goldmark.New(
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(plainHTML{}, 0))),
	)
	src := []byte(source)
	doc := m.Parser().Parse(text.NewReader(src))
	defuse(doc)
	alignTables(doc, src)
	var b bytes.Buffer
	if err := m.Renderer().Render(&b, src, doc); err != nil {
		return template.HTML("<pre>" + html.EscapeString(source) + "</pre>") //nolint:gosec // escaped
	}
	return template.HTML(b.String()) //nolint:gosec // made by goldmark, which escapes, without raw HTML
}

// defuse takes the addresses out of links and pictures that should not be followed.
func defuse(doc ast.Node) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = onlyWeb(n.Destination)
		case *ast.Image:
			n.Destination = nil // nothing is fetched; what it shows is said beside it
		}
		return ast.WalkContinue, nil
	})
}

// alignTables shows tables as they were written, which is how they line up. The parser
// that goldmark has for them doubles what it costs at the start of every command.
func alignTables(doc ast.Node, src []byte) {
	var tables []*ast.Paragraph
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if p, ok := n.(*ast.Paragraph); ok && entering && p.Lines().Len() > 1 {
			for i := range p.Lines().Len() {
				line := p.Lines().At(i)
				if !bytes.HasPrefix(bytes.TrimLeft(line.Value(src), " "), []byte("|")) {
					return ast.WalkContinue, nil
				}
			}
			tables = append(tables, p)
		}
		return ast.WalkContinue, nil
	})
	for _, p := range tables {
		code := ast.NewCodeBlock()
		code.SetLines(p.Lines())
		p.Parent().ReplaceChild(p.Parent(), p, code)
	}
}

// onlyWeb returns an address of the web as it is, and none for all others: a path leads
// nowhere here.
func onlyWeb(dest []byte) []byte {
	lower := bytes.ToLower(dest)
	for _, scheme := range []string{"https://", "http://", "mailto:", "#"} {
		if bytes.HasPrefix(lower, []byte(scheme)) {
			return dest
		}
	}
	return nil
}

// plainHTML renders HTML as the text that it is, pictures as their descriptions, and
// links so that where they lead learns nothing of us.
type plainHTML struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (plainHTML) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			raw := n.(*ast.RawHTML)
			for i := range raw.Segments.Len() {
				segment := raw.Segments.At(i)
				_, _ = w.WriteString(html.EscapeString(string(segment.Value(src))))
			}
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		block := n.(*ast.HTMLBlock)
		_, _ = w.WriteString("<pre>")
		for i := range block.Lines().Len() {
			line := block.Lines().At(i)
			_, _ = w.WriteString(html.EscapeString(string(line.Value(src))))
		}
		if block.HasClosure() {
			_, _ = w.WriteString(html.EscapeString(string(block.ClosureLine.Value(src))))
		}
		_, _ = w.WriteString("</pre>\n")
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindLink, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		dest := n.(*ast.Link).Destination
		switch {
		case entering && dest == nil:
			_, _ = w.WriteString("<span class=\"nolink\">")
		case entering:
			_, _ = w.WriteString(`<a rel="noopener noreferrer" href="` + html.EscapeString(string(util.URLEscape(dest, true))) + `">`)
		case dest == nil:
			_, _ = w.WriteString("</span>")
		default:
			_, _ = w.WriteString("</a>")
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindAutoLink, func(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		link := n.(*ast.AutoLink)
		dest := link.URL(src)
		if link.AutoLinkType == ast.AutoLinkEmail {
			dest = append([]byte("mailto:"), dest...)
		}
		label := html.EscapeString(string(link.Label(src)))
		if dest = onlyWeb(dest); dest == nil {
			_, _ = w.WriteString(label)
			return ast.WalkContinue, nil
		}
		_, _ = w.WriteString(`<a rel="noopener noreferrer" href="` + html.EscapeString(string(util.URLEscape(dest, false))) + `">` + label + `</a>`)
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindImage, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString("<span class=\"nolink\">[picture: ")
		} else {
			_, _ = w.WriteString("]</span>")
		}
		return ast.WalkContinue, nil
	})
}
