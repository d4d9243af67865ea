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
func (c *goNames) bindTop(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			c.bindAll(c.idOf(d.Name.Name), pathName{})
			c.resultTypes(d)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				c.bindAll(c.idOf(s.Name.Name), pathName{})
				c.fieldTypes(s)
			case *ast.ValueSpec:
				for i, name := range s.Names {
					c.bindAll(c.idOf(name.Name), c.specType(s, i))
				}
			}
		}
	}
}

// resultTypes records the result types of a function.
func (c *goNames) resultTypes(d *ast.FuncDecl) {
	if d.Type.Results == nil {
		return
	}
	var types []pathName
	for _, field := range d.Type.Results.List {
		typ := c.typeBut(d.Type.TypeParams, field.Type)
		for range max(1, len(field.Names)) {
			types = append(types, typ)
		}
	}
	c.results[c.idOf(d.Name.Name)] = types
}

// fieldTypes records the field types of a struct.
func (c *goNames) fieldTypes(s *ast.TypeSpec) {
	t, ok := s.Type.(*ast.StructType)
	if !ok || t.Fields == nil {
		return
	}
	owner := singleName(c.idOf(s.Name.Name))
	for _, field := range t.Fields.List {
		typ := c.typeBut(s.TypeParams, field.Type)
		for _, name := range field.Names {
			c.field(owner, ".", []byte(name.Name), typ)
		}
		if len(field.Names) == 0 && typ.path != 0 { // embedded
			text := c.texts[typ.path]
			c.field(owner, ".", []byte(text[strings.LastIndexByte(text, '.')+1:]), typ)
		}
	}
}

// typeBut is like typeOf, but returns none for a type parameter.
func (c *goNames) typeBut(params *ast.FieldList, e ast.Expr) pathName {
	typ := c.typeOf(e)
	if params == nil {
		return typ
	}
	for _, field := range params.List {
		for _, name := range field.Names {
			if typ.path == c.idOf(name.Name) {
				return pathName{}
			}
		}
	}
	return typ
}

// dropParts drops members of unknown values that have the name of a field of an unnamed type, such as a test
// table.
func (c *goNames) dropParts() {
	c.pending = slices.DeleteFunc(c.pending, func(m mention) bool { return m.member && m.before.path == 0 && c.parts[m.name] })
}

// specType returns the type of variable i in a declaration, if it is known.
func (c *goNames) specType(s *ast.ValueSpec, i int) pathName {
	if s.Type == nil && len(s.Names) == len(s.Values) {
		return c.valueType(s.Values[i])
	}
	return c.typeOf(s.Type)
}

// importSpecs adds the imports. An import path does not contain the package name, so it is guessed from the
// path and from the qualifiers in the file.
func (c *goNames) importSpecs(tree *ast.File) {
	qualifiers := make(map[string]bool)
	for _, m := range c.pending {
		if m.before.root != 0 {
			qualifiers[c.texts[m.before.root]] = true
		}
	}
	for _, spec := range tree.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		at := c.offset(spec.Pos())
		switch {
		case spec.Name == nil:
			c.imports(path, at, Binding{As: goPackageName(path, qualifiers)})
		case spec.Name.Name == "_":
			c.imports(path, at)
		case spec.Name.Name == ".":
			c.imports(path, at, Binding{Name: "*"})
		default:
			c.imports(path, at, Binding{As: spec.Name.Name})
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

func (c *goNames) decl(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		c.within(true, func() {
			if d.Recv != nil {
				c.receiver(d.Recv)
			}
			c.funcType(d.Type)
			if d.Body != nil {
				c.stmts(d.Body.List)
			}
		})
	case *ast.GenDecl:
		c.genDecl(d, false)
	}
}

// receiver binds the receiver of a method and its type parameters.
func (c *goNames) receiver(list *ast.FieldList) {
	for _, field := range list.List {
		typ := field.Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		switch t := typ.(type) {
		case *ast.IndexExpr:
			c.bindExpr(t.Index)
		case *ast.IndexListExpr:
			for _, p := range t.Indices {
				c.bindExpr(p)
			}
		}
	}
	c.params(list)
}

func (c *goNames) bindExpr(e ast.Expr) {
	if name, ok := e.(*ast.Ident); ok {
		c.bindAll(c.idOf(name.Name), pathName{})
	}
}

// genDecl walks a declaration of types, constants or variables.
func (c *goNames) genDecl(d *ast.GenDecl, local bool) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if local {
				c.bind(c.idOf(s.Name.Name), pathName{})
			}
			c.within(false, func() {
				c.typeParams(s.TypeParams)
				if t, ok := s.Type.(*ast.StructType); ok && !local {
					c.fieldList(t.Fields)
				} else {
					c.typ(s.Type)
				}
			})
		case *ast.ValueSpec:
			if s.Type != nil {
				c.typ(s.Type)
			}
			c.exprs(s.Values)
			if !local {
				continue
			}
			for i, name := range s.Names {
				c.bind(c.idOf(name.Name), c.specType(s, i))
			}
		}
	}
}

