package outline

import (
	"fmt"
	"strings"

	"ken/internal/outline/syntax"
)

// script visits a node of JavaScript or TypeScript.
func (t *treeNames) script(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern":
		t.mentionNode(n, kind)
	case "type_identifier":
		if kind != literalKind {
			kind = typeKind
		}
		t.mentionNode(n, kind)
	case "comment", "string", "number", "regex", "property_identifier", "private_property_identifier", "statement_identifier",
		"predefined_type", "meta_property", "literal_type", "jsx_closing_element", "this", "super", "jsx_text", "html_comment":
		// These nodes have no names.
	case "member_expression", "nested_identifier", "nested_type_identifier":
		t.scriptPath(n, kind)
	case "call_expression":
		t.scriptCall(n)
	case "new_expression":
		t.childAs(n, "constructor", literalKind)
	case "decorator":
		t.childrenAs(n, callKind)
	case "parenthesized_expression", "non_null_expression":
		t.childrenAs(n, kind)
	case "import_statement":
		t.scriptImport(n)
	case "export_statement":
		t.scriptExport(n)
	case "variable_declarator":
		t.scriptVariable(n, t.bindAll)
	case "variable_declaration":
		for _, d := range t.each(n) {
			if d.Type() == "variable_declarator" {
				t.scriptVariable(d, t.bindFunction)
			}
		}
	case "function_declaration", "generator_function_declaration", "function_signature":
		t.bindAll(t.idOfNode(n.Child("name")), pathName{})
		t.scriptFunction(n)
	case "function_expression", "generator_function", "function", "arrow_function", "method_definition", "method_signature",
		"abstract_method_signature", "call_signature", "construct_signature", "function_type", "constructor_type":
		t.scriptFunction(n)
	case "class_declaration", "abstract_class_declaration", "class":
		t.scriptClass(n)
	case "class_heritage", "extends_clause", "implements_clause", "extends_type_clause":
		t.childrenAs(n, typeKind)
	case "interface_declaration", "type_alias_declaration", "enum_declaration", "module", "internal_module":
		if name := n.Child("name"); name.Type() != "string" {
			t.bindAll(t.idOfNode(name), pathName{})
		}
		t.within(false, func() {
			if n.Type() == "interface_declaration" {
				t.bindParams(n.Child("type_parameters"))
				t.scriptFields(singleName(t.idOfNode(n.Child("name"))), n.Child("body"))
			}
			t.except(n, "name")
		})
	case "type_parameter":
		t.bindAll(t.idOfNode(n.Child("name")), pathName{})
		t.except(n, "name")
	case "mapped_type_clause":
		t.bindAll(t.idOfNode(n.Child("name")), pathName{})
		t.except(n, "name")
	case "infer_type":
		at := len(t.scopes) - 1
		for at > 0 && !t.scopes[at].conditional {
			at--
		}
		t.bindIn(at, t.idOfNode(n.First("type_identifier")), t.scopes[at].from, pathName{})
	case "conditional_type":
		t.within(false, func() {
			t.scopes[len(t.scopes)-1].conditional = true
			t.children(n)
		})
	case "object_type", "statement_block", "for_statement", "switch_body", "class_static_block":
		t.scope(n)
	case "index_signature", "type_predicate", "labeled_statement", "required_parameter", "optional_parameter": // of a tuple
		t.except(n, "name", "label")
	case "enum_assignment":
		t.except(n, "name")
	case "switch_case":
		t.childAs(n, "value", matchKind)
	case "for_in_statement":
		t.scriptForIn(n)
	case "catch_clause":
		t.within(false, func() {
			t.scriptPattern(n.Child("parameter"), t.bindAll, pathName{})
			t.except(n, "parameter")
		})
	case "assignment_expression", "augmented_assignment_expression":
		left := n.Child("left")
		if left.Type() == "member_expression" && left.Child("object").Type() == "this" {
			t.assigned(left.Child("property"))
		}
		t.scriptExportedBy(left, n.Child("right"))
		t.children(n)
	case "jsx_opening_element", "jsx_self_closing_element":
		t.scriptElement(n)
	default:
		t.children(n)
	}
}

