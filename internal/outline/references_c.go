package outline

import (
	"bytes"
	"strings"

	"ken/internal/outline/syntax"
)

// c visits a node of C or C++. A class binds its members in its whole body. Declarations in a namespace
// count as declared by the file.
func (c *treeNames) c(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "identifier":
		c.mentionNode(n, kind)
	case "type_identifier":
		if kind == mentionKind {
			kind = typeKind
		}
		c.mentionNode(n, kind)
	case "comment", "string_literal", "raw_string_literal", "char_literal", "number_literal", "primitive_type", "sized_type_specifier", "this",
		"type_qualifier", "storage_class_specifier", "placeholder_type_specifier", "statement_identifier", "goto_statement", "preproc_call",
		"access_specifier", "virtual_specifier", "namespace_alias_definition", "field_identifier", "namespace_identifier", "auto":
		// These nodes have no names.
	case "preproc_include":
		c.imports(strings.Trim(c.text(n.Child("path")), `"<>`), n.Start())
	case "preproc_def", "preproc_function_def":
		c.bindIn(0, c.idOfNode(n.Child("name")), 0, pathName{})
		c.within(false, func() {
			for _, p := range n.Child("parameters").Children() {
				c.bindAll(c.idOfNode(p), pathName{})
			}
			if value := n.Child("value"); !value.IsZero() {
				c.cWords(value)
			}
		})
	case "qualified_identifier":
		c.cPath(pathName{}, n, kind)
	case "template_type", "template_function", "template_method":
		if n.Type() == "template_type" && kind == mentionKind {
			kind = typeKind
		}
		c.visit(n.Child("name"), kind)
		c.visit(n.Child("arguments"), mentionKind)
	case "field_expression":
		c.cField(n, kind)
	case "call_expression":
		c.childAs(n, "function", callKind)
	case "parenthesized_expression":
		c.childrenAs(n, kind)
	case "new_expression", "compound_literal_expression":
		c.childAs(n, "type", literalKind)
	case "type_descriptor":
		c.childAs(n, "type", kind)
	case "case_statement":
		c.childAs(n, "value", matchKind)
	case "struct_specifier", "class_specifier", "union_specifier", "enum_specifier":
		c.cType(n, kind)
	case "enumerator":
		c.bindIn(0, c.idOfNode(n.Child("name")), 0, pathName{})
		c.except(n, "name")
	case "base_class_clause":
		c.childrenAs(n, typeKind)
	case "namespace_definition":
		c.visit(n.Child("body"), mentionKind)
	case "alias_declaration", "concept_definition":
		c.bindAll(c.idOfNode(n.Child("name")), pathName{})
		c.except(n, "name")
	case "type_definition", "declaration", "field_declaration", "parameter_declaration", "optional_parameter_declaration",
		"variadic_parameter_declaration":
		c.cVariables(n, kind)
	case "type_parameter_declaration", "variadic_type_parameter_declaration":
		c.bindAll(c.idOfNode(n.First("type_identifier")), pathName{})
	case "optional_type_parameter_declaration":
		c.bindAll(c.idOfNode(n.Child("name")), pathName{})
		c.except(n, "name")
	case "function_definition":
		c.cFunction(n)
	case "field_initializer":
		for _, child := range c.each(n) {
			if child.Type() != "field_identifier" {
				c.visit(child, typeKind)
			}
		}
	case "argument_list", "initializer_list":
		c.children(n) // regardless of the preceding node
	case "field_designator":
		name := n.First("field_identifier")
		c.member(pathName{}, c.idOfNode(name), n.Start(), mentionKind)
	case "lambda_expression", "template_declaration", "compound_statement", "for_statement", "if_statement", "while_statement",
		"switch_statement":
		c.scope(n)
	case "catch_clause":
		c.within(false, func() {
			for _, p := range n.Child("parameters").Children() {
				c.visit(p, matchKind)
			}
			c.visit(n.Child("body"), mentionKind)
		})
	case "for_range_loop":
		c.within(false, func() {
			c.except(n, "declarator", "body")
			c.cDeclarator(n.Child("declarator"), c.cTypeName(n.Child("type")))
			c.visit(n.Child("body"), mentionKind)
		})
	case "labeled_statement", "attributed_statement":
		c.except(n, "label")
	default:
		c.children(n)
	}
}

// isCBuiltin reports whether a name belongs to the language, or to the standard library and is rarely
// redeclared.
func isCBuiltin(name string) bool {
	switch name {
	case "EOF", "FILE", "NULL", "__FILE__", "__LINE__", "__VA_ARGS__", "__func__", "__cplusplus", "abort", "assert", "calloc", "const_cast", "decltype", "default", "defined", "delete",
		"dynamic_cast", "errno", "exit", "false", "fclose", "fflush", "fopen", "fprintf", "fputs", "free", "fwrite", "malloc",
		"memcmp", "memcpy", "memmove", "memset", "nullptr", "offsetof", "printf", "ptrdiff_t", "puts", "realloc", "reinterpret_cast",
		"sizeof", "snprintf", "sprintf", "static_cast", "std", "stderr", "stdin", "stdout", "strcasecmp", "strchr", "strcmp", "strcpy",
		"strdup", "strerror", "strlen", "strncmp", "strncpy", "strrchr", "strstr", "true", "va_arg", "va_end", "va_list", "va_start",
		"vsnprintf", "wchar_t":
		return true
	}
	return false
}