// typeParams binds type parameters. A constraint may use any of them.
func (c *goNames) typeParams(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			c.bindAll(c.idOf(name.Name), pathName{})
		}
	}
	for _, field := range list.List {
		c.typ(field.Type)
	}
}

// funcType walks a signature and binds its names.
func (c *goNames) funcType(t *ast.FuncType) {
	c.typeParams(t.TypeParams)
	c.params(t.Params)
	c.params(t.Results)
}

func (c *goNames) params(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		c.typ(field.Type)
	}
	for _, field := range list.List {
		typ := c.typeOf(field.Type)
		for _, name := range field.Names {
			c.bind(c.idOf(name.Name), typ)
		}
	}
}

// typeOf returns the type name of a type expression, without pointers.
func (c *goNames) typeOf(e ast.Expr) pathName {
	switch t := namedType(e).(type) {
	case *ast.Ident:
		id := c.idOf(t.Name)
		if c.isLocal(id) {
			return pathName{} // a local type, or a type parameter
		}
		return singleName(id)
	case *ast.SelectorExpr:
		pkg, ok := t.X.(*ast.Ident)
		if !ok {
			return pathName{}
		}
		root := c.idOf(pkg.Name)
		return c.join(singleName(root), ".", []byte(t.Sel.Name))
	default:
		return pathName{}
	}
}

// valueType returns the type of an expression that names it: T{}, &T{}, new(T), x.(T), or a call of a
// function in the file.
func (c *goNames) valueType(e ast.Expr) pathName {
	switch v := e.(type) {
	case *ast.CompositeLit:
		return c.typeOf(v.Type)
	case *ast.ParenExpr:
		return c.valueType(v.X)
	case *ast.UnaryExpr:
		if lit, ok := v.X.(*ast.CompositeLit); ok && v.Op == token.AND {
			return c.typeOf(lit.Type)
		}
	case *ast.CallExpr:
		if f, ok := v.Fun.(*ast.Ident); ok && f.Name == "new" && len(v.Args) == 1 {
			return c.typeOf(v.Args[0])
		}
		return c.resultType(v, 0)
	case *ast.TypeAssertExpr:
		return c.typeOf(v.Type)
	}
	return pathName{}
}

// resultType returns the type of result i of a call, if the file declares the function.
func (c *goNames) resultType(call *ast.CallExpr, i int) pathName {
	f, ok := call.Fun.(*ast.Ident)
	if !ok {
		return pathName{}
	}
	id := c.idOf(f.Name)
	if types := c.results[id]; i < len(types) && !c.isLocal(id) {
		return types[i]
	}
	return pathName{}
}

func (c *goNames) stmts(list []ast.Stmt) {
	for _, s := range list {
		c.stmt(s)
	}
}

func (c *goNames) block(b *ast.BlockStmt) {
	if b != nil {
		c.within(false, func() { c.stmts(b.List) })
	}
}

