package outline

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// goNames collects the references of a Go file.
type goNames struct {
	*nameCollector

	offset  func(token.Pos) int
	results map[nameID][]pathName // result types of the file's functions
	parts   map[nameID]bool       // fields of unnamed types
}

// collectGo returns the references of a Go file.
func collectGo(f *file, tree *ast.File, offset func(token.Pos) int) *References {
	c := &goNames{newNameCollector(f), offset, make(map[nameID][]pathName), make(map[nameID]bool)}
	for _, decl := range tree.Decls {
		c.bindTop(decl)
	}
	for _, decl := range tree.Decls {
		c.decl(decl)
	}
	c.importSpecs(tree)
	c.dropParts()
	return c.references(isGoBuiltin, isGoMember)
}

// isGoBuiltin reports whether Go predeclares a name. min, max and other late additions are not included,
// because older packages declare their own.
func isGoBuiltin(name string) bool {
	switch name {
	case "_", "append", "bool", "byte", "cap", "close", "comparable", "complex", "complex128", "complex64", "copy", "delete", "error",
		"false", "float32", "float64", "imag", "int", "int16", "int32", "int64", "int8", "iota", "len", "make", "new", "nil", "panic",
		"print", "println", "real", "recover", "rune", "string", "true", "uint", "uint16", "uint32", "uint64", "uint8", "uintptr":
		return true
	}
	return false
}

// isGoMember reports whether types of the standard library have a method. Such a name alone does not
// identify a declaration.
func isGoMember(name string) bool {
	switch name {
	case "Error", "String", "Lock", "Unlock", "RLock", "RUnlock":
		return true
	}
	return false
}

// bindTop binds the names of a top-level declaration.
func (g *goNames) bindTop(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			g.bindAll(g.idOf(d.Name.Name), pathName{})
			g.resultTypes(d)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				g.bindAll(g.idOf(s.Name.Name), pathName{})
				g.fieldTypes(s)
			case *ast.ValueSpec:
				for i, name := range s.Names {
					g.bindAll(g.idOf(name.Name), g.specType(s, i))
				}
			}
		}
	}
}

// resultTypes records the result types of a function.
func (g *goNames) resultTypes(d *ast.FuncDecl) {
	if d.Type.Results == nil {
		return
	}
	var types []pathName
	for _, field := range d.Type.Results.List {
		typ := g.typeBut(d.Type.TypeParams, field.Type)
		for range max(1, len(field.Names)) {
			types = append(types, typ)
		}
	}
	g.results[g.idOf(d.Name.Name)] = types
}

// fieldTypes records the field types of a struct.
func (g *goNames) fieldTypes(s *ast.TypeSpec) {
	t, ok := s.Type.(*ast.StructType)
	if !ok || t.Fields == nil {
		return
	}
	owner := singleName(g.idOf(s.Name.Name))
	for _, field := range t.Fields.List {
		typ := g.typeBut(s.TypeParams, field.Type)
		for _, name := range field.Names {
			g.field(owner, ".", []byte(name.Name), typ)
		}
		if len(field.Names) == 0 && typ.path != 0 { // embedded
			text := g.texts[typ.path]
			g.field(owner, ".", []byte(text[strings.LastIndexByte(text, '.')+1:]), typ)
		}
	}
}

// typeBut is like typeOf, but returns none for a type parameter.
func (g *goNames) typeBut(params *ast.FieldList, e ast.Expr) pathName {
	typ := g.typeOf(e)
	if params == nil {
		return typ
	}
	for _, field := range params.List {
		for _, name := range field.Names {
			if typ.path == g.idOf(name.Name) {
				return pathName{}
			}
		}
	}
	return typ
}

// dropParts drops members of unknown values that have the name of a field of an unnamed type, such as a test
// table.
func (g *goNames) dropParts() {
	g.pending = slices.DeleteFunc(g.pending, func(m mention) bool { return m.member && m.before.path == 0 && g.parts[m.name] })
}

// specType returns the type of variable i in a declaration, if it is known.
func (g *goNames) specType(s *ast.ValueSpec, i int) pathName {
	if s.Type == nil && len(s.Names) == len(s.Values) {
		return g.valueType(s.Values[i])
	}
	return g.typeOf(s.Type)
}

