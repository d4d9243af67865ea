package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// java visits a node of Java. A class binds its members in its whole body.
func (t *treeNames) java(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "identifier":
		t.mentionNode(n, kind)
	case "type_identifier":
		if kind == mentionKind {
			kind = typeKind
		}
		if string(t.bytes(n)) != "var" {
			t.mentionNode(n, kind)
		}
	case "line_comment", "block_comment", "string_literal", "character_literal", "package_declaration", "this", "super", "labeled_identifier",
		"integral_type", "floating_point_type", "boolean_type", "void_type", "decimal_integer_literal", "break_statement", "continue_statement":
		// These nodes have no names.
	case "import_declaration":
		t.javaImport(n)
	case "field_access", "scoped_identifier":
		t.javaPath(n, kind)
	case "scoped_type_identifier":
		if kind == mentionKind {
			kind = typeKind
		}
		t.names(n, kind)
	case "method_invocation":
		t.javaCall(n)
	case "object_creation_expression":
		t.childAs(n, "type", literalKind)
	case "method_reference":
		t.javaReference(n)
	case "annotation", "marker_annotation":
		t.childAs(n, "name", callKind)
	case "element_value_pair":
		t.except(n, "key")
	case "class_declaration", "record_declaration", "interface_declaration", "enum_declaration", "annotation_type_declaration":
		t.within(false, func() { t.inClass(n.Child("name"), func() { t.except(n, "name") }) })
	case "class_body", "interface_body", "enum_body", "enum_body_declarations", "annotation_type_body":
		t.javaBody(n)
	case "method_declaration", "constructor_declaration", "compact_constructor_declaration", "lambda_expression", "static_initializer",
		"annotation_type_element_declaration":
		t.javaFunction(n)
	case "enum_constant":
		t.except(n, "name")
	case "type_parameter":
		t.bindAll(t.idOfNode(n.First("type_identifier", "identifier")), pathName{})
		t.visit(n.First("type_bound"), typeKind)
	case "superclass", "super_interfaces", "extends_interfaces", "type_bound":
		t.childrenAs(n, typeKind)
	case "generic_type":
		for i, child := range t.each(n) {
			if i == 0 && kind != mentionKind {
				t.visit(child, kind)
			} else {
				t.visit(child, typeKind)
			}
		}
	case "local_variable_declaration", "field_declaration", "constant_declaration":
		t.javaVariables(n)
	case "formal_parameter", "resource", "spread_parameter":
		t.except(n, "name")
		t.bind(t.idOfNode(n.Child("name")), t.javaType(n.Child("type")))
	case "variable_declarator": // of a spread parameter
		t.except(n, "name")
		t.bind(t.idOfNode(n.Child("name")), pathName{})
	case "catch_formal_parameter":
		for _, child := range t.each(n) {
			if child.Type() == "catch_type" {
				t.childrenAs(child, matchKind)
			}
		}
		t.bind(t.idOfNode(n.Child("name")), pathName{})
	case "instanceof_expression":
		t.except(n, "name")
		t.bind(t.idOfNode(n.Child("name")), t.javaType(n.Child("right")))
	case "type_pattern":
		t.javaTypePattern(n)
	case "record_pattern":
		t.firstAs(n, matchKind)
	case "record_pattern_component":
		t.javaTypePattern(n)
	case "switch_label":
		t.childrenAs(n, matchKind)
	case "enhanced_for_statement":
		t.within(false, func() {
			t.except(n, "name", "body")
			t.bind(t.idOfNode(n.Child("name")), t.javaType(n.Child("type")))
			t.visit(n.Child("body"), mentionKind)
		})
	case "labeled_statement":
		for _, child := range t.each(n) {
			if child.Type() != "identifier" {
				t.visit(child, mentionKind)
			}
		}
	case "block", "for_statement", "catch_clause", "try_with_resources_statement", "switch_block", "constructor_body":
		t.scope(n)
	default:
		t.children(n)
	}
}