func (c *goNames) stmt(s ast.Stmt) {
	if s == nil || !c.descend() {
		return
	}
	defer c.ascend()
	switch s := s.(type) {
	case *ast.BlockStmt:
		c.block(s)
	case *ast.ExprStmt:
		c.expr(s.X, mentionKind)
	case *ast.AssignStmt:
		c.assign(s)
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok {
			c.genDecl(d, true)
		}
	case *ast.ReturnStmt:
		c.exprs(s.Results)
	case *ast.DeferStmt:
		c.expr(s.Call, mentionKind)
	case *ast.GoStmt:
		c.expr(s.Call, mentionKind)
	case *ast.SendStmt:
		c.expr(s.Chan, mentionKind)
		c.expr(s.Value, mentionKind)
	case *ast.IncDecStmt:
		c.expr(s.X, mentionKind)
	case *ast.LabeledStmt:
		c.stmt(s.Stmt)
	case *ast.IfStmt:
		c.within(false, func() {
			c.stmt(s.Init)
			c.expr(s.Cond, mentionKind)
			c.block(s.Body)
			c.stmt(s.Else)
		})
	case *ast.ForStmt:
		c.within(false, func() {
			c.stmt(s.Init)
			c.expr(s.Cond, mentionKind)
			c.stmt(s.Post)
			c.block(s.Body)
		})
	case *ast.RangeStmt:
		c.within(false, func() {
			c.expr(s.X, mentionKind)
			c.targets(s.Tok, s.Key, s.Value)
			c.block(s.Body)
		})
	case *ast.SwitchStmt:
		c.within(false, func() {
			c.stmt(s.Init)
			c.expr(s.Tag, mentionKind)
			c.clauses(s.Body, matchKind)
		})
	case *ast.TypeSwitchStmt:
		c.within(false, func() {
			c.stmt(s.Init)
			c.stmt(s.Assign)
			c.clauses(s.Body, matchKind)
		})
	case *ast.SelectStmt:
		c.clauses(s.Body, mentionKind)
	}
}

// clauses walks the cases of a switch or select.
func (c *goNames) clauses(body *ast.BlockStmt, kind kindCode) {
	if body == nil {
		return
	}
	for _, s := range body.List {
		switch clause := s.(type) {
		case *ast.CaseClause:
			for _, e := range clause.List {
				c.expr(e, kind)
			}
			c.within(false, func() { c.stmts(clause.Body) })
		case *ast.CommClause:
			c.within(false, func() {
				c.stmt(clause.Comm)
				c.stmts(clause.Body)
			})
		}
	}
}

// assign walks an assignment. Names declared on the left are not visible on the right.
func (c *goNames) assign(s *ast.AssignStmt) {
	c.exprs(s.Rhs)
	if s.Tok != token.DEFINE {
		c.exprs(s.Lhs)
		return
	}
	for i, left := range s.Lhs {
		name, ok := left.(*ast.Ident)
		if !ok {
			c.expr(left, mentionKind)
			continue
		}
		var typ pathName
		if len(s.Lhs) == len(s.Rhs) {
			typ = c.valueType(s.Rhs[i])
		} else if call, ok := s.Rhs[0].(*ast.CallExpr); ok {
			typ = c.resultType(call, i)
		} else if i == 0 {
			typ = c.valueType(s.Rhs[0])
		}
		c.bind(c.idOf(name.Name), typ)
	}
}

// targets walks the variables of a range.
func (c *goNames) targets(tok token.Token, list ...ast.Expr) {
	for _, e := range list {
		if e == nil {
			continue
		}
		if name, ok := e.(*ast.Ident); ok && tok == token.DEFINE {
			c.bind(c.idOf(name.Name), pathName{})
		} else {
			c.expr(e, mentionKind)
		}
	}
}

func (c *goNames) exprs(list []ast.Expr) {
	for _, e := range list {
		c.expr(e, mentionKind)
	}
}

func (c *goNames) typ(e ast.Expr) { c.expr(e, typeKind) }

