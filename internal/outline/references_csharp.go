package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// csharp visits a node of C#. A class binds its members in its whole body.
func (c *treeNames) csharp(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "identifier":
		c.mentionNode(n, kind)
	case "comment", "string_literal", "verbatim_string_literal", "raw_string_literal", "character_literal", "integer_literal", "real_literal",
		"predefined_type", "implicit_type", "modifier", "discard", "label_name", "goto_statement", "extern_alias_directive", "preproc_region",
		"preproc_define", "preproc_pragma", "preproc_endregion", "string_content":
		// These nodes have no names.
	case "using_directive":
		c.csharpUsing(n)
	case "namespace_declaration", "file_scoped_namespace_declaration", "labeled_statement", "name_colon", "accessor_declaration":
		c.except(n, "name", "label")
	case "preproc_if", "preproc_elif":
		c.except(n, "condition")
	case "generic_name":
		c.visit(n.First("identifier"), kind)
		c.visit(n.First("type_argument_list"), typeKind)
	case "type_argument_list", "base_list", "array_type", "nullable_type", "pointer_type", "tuple_type", "ref_type":
		if kind == mentionKind || n.Type() == "type_argument_list" {
			kind = typeKind
		}
		c.childrenAs(n, kind)
	case "qualified_name", "member_access_expression", "alias_qualified_name":
		c.csharpPath(n, kind)
	case "conditional_access_expression":
		for _, child := range c.each(n) {
			if child.Type() == "member_binding_expression" {
				c.visit(child, kind)
			} else {
				c.visit(child, mentionKind)
			}
		}
	case "member_binding_expression":
		name := n.Child("name")
		if name.Type() == "generic_name" {
			c.visit(name.First("type_argument_list"), typeKind)
			name = name.First("identifier")
		}
		c.member(pathName{}, c.idOfNode(name), name.Start(), kind)
	case "invocation_expression":
		c.childAs(n, "function", callKind)
	case "attribute":
		c.childAs(n, "name", callKind)
	case "object_creation_expression":
		c.csharpNew(n)
	case "initializer_expression", "anonymous_object_creation_expression", "with_initializer":
		c.csharpInitializer(n, pathName{})
	case "class_declaration", "struct_declaration", "record_declaration", "record_struct_declaration", "interface_declaration", "enum_declaration":
		c.csharpClass(n)
	case "method_declaration", "constructor_declaration", "destructor_declaration", "local_function_statement", "lambda_expression",
		"anonymous_method_expression", "operator_declaration", "conversion_operator_declaration", "indexer_declaration", "delegate_declaration":
		if n.Type() == "local_function_statement" {
			c.bindAll(c.idOfNode(n.Child("name")), pathName{})
		}
		c.csharpFunction(n)
	case "property_declaration", "event_declaration", "enum_member_declaration":
		c.csharpTyped(n)
	case "type_parameter":
		c.bindAll(c.idOfNode(n.Child("name")), pathName{})
	case "parameter", "catch_declaration", "declaration_pattern", "recursive_pattern", "var_pattern", "declaration_expression":
		c.csharpVariable(n)
	case "constant_pattern":
		c.childrenAs(n, matchKind)
	case "type_pattern":
		c.childrenAs(n, matchKind)
	case "subpattern":
		for i, child := range c.each(n) {
			if i > 0 || child.Type() != "identifier" { // a property
				c.visit(child, mentionKind)
			}
		}
	case "tuple_pattern", "parenthesized_variable_designation":
		for _, child := range c.each(n) {
			if child.Type() == "identifier" {
				c.bind(c.idOfNode(child), pathName{})
			} else {
				c.visit(child, mentionKind)
			}
		}
	case "variable_declaration":
		c.csharpVariables(n)
	case "from_clause", "let_clause", "join_clause", "join_into_clause":
		c.except(n, "name")
		c.bind(c.idOfNode(n.Child("name")), pathName{})
	case "foreach_statement":
		c.within(false, func() {
			c.visit(n.Child("type"), typeKind)
			c.visit(n.Child("right"), mentionKind)
			if left := n.Child("left"); left.Type() == "identifier" {
				c.bind(c.idOfNode(left), c.csharpType(n.Child("type")))
			} else {
				c.visit(left, mentionKind)
			}
			c.visit(n.Child("body"), mentionKind)
		})
	case "argument":
		c.except(n, "name")
	case "attribute_argument":
		for _, child := range c.each(n) {
			if child.Type() != "name_equals" && child.Type() != "name_colon" {
				c.visit(child, mentionKind)
			}
		}
	case "block", "for_statement", "using_statement", "catch_clause", "switch_section", "switch_expression_arm", "query_expression", "fixed_statement",
		"if_statement", "while_statement":
		c.scope(n)
	case "as_expression", "is_expression":
		c.childAs(n, "right", typeKind)
	default:
		c.csharpTyped(n)
	}
}

