package outline

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// readGo reads Go with the standard library: declarations with go/parser, and tokens with go/scanner.
func readGo(f *file) error {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "", f.src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		f.noTokens = true
		f.note("syntax error: " + clip(err.Error(), 200))
	}
	if tree == nil {
		return nil
	}
	g := &goReader{
		file:     f,
		tokens:   set.File(tree.FileStart),
		docs:     make(map[token.Pos]bool),
		preamble: make(map[token.Pos]bool),
		toks:     f.scratch.spans[:0],
	}
	if tree.Name != nil {
		f.pkg = tree.Name.Name
	}
	if tree.Doc != nil {
		f.doc = g.sentence(tree.Doc)
		for _, line := range tree.Doc.List {
			g.docs[line.Pos()] = true
		}
	}
	for _, decl := range tree.Decls {
		g.markDocs(decl)
	}
	g.scan()
	for _, decl := range tree.Decls {
		g.declare(decl)
	}
	for i := range f.symbols {
		s := &f.symbols[i]
		s.from, s.to = f.itemsIn(s.start, s.end)
	}
	f.scratch.spans = g.toks[:0]
	f.collect(func() *References { return collectGo(f, tree, g.at) })
	return nil
}

type goReader struct {
	*file
	tokens   *token.File
	docs     map[token.Pos]bool // comments that are documentation
	preamble map[token.Pos]bool // comments that cgo reads
	toks     []span             // all tokens; automatic semicolons are empty
}

func (g *goReader) at(p token.Pos) int {
	if !p.IsValid() {
		return 0
	}
	return min(max(g.tokens.Offset(p), 0), len(g.src))
}

// isGoDirective reports whether a comment is an instruction for a tool, such as the compiler or a linter. A
// file can have thousands of comments, so it uses no regular expression: that would take longer than the
// rest of the scan.
func isGoDirective(comment string) bool {
	text, ok := strings.CutPrefix(comment, "//")
	if !ok {
		return false
	}
	if spaced := strings.TrimLeft(text, spaces); strings.HasPrefix(spaced, "+build ") {
		return true
	}
	for _, start := range []string{"line ", "export ", "extern ", "nolint"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	if tool := strings.TrimLeft(text, lowerOrDigit); len(tool) < len(text) && len(tool) > 1 && tool[0] == ':' {
		return strings.IndexByte(lowerOrDigit, tool[1]) >= 0
	}
	generated, ok := strings.CutPrefix(text, " Code generated ")
	return ok && strings.HasSuffix(generated, " DO NOT EDIT.") && !strings.Contains(generated, "\n")
}

const (
	spaces       = " \t\n\f\r"
	lowerOrDigit = "abcdefghijklmnopqrstuvwxyz0123456789"
)

// isOutput reports whether a comment gives the output of an example. The comments after it are part of the
// output.
func isOutput(comment string) bool {
	const output = "output:"
	text := strings.TrimLeft(comment[len("//"):], spaces)
	if before := "unordered "; len(text) >= len(before) && strings.EqualFold(text[:len(before)], before) {
		text = text[len(before):]
	}
	return len(text) >= len(output) && strings.EqualFold(text[:len(output)], output)
}

func emptyLineFollows(src []byte) bool {
	rest, found := bytes.CutPrefix(bytes.TrimLeft(src, " \t\r"), []byte("\n"))
	return found && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r"), []byte("\n"))
}

// markC marks the comment of import "C", which is C code.
func (g *goReader) markC(c *ast.CommentGroup) {
	if c == nil {
		return
	}
	for _, line := range c.List {
		g.preamble[line.Pos()] = true
	}
}

// onlyImport returns the path of a declaration with a single import.
func onlyImport(n *ast.GenDecl) (path string, ok bool) {
	if n.Tok != token.IMPORT || len(n.Specs) != 1 {
		return "", false
	}
	spec, ok := n.Specs[0].(*ast.ImportSpec)
	if !ok {
		return "", false
	}
	return spec.Path.Value, true
}

// markDocs marks the doc comments of a declaration, but not those in function bodies.
func (g *goReader) markDocs(decl ast.Decl) {
	note := func(groups ...*ast.CommentGroup) {
		for _, c := range groups {
			if c != nil {
				for _, line := range c.List {
					g.docs[line.Pos()] = true
				}
			}
		}
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt, *ast.CommentGroup:
			return false
		case *ast.FuncDecl:
			note(n.Doc)
		case *ast.GenDecl:
			note(n.Doc)
			if path, ok := onlyImport(n); ok && path == `"C"` {
				g.markC(n.Doc)
			}
		case *ast.TypeSpec:
			note(n.Doc, n.Comment)
		case *ast.ValueSpec:
			note(n.Doc, n.Comment)
		case *ast.ImportSpec:
			note(n.Doc)
			if n.Path.Value == `"C"` {
				g.markC(n.Doc)
			}
		case *ast.Field:
			note(n.Doc, n.Comment)
		}
		return true
	})
}