// importSpecs adds the imports. An import path does not contain the package name, so it is guessed from the
// path and from the qualifiers in the file.
func (g *goNames) importSpecs(tree *ast.File) {
	qualifiers := make(map[string]bool)
	for _, m := range g.pending {
		if m.before.root != 0 {
			qualifiers[g.texts[m.before.root]] = true
		}
	}
	for _, spec := range tree.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		at := g.offset(spec.Pos())
		switch {
		case spec.Name == nil:
			g.imports(path, at, Binding{As: goPackageName(path, qualifiers)})
		case spec.Name.Name == "_":
			g.imports(path, at)
		case spec.Name.Name == ".":
			g.imports(path, at, Binding{Name: "*"})
		default:
			g.imports(path, at, Binding{As: spec.Name.Name})
		}
	}
}

var goMajor = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^v[0-9]+$`) })

// goPackageName guesses the package name of an import path: the last element without a version, or the part
// of it that the file uses as a qualifier.
func goPackageName(path string, qualifiers map[string]bool) string {
	elements := strings.Split(path, "/")
	last := elements[len(elements)-1]
	if len(elements) > 1 && goMajor().MatchString(last) {
		last = elements[len(elements)-2]
	}
	if i := strings.LastIndex(last, ".v"); i > 0 { // gopkg.in/yaml.v3
		last = last[:i]
	}
	if qualifiers[last] || !strings.ContainsAny(last, "-.") {
		return last
	}
	parts := strings.FieldsFunc(last, func(r rune) bool { return r == '-' || r == '.' })
	for _, guess := range append(parts, strings.Join(parts, ""), strings.Join(parts, "_")) {
		if guess != "go" && qualifiers[guess] {
			return guess
		}
	}
	return last
}

func (g *goNames) decl(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		g.within(true, func() {
			if d.Recv != nil {
				g.receiver(d.Recv)
			}
			g.funcType(d.Type)
			if d.Body != nil {
				g.stmts(d.Body.List)
			}
		})
	case *ast.GenDecl:
		g.genDecl(d, false)
	}
}

// receiver binds the receiver of a method and its type parameters.
func (g *goNames) receiver(list *ast.FieldList) {
	for _, field := range list.List {
		typ := field.Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		switch t := typ.(type) {
		case *ast.IndexExpr:
			g.bindExpr(t.Index)
		case *ast.IndexListExpr:
			for _, p := range t.Indices {
				g.bindExpr(p)
			}
		}
	}
	g.params(list)
}

func (g *goNames) bindExpr(e ast.Expr) {
	if name, ok := e.(*ast.Ident); ok {
		g.bindAll(g.idOf(name.Name), pathName{})
	}
}

// genDecl walks a declaration of types, constants or variables.
func (g *goNames) genDecl(d *ast.GenDecl, local bool) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if local {
				g.bind(g.idOf(s.Name.Name), pathName{})
			}
			g.within(false, func() {
				g.typeParams(s.TypeParams)
				if t, ok := s.Type.(*ast.StructType); ok && !local {
					g.fieldList(t.Fields)
				} else {
					g.typ(s.Type)
				}
			})
		case *ast.ValueSpec:
			if s.Type != nil {
				g.typ(s.Type)
			}
			g.exprs(s.Values)
			if !local {
				continue
			}
			for i, name := range s.Names {
				g.bind(g.idOf(name.Name), g.specType(s, i))
			}
		}
	}
}

// typeParams binds type parameters. A constraint may use any of them.
func (g *goNames) typeParams(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			g.bindAll(g.idOf(name.Name), pathName{})
		}
	}
	for _, field := range list.List {
		g.typ(field.Type)
	}
}

// funcType walks a signature and binds its names.
func (g *goNames) funcType(t *ast.FuncType) {
	g.typeParams(t.TypeParams)
	g.params(t.Params)
	g.params(t.Results)
}

func (g *goNames) params(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		g.typ(field.Type)
	}
	for _, field := range list.List {
		typ := g.typeOf(field.Type)
		for _, name := range field.Names {
			g.bind(g.idOf(name.Name), typ)
		}
	}
}

// typeOf returns the type name of a type expression, without pointers.
func (g *goNames) typeOf(e ast.Expr) pathName {
	switch t := namedType(e).(type) {
	case *ast.Ident:
		id := g.idOf(t.Name)
		if g.isLocal(id) {
			return pathName{} // a local type, or a type parameter
		}
		return singleName(id)
	case *ast.SelectorExpr:
		pkg, ok := t.X.(*ast.Ident)
		if !ok {
			return pathName{}
		}
		root := g.idOf(pkg.Name)
		return g.join(singleName(root), ".", []byte(t.Sel.Name))
	default:
		return pathName{}
	}
}

// valueType returns the type of an expression that names it: T{}, &T{}, new(T), x.(T), or a call.
func (g *goNames) valueType(e ast.Expr) pathName {
	switch v := e.(type) {
	case *ast.CompositeLit:
		return g.typeOf(v.Type)
	case *ast.ParenExpr:
		return g.valueType(v.X)
	case *ast.UnaryExpr:
		if lit, ok := v.X.(*ast.CompositeLit); ok && v.Op == token.AND {
			return g.typeOf(lit.Type)
		}
	case *ast.CallExpr:
		if f, ok := v.Fun.(*ast.Ident); ok && f.Name == "new" && len(v.Args) == 1 {
			return g.typeOf(v.Args[0])
		}
		return g.resultType(v, 0)
	case *ast.TypeAssertExpr:
		return g.typeOf(v.Type)
	}
	return pathName{}
}

// resultType returns the type of result i of a call. If the file does not declare the function, it is known only as the
// first result of a path.
func (g *goNames) resultType(call *ast.CallExpr, i int) pathName {
	f, isName := call.Fun.(*ast.Ident)
	if isName {
		id := g.idOf(f.Name)
		if g.isLocal(id) {
			return pathName{}
		}
		if types, ok := g.results[id]; ok && i < len(types) {
			return types[i]
		}
	}
	if i > 0 {
		return pathName{}
	}
	return g.called(g.pathOf(call.Fun))
}

// pathOf returns the path of an expression: names with dots, and calls.
func (g *goNames) pathOf(e ast.Expr) (path pathName) {
	if !g.descend() {
		return pathName{}
	}
	defer g.ascend()
	switch e := e.(type) {
	case *ast.Ident:
		return singleName(g.idOf(e.Name))
	case *ast.SelectorExpr:
		return g.memberPath(g.pathOf(e.X), ".", []byte(e.Sel.Name))
	case *ast.CallExpr, *ast.ParenExpr, *ast.UnaryExpr, *ast.CompositeLit, *ast.TypeAssertExpr:
		return g.valueType(e)
	}
	return pathName{}
}

func (g *goNames) stmts(list []ast.Stmt) {
	for _, s := range list {
		g.stmt(s)
	}
}

func (g *goNames) block(b *ast.BlockStmt) {
	if b != nil {
		g.within(false, func() { g.stmts(b.List) })
	}
}

func (g *goNames) stmt(s ast.Stmt) {
	if s == nil || !g.descend() {
		return
	}
	defer g.ascend()
	switch s := s.(type) {
	case *ast.BlockStmt:
		g.block(s)
	case *ast.ExprStmt:
		g.expr(s.X, mentionKind)
	case *ast.AssignStmt:
		g.assign(s)
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok {
			g.genDecl(d, true)
		}
	case *ast.ReturnStmt:
		g.exprs(s.Results)
	case *ast.DeferStmt:
		g.expr(s.Call, mentionKind)
	case *ast.GoStmt:
		g.expr(s.Call, mentionKind)
	case *ast.SendStmt:
		g.expr(s.Chan, mentionKind)
		g.expr(s.Value, mentionKind)
	case *ast.IncDecStmt:
		g.expr(s.X, mentionKind)
	case *ast.LabeledStmt:
		g.stmt(s.Stmt)
	case *ast.IfStmt:
		g.within(false, func() {
			g.stmt(s.Init)
			g.expr(s.Cond, mentionKind)
			g.block(s.Body)
			g.stmt(s.Else)
		})
	case *ast.ForStmt:
		g.within(false, func() {
			g.stmt(s.Init)
			g.expr(s.Cond, mentionKind)
			g.stmt(s.Post)
			g.block(s.Body)
		})
	case *ast.RangeStmt:
		g.within(false, func() {
			g.expr(s.X, mentionKind)
			g.targets(s.Tok, s.Key, s.Value)
			g.block(s.Body)
		})
	case *ast.SwitchStmt:
		g.within(false, func() {
			g.stmt(s.Init)
			g.expr(s.Tag, mentionKind)
			g.clauses(s.Body, matchKind)
		})
	case *ast.TypeSwitchStmt:
		g.within(false, func() {
			g.stmt(s.Init)
			g.stmt(s.Assign)
			g.clauses(s.Body, matchKind)
		})
	case *ast.SelectStmt:
		g.clauses(s.Body, mentionKind)
	}
}

// clauses walks the cases of a switch or select.
func (g *goNames) clauses(body *ast.BlockStmt, kind kindCode) {
	if body == nil {
		return
	}
	for _, s := range body.List {
		switch clause := s.(type) {
		case *ast.CaseClause:
			for _, e := range clause.List {
				g.expr(e, kind)
			}
			g.within(false, func() { g.stmts(clause.Body) })
		case *ast.CommClause:
			g.within(false, func() {
				g.stmt(clause.Comm)
				g.stmts(clause.Body)
			})
		}
	}
}

// assign walks an assignment. Names declared on the left are not visible on the right.
func (g *goNames) assign(s *ast.AssignStmt) {
	g.exprs(s.Rhs)
	if s.Tok != token.DEFINE {
		g.exprs(s.Lhs)
		return
	}
	for i, left := range s.Lhs {
		name, ok := left.(*ast.Ident)
		if !ok {
			g.expr(left, mentionKind)
			continue
		}
		var typ pathName
		if len(s.Lhs) == len(s.Rhs) {
			typ = g.valueType(s.Rhs[i])
		} else if call, ok := s.Rhs[0].(*ast.CallExpr); ok {
			typ = g.resultType(call, i)
		} else if i == 0 {
			typ = g.valueType(s.Rhs[0])
		}
		g.bind(g.idOf(name.Name), typ)
	}
}

// targets walks the variables of a range.
func (g *goNames) targets(tok token.Token, list ...ast.Expr) {
	for _, e := range list {
		if e == nil {
			continue
		}
		if name, ok := e.(*ast.Ident); ok && tok == token.DEFINE {
			g.bind(g.idOf(name.Name), pathName{})
		} else {
			g.expr(e, mentionKind)
		}
	}
}

func (g *goNames) exprs(list []ast.Expr) {
	for _, e := range list {
		g.expr(e, mentionKind)
	}
}

func (g *goNames) typ(e ast.Expr) { g.expr(e, typeKind) }

// expr walks an expression or a type.
func (g *goNames) expr(e ast.Expr, kind kindCode) {
	if e == nil || !g.descend() {
		return
	}
	defer g.ascend()
	switch e := e.(type) {
	case *ast.Ident:
		g.mention(g.idOf(e.Name), g.offset(e.Pos()), kind)
	case *ast.SelectorExpr:
		g.selector(e, kind)
	case *ast.CallExpr:
		g.call(e)
	case *ast.CompositeLit:
		g.literal(e, nil)
	case *ast.FuncLit:
		g.within(true, func() {
			g.funcType(e.Type)
			if e.Body != nil {
				g.stmts(e.Body.List)
			}
		})
	case *ast.ParenExpr:
		g.expr(e.X, kind)
	case *ast.StarExpr:
		g.expr(e.X, kind)
	case *ast.UnaryExpr:
		if kind != typeKind && kind != matchKind {
			kind = mentionKind
		}
		g.expr(e.X, kind)
	case *ast.BinaryExpr:
		if kind != typeKind && kind != matchKind {
			kind = mentionKind
		}
		g.expr(e.X, kind)
		g.expr(e.Y, kind)
	case *ast.IndexExpr:
		g.expr(e.X, kind)
		g.expr(e.Index, indexKind(kind))
	case *ast.IndexListExpr:
		g.expr(e.X, kind)
		for _, t := range e.Indices {
			g.typ(t)
		}
	case *ast.SliceExpr:
		g.expr(e.X, mentionKind)
		g.expr(e.Low, mentionKind)
		g.expr(e.High, mentionKind)
		g.expr(e.Max, mentionKind)
	case *ast.TypeAssertExpr:
		g.expr(e.X, mentionKind)
		g.typ(e.Type)
	case *ast.KeyValueExpr:
		g.expr(e.Key, mentionKind)
		g.expr(e.Value, mentionKind)
	case *ast.Ellipsis:
		g.typ(e.Elt)
	case *ast.ArrayType:
		g.expr(e.Len, mentionKind)
		g.typ(e.Elt)
	case *ast.MapType:
		g.typ(e.Key)
		g.typ(e.Value)
	case *ast.ChanType:
		g.typ(e.Value)
	case *ast.FuncType:
		g.within(false, func() { g.funcType(e) })
	case *ast.StructType: // an unnamed type
		g.fieldList(e.Fields)
		if e.Fields != nil {
			for _, field := range e.Fields.List {
				for _, name := range field.Names {
					g.parts[g.idOf(name.Name)] = true
				}
			}
		}
	case *ast.InterfaceType:
		g.fieldList(e.Methods)
	}
}

// indexKind returns how a name between brackets is used: T in Set[T] is a type if Set is a type.
func indexKind(kind kindCode) kindCode {
	if kind == typeKind || kind == literalKind {
		return typeKind
	}
	return mentionKind
}

func (g *goNames) fieldList(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		g.typ(field.Type)
	}
}

// call walks a call. The first argument of new and make is a type.
func (g *goNames) call(e *ast.CallExpr) {
	args := e.Args
	if f, ok := e.Fun.(*ast.Ident); ok && len(args) > 0 {
		switch f.Name {
		case "new":
			g.expr(args[0], literalKind)
			args = args[1:]
		case "make":
			g.typ(args[0])
			args = args[1:]
		}
	}
	g.expr(e.Fun, callKind)
	g.exprs(args)
}

// literal walks a composite literal. A nested literal may omit its type.
func (g *goNames) literal(e *ast.CompositeLit, elided ast.Expr) {
	typ := elided
	if e.Type != nil {
		typ = e.Type
		g.literalType(e)
	}
	if star, ok := typ.(*ast.StarExpr); ok && e.Type == nil {
		typ = star.X
	}
	var key, value ast.Expr // types of its elements, if they are known
	fields := true
	switch t := typ.(type) {
	case *ast.ArrayType:
		fields, value = false, t.Elt
	case *ast.MapType:
		fields = false
		key = t.Key
		value = t.Value
	}
	for _, element := range e.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			g.element(element, value)
			continue
		}
		if name, ok := pair.Key.(*ast.Ident); ok && fields {
			owner := g.typeOf(typ)
			g.member(owner, g.idOf(name.Name), g.offset(name.Pos()), mentionKind)
		} else {
			g.element(pair.Key, key)
		}
		g.element(pair.Value, value)
	}
}

// literalType walks the type of a literal. If an element omits its type, the element type counts as a
// literal as well.
func (g *goNames) literalType(e *ast.CompositeLit) {
	list, ok := e.Type.(*ast.ArrayType)
	if !ok || !slices.ContainsFunc(e.Elts, isElided) {
		g.expr(e.Type, literalKind)
		return
	}
	g.expr(list.Len, mentionKind)
	g.expr(list.Elt, literalKind)
}

// isElided reports whether e is a literal without a type.
func isElided(e ast.Expr) bool {
	if pair, ok := e.(*ast.KeyValueExpr); ok {
		e = pair.Value
	}
	lit, ok := e.(*ast.CompositeLit)
	return ok && lit.Type == nil
}

func (g *goNames) element(e, typ ast.Expr) {
	lit, ok := e.(*ast.CompositeLit)
	if !ok || lit.Type != nil {
		g.expr(e, mentionKind)
		return
	}
	if g.descend() {
		g.literal(lit, typ)
		g.ascend()
	}
}

// selector walks a chain of names with dots.
func (g *goNames) selector(e *ast.SelectorExpr, kind kindCode) {
	var few [8]*ast.Ident
	chain := append(few[:0], e.Sel)
	x := e.X
	for {
		inner, ok := x.(*ast.SelectorExpr)
		if !ok {
			break
		}
		chain = append(chain, inner.Sel)
		x = inner.X
	}
	var before pathName
	if name, ok := x.(*ast.Ident); ok {
		before = singleName(g.idOf(name.Name))
	} else {
		before = g.valueType(x)
		g.expr(x, mentionKind)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		if chain[i].Name == "_" { // the parser found no name
			return
		}
		name, at := chain[i].Name, g.offset(chain[i].Pos())
		if i == 0 {
			g.member(before, g.idOf(name), at, kind)
		} else {
			before = g.step(before, ".", []byte(name), at, mentionKind)
		}
	}
}
