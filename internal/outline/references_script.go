package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// script visits a node of JavaScript or TypeScript.
func (c *treeNames) script(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern":
		c.mentionNode(n, kind)
	case "type_identifier":
		if kind != literalKind {
			kind = typeKind
		}
		c.mentionNode(n, kind)
	case "comment", "string", "number", "regex", "property_identifier", "private_property_identifier", "statement_identifier",
		"predefined_type", "meta_property", "literal_type", "jsx_closing_element", "this", "super", "jsx_text", "html_comment":
		// These nodes have no names.
	case "member_expression", "nested_identifier", "nested_type_identifier":
		c.scriptPath(n, kind)
	case "call_expression":
		c.scriptCall(n)
	case "new_expression":
		c.childAs(n, "constructor", literalKind)
	case "decorator":
		c.childrenAs(n, callKind)
	case "parenthesized_expression", "non_null_expression":
		c.childrenAs(n, kind)
	case "import_statement":
		c.scriptImport(n)
	case "export_statement":
		c.scriptExport(n)
	case "variable_declarator":
		c.scriptVariable(n, c.bindAll)
	case "variable_declaration":
		for _, d := range c.each(n) {
			if d.Type() == "variable_declarator" {
				c.scriptVariable(d, c.bindFunction)
			}
		}
	case "function_declaration", "generator_function_declaration", "function_signature":
		c.bindAll(c.idOfNode(n.Child("name")), pathName{})
		c.scriptFunction(n)
	case "function_expression", "generator_function", "function", "arrow_function", "method_definition", "method_signature",
		"abstract_method_signature", "call_signature", "construct_signature", "function_type", "constructor_type":
		c.scriptFunction(n)
	case "class_declaration", "abstract_class_declaration", "class":
		c.scriptClass(n)
	case "class_heritage", "extends_clause", "implements_clause", "extends_type_clause":
		c.childrenAs(n, typeKind)
	case "interface_declaration", "type_alias_declaration", "enum_declaration", "module", "internal_module":
		if name := n.Child("name"); name.Type() != "string" {
			c.bindAll(c.idOfNode(name), pathName{})
		}
		c.within(false, func() {
			if n.Type() == "interface_declaration" {
				c.bindParams(n.Child("type_parameters"))
				c.scriptFields(singleName(c.idOfNode(n.Child("name"))), n.Child("body"))
			}
			c.except(n, "name")
		})
	case "type_parameter":
		c.bindAll(c.idOfNode(n.Child("name")), pathName{})
		c.except(n, "name")
	case "mapped_type_clause":
		c.bindAll(c.idOfNode(n.Child("name")), pathName{})
		c.except(n, "name")
	case "infer_type":
		at := len(c.scopes) - 1
		for at > 0 && !c.scopes[at].conditional {
			at--
		}
		c.bindIn(at, c.idOfNode(n.First("type_identifier")), c.scopes[at].from, pathName{})
	case "conditional_type":
		c.within(false, func() {
			c.scopes[len(c.scopes)-1].conditional = true
			c.children(n)
		})
	case "object_type", "statement_block", "for_statement", "switch_body", "class_static_block":
		c.scope(n)
	case "index_signature", "type_predicate", "labeled_statement", "required_parameter", "optional_parameter": // of a tuple
		c.except(n, "name", "label")
	case "enum_assignment":
		c.except(n, "name")
	case "switch_case":
		c.childAs(n, "value", matchKind)
	case "for_in_statement":
		c.scriptForIn(n)
	case "catch_clause":
		c.within(false, func() {
			c.scriptPattern(n.Child("parameter"), c.bindAll, pathName{})
			c.except(n, "parameter")
		})
	case "assignment_expression", "augmented_assignment_expression":
		left := n.Child("left")
		if left.Type() == "member_expression" && left.Child("object").Type() == "this" {
			c.assigned(left.Child("property"))
		}
		c.scriptExportedBy(left, n.Child("right"))
		c.children(n)
	case "jsx_opening_element", "jsx_self_closing_element":
		c.scriptElement(n)
	default:
		c.children(n)
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
func (c *treeNames) scriptPath(n syntax.Node, kind kindCode) (path pathName) {
	if !c.descend() {
		return pathName{}
	}
	defer c.ascend()
	for _, child := range c.each(n) {
		switch child.Field() {
		case "object", "module":
			switch child.Type() {
			case "identifier":
				path = singleName(c.idOfNode(child))
			case "this":
				path = c.class
			case "member_expression", "nested_identifier":
				path = c.scriptPath(child, mentionKind)
			default:
				c.visit(child, mentionKind)
			}
		case "property", "name":
			if child.Type() == "private_property_identifier" {
				return pathName{}
			}
			if n.Type() == "nested_type_identifier" && kind != literalKind {
				kind = typeKind
			}
			return c.stepNode(path, child, kind)
		}
	}
	return pathName{}
}

// scriptCall walks a call. Some calls import a module.
func (c *treeNames) scriptCall(n syntax.Node) {
	if module := c.scriptRequired(n); module != "" {
		c.imports(module, n.Start())
	}
	c.childAs(n, "function", callKind)
}

// scriptRequired returns the module that a call imports: require, import() and similar calls of test
// runners.
func (c *treeNames) scriptRequired(call syntax.Node) string {
	function := call.Child("function")
	if function.End()-function.Start() > 40 { // longer than any of them
		return ""
	}
	switch function.Type() {
	case "import":
	case "identifier":
		if string(c.bytes(function)) != "require" {
			return ""
		}
	case "member_expression":
		switch c.text(function) {
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
			return unquote(c.text(arg))
		}
		if arg.Type() == "template_string" && arg.First("template_substitution").IsZero() {
			return unquote(c.text(arg))
		}
		return ""
	}
	return ""
}

// scriptElement walks a JSX element. A lower-case element is HTML.
func (c *treeNames) scriptElement(n syntax.Node) {
	for _, child := range c.each(n) {
		if child.Field() != "name" {
			c.visit(child, mentionKind)
			continue
		}
		first := c.src[child.Start()]
		if child.Type() != "identifier" || first < 'a' || first > 'z' {
			c.visit(child, callKind)
		}
	}
}

// scriptImport adds the imports of an import statement.
func (c *treeNames) scriptImport(n syntax.Node) {
	source := n.Child("source")
	var names []Binding
	for _, child := range n.Children() {
		switch child.Type() {
		case "import_clause":
			names = c.scriptImported(child)
		case "import_require_clause": // import x = require("m")
			source = child.Child("source")
			if name := child.First("identifier"); !name.IsZero() {
				names = append(names, Binding{As: c.text(name)})
			}
		}
	}
	c.imports(unquote(c.text(source)), n.Start(), names...)
}

func (c *treeNames) scriptImported(clause syntax.Node) (names []Binding) {
	for _, child := range clause.Children() {
		switch child.Type() {
		case "identifier":
			names = append(names, Binding{Name: "default", As: c.text(child)})
		case "namespace_import":
			names = append(names, Binding{As: c.text(child.First("identifier"))})
		case "named_imports":
			for _, spec := range child.Children() {
				if spec.Type() == "import_specifier" {
					names = append(names, c.scriptSpecifier(spec))
				}
			}
		}
	}
	return names
}

// scriptSpecifier returns one name of an import or export clause.
func (c *treeNames) scriptSpecifier(spec syntax.Node) Binding {
	b := Binding{Name: unquote(c.text(spec.Child("name"))), As: unquote(c.text(spec.Child("alias")))}
	if b.As == b.Name {
		b.As = ""
	}
	return b
}

// scriptExport walks an export of a declaration, of names, or of another module's names.
func (c *treeNames) scriptExport(n syntax.Node) {
	source := n.Child("source")
	isDefault := false
	var names []Binding
	for _, child := range n.Children() {
		switch {
		case child.Type() == "*":
			names = append(names, Binding{Name: "*"})
		case child.Type() == "namespace_export":
			names = append(names, Binding{As: unquote(c.text(child.First("identifier", "string", "module_export_name")))})
		case child.Type() == "export_clause":
			for _, spec := range child.Children() {
				if spec.Type() != "export_specifier" {
					continue
				}
				if !source.IsZero() {
					names = append(names, c.scriptSpecifier(spec))
					continue
				}
				name, as := spec.Child("name"), spec.Child("alias")
				if as.IsZero() {
					as = name
				}
				c.scriptExported(name, unquote(c.text(as)))
			}
		case child.Type() == "default":
			isDefault = true
		case child.Field() == "value" && child.Type() == "identifier": // export default name
			c.scriptExported(child, "default")
		case child.Field() == "declaration" && isDefault:
			if name := child.Child("name"); !name.IsZero() {
				c.exports = append(c.exports, exportedName{name: c.text(name), as: "default", at: n.Start()})
			}
			c.visit(child, mentionKind)
		case child.Field() != "source":
			c.visit(child, mentionKind)
		}
	}
	if !source.IsZero() {
		c.imports(unquote(c.text(source)), n.Start(), names...).Reexport = true
	}
}

// scriptExportedBy records the exports of an assignment to module.exports or one of its members.
func (c *treeNames) scriptExportedBy(left, value syntax.Node) {
	if left.End()-left.Start() > maxPath {
		return
	}
	to := strings.TrimPrefix(c.text(left), "module.")
	export := func(name syntax.Node, as string) {
		if name.Type() == "identifier" || name.Type() == "shorthand_property_identifier" {
			c.exports = append(c.exports, exportedName{name: c.text(name), as: as, at: name.Start()})
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
			export(p, c.text(p))
		case "pair":
			export(p.Child("value"), unquote(c.text(p.Child("key"))))
		}
	}
}

func (c *treeNames) scriptExported(name syntax.Node, as string) {
	if name.Type() == "identifier" {
		c.mentionNode(name, mentionKind)
		c.exports = append(c.exports, exportedName{name: c.text(name), as: as, at: name.Start()})
	}
}

// scriptVariable walks a variable. Its value may be a module, or a part of one.
func (c *treeNames) scriptVariable(n syntax.Node, bind func(nameID, pathName)) {
	name, value := n.Child("name"), n.Child("value")
	if names, module := c.scriptModule(name, value); module != "" {
		c.imports(module, n.Start(), names...)
		return
	}
	typ := c.scriptType(n.Child("type"))
	if typ.path == 0 && value.Type() == "new_expression" {
		typ = c.scriptType(value.Child("constructor"))
	}
	c.except(n, "name")
	c.scriptPattern(name, bind, typ)
}

// scriptModule returns the names that a variable binds to parts of a module: x = require("m"), {a, b: c} =
// await import("m"), x = require("m").a.
func (c *treeNames) scriptModule(pattern, value syntax.Node) (names []Binding, module string) {
	part := ""
	switch value.Type() {
	case "await_expression":
		value = value.First("call_expression")
	case "member_expression":
		part, value = c.text(value.Child("property")), value.Child("object")
	}
	if value.Type() != "call_expression" {
		return nil, ""
	}
	if module = c.scriptRequired(value); module == "" {
		return nil, ""
	}
	switch {
	case pattern.Type() == "identifier":
		b := Binding{Name: part, As: c.text(pattern)}
		if b.As == b.Name {
			b.As = ""
		}
		return []Binding{b}, module
	case pattern.Type() != "object_pattern" || part != "":
		c.scriptPattern(pattern, c.bindAll, pathName{})
		return nil, module
	}
	for _, p := range pattern.Children() {
		switch p.Type() {
		case "shorthand_property_identifier_pattern":
			names = append(names, Binding{Name: c.text(p)})
		case "pair_pattern":
			if v := p.Child("value"); v.Type() == "identifier" {
				names = append(names, Binding{Name: unquote(c.text(p.Child("key"))), As: c.text(v)})
			} else {
				c.scriptPattern(v, c.bindAll, pathName{})
			}
		default:
			c.scriptPattern(p, c.bindAll, pathName{})
		}
	}
	return names, module
}

// scriptPattern binds the names of a pattern and walks the values in it.
func (c *treeNames) scriptPattern(n syntax.Node, bind func(nameID, pathName), typ pathName) {
	if !n.Named() || !c.descend() {
		return
	}
	defer c.ascend()
	switch n.Type() {
	case "identifier", "shorthand_property_identifier_pattern":
		bind(c.idOfNode(n), typ)
	case "pair_pattern":
		c.visit(n.Child("key"), mentionKind)
		c.scriptPattern(n.Child("value"), bind, pathName{})
	case "assignment_pattern", "object_assignment_pattern":
		c.visit(n.Child("right"), mentionKind)
		c.scriptPattern(n.Child("left"), bind, typ)
	case "object_pattern", "array_pattern", "rest_pattern":
		for _, child := range c.each(n) {
			c.scriptPattern(child, bind, pathName{})
		}
	case "required_parameter", "optional_parameter":
		c.except(n, "pattern")
		pattern := n.Child("pattern")
		if isScriptField(n) {
			c.assigned(pattern)
		}
		c.scriptPattern(pattern, bind, c.scriptType(n.Child("type")))
	default:
		c.visit(n, mentionKind)
	}
}

// scriptType returns the type name of an annotation, or of an expression that denotes a class.
func (c *treeNames) scriptType(n syntax.Node) pathName {
	for range 4 {
		switch n.Type() {
		case "identifier", "type_identifier":
			id := c.idOfNode(n)
			return singleName(id)
		case "nested_type_identifier", "member_expression":
			module, name := n.Child("module"), n.Child("name")
			if module.IsZero() {
				module, name = n.Child("object"), n.Child("property")
			}
			if module.Type() != "identifier" || name.IsZero() {
				return pathName{}
			}
			root := c.idOfNode(module)
			return c.join(singleName(root), ".", c.bytes(name))
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
func (c *treeNames) scriptFunction(n syntax.Node) {
	c.within(true, func() {
		for _, child := range c.each(n) {
			switch child.Field() {
			case "name":
				if child.Type() == "identifier" && n.Type() != "function_declaration" {
					c.bindAll(c.idOfNode(child), pathName{}) // visible inside the function
				} else if child.Type() == "computed_property_name" {
					c.visit(child, mentionKind)
				}
			case "parameter":
				c.scriptPattern(child, c.bindAll, pathName{})
			case "parameters":
				for _, p := range c.each(child) {
					c.scriptPattern(p, c.bindAll, pathName{})
				}
			case "body":
				if child.Type() == "statement_block" {
					c.children(child)
				} else {
					c.visit(child, mentionKind)
				}
			default:
				c.visit(child, mentionKind)
			}
		}
	})
}

// scriptClass walks a class. Its name is visible outside and inside of it.
func (c *treeNames) scriptClass(n syntax.Node) {
	name := n.Child("name")
	if n.Type() != "class" {
		c.bindAll(c.idOfNode(name), pathName{})
	}
	c.within(false, func() {
		if n.Type() == "class" {
			c.bindAll(c.idOfNode(name), pathName{})
		}
		c.bindParams(n.Child("type_parameters"))
		c.inClass(name, func() {
			c.scriptFields(c.class, n.Child("body"))
			c.except(n, "name")
		})
	})
}

// scriptFields records the field types of a class or interface.
func (c *treeNames) scriptFields(owner pathName, body syntax.Node) {
	for _, m := range c.each(body) {
		switch m.Type() {
		case "public_field_definition", "property_signature":
			typ := c.scriptType(m.Child("type"))
			if value := m.Child("value"); typ.path == 0 && value.Type() == "new_expression" {
				typ = c.scriptType(value.Child("constructor"))
			}
			c.field(owner, ".", c.bytes(m.Child("name")), typ)
		case "method_definition":
			for _, p := range m.Child("parameters").Children() {
				if isScriptField(p) {
					c.field(owner, ".", c.bytes(p.Child("pattern")), c.scriptType(p.Child("type")))
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
func (c *treeNames) scriptForIn(n syntax.Node) {
	c.within(false, func() {
		left := n.Child("left")
		bind := c.bindAll
		kind := n.Child("kind")
		if strings.HasPrefix(c.text(kind), "var") {
			bind = c.bindFunction
		}
		c.except(n, "left", "body")
		if kind.IsZero() {
			c.visit(left, mentionKind)
		} else {
			c.scriptPattern(left, bind, pathName{})
		}
		c.visit(n.Child("body"), mentionKind)
	})
}