// scan appends the items. Written and automatic semicolons are equal. A semicolon or comma before a closing
// brace or parenthesis is not an item, because it has no meaning there.
func (g *goReader) scan() {
	set := token.NewFileSet()
	tf := set.AddFile("", -1, len(g.src))
	var s scanner.Scanner
	s.Init(tf, g.src, func(pos token.Position, msg string) {
		g.noTokens = true
		g.note("syntax error: " + strconv.Itoa(pos.Line) + ":" + strconv.Itoa(pos.Column) + ": " + msg)
	}, scanner.ScanComments)
	g.names = []string{";"}
	base := g.tokens.Base() - tf.Base()
	output := false   // the comment is part of an example's output
	pending := item{} // a comma or semicolon; the next token decides whether it counts
	for {
		pos, tok, lit := s.Scan()
		start := tf.Offset(pos)
		it := item{kind: leaf, start: uint32(start), end: uint32(start + len(lit))}
		if tok.IsOperator() && tok != token.SEMICOLON {
			it.end = uint32(start + len(tok.String()))
		}
		if tok != token.COMMENT && tok != token.SEMICOLON {
			output = false
		}
		switch tok {
		case token.COMMENT:
			// The scanner removes carriage returns from lit.
			it.end = uint32(start + g.commentLen(start))
			own := pos + token.Pos(base)
			output = isOutput(lit) || output
			switch {
			case output || g.preamble[own]:
				it.kind = verbatim
			case isGoDirective(lit):
				it.kind = verbatim
				g.items = append(g.items, it)
				// The meaning of some directives depends on whether an empty line follows.
				if emptyLineFollows(g.src[it.end:]) {
					g.items = append(g.items, item{kind: lineBreak, start: it.end, end: it.end})
				}
				continue
			case g.docs[own]:
				it.kind = docs
			default:
				continue
			}
		case token.SEMICOLON:
			it = item{kind: whiteToken, start: uint32(start), end: uint32(start)}
		case token.STRING:
			it.end = uint32(start + g.stringLen(start, lit))
		default:
		}
		if pending.kind != 0 && tok != token.COMMENT {
			if tok != token.RPAREN && tok != token.RBRACE && tok != token.EOF {
				g.items = append(g.items, pending)
				g.toks = append(g.toks, spanOf(pending))
			}
			pending = item{}
		}
		switch tok {
		case token.EOF:
			return
		case token.COMMA, token.SEMICOLON:
			pending = it
			continue
		default:
		}
		g.items = append(g.items, it)
		if it.kind == leaf {
			g.toks = append(g.toks, spanOf(it))
		}
	}
}

func spanOf(it item) span {
	if it.kind == whiteToken {
		return span{int(it.start), int(it.end), ";"}
	}
	return span{start: int(it.start), end: int(it.end)}
}

func (g *goReader) commentLen(start int) int {
	rest := g.src[start:] // no copy, since a file may have a comment on every line
	if bytes.HasPrefix(rest, []byte("/*")) {
		if i := bytes.Index(rest, []byte("*/")); i >= 0 {
			return i + 2
		}
		return len(rest)
	}
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		return i
	}
	return len(rest)
}

// stringLen returns the length of a literal in the source. The scanner removes carriage returns from raw
// strings.
func (g *goReader) stringLen(start int, lit string) int {
	if lit[0] != '`' {
		return len(lit)
	}
	if i := bytes.IndexByte(g.src[start+1:], '`'); i >= 0 {
		return i + 2
	}
	return len(g.src) - start
}

func (g *goReader) sentence(groups ...*ast.CommentGroup) string {
	for _, c := range groups {
		if c != nil {
			if s := sentence(c.Text()); s != "" {
				return s
			}
		}
	}
	return ""
}

// declare adds the symbols of a declaration.
func (g *goReader) declare(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		g.function(d)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			doc := d.Doc
			start := d.Pos()
			end := d.End()
			if d.Lparen.IsValid() {
				doc = nil
				start = spec.Pos()
				end = spec.End()
			}
			switch s := spec.(type) {
			case *ast.ImportSpec:
				if name, err := strconv.Unquote(s.Path.Value); err == nil {
					g.addImport(name)
				}
			case *ast.TypeSpec:
				g.typ(s, doc, start, end)
			case *ast.ValueSpec:
				g.values(d.Tok, s, doc, start, end)
			}
		}
	}
}

// add adds a symbol. groups are its comments and may be nil.
func (g *goReader) add(kind Kind, name string, start, end token.Pos, groups ...*ast.CommentGroup) *draft {
	s := draft{start: g.at(start), end: g.at(end)}
	s.Kind = kind
	s.Name = name
	s.Qualified = name
	s.Exported = ast.IsExported(name)
	for _, c := range groups {
		if c != nil {
			s.start, s.end = min(s.start, g.at(c.Pos())), max(s.end, g.at(c.End()))
		}
	}
	s.Doc = g.sentence(groups...)
	g.symbols = append(g.symbols, s)
	return &g.symbols[len(g.symbols)-1]
}