// isCMember reports whether strings or containers of the standard library have a member.
func isCMember(name string) bool {
	switch name {
	case "at", "back", "begin", "c_str", "clear", "count", "data", "emplace_back", "empty", "end", "erase", "find", "first", "front", "get",
		"insert", "length", "pop_back", "push_back", "reserve", "reset", "resize", "second", "size", "str", "substr", "what":
		return true
	}
	return false
}

// cWords records the words of a macro's text, which is not parsed.
func (c *treeNames) cWords(n syntax.Node) {
	text := c.bytes(n)
	for i := 0; i < len(text); {
		switch b := text[i]; {
		case b == '"' || b == '\'':
			end := i + 1
			for end < len(text) && text[end] != b {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			i = end + 1
		case !isNameByte(b):
			i++
		default:
			start := i
			for i < len(text) && isNameByte(text[i]) {
				i++
			}
			word := text[start:i]
			if word[0] >= '0' && word[0] <= '9' || isCKeyword(string(word)) || start > 0 && (text[start-1] == '.' || text[start-1] == '>' || text[start-1] == '#') {
				continue
			}
			kind := mentionKind
			if bytes.HasPrefix(bytes.TrimLeft(text[i:], " \t"), []byte("(")) {
				kind = callKind
			}
			c.mention(c.id(word), n.Start()+start, kind)
		}
	}
}

func isCKeyword(word string) bool {
	switch word {
	case "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for", "goto", "if",
		"inline", "int", "long", "register", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union",
		"unsigned", "void", "volatile", "while", "class", "new", "delete", "this", "template", "typename", "namespace", "using", "public",
		"private", "protected", "virtual", "operator", "throw", "try", "catch", "constexpr", "noexcept", "bool", "asm":
		return true
	}
	return false
}

// cPath walks a name with ::, after the path before it.
func (c *treeNames) cPath(before pathName, n syntax.Node, kind kindCode) {
	if !c.descend() {
		return
	}
	defer c.ascend()
	scope, name := n.Child("scope"), n.Child("name")
	if scope.Type() == "template_type" {
		c.visit(scope.Child("arguments"), mentionKind)
		scope = scope.Child("name")
	}
	path := before
	switch {
	case scope.IsZero(): // ::name
	case before.path == 0:
		path = singleName(c.idOfNode(scope))
	default:
		path = c.stepNode(before, scope, mentionKind)
	}
	switch name.Type() {
	case "qualified_identifier":
		c.cPath(path, name, kind)
		return
	case "template_type", "template_function", "template_method":
		if name.Type() == "template_type" && kind == mentionKind {
			kind = typeKind
		}
		c.visit(name.Child("arguments"), mentionKind)
		name = name.Child("name")
	case "type_identifier":
		if kind == mentionKind {
			kind = typeKind
		}
	case "identifier", "field_identifier":
	default:
		c.visit(name, mentionKind)
		return
	}
	if path.path == 0 {
		c.mentionNode(name, kind)
	} else {
		c.member(path, c.idOfNode(name), name.Start(), kind)
	}
}

// cField walks a member of a value.
func (c *treeNames) cField(n syntax.Node, kind kindCode) {
	value, field := n.Child("argument"), n.Child("field")
	var path pathName
	switch value.Type() {
	case "identifier":
		path = singleName(c.idOfNode(value))
	case "this":
		path = c.class
	default:
		c.visit(value, mentionKind)
	}
	if field.Type() == "template_method" {
		c.visit(field.Child("arguments"), mentionKind)
		field = field.Child("name")
	}
	if field.Type() == "field_identifier" {
		c.member(path, c.idOfNode(field), field.Start(), kind)
	}
}

// cType walks a type reference or a type definition.
func (c *treeNames) cType(n syntax.Node, kind kindCode) {
	name, body := n.Child("name"), n.Child("body")
	if body.IsZero() {
		if kind == mentionKind {
			kind = typeKind
		}
		c.visit(name, kind)
		return
	}
	if name.Type() == "type_identifier" {
		c.bindIn(0, c.idOfNode(name), 0, pathName{})
	}
	c.within(false, func() {
		c.inClass(name, func() {
			c.except(n, "name", "body")
			for _, m := range body.Children() {
				c.cBindMembers(m)
			}
			c.children(body)
		})
	})
}

// cBindMembers binds the names that a member of a class declares.
func (c *treeNames) cBindMembers(m syntax.Node) {
	switch m.Type() {
	case "field_declaration", "declaration", "function_definition", "type_definition":
		typ := c.cTypeName(m.Child("type"))
		for _, d := range m.Children() {
			if id := c.idOfNode(c.cDeclared(d)); d.Field() == "declarator" && id != c.class.root {
				c.bindAll(id, typ)
			}
		}
	case "template_declaration":
		for _, d := range m.Children() {
			if d.Field() == "" {
				c.cBindMembers(d)
			}
		}
	case "alias_declaration":
		c.bindAll(c.idOfNode(m.Child("name")), pathName{})
	}
}

// cDeclared returns the name node of a declarator, if it is a plain name.
func (c *treeNames) cDeclared(d syntax.Node) syntax.Node {
	for range 20 {
		switch d.Type() {
		case "identifier", "field_identifier", "type_identifier":
			return d
		}
		next := d.Child("declarator")
		if next.IsZero() {
			next = d.First("identifier", "field_identifier", "type_identifier", "pointer_declarator", "function_declarator", "array_declarator", "reference_declarator", "parenthesized_declarator")
		}
		if next.IsZero() {
			break
		}
		d = next
	}
	return syntax.Node{}
}

// cVariables walks a declaration and binds its names.
func (c *treeNames) cVariables(n syntax.Node, kind kindCode) {
	if kind != matchKind {
		kind = typeKind
	}
	var declared pathName
	if n.Type() != "type_definition" {
		declared = c.cTypeName(n.Child("type"))
	}
	for _, child := range c.each(n) {
		switch child.Field() {
		case "type":
			c.visit(child, kind)
		case "declarator":
			typ := declared
			if value := child.Child("value"); typ.path == 0 && value.Type() == "new_expression" { // auto x = new T
				typ = c.cTypeName(value.Child("type"))
			}
			c.cDeclarator(child, typ)
		default:
			c.visit(child, mentionKind)
		}
	}
}

// cDeclarator binds the name of a declarator. It walks the sizes, values and parameters around the name.
func (c *treeNames) cDeclarator(n syntax.Node, typ pathName) {
	if !n.Named() || !c.descend() {
		return
	}
	defer c.ascend()
	switch n.Type() {
	case "identifier", "type_identifier":
		c.bind(c.idOfNode(n), typ)
	case "field_identifier", "operator_name", "destructor_name", "operator_cast", "qualified_identifier":
		// Members are bound by their class.
	case "init_declarator":
		c.except(n, "declarator")
		c.cDeclarator(n.Child("declarator"), typ)
	case "structured_binding_declarator":
		for _, name := range n.Children() {
			c.bind(c.idOfNode(name), pathName{})
		}
	case "function_declarator":
		c.within(false, func() { c.except(n, "declarator") })
		c.cDeclarator(n.Child("declarator"), pathName{})
	default:
		for _, child := range c.each(n) {
			if child.Field() == "declarator" || strings.HasSuffix(child.Type(), "declarator") || child.Field() == "" && child.Type() == "identifier" {
				c.cDeclarator(child, typ)
			} else {
				c.visit(child, mentionKind)
			}
		}
	}
}

// cFunction walks a function definition. A function with a qualified name is a member of that class.
func (c *treeNames) cFunction(n syntax.Node) {
	d := n.Child("declarator")
	for d.Type() != "function_declarator" && !d.Child("declarator").IsZero() {
		d = d.Child("declarator")
	}
	for d.Type() != "function_declarator" && !d.First("function_declarator").IsZero() { // inside a reference declarator
		d = d.First("function_declarator")
	}
	name := d.Child("declarator")
	class := c.class
	if name.Type() == "qualified_identifier" {
		owner := plainName(withoutArguments(c.text(name)))
		if dot := strings.LastIndexByte(owner, '.'); dot > 0 {
			owner = owner[:dot]
			c.class = singleName(c.idOf(owner[strings.LastIndexByte(owner, '.')+1:]))
		}
	} else if c.class.path == 0 {
		c.bind(c.idOfNode(name), pathName{})
	}
	c.within(true, func() {
		if c.class != class {
			c.bindOwn(c.class.root)
		}
		c.visit(n.Child("type"), typeKind)
		c.except(d, "declarator")
		c.except(n, "type", "declarator")
	})
	c.class = class
}

// cTypeName returns the name of a type node.
func (c *treeNames) cTypeName(n syntax.Node) pathName {
	for range 8 {
		switch n.Type() {
		case "type_identifier":
			return singleName(c.idOfNode(n))
		case "template_type", "struct_specifier", "class_specifier", "union_specifier", "enum_specifier":
			n = n.Child("name")
		case "type_descriptor":
			n = n.Child("type")
		case "qualified_identifier":
			scope, name := n.Child("scope"), n.Child("name")
			if name.Type() == "template_type" {
				name = name.Child("name")
			}
			if scope.Type() != "namespace_identifier" || name.Type() != "type_identifier" {
				return pathName{}
			}
			return c.join(singleName(c.idOfNode(scope)), "::", c.bytes(name))
		default:
			return pathName{}
		}
	}
	return pathName{}
}