// isScriptBuiltin reports whether JavaScript or its usual hosts predeclare a name.
func isScriptBuiltin(name string) bool {
	switch name {
	case "AbortController", "AbortSignal", "Array", "ArrayBuffer", "Awaited", "BigInt", "Blob", "Boolean", "Buffer", "Date", "Error", "Event",
		"EventTarget", "Exclude", "Extract", "File", "FormData", "Function", "Headers", "Infinity", "InstanceType", "Intl", "Iterable",
		"Iterator", "AsyncIterable", "AsyncGenerator", "Generator", "JSON", "Map", "Math", "NaN", "NonNullable", "Number", "Object",
		"Omit", "Parameters", "Partial", "Pick", "Promise", "PromiseLike", "Proxy", "RangeError", "Readonly", "ReadonlyArray",
		"ReadableStream", "Record", "ReferenceError", "Reflect", "RegExp", "Request", "Required", "Response", "ReturnType", "Set",
		"String", "Symbol", "SyntaxError", "TextDecoder", "TextEncoder", "TypeError", "URL", "URLSearchParams", "Uint8Array",
		"WeakMap", "WeakSet", "WebSocket", "__dirname", "__filename", "alert", "arguments", "atob", "await", "bigint", "btoa", "clearInterval",
		"clearTimeout", "console", "const", "crypto", "decodeURIComponent", "document", "encodeURIComponent", "exports", "fetch",
		"global", "globalThis", "isNaN", "isFinite", "localStorage", "module", "navigator", "parseFloat", "parseInt", "process",
		"queueMicrotask", "require", "setInterval", "setImmediate", "setTimeout", "structuredClone", "undefined", "window",
		"HTMLElement", "Element", "Node", "ThisType", "Uppercase", "Lowercase", "Capitalize", "ConstructorParameters":
		return true
	}
	return false
}

// isScriptMember reports whether arrays, strings or promises have a member.
func isScriptMember(name string) bool {
	switch name {
	case "apply", "bind", "call", "catch", "charAt", "charCodeAt", "concat", "constructor", "endsWith", "every", "filter", "finally", "find",
		"findIndex", "flat", "flatMap", "forEach", "hasOwnProperty", "includes", "indexOf", "join", "lastIndexOf", "length", "map",
		"padEnd", "padStart", "pop", "prototype", "push", "reduce", "repeat", "replace", "replaceAll", "reverse",
		"shift", "slice", "some", "sort", "splice", "split", "startsWith", "substr", "substring", "then", "toFixed",
		"toLocaleString", "toLowerCase", "toString", "toUpperCase", "trim", "trimEnd", "trimStart", "unshift", "valueOf":
		return true
	}
	return false
}

// scriptPath walks a chain of names with dots and returns it.
func (t *treeNames) scriptPath(n syntax.Node, kind kindCode) (path pathName) {
	if !t.descend() {
		return pathName{}
	}
	defer t.ascend()
	for _, child := range t.each(n) {
		switch child.Field() {
		case "object", "module":
			switch child.Type() {
			case "identifier":
				path = singleName(t.idOfNode(child))
			case "this":
				path = t.class
			case "super":
				path = t.ofValue(t.base)
			case "new_expression":
				t.visit(child, mentionKind)
				path = t.ofValue(t.scriptType(child.Child("constructor")))
			case "member_expression", "nested_identifier":
				path = t.scriptPath(child, mentionKind)
			case "call_expression", "parenthesized_expression":
				if !isScriptMember(t.text(n.Child("property"))) { // then is one of the promise
					path = t.scriptModulePath(child)
				}
				if path.root == 0 {
					t.visit(child, mentionKind)
					path = t.ofValue(t.valueOf(child))
				}
			default:
				t.visit(child, mentionKind)
			}
		case "property", "name":
			if child.Type() == "private_property_identifier" {
				return pathName{}
			}
			if n.Type() == "nested_type_identifier" && kind != literalKind {
				kind = typeKind
			}
			return t.stepNode(path, child, kind)
		}
	}
	return pathName{}
}

// scriptCall walks a call. Some calls import a module.
func (t *treeNames) scriptCall(n syntax.Node) {
	if module := t.scriptRequired(n); module != "" {
		t.imports(module, n.Start())
	}
	t.childAs(n, "function", callKind)
}

// scriptModulePath adds the import of a module that an expression is, as in typeof import("m").name and
// (await import("m")).name, and returns the path for its members. The import binds a name that no code can have.
func (t *treeNames) scriptModulePath(n syntax.Node) pathName {
	if n.Type() == "parenthesized_expression" {
		n = n.First("await_expression").First("call_expression")
	}
	if n.Type() != "call_expression" {
		return pathName{}
	}
	module := t.scriptRequired(n)
	if module == "" {
		return pathName{}
	}
	local := fmt.Sprintf("import#%d", len(t.found))
	t.imports(module, n.Start(), Binding{As: local})
	return singleName(t.idOf(local))
}