// isCSharpBuiltin reports whether name is a common type of the System namespaces.
func isCSharpBuiltin(name string) bool {
	switch name {
	case "Action", "ArgumentException", "ArgumentNullException", "ArgumentOutOfRangeException", "Array", "Attribute", "Boolean", "Console", "Convert",
		"DateTime", "DateTimeOffset", "Dictionary", "Enum", "Environment", "EventArgs", "EventHandler", "Exception", "Func", "GC", "Guid",
		"HashSet", "IAsyncEnumerable", "ICollection", "IComparable", "IDictionary", "IDisposable", "IEnumerable", "IEnumerator",
		"IEquatable", "IList", "IReadOnlyList", "Int32", "Int64", "InvalidOperationException", "KeyValuePair", "List", "Math",
		"NotImplementedException", "NotSupportedException", "Nullable", "Object", "Obsolete", "Predicate", "Queue", "Serializable",
		"Span", "Stack", "String", "StringBuilder", "StringComparison", "System", "Task", "TimeSpan", "Tuple", "Type", "Uri", "ValueTask",
		"_", "nameof", "value", "var":
		return true
	}
	return false
}

// isCSharpMember reports whether objects, strings or collections have a member.
func isCSharpMember(name string) bool {
	switch name {
	case "Add", "AddRange", "Any", "Append", "AppendLine", "Clear", "ConfigureAwait", "Contains", "ContainsKey", "Count", "Dispose", "EndsWith",
		"Equals", "First", "FirstOrDefault", "Format", "GetHashCode", "GetType", "HasValue", "IndexOf", "Invoke", "Join", "Key", "Keys",
		"Length", "Message", "Remove", "Replace", "Result", "Select", "Single", "Split", "StartsWith", "Substring", "ToArray", "ToList",
		"ToLower", "ToString", "ToUpper", "Trim", "TryGetValue", "Value", "Values", "Where":
		return true
	}
	return false
}

// csharpUsing adds an import: all names of a namespace, or one name with an alias.
func (c *treeNames) csharpUsing(n syntax.Node) {
	alias := n.Child("name")
	module := ""
	for _, child := range n.Children() {
		if child.Named() && child.Field() != "name" && !isComment(child.Type()) {
			module = strings.Join(strings.Fields(c.text(child)), "")
		}
	}
	if alias.IsZero() {
		c.imports(module, n.Start(), Binding{Name: "*"})
	} else {
		c.imports(module, n.Start(), Binding{As: c.text(alias)})
	}
}

// csharpPath walks a chain of names with dots and returns it.
func (c *treeNames) csharpPath(n syntax.Node, kind kindCode) (path pathName) {
	if !c.descend() {
		return pathName{}
	}
	defer c.ascend()
	before, name := n.Child("expression"), n.Child("name")
	if before.IsZero() {
		before = n.Child("qualifier")
	}
	if before.Type() == "generic_name" {
		c.visit(before.First("type_argument_list"), typeKind)
		before = before.First("identifier")
	}
	switch before.Type() {
	case "identifier":
		path = singleName(c.idOfNode(before))
	case "this", "this_expression":
		path = c.class
	case "qualified_name", "member_access_expression":
		path = c.csharpPath(before, mentionKind)
	default:
		c.visit(before, mentionKind)
	}
	if name.Type() == "generic_name" {
		c.visit(name.First("type_argument_list"), typeKind)
		name = name.First("identifier")
	}
	if name.IsZero() {
		return pathName{}
	}
	return c.stepNode(path, name, kind)
}

func (c *treeNames) csharpNew(n syntax.Node) {
	typ := n.Child("type")
	for _, child := range c.each(n) {
		switch {
		case child.Field() == "type":
			c.visit(child, literalKind)
		case child.Type() == "initializer_expression":
			c.csharpInitializer(child, c.csharpType(typ))
		default:
			c.visit(child, mentionKind)
		}
	}
}

// csharpInitializer walks { Name = value }. The names are members of the type.
func (c *treeNames) csharpInitializer(n syntax.Node, typ pathName) {
	children := n.Children()
	for i, child := range children {
		left := child.Child("left")
		switch {
		case child.Type() == "assignment_expression" && left.Type() == "identifier":
			c.member(typ, c.idOfNode(left), left.Start(), mentionKind)
			c.visit(child.Child("right"), mentionKind)
		case child.Type() == "identifier" && i+1 < len(children) && children[i+1].Type() == "=": // new { Name = value }
		default:
			c.visit(child, mentionKind)
		}
	}
}