// isJavaBuiltin reports whether java.lang has a name.
func isJavaBuiltin(name string) bool {
	switch name {
	case "AssertionError", "AutoCloseable", "Boolean", "Byte", "CharSequence", "Character", "Class", "ClassCastException", "ClassLoader",
		"ClassNotFoundException", "Cloneable", "Comparable", "Deprecated", "Double", "Enum", "Error", "Exception", "Float",
		"FunctionalInterface", "IllegalArgumentException", "IllegalStateException", "IndexOutOfBoundsException", "Integer",
		"InterruptedException", "Iterable", "Long", "Math", "NullPointerException", "Number", "NumberFormatException", "Object",
		"Override", "Process", "Record", "Runnable", "Runtime", "RuntimeException", "SafeVarargs", "SecurityException", "Short",
		"StackTraceElement", "String", "StringBuffer", "StringBuilder", "SuppressWarnings", "System", "Thread", "ThreadLocal",
		"Throwable", "UnsupportedOperationException", "Void", "java", "javax", "length":
		return true
	}
	return false
}

// isJavaMember reports whether objects, strings or collections have a method.
func isJavaMember(name string) bool {
	switch name {
	case "add", "addAll", "append", "charAt", "clear", "collect", "contains", "containsKey", "endsWith", "equals", "forEach", "format", "get",
		"getClass", "getMessage", "getName", "hasNext", "hashCode", "isEmpty", "iterator", "keySet", "length", "map", "name", "next",
		"println", "put", "remove", "size", "split", "startsWith", "stream", "substring", "toArray", "toLowerCase", "toString",
		"toUpperCase", "trim", "values":
		return true
	}
	return false
}

// javaImport adds an import. A static import is a member of a class.
func (t *treeNames) javaImport(n syntax.Node) {
	name := strings.Join(strings.Fields(t.text(n.First("scoped_identifier", "identifier"))), "")
	static := false
	for _, child := range n.Children() {
		static = static || child.Type() == "static"
	}
	if !n.First("asterisk").IsZero() {
		t.imports(name, n.Start(), Binding{Name: "*"})
		return
	}
	dot := strings.LastIndexByte(name, '.')
	if static && dot > 0 {
		t.imports(name[:dot], n.Start(), Binding{Name: name[dot+1:]})
	} else if name != "" {
		t.imports(name, n.Start(), Binding{As: name[dot+1:]})
	}
}

// javaPath walks a chain of names with dots and returns it.
func (t *treeNames) javaPath(n syntax.Node, kind kindCode) (path pathName) {
	if !t.descend() {
		return pathName{}
	}
	defer t.ascend()
	object, field := n.Child("object"), n.Child("field")
	if object.IsZero() {
		object, field = n.Child("scope"), n.Child("name")
	}
	path = t.javaObject(object)
	if field.Type() != "identifier" { // Outer.this
		return pathName{}
	}
	return t.stepNode(path, field, kind)
}

// javaObject walks the node before a dot. It returns the node's path, if it is one.
func (t *treeNames) javaObject(n syntax.Node) pathName {
	switch n.Type() {
	case "identifier", "type_identifier":
		return singleName(t.idOfNode(n))
	case "this":
		return t.class
	case "field_access", "scoped_identifier":
		return t.javaPath(n, mentionKind)
	default:
		t.visit(n, mentionKind)
		return pathName{}
	}
}

func (t *treeNames) javaCall(n syntax.Node) {
	object, name := n.Child("object"), n.Child("name")
	if object.IsZero() {
		t.mentionNode(name, callKind)
	} else {
		t.member(t.javaObject(object), t.idOfNode(name), name.Start(), callKind)
	}
	t.except(n, "object", "name")
}