// scriptRequired returns the module that a call imports: require, import() and similar calls of test
// runners.
func (t *treeNames) scriptRequired(call syntax.Node) string {
	function := call.Child("function")
	if function.End()-function.Start() > 40 { // longer than any of them
		return ""
	}
	switch function.Type() {
	case "import":
	case "identifier":
		if string(t.bytes(function)) != "require" {
			return ""
		}
	case "member_expression":
		switch t.text(function) {
		case "require.resolve", "jest.mock", "jest.doMock", "jest.unmock", "jest.requireActual", "jest.requireMock",
			"vi.mock", "vi.doMock", "vi.unmock", "vi.importActual", "vi.importMock":
		default:
			return ""
		}
	default:
		return ""
	}
	for _, arg := range call.Child("arguments").Children() {
		if !arg.Named() || isComment(arg.Type()) {
			continue
		}
		if arg.Type() == "string" {
			return unquote(t.text(arg))
		}
		if arg.Type() == "template_string" && arg.First("template_substitution").IsZero() {
			return unquote(t.text(arg))
		}
		return ""
	}
	return ""
}

// scriptElement walks a JSX element. A lower-case element is HTML.
func (t *treeNames) scriptElement(n syntax.Node) {
	for _, child := range t.each(n) {
		if child.Field() != "name" {
			t.visit(child, mentionKind)
			continue
		}
		first := t.src[child.Start()]
		if child.Type() != "identifier" || first < 'a' || first > 'z' {
			t.visit(child, callKind)
		}
	}
}

// scriptImport adds the imports of an import statement.
func (t *treeNames) scriptImport(n syntax.Node) {
	source := n.Child("source")
	var names []Binding
	for _, child := range n.Children() {
		switch child.Type() {
		case "import_clause":
			names = t.scriptImported(child)
		case "import_require_clause": // import x = require("m")
			source = child.Child("source")
			if name := child.First("identifier"); !name.IsZero() {
				names = append(names, Binding{As: t.text(name)})
			}
		}
	}
	t.imports(unquote(t.text(source)), n.Start(), names...)
}

func (t *treeNames) scriptImported(clause syntax.Node) (names []Binding) {
	for _, child := range clause.Children() {
		switch child.Type() {
		case "identifier":
			names = append(names, Binding{Name: "default", As: t.text(child)})
		case "namespace_import":
			names = append(names, Binding{As: t.text(child.First("identifier"))})
		case "named_imports":
			for _, spec := range child.Children() {
				if spec.Type() == "import_specifier" {
					names = append(names, t.scriptSpecifier(spec))
				}
			}
		}
	}
	return names
}

// scriptSpecifier returns one name of an import or export clause.
func (t *treeNames) scriptSpecifier(spec syntax.Node) Binding {
	b := Binding{Name: unquote(t.text(spec.Child("name"))), As: unquote(t.text(spec.Child("alias")))}
	if b.As == b.Name {
		b.As = ""
	}
	return b
}

// scriptExport walks an export of a declaration, of names, or of another module's names.
func (t *treeNames) scriptExport(n syntax.Node) {
	source := n.Child("source")
	isDefault := false
	var names []Binding
	for _, child := range n.Children() {
		switch {
		case child.Type() == "*":
			names = append(names, Binding{Name: "*"})
		case child.Type() == "namespace_export":
			names = append(names, Binding{As: unquote(t.text(child.First("identifier", "string", "module_export_name")))})
		case child.Type() == "export_clause":
			for _, spec := range child.Children() {
				if spec.Type() != "export_specifier" {
					continue
				}
				if !source.IsZero() {
					names = append(names, t.scriptSpecifier(spec))
					continue
				}
				name, as := spec.Child("name"), spec.Child("alias")
				if as.IsZero() {
					as = name
				}
				t.scriptExported(name, unquote(t.text(as)))
			}
		case child.Type() == "default":
			isDefault = true
		case child.Field() == "value" && child.Type() == "identifier": // export default name
			t.scriptExported(child, "default")
		case child.Field() == "declaration" && isDefault:
			if name := child.Child("name"); !name.IsZero() {
				t.exports = append(t.exports, exportedName{name: t.text(name), as: "default", at: n.Start()})
			}
			t.visit(child, mentionKind)
		case child.Field() != "source":
			t.visit(child, mentionKind)
		}
	}
	if !source.IsZero() {
		t.imports(unquote(t.text(source)), n.Start(), names...).Reexport = true
	}
}

