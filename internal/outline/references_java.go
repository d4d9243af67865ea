package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// java visits a node of Java. A class binds its members in its whole body.
func (c *treeNames) java(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "identifier":
		c.mentionNode(n, kind)
	case "type_identifier":
		if kind == mentionKind {
			kind = typeKind
		}
		if string(c.bytes(n)) != "var" {
			c.mentionNode(n, kind)
		}
	case "line_comment", "block_comment", "string_literal", "character_literal", "package_declaration", "this", "super", "labeled_identifier",
		"integral_type", "floating_point_type", "boolean_type", "void_type", "decimal_integer_literal", "break_statement", "continue_statement":
		// These nodes have no names.
	case "import_declaration":
		c.javaImport(n)
	case "field_access", "scoped_identifier":
		c.javaPath(n, kind)
	case "scoped_type_identifier":
		if kind == mentionKind {
			kind = typeKind
		}
		c.names(n, kind)
	case "method_invocation":
		c.javaCall(n)
	case "object_creation_expression":
		c.childAs(n, "type", literalKind)
	case "method_reference":
		c.javaReference(n)
	case "annotation", "marker_annotation":
		c.childAs(n, "name", callKind)
	case "element_value_pair":
		c.except(n, "key")
	case "class_declaration", "record_declaration", "interface_declaration", "enum_declaration", "annotation_type_declaration":
		c.within(false, func() { c.inClass(n.Child("name"), func() { c.except(n, "name") }) })
	case "class_body", "interface_body", "enum_body", "enum_body_declarations", "annotation_type_body":
		c.javaBody(n)
	case "method_declaration", "constructor_declaration", "compact_constructor_declaration", "lambda_expression", "static_initializer",
		"annotation_type_element_declaration":
		c.javaFunction(n)
	case "enum_constant":
		c.except(n, "name")
	case "type_parameter":
		c.bindAll(c.idOfNode(n.First("type_identifier", "identifier")), pathName{})
		c.visit(n.First("type_bound"), typeKind)
	case "superclass", "super_interfaces", "extends_interfaces", "type_bound":
		c.childrenAs(n, typeKind)
	case "generic_type":
		for i, child := range c.each(n) {
			if i == 0 && kind != mentionKind {
				c.visit(child, kind)
			} else {
				c.visit(child, typeKind)
			}
		}
	case "local_variable_declaration", "field_declaration", "constant_declaration":
		c.javaVariables(n)
	case "formal_parameter", "resource", "spread_parameter":
		c.except(n, "name")
		c.bind(c.idOfNode(n.Child("name")), c.javaType(n.Child("type")))
	case "variable_declarator": // of a spread parameter
		c.except(n, "name")
		c.bind(c.idOfNode(n.Child("name")), pathName{})
	case "catch_formal_parameter":
		for _, child := range c.each(n) {
			if child.Type() == "catch_type" {
				c.childrenAs(child, matchKind)
			}
		}
		c.bind(c.idOfNode(n.Child("name")), pathName{})
	case "instanceof_expression":
		c.except(n, "name")
		c.bind(c.idOfNode(n.Child("name")), c.javaType(n.Child("right")))
	case "type_pattern":
		c.javaTypePattern(n)
	case "record_pattern":
		c.firstAs(n, matchKind)
	case "record_pattern_component":
		c.javaTypePattern(n)
	case "switch_label":
		c.childrenAs(n, matchKind)
	case "enhanced_for_statement":
		c.within(false, func() {
			c.except(n, "name", "body")
			c.bind(c.idOfNode(n.Child("name")), c.javaType(n.Child("type")))
			c.visit(n.Child("body"), mentionKind)
		})
	case "labeled_statement":
		for _, child := range c.each(n) {
			if child.Type() != "identifier" {
				c.visit(child, mentionKind)
			}
		}
	case "block", "for_statement", "catch_clause", "try_with_resources_statement", "switch_block", "constructor_body":
		c.scope(n)
	default:
		c.children(n)
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
func (c *treeNames) javaImport(n syntax.Node) {
	name := strings.Join(strings.Fields(c.text(n.First("scoped_identifier", "identifier"))), "")
	static := false
	for _, child := range n.Children() {
		static = static || child.Type() == "static"
	}
	if !n.First("asterisk").IsZero() {
		c.imports(name, n.Start(), Binding{Name: "*"})
		return
	}
	dot := strings.LastIndexByte(name, '.')
	if static && dot > 0 {
		c.imports(name[:dot], n.Start(), Binding{Name: name[dot+1:]})
	} else if name != "" {
		c.imports(name, n.Start(), Binding{As: name[dot+1:]})
	}
}

// javaPath walks a chain of names with dots and returns it.
func (c *treeNames) javaPath(n syntax.Node, kind kindCode) (path pathName) {
	if !c.descend() {
		return pathName{}
	}
	defer c.ascend()
	object, field := n.Child("object"), n.Child("field")
	if object.IsZero() {
		object, field = n.Child("scope"), n.Child("name")
	}
	path = c.javaObject(object)
	if field.Type() != "identifier" { // Outer.this
		return pathName{}
	}
	return c.stepNode(path, field, kind)
}

// javaObject walks the node before a dot. It returns the node's path, if it is one.
func (c *treeNames) javaObject(n syntax.Node) pathName {
	switch n.Type() {
	case "identifier", "type_identifier":
		return singleName(c.idOfNode(n))
	case "this":
		return c.class
	case "field_access", "scoped_identifier":
		return c.javaPath(n, mentionKind)
	default:
		c.visit(n, mentionKind)
		return pathName{}
	}
}

func (c *treeNames) javaCall(n syntax.Node) {
	object, name := n.Child("object"), n.Child("name")
	if object.IsZero() {
		c.mentionNode(name, callKind)
	} else {
		c.member(c.javaObject(object), c.idOfNode(name), name.Start(), callKind)
	}
	c.except(n, "object", "name")
}

// javaReference walks Type::method.
func (c *treeNames) javaReference(n syntax.Node) {
	var named []syntax.Node
	for _, child := range c.each(n) {
		if child.Named() {
			named = append(named, child)
		}
	}
	if len(named) == 0 {
		return
	}
	path := c.javaObject(named[0])
	if last := named[len(named)-1]; len(named) > 1 && last.Type() == "identifier" {
		c.member(path, c.idOfNode(last), last.Start(), mentionKind)
	} else if path.path == path.root {
		c.mention(path.path, named[0].Start(), literalKind) // Type::new
	}
}

// javaBody binds the members of a class and walks them.
func (c *treeNames) javaBody(n syntax.Node) {
	c.within(false, func() {
		for _, m := range c.each(n) {
			switch m.Type() {
			case "field_declaration", "constant_declaration":
				typ := c.javaType(m.Child("type"))
				for _, d := range m.Children() {
					if d.Type() == "variable_declarator" {
						c.bindAll(c.idOfNode(d.Child("name")), typ)
						c.field(c.class, ".", c.bytes(d.Child("name")), typ)
					}
				}
			case "constructor_declaration", "compact_constructor_declaration":
			case "class_declaration", "record_declaration", "interface_declaration", "enum_declaration":
				name := m.Child("name")
				c.bindAll(c.idOfNode(name), c.join(c.class, ".", c.bytes(name)))
			case "enum_body_declarations": // visible to the constants as well
				for _, inner := range m.Children() {
					c.bindAll(c.idOfNode(inner.Child("name")), pathName{})
				}
			default:
				c.bindAll(c.idOfNode(m.Child("name")), pathName{})
			}
		}
		for _, m := range c.each(n) {
			c.visit(m, mentionKind)
		}
	})
}

func (c *treeNames) javaFunction(n syntax.Node) {
	c.within(true, func() {
		params := n.Child("parameters")
		switch params.Type() {
		case "identifier", "inferred_parameters": // of a lambda
			if params.Type() == "identifier" {
				c.bind(c.idOfNode(params), pathName{})
			}
			for _, p := range params.Children() {
				if p.Type() == "identifier" {
					c.bind(c.idOfNode(p), pathName{})
				}
			}
			c.except(n, "name", "parameters")
		default:
			c.except(n, "name")
		}
	})
}

// javaVariables walks a declaration of variables. Fields are bound by their class.
func (c *treeNames) javaVariables(n syntax.Node) {
	typ := c.javaType(n.Child("type"))
	for _, child := range c.each(n) {
		if child.Type() != "variable_declarator" {
			c.visit(child, mentionKind)
			continue
		}
		c.except(child, "name")
		if n.Type() != "local_variable_declaration" {
			continue
		}
		made := typ
		if value := child.Child("value"); made.path == 0 && value.Type() == "object_creation_expression" { // var x = new T()
			made = c.javaType(value.Child("type"))
		}
		c.bind(c.idOfNode(child.Child("name")), made)
	}
}

// javaTypePattern walks T x.
func (c *treeNames) javaTypePattern(n syntax.Node) {
	var typ pathName
	for i, child := range c.each(n) {
		switch {
		case child.Type() == "identifier" && i > 0:
			c.bind(c.idOfNode(child), typ)
		case child.Type() == "record_pattern":
			c.visit(child, mentionKind)
		default:
			typ = c.javaType(child)
			c.visit(child, matchKind)
		}
	}
}

// javaType returns the name of a type node.
func (c *treeNames) javaType(n syntax.Node) pathName {
	if n.Type() == "generic_type" {
		n = n.First("type_identifier", "scoped_type_identifier")
	}
	switch n.Type() {
	case "type_identifier":
		if string(c.bytes(n)) == "var" {
			return pathName{}
		}
		return singleName(c.idOfNode(n))
	case "scoped_type_identifier":
		var path pathName
		for _, child := range n.Children() {
			switch {
			case child.Type() != "type_identifier":
			case path.path == 0:
				path = singleName(c.idOfNode(child))
			default:
				path = c.join(path, ".", c.bytes(child))
			}
		}
		return path
	}
	return pathName{}
}