// expr walks an expression or a type.
func (c *goNames) expr(e ast.Expr, kind kindCode) {
	if e == nil || !c.descend() {
		return
	}
	defer c.ascend()
	switch e := e.(type) {
	case *ast.Ident:
		c.mention(c.idOf(e.Name), c.offset(e.Pos()), kind)
	case *ast.SelectorExpr:
		c.selector(e, kind)
	case *ast.CallExpr:
		c.call(e)
	case *ast.CompositeLit:
		c.literal(e, nil)
	case *ast.FuncLit:
		c.within(true, func() {
			c.funcType(e.Type)
			if e.Body != nil {
				c.stmts(e.Body.List)
			}
		})
	case *ast.ParenExpr:
		c.expr(e.X, kind)
	case *ast.StarExpr:
		c.expr(e.X, kind)
	case *ast.UnaryExpr:
		if kind != typeKind && kind != matchKind {
			kind = mentionKind
		}
		c.expr(e.X, kind)
	case *ast.BinaryExpr:
		if kind != typeKind && kind != matchKind {
			kind = mentionKind
		}
		c.expr(e.X, kind)
		c.expr(e.Y, kind)
	case *ast.IndexExpr:
		c.expr(e.X, kind)
		c.expr(e.Index, indexKind(kind))
	case *ast.IndexListExpr:
		c.expr(e.X, kind)
		for _, t := range e.Indices {
			c.typ(t)
		}
	case *ast.SliceExpr:
		c.expr(e.X, mentionKind)
		c.expr(e.Low, mentionKind)
		c.expr(e.High, mentionKind)
		c.expr(e.Max, mentionKind)
	case *ast.TypeAssertExpr:
		c.expr(e.X, mentionKind)
		c.typ(e.Type)
	case *ast.KeyValueExpr:
		c.expr(e.Key, mentionKind)
		c.expr(e.Value, mentionKind)
	case *ast.Ellipsis:
		c.typ(e.Elt)
	case *ast.ArrayType:
		c.expr(e.Len, mentionKind)
		c.typ(e.Elt)
	case *ast.MapType:
		c.typ(e.Key)
		c.typ(e.Value)
	case *ast.ChanType:
		c.typ(e.Value)
	case *ast.FuncType:
		c.within(false, func() { c.funcType(e) })
	case *ast.StructType: // an unnamed type
		c.fieldList(e.Fields)
		if e.Fields != nil {
			for _, field := range e.Fields.List {
				for _, name := range field.Names {
					c.parts[c.idOf(name.Name)] = true
				}
			}
		}
	case *ast.InterfaceType:
		c.fieldList(e.Methods)
	}
}

// indexKind returns how a name between brackets is used: T in Set[T] is a type if Set is a type.
func indexKind(kind kindCode) kindCode {
	if kind == typeKind || kind == literalKind {
		return typeKind
	}
	return mentionKind
}

func (c *goNames) fieldList(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		c.typ(field.Type)
	}
}

// call walks a call. The first argument of new and make is a type.
func (c *goNames) call(e *ast.CallExpr) {
	args := e.Args
	if f, ok := e.Fun.(*ast.Ident); ok && len(args) > 0 {
		switch f.Name {
		case "new":
			c.expr(args[0], literalKind)
			args = args[1:]
		case "make":
			c.typ(args[0])
			args = args[1:]
		}
	}
	c.expr(e.Fun, callKind)
	c.exprs(args)
}

// literal walks a composite literal. A nested literal may omit its type.
func (c *goNames) literal(e *ast.CompositeLit, elided ast.Expr) {
	typ := elided
	if e.Type != nil {
		typ = e.Type
		c.literalType(e)
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
			c.element(element, value)
			continue
		}
		if name, ok := pair.Key.(*ast.Ident); ok && fields {
			owner := c.typeOf(typ)
			c.member(owner, c.idOf(name.Name), c.offset(name.Pos()), mentionKind)
		} else {
			c.element(pair.Key, key)
		}
		c.element(pair.Value, value)
	}
}

// literalType walks the type of a literal. If an element omits its type, the element type counts as a
// literal as well.
func (c *goNames) literalType(e *ast.CompositeLit) {
	list, ok := e.Type.(*ast.ArrayType)
	if !ok || !slices.ContainsFunc(e.Elts, isElided) {
		c.expr(e.Type, literalKind)
		return
	}
	c.expr(list.Len, mentionKind)
	c.expr(list.Elt, literalKind)
}

// isElided reports whether e is a literal without a type.
func isElided(e ast.Expr) bool {
	if pair, ok := e.(*ast.KeyValueExpr); ok {
		e = pair.Value
	}
	lit, ok := e.(*ast.CompositeLit)
	return ok && lit.Type == nil
}

func (c *goNames) element(e, typ ast.Expr) {
	lit, ok := e.(*ast.CompositeLit)
	if !ok || lit.Type != nil {
		c.expr(e, mentionKind)
		return
	}
	if c.descend() {
		c.literal(lit, typ)
		c.ascend()
	}
}

// selector walks a chain of names with dots.
func (c *goNames) selector(e *ast.SelectorExpr, kind kindCode) {
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
		before = singleName(c.idOf(name.Name))
	} else {
		before = c.valueType(x)
		c.expr(x, mentionKind)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		if chain[i].Name == "_" { // the parser found no name
			return
		}
		name, at := chain[i].Name, c.offset(chain[i].Pos())
		if i == 0 {
			c.member(before, c.idOf(name), at, kind)
		} else {
			before = c.step(before, ".", []byte(name), at, mentionKind)
		}
	}
}