// javaReference walks Type::method.
func (t *treeNames) javaReference(n syntax.Node) {
	var named []syntax.Node
	for _, child := range t.each(n) {
		if child.Named() {
			named = append(named, child)
		}
	}
	if len(named) == 0 {
		return
	}
	path := t.javaObject(named[0])
	if last := named[len(named)-1]; len(named) > 1 && last.Type() == "identifier" {
		t.member(path, t.idOfNode(last), last.Start(), mentionKind)
	} else if path.path == path.root {
		t.mention(path.path, named[0].Start(), literalKind) // Type::new
	}
}

// javaBody binds the members of a class and walks them.
func (t *treeNames) javaBody(n syntax.Node) {
	t.within(false, func() {
		for _, m := range t.each(n) {
			switch m.Type() {
			case "field_declaration", "constant_declaration":
				typ := t.javaType(m.Child("type"))
				for _, d := range m.Children() {
					if d.Type() == "variable_declarator" {
						t.bindAll(t.idOfNode(d.Child("name")), typ)
						t.field(t.class, ".", t.bytes(d.Child("name")), typ)
					}
				}
			case "constructor_declaration", "compact_constructor_declaration":
			case "class_declaration", "record_declaration", "interface_declaration", "enum_declaration":
				name := m.Child("name")
				t.bindAll(t.idOfNode(name), t.join(t.class, ".", t.bytes(name)))
			case "enum_body_declarations": // visible to the constants as well
				for _, inner := range m.Children() {
					t.bindAll(t.idOfNode(inner.Child("name")), pathName{})
				}
			default:
				t.bindAll(t.idOfNode(m.Child("name")), pathName{})
			}
		}
		for _, m := range t.each(n) {
			t.visit(m, mentionKind)
		}
	})
}

func (t *treeNames) javaFunction(n syntax.Node) {
	t.within(true, func() {
		params := n.Child("parameters")
		switch params.Type() {
		case "identifier", "inferred_parameters": // of a lambda
			if params.Type() == "identifier" {
				t.bind(t.idOfNode(params), pathName{})
			}
			for _, p := range params.Children() {
				if p.Type() == "identifier" {
					t.bind(t.idOfNode(p), pathName{})
				}
			}
			t.except(n, "name", "parameters")
		default:
			t.except(n, "name")
		}
	})
}

// javaVariables walks a declaration of variables. Fields are bound by their class.
func (t *treeNames) javaVariables(n syntax.Node) {
	typ := t.javaType(n.Child("type"))
	for _, child := range t.each(n) {
		if child.Type() != "variable_declarator" {
			t.visit(child, mentionKind)
			continue
		}
		t.except(child, "name")
		if n.Type() != "local_variable_declaration" {
			continue
		}
		made := typ
		if value := child.Child("value"); made.path == 0 && value.Type() == "object_creation_expression" { // var x = new T()
			made = t.javaType(value.Child("type"))
		}
		t.bind(t.idOfNode(child.Child("name")), made)
	}
}

// javaTypePattern walks T x.
func (t *treeNames) javaTypePattern(n syntax.Node) {
	var typ pathName
	for i, child := range t.each(n) {
		switch {
		case child.Type() == "identifier" && i > 0:
			t.bind(t.idOfNode(child), typ)
		case child.Type() == "record_pattern":
			t.visit(child, mentionKind)
		default:
			typ = t.javaType(child)
			t.visit(child, matchKind)
		}
	}
}

// javaType returns the name of a type node.
func (t *treeNames) javaType(n syntax.Node) pathName {
	if n.Type() == "generic_type" {
		n = n.First("type_identifier", "scoped_type_identifier")
	}
	switch n.Type() {
	case "type_identifier":
		if string(t.bytes(n)) == "var" {
			return pathName{}
		}
		return singleName(t.idOfNode(n))
	case "scoped_type_identifier":
		var path pathName
		for _, child := range n.Children() {
			switch {
			case child.Type() != "type_identifier":
			case path.path == 0:
				path = singleName(t.idOfNode(child))
			default:
				path = t.join(path, ".", t.bytes(child))
			}
		}
		return path
	}
	return pathName{}
}