// scriptExportedBy records the exports of an assignment to module.exports or one of its members.
func (t *treeNames) scriptExportedBy(left, value syntax.Node) {
	if left.End()-left.Start() > maxPath {
		return
	}
	to := strings.TrimPrefix(t.text(left), "module.")
	export := func(name syntax.Node, as string) {
		if name.Type() == "identifier" || name.Type() == "shorthand_property_identifier" {
			t.exports = append(t.exports, exportedName{name: t.text(name), as: as, at: name.Start()})
		}
	}
	if part, ok := strings.CutPrefix(to, "exports."); ok {
		if isIdentifier(part) {
			export(value, part)
		}
		return
	}
	if to != "exports" {
		return
	}
	if value.Type() != "object" {
		export(value, "default")
		return
	}
	for _, p := range value.Children() {
		switch p.Type() {
		case "shorthand_property_identifier":
			export(p, t.text(p))
		case "pair":
			export(p.Child("value"), unquote(t.text(p.Child("key"))))
		}
	}
}

func (t *treeNames) scriptExported(name syntax.Node, as string) {
	if name.Type() == "identifier" {
		t.mentionNode(name, mentionKind)
		t.exports = append(t.exports, exportedName{name: t.text(name), as: as, at: name.Start()})
	}
}

// scriptVariable walks a variable. Its value may be a module, or a part of one.
func (t *treeNames) scriptVariable(n syntax.Node, bind func(nameID, pathName)) {
	name, value := n.Child("name"), n.Child("value")
	if names, module := t.scriptModule(name, value); module != "" {
		t.imports(module, n.Start(), names...)
		return
	}
	typ := t.scriptType(n.Child("type"))
	if typ.path == 0 && value.Type() == "new_expression" {
		typ = t.scriptType(value.Child("constructor"))
	}
	if typ.path == 0 {
		typ = t.valueOf(value)
	}
	t.except(n, "name")
	t.scriptPattern(name, bind, typ)
}

// scriptModule returns the names that a variable binds to parts of a module: x = require("m"), {a, b: c} =
// await import("m"), x = require("m").a.
func (t *treeNames) scriptModule(pattern, value syntax.Node) (names []Binding, module string) {
	part := ""
	switch value.Type() {
	case "await_expression":
		value = value.First("call_expression")
	case "member_expression":
		part, value = t.text(value.Child("property")), value.Child("object")
	}
	if value.Type() != "call_expression" {
		return nil, ""
	}
	if module = t.scriptRequired(value); module == "" {
		return nil, ""
	}
	switch {
	case pattern.Type() == "identifier":
		b := Binding{Name: part, As: t.text(pattern)}
		if b.As == b.Name {
			b.As = ""
		}
		return []Binding{b}, module
	case pattern.Type() != "object_pattern" || part != "":
		t.scriptPattern(pattern, t.bindAll, pathName{})
		return nil, module
	}
	for _, p := range pattern.Children() {
		switch p.Type() {
		case "shorthand_property_identifier_pattern":
			names = append(names, Binding{Name: t.text(p)})
		case "pair_pattern":
			if v := p.Child("value"); v.Type() == "identifier" {
				names = append(names, Binding{Name: unquote(t.text(p.Child("key"))), As: t.text(v)})
			} else {
				t.scriptPattern(v, t.bindAll, pathName{})
			}
		default:
			t.scriptPattern(p, t.bindAll, pathName{})
		}
	}
	return names, module
}

// scriptPattern binds the names of a pattern and walks the values in it.
func (t *treeNames) scriptPattern(n syntax.Node, bind func(nameID, pathName), typ pathName) {
	if !n.Named() || !t.descend() {
		return
	}
	defer t.ascend()
	switch n.Type() {
	case "identifier", "shorthand_property_identifier_pattern":
		bind(t.idOfNode(n), typ)
	case "pair_pattern":
		t.visit(n.Child("key"), mentionKind)
		t.scriptPattern(n.Child("value"), bind, pathName{})
	case "assignment_pattern", "object_assignment_pattern":
		t.visit(n.Child("right"), mentionKind)
		t.scriptPattern(n.Child("left"), bind, typ)
	case "object_pattern", "array_pattern", "rest_pattern":
		for _, child := range t.each(n) {
			t.scriptPattern(child, bind, pathName{})
		}
	case "required_parameter", "optional_parameter":
		t.except(n, "pattern")
		pattern := n.Child("pattern")
		if isScriptField(n) {
			t.assigned(pattern)
		}
		t.scriptPattern(pattern, bind, t.scriptType(n.Child("type")))
	default:
		t.visit(n, mentionKind)
	}
}