// between returns the tokens between two positions.
func (g *goReader) between(start, end token.Pos) []span {
	from, to := g.at(start), g.at(end)
	lo, hi := searchSpans(g.toks, from), searchSpans(g.toks, to)
	return g.toks[lo:max(lo, hi)]
}

// searchSpans returns the index of the first span that starts at or after an offset.
func searchSpans(spans []span, offset int) int {
	lo, hi := 0, len(spans)
	for lo < hi {
		mid := (lo + hi) / 2
		if spans[mid].start < offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (g *goReader) function(d *ast.FuncDecl) {
	s := g.add(Func, d.Name.Name, d.Pos(), d.End(), d.Doc)
	if d.Recv != nil {
		s.Kind = Method
		if len(d.Recv.List) > 0 {
			if owner := receiver(d.Recv.List[0].Type); owner != "" {
				s.Qualified = owner + "." + s.Name
				s.Exported = s.Exported && ast.IsExported(owner)
			}
		}
	}
	end := d.End()
	if d.Body != nil {
		end = d.Body.Pos()
	}
	g.setSignature(s, g.between(d.Pos(), end))
}

// receiver returns the type name of a method's receiver.
func receiver(e ast.Expr) string {
	if name, ok := namedType(e).(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// namedType removes pointers, parentheses and type arguments from a type.
func namedType(e ast.Expr) ast.Expr {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		default:
			return e
		}
	}
}

func (g *goReader) typ(spec *ast.TypeSpec, doc *ast.CommentGroup, start, end token.Pos) {
	s := g.add(Type, spec.Name.Name, start, end, spec.Doc, doc, spec.Comment)
	owner, exported := s.Name, s.Exported
	switch t := spec.Type.(type) {
	case *ast.StructType:
		s.Kind = Struct
		g.signType(s, spec, t.Fields)
		g.fields(owner, exported, t.Fields, Field, 1)
	case *ast.InterfaceType:
		s.Kind = Interface
		g.signType(s, spec, t.Methods)
		g.fields(owner, exported, t.Methods, Method, 1)
	default:
		g.setSignature(s, g.prefixed("type", spec.Pos(), spec.End()))
	}
}

// signType signs a type with the tokens before its opening brace.
func (g *goReader) signType(s *draft, spec *ast.TypeSpec, fields *ast.FieldList) {
	end := spec.End()
	if fields != nil && fields.Opening.IsValid() {
		end = fields.Opening
	}
	g.setSignature(s, g.prefixed("type", spec.Pos(), end))
}

func (g *goReader) prefixed(word string, start, end token.Pos) []span {
	return slices.Concat([]span{{text: word}}, g.between(start, end))
}

// fields adds the fields of a struct, or the methods of an interface.
func (g *goReader) fields(owner string, exported bool, list *ast.FieldList, kind Kind, depth int) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		names := field.Names
		if len(names) == 0 { // embedded; in an interface possibly a union of types
			name := receiver(field.Type)
			if sel, ok := field.Type.(*ast.SelectorExpr); ok {
				name = sel.Sel.Name
			} else if star, ok := field.Type.(*ast.StarExpr); ok && name == "" {
				if sel, ok := star.X.(*ast.SelectorExpr); ok {
					name = sel.Sel.Name
				}
			}
			if name == "" {
				name = string(g.src[g.at(field.Type.Pos()):g.at(field.Type.End())])
				name = clip(strings.Join(strings.Fields(name), " "), 80)
			}
			names = []*ast.Ident{{Name: name}}
		}
		for _, name := range names {
			k := kind
			if _, isFunc := field.Type.(*ast.FuncType); kind == Method && !isFunc {
				k = Field
			}
			s := g.add(k, name.Name, field.Pos(), field.End(), field.Doc, field.Comment)
			s.Qualified = owner + "." + s.Name
			s.Depth = depth
			s.Exported = s.Exported && exported
			tokens := g.between(field.Type.Pos(), field.End())
			if len(field.Names) > 0 {
				tokens = slices.Concat(g.between(name.Pos(), name.End()), tokens)
			}
			g.setSignature(s, tokens)
		}
	}
}

// values adds constants or variables. The signature of a constant includes its value.
func (g *goReader) values(tok token.Token, spec *ast.ValueSpec, doc *ast.CommentGroup, start, end token.Pos) {
	kind := Var
	if tok == token.CONST {
		kind = Const
	}
	for i, name := range spec.Names {
		if name.Name == "_" {
			continue
		}
		s := g.add(kind, name.Name, start, end, spec.Doc, doc, spec.Comment)
		tokens := g.prefixed(tok.String(), name.Pos(), name.End())
		if spec.Type != nil {
			tokens = append(tokens, g.between(spec.Type.Pos(), spec.Type.End())...)
		}
		if kind == Const && i < len(spec.Values) {
			tokens = append(tokens, span{text: "="})
			tokens = append(tokens, g.between(spec.Values[i].Pos(), spec.Values[i].End())...)
		}
		g.setSignature(s, tokens)
	}
}