// csharpClass binds the members of a class and walks them.
func (c *treeNames) csharpClass(n syntax.Node) {
	body := n.Child("body")
	if body.IsZero() {
		body = n.First("declaration_list", "enum_member_declaration_list")
	}
	c.within(false, func() {
		c.bindParams(n.First("type_parameter_list"))
		c.inClass(n.Child("name"), func() {
			for _, m := range body.Children() {
				c.csharpBindMember(m)
			}
			for _, child := range c.each(n) {
				switch {
				case child.Field() == "name":
				case child.Type() == "base_list":
					c.visit(child, typeKind)
				default:
					c.visit(child, mentionKind)
				}
			}
		})
	})
}

func (c *treeNames) csharpBindMember(m syntax.Node) {
	switch m.Type() {
	case "field_declaration", "event_field_declaration":
		list := m.First("variable_declaration")
		typ := c.csharpType(list.Child("type"))
		for _, d := range list.Children() {
			if d.Type() == "variable_declarator" {
				c.bindAll(c.idOfNode(d.Child("name")), typ)
				c.field(c.class, ".", c.bytes(d.Child("name")), typ)
			}
		}
	case "property_declaration":
		typ := c.csharpType(m.Child("type"))
		c.bindAll(c.idOfNode(m.Child("name")), typ)
		c.field(c.class, ".", c.bytes(m.Child("name")), typ)
	case "constructor_declaration":
	case "class_declaration", "struct_declaration", "record_declaration", "interface_declaration", "enum_declaration":
		name := m.Child("name")
		c.bindAll(c.idOfNode(name), c.join(c.class, ".", c.bytes(name)))
	default:
		if name := m.Child("name"); name.Type() == "identifier" {
			c.bindAll(c.idOfNode(name), pathName{})
		}
	}
}

func (c *treeNames) csharpFunction(n syntax.Node) {
	c.within(true, func() {
		c.visit(n.First("type_parameter_list"), mentionKind)
		for _, child := range c.each(n) {
			switch {
			case child.Field() == "name", child.Type() == "type_parameter_list":
			case child.Field() == "returns", child.Field() == "type":
				c.visit(child, typeKind)
			case child.Type() == "implicit_parameter":
				c.bind(c.idOfNode(child), pathName{})
			default:
				c.visit(child, mentionKind)
			}
		}
	})
}

// csharpTyped walks a node with a type. The node's own name is not a use.
func (c *treeNames) csharpTyped(n syntax.Node) {
	for _, child := range c.each(n) {
		switch {
		case child.Field() == "type":
			c.visit(child, typeKind)
		case child.Field() == "name" && child.Type() == "identifier":
		default:
			c.visit(child, mentionKind)
		}
	}
}

// csharpVariable walks a node that binds one variable: a parameter or a pattern.
func (c *treeNames) csharpVariable(n syntax.Node) {
	kind := typeKind
	switch n.Type() {
	case "catch_declaration", "declaration_pattern", "recursive_pattern":
		kind = matchKind
	}
	typ := n.Child("type")
	for _, child := range c.each(n) {
		switch {
		case child.Field() == "type":
			c.visit(child, kind)
		case child.Field() == "name" && child.Type() == "identifier":
			c.bind(c.idOfNode(child), c.csharpType(typ))
		default:
			c.visit(child, mentionKind)
		}
	}
}

// csharpVariables walks a declaration of variables. Fields are bound by their class.
func (c *treeNames) csharpVariables(n syntax.Node) {
	declared := c.csharpType(n.Child("type"))
	for _, child := range c.each(n) {
		switch {
		case child.Field() == "type":
			c.visit(child, typeKind)
		case child.Type() == "variable_declarator":
			typ := declared
			if made := child.First("object_creation_expression"); typ.path == 0 && !made.IsZero() { // var x = new T()
				typ = c.csharpType(made.Child("type"))
			}
			name := child.Child("name")
			c.except(child, "name")
			if name.Type() == "identifier" {
				c.bind(c.idOfNode(name), typ)
			}
		default:
			c.visit(child, mentionKind)
		}
	}
}

// csharpType returns the name of a type node.
func (c *treeNames) csharpType(n syntax.Node) pathName {
	for range 4 {
		switch n.Type() {
		case "identifier":
			return singleName(c.idOfNode(n))
		case "generic_name":
			n = n.First("identifier")
		case "nullable_type":
			n = n.Child("type")
		case "qualified_name":
			before := n.Child("qualifier")
			name := n.Child("name")
			if before.Type() != "identifier" || name.Type() != "identifier" {
				return pathName{}
			}
			return c.join(singleName(c.idOfNode(before)), ".", c.bytes(name))
		default:
			return pathName{}
		}
	}
	return pathName{}
}
