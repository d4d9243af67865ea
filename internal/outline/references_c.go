package outline

import (
	"bytes"
	"strings"

	"ken/internal/outline/syntax"
)

// c visits a node of C or C++. A class binds its members in its whole body. Declarations in a namespace
// count as declared by the file.
func (t *treeNames) c(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "identifier":
		t.mentionNode(n, kind)
	case "type_identifier":
		if kind == mentionKind {
			kind = typeKind
		}
		t.mentionNode(n, kind)
	case "comment", "string_literal", "raw_string_literal", "char_literal", "number_literal", "primitive_type", "sized_type_specifier", "this",
		"type_qualifier", "storage_class_specifier", "placeholder_type_specifier", "statement_identifier", "goto_statement", "preproc_call",
		"access_specifier", "virtual_specifier", "namespace_alias_definition", "field_identifier", "namespace_identifier", "auto":
		// These nodes have no names.
	case "preproc_include":
		t.imports(strings.Trim(t.text(n.Child("path")), `"<>`), n.Start())
	case "preproc_def", "preproc_function_def":
		t.bindIn(0, t.idOfNode(n.Child("name")), 0, pathName{})
		t.within(false, func() {
			for _, p := range n.Child("parameters").Children() {
				t.bindAll(t.idOfNode(p), pathName{})
			}
			if value := n.Child("value"); !value.IsZero() {
				t.cWords(value)
			}
		})
	case "qualified_identifier":
		t.cPath(pathName{}, n, kind)
	case "template_type", "template_function", "template_method":
		if n.Type() == "template_type" && kind == mentionKind {
			kind = typeKind
		}
		t.visit(n.Child("name"), kind)
		t.visit(n.Child("arguments"), mentionKind)
	case "field_expression":
		t.cField(n, kind)
	case "call_expression":
		t.childAs(n, "function", callKind)
	case "parenthesized_expression":
		t.childrenAs(n, kind)
	case "new_expression", "compound_literal_expression":
		t.childAs(n, "type", literalKind)
	case "type_descriptor":
		t.childAs(n, "type", kind)
	case "case_statement":
		t.childAs(n, "value", matchKind)
	case "struct_specifier", "class_specifier", "union_specifier", "enum_specifier":
		t.cType(n, kind)
	case "enumerator":
		t.bindIn(0, t.idOfNode(n.Child("name")), 0, pathName{})
		t.except(n, "name")
	case "base_class_clause":
		t.childrenAs(n, typeKind)
	case "namespace_definition":
		t.visit(n.Child("body"), mentionKind)
	case "alias_declaration", "concept_definition":
		t.bindAll(t.idOfNode(n.Child("name")), pathName{})
		t.except(n, "name")
	case "type_definition", "declaration", "field_declaration", "parameter_declaration", "optional_parameter_declaration",
		"variadic_parameter_declaration":
		t.cVariables(n, kind)
	case "type_parameter_declaration", "variadic_type_parameter_declaration":
		t.bindAll(t.idOfNode(n.First("type_identifier")), pathName{})
	case "optional_type_parameter_declaration":
		t.bindAll(t.idOfNode(n.Child("name")), pathName{})
		t.except(n, "name")
	case "function_definition":
		t.cFunction(n)
	case "field_initializer":
		for _, child := range t.each(n) {
			if child.Type() != "field_identifier" {
				t.visit(child, typeKind)
			}
		}
	case "argument_list", "initializer_list":
		t.children(n) // regardless of the preceding node
	case "field_designator":
		name := n.First("field_identifier")
		t.member(pathName{}, t.idOfNode(name), n.Start(), mentionKind)
	case "lambda_expression", "template_declaration", "compound_statement", "for_statement", "if_statement", "while_statement",
		"switch_statement":
		t.scope(n)
	case "catch_clause":
		t.within(false, func() {
			for _, p := range n.Child("parameters").Children() {
				t.visit(p, matchKind)
			}
			t.visit(n.Child("body"), mentionKind)
		})
	case "for_range_loop":
		t.within(false, func() {
			t.except(n, "declarator", "body")
			t.cDeclarator(n.Child("declarator"), t.cTypeName(n.Child("type")))
			t.visit(n.Child("body"), mentionKind)
		})
	case "labeled_statement", "attributed_statement":
		t.except(n, "label")
	default:
		t.children(n)
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
func (t *treeNames) cWords(n syntax.Node) {
	text := t.bytes(n)
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
			t.mention(t.id(word), n.Start()+start, kind)
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
func (t *treeNames) cPath(before pathName, n syntax.Node, kind kindCode) {
	if !t.descend() {
		return
	}
	defer t.ascend()
	scope, name := n.Child("scope"), n.Child("name")
	if scope.Type() == "template_type" {
		t.visit(scope.Child("arguments"), mentionKind)
		scope = scope.Child("name")
	}
	path := before
	switch {
	case scope.IsZero(): // ::name
	case before.path == 0:
		path = singleName(t.idOfNode(scope))
	default:
		path = t.stepNode(before, scope, mentionKind)
	}
	switch name.Type() {
	case "qualified_identifier":
		t.cPath(path, name, kind)
		return
	case "template_type", "template_function", "template_method":
		if name.Type() == "template_type" && kind == mentionKind {
			kind = typeKind
		}
		t.visit(name.Child("arguments"), mentionKind)
		name = name.Child("name")
	case "type_identifier":
		if kind == mentionKind {
			kind = typeKind
		}
	case "identifier", "field_identifier":
	default:
		t.visit(name, mentionKind)
		return
	}
	if path.path == 0 {
		t.mentionNode(name, kind)
	} else {
		t.member(path, t.idOfNode(name), name.Start(), kind)
	}
}

// cField walks a member of a value.
func (t *treeNames) cField(n syntax.Node, kind kindCode) {
	value, field := n.Child("argument"), n.Child("field")
	var path pathName
	switch value.Type() {
	case "identifier":
		path = singleName(t.idOfNode(value))
	case "this":
		path = t.class
	default:
		t.visit(value, mentionKind)
	}
	if field.Type() == "template_method" {
		t.visit(field.Child("arguments"), mentionKind)
		field = field.Child("name")
	}
	if field.Type() == "field_identifier" {
		t.member(path, t.idOfNode(field), field.Start(), kind)
	}
}

// cType walks a type reference or a type definition.
func (t *treeNames) cType(n syntax.Node, kind kindCode) {
	name, body := n.Child("name"), n.Child("body")
	if body.IsZero() {
		if kind == mentionKind {
			kind = typeKind
		}
		t.visit(name, kind)
		return
	}
	if name.Type() == "type_identifier" {
		t.bindIn(0, t.idOfNode(name), 0, pathName{})
	}
	t.within(false, func() {
		t.inClass(name, func() {
			t.except(n, "name", "body")
			for _, m := range body.Children() {
				t.cBindMembers(m)
			}
			t.children(body)
		})
	})
}

// cBindMembers binds the names that a member of a class declares.
func (t *treeNames) cBindMembers(m syntax.Node) {
	switch m.Type() {
	case "field_declaration", "declaration", "function_definition", "type_definition":
		typ := t.cTypeName(m.Child("type"))
		for _, d := range m.Children() {
			if id := t.idOfNode(t.cDeclared(d)); d.Field() == "declarator" && id != t.class.root {
				t.bindAll(id, typ)
			}
		}
	case "template_declaration":
		for _, d := range m.Children() {
			if d.Field() == "" {
				t.cBindMembers(d)
			}
		}
	case "alias_declaration":
		t.bindAll(t.idOfNode(m.Child("name")), pathName{})
	}
}

// cDeclared returns the name node of a declarator, if it is a plain name.
func (t *treeNames) cDeclared(d syntax.Node) syntax.Node {
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
func (t *treeNames) cVariables(n syntax.Node, kind kindCode) {
	if kind != matchKind {
		kind = typeKind
	}
	var declared pathName
	if n.Type() != "type_definition" {
		declared = t.cTypeName(n.Child("type"))
	}
	for _, child := range t.each(n) {
		switch child.Field() {
		case "type":
			t.visit(child, kind)
		case "declarator":
			typ := declared
			if value := child.Child("value"); typ.path == 0 && value.Type() == "new_expression" { // auto x = new T
				typ = t.cTypeName(value.Child("type"))
			}
			t.cDeclarator(child, typ)
		default:
			t.visit(child, mentionKind)
		}
	}
}

// cDeclarator binds the name of a declarator. It walks the sizes, values and parameters around the name.
func (t *treeNames) cDeclarator(n syntax.Node, typ pathName) {
	if !n.Named() || !t.descend() {
		return
	}
	defer t.ascend()
	switch n.Type() {
	case "identifier", "type_identifier":
		t.bind(t.idOfNode(n), typ)
	case "field_identifier", "operator_name", "destructor_name", "operator_cast", "qualified_identifier":
		// Members are bound by their class.
	case "init_declarator":
		t.except(n, "declarator")
		t.cDeclarator(n.Child("declarator"), typ)
	case "structured_binding_declarator":
		for _, name := range n.Children() {
			t.bind(t.idOfNode(name), pathName{})
		}
	case "function_declarator":
		t.within(false, func() { t.except(n, "declarator") })
		t.cDeclarator(n.Child("declarator"), pathName{})
	default:
		for _, child := range t.each(n) {
			if child.Field() == "declarator" || strings.HasSuffix(child.Type(), "declarator") || child.Field() == "" && child.Type() == "identifier" {
				t.cDeclarator(child, typ)
			} else {
				t.visit(child, mentionKind)
			}
		}
	}
}

// cFunction walks a function definition. A function with a qualified name is a member of that class.
func (t *treeNames) cFunction(n syntax.Node) {
	d := n.Child("declarator")
	for d.Type() != "function_declarator" && !d.Child("declarator").IsZero() {
		d = d.Child("declarator")
	}
	for d.Type() != "function_declarator" && !d.First("function_declarator").IsZero() { // inside a reference declarator
		d = d.First("function_declarator")
	}
	name := d.Child("declarator")
	class := t.class
	if name.Type() == "qualified_identifier" {
		owner := plainName(withoutArguments(t.text(name)))
		if dot := strings.LastIndexByte(owner, '.'); dot > 0 {
			owner = owner[:dot]
			t.class = singleName(t.idOf(owner[strings.LastIndexByte(owner, '.')+1:]))
		}
	} else if t.class.path == 0 {
		t.bind(t.idOfNode(name), pathName{})
	}
	t.within(true, func() {
		if t.class != class {
			t.bindOwn(t.class.root)
		}
		t.visit(n.Child("type"), typeKind)
		t.except(d, "declarator")
		t.except(n, "type", "declarator")
	})
	t.class = class
}

// cTypeName returns the name of a type node.
func (t *treeNames) cTypeName(n syntax.Node) pathName {
	for range 8 {
		switch n.Type() {
		case "type_identifier":
			return singleName(t.idOfNode(n))
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
			return t.join(singleName(t.idOfNode(scope)), "::", t.bytes(name))
		default:
			return pathName{}
		}
	}
	return pathName{}
}