// scriptType returns the type name of an annotation, or of an expression that denotes a class.
func (t *treeNames) scriptType(n syntax.Node) pathName {
	for range 4 {
		switch n.Type() {
		case "identifier", "type_identifier":
			id := t.idOfNode(n)
			return singleName(id)
		case "nested_type_identifier", "member_expression":
			module, name := n.Child("module"), n.Child("name")
			if module.IsZero() {
				module, name = n.Child("object"), n.Child("property")
			}
			if module.Type() != "identifier" || name.IsZero() {
				return pathName{}
			}
			root := t.idOfNode(module)
			return t.join(singleName(root), ".", t.bytes(name))
		case "type_annotation":
			n = n.First("type_identifier", "nested_type_identifier", "generic_type")
		case "generic_type":
			n = n.Child("name")
		default:
			return pathName{}
		}
	}
	return pathName{}
}

// scriptFunction walks a function in its own scope.
func (t *treeNames) scriptFunction(n syntax.Node) {
	t.within(true, func() {
		for _, child := range t.each(n) {
			switch child.Field() {
			case "name":
				if child.Type() == "identifier" && n.Type() != "function_declaration" {
					t.bindAll(t.idOfNode(child), pathName{}) // visible inside the function
				} else if child.Type() == "computed_property_name" {
					t.visit(child, mentionKind)
				}
			case "parameter":
				t.scriptPattern(child, t.bindAll, pathName{})
			case "parameters":
				for _, p := range t.each(child) {
					t.scriptPattern(p, t.bindAll, pathName{})
				}
			case "body":
				if child.Type() == "statement_block" {
					t.children(child)
				} else {
					t.visit(child, mentionKind)
				}
			default:
				t.visit(child, mentionKind)
			}
		}
	})
}

// scriptClass walks a class. Its name is visible outside and inside of it.
func (t *treeNames) scriptClass(n syntax.Node) {
	name := n.Child("name")
	if n.Type() != "class" {
		t.bindAll(t.idOfNode(name), pathName{})
	}
	t.within(false, func() {
		if n.Type() == "class" {
			t.bindAll(t.idOfNode(name), pathName{})
		}
		t.bindParams(n.Child("type_parameters"))
		t.inClass(name, func() {
			t.base = t.scriptBase(n.First("class_heritage"))
			t.scriptFields(t.class, n.Child("body"))
			t.except(n, "name")
		})
	})
}

// scriptBase returns the class that a class extends.
func (t *treeNames) scriptBase(heritage syntax.Node) pathName {
	for _, child := range heritage.Children() {
		if child.Type() == "extends_clause" {
			return t.scriptType(child.Child("value"))
		}
		if typ := t.scriptType(child); typ.path != 0 { // JavaScript
			return typ
		}
	}
	return pathName{}
}

// scriptFields records the field types of a class or interface.
func (t *treeNames) scriptFields(owner pathName, body syntax.Node) {
	for _, m := range t.each(body) {
		switch m.Type() {
		case "public_field_definition", "property_signature":
			typ := t.scriptType(m.Child("type"))
			if value := m.Child("value"); typ.path == 0 && value.Type() == "new_expression" {
				typ = t.scriptType(value.Child("constructor"))
			}
			t.field(owner, ".", t.bytes(m.Child("name")), typ)
		case "method_definition":
			for _, p := range m.Child("parameters").Children() {
				if isScriptField(p) {
					t.field(owner, ".", t.bytes(p.Child("pattern")), t.scriptType(p.Child("type")))
				}
			}
		}
	}
}

// isScriptField reports whether a constructor parameter is also a field.
func isScriptField(param syntax.Node) bool {
	return !param.First("accessibility_modifier", "override_modifier", "readonly").IsZero()
}

// scriptForIn walks a loop over elements or keys.
func (t *treeNames) scriptForIn(n syntax.Node) {
	t.within(false, func() {
		left := n.Child("left")
		bind := t.bindAll
		kind := n.Child("kind")
		if strings.HasPrefix(t.text(kind), "var") {
			bind = t.bindFunction
		}
		t.except(n, "left", "body")
		if kind.IsZero() {
			t.visit(left, mentionKind)
		} else {
			t.scriptPattern(left, bind, pathName{})
		}
		t.visit(n.Child("body"), mentionKind)
	})
}
