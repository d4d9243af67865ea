package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// csharp visits a node of C#. A class binds its members in its whole body.
func (t *treeNames) csharp(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "identifier":
		t.mentionNode(n, kind)
	case "comment", "string_literal", "verbatim_string_literal", "raw_string_literal", "character_literal", "integer_literal", "real_literal",
		"predefined_type", "implicit_type", "modifier", "discard", "label_name", "goto_statement", "extern_alias_directive", "preproc_region",
		"preproc_define", "preproc_pragma", "preproc_endregion", "string_content":
		// These nodes have no names.
	case "using_directive":
		t.csharpUsing(n)
	case "namespace_declaration", "file_scoped_namespace_declaration", "labeled_statement", "name_colon", "accessor_declaration":
		t.except(n, "name", "label")
	case "preproc_if", "preproc_elif":
		t.except(n, "condition")
	case "generic_name":
		t.visit(n.First("identifier"), kind)
		t.visit(n.First("type_argument_list"), typeKind)
	case "type_argument_list", "base_list", "array_type", "nullable_type", "pointer_type", "tuple_type", "ref_type":
		if kind == mentionKind || n.Type() == "type_argument_list" {
			kind = typeKind
		}
		t.childrenAs(n, kind)
	case "qualified_name", "member_access_expression", "alias_qualified_name":
		t.csharpPath(n, kind)
	case "conditional_access_expression":
		for _, child := range t.each(n) {
			if child.Type() == "member_binding_expression" {
				t.visit(child, kind)
			} else {
				t.visit(child, mentionKind)
			}
		}
	case "member_binding_expression":
		name := n.Child("name")
		if name.Type() == "generic_name" {
			t.visit(name.First("type_argument_list"), typeKind)
			name = name.First("identifier")
		}
		t.member(pathName{}, t.idOfNode(name), name.Start(), kind)
	case "invocation_expression":
		t.childAs(n, "function", callKind)
	case "attribute":
		t.childAs(n, "name", callKind)
	case "object_creation_expression":
		t.csharpNew(n)
	case "initializer_expression", "anonymous_object_creation_expression", "with_initializer":
		t.csharpInitializer(n, pathName{})
	case "class_declaration", "struct_declaration", "record_declaration", "record_struct_declaration", "interface_declaration", "enum_declaration":
		t.csharpClass(n)
	case "method_declaration", "constructor_declaration", "destructor_declaration", "local_function_statement", "lambda_expression",
		"anonymous_method_expression", "operator_declaration", "conversion_operator_declaration", "indexer_declaration", "delegate_declaration":
		if n.Type() == "local_function_statement" {
			t.bindAll(t.idOfNode(n.Child("name")), pathName{})
		}
		t.csharpFunction(n)
	case "property_declaration", "event_declaration", "enum_member_declaration":
		t.csharpTyped(n)
	case "type_parameter":
		t.bindAll(t.idOfNode(n.Child("name")), pathName{})
	case "parameter", "catch_declaration", "declaration_pattern", "recursive_pattern", "var_pattern", "declaration_expression":
		t.csharpVariable(n)
	case "constant_pattern":
		t.childrenAs(n, matchKind)
	case "type_pattern":
		t.childrenAs(n, matchKind)
	case "subpattern":
		for i, child := range t.each(n) {
			if i > 0 || child.Type() != "identifier" { // a property
				t.visit(child, mentionKind)
			}
		}
	case "tuple_pattern", "parenthesized_variable_designation":
		for _, child := range t.each(n) {
			if child.Type() == "identifier" {
				t.bind(t.idOfNode(child), pathName{})
			} else {
				t.visit(child, mentionKind)
			}
		}
	case "variable_declaration":
		t.csharpVariables(n)
	case "from_clause", "let_clause", "join_clause", "join_into_clause":
		t.except(n, "name")
		t.bind(t.idOfNode(n.Child("name")), pathName{})
	case "foreach_statement":
		t.within(false, func() {
			t.visit(n.Child("type"), typeKind)
			t.visit(n.Child("right"), mentionKind)
			if left := n.Child("left"); left.Type() == "identifier" {
				t.bind(t.idOfNode(left), t.csharpType(n.Child("type")))
			} else {
				t.visit(left, mentionKind)
			}
			t.visit(n.Child("body"), mentionKind)
		})
	case "argument":
		t.except(n, "name")
	case "attribute_argument":
		for _, child := range t.each(n) {
			if child.Type() != "name_equals" && child.Type() != "name_colon" {
				t.visit(child, mentionKind)
			}
		}
	case "block", "for_statement", "using_statement", "catch_clause", "switch_section", "switch_expression_arm", "query_expression", "fixed_statement",
		"if_statement", "while_statement":
		t.scope(n)
	case "as_expression", "is_expression":
		t.childAs(n, "right", typeKind)
	default:
		t.csharpTyped(n)
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
func (t *treeNames) csharpUsing(n syntax.Node) {
	alias := n.Child("name")
	module := ""
	for _, child := range n.Children() {
		if child.Named() && child.Field() != "name" && !isComment(child.Type()) {
			module = strings.Join(strings.Fields(t.text(child)), "")
		}
	}
	if alias.IsZero() {
		t.imports(module, n.Start(), Binding{Name: "*"})
	} else {
		t.imports(module, n.Start(), Binding{As: t.text(alias)})
	}
}

// csharpPath walks a chain of names with dots and returns it.
func (t *treeNames) csharpPath(n syntax.Node, kind kindCode) (path pathName) {
	if !t.descend() {
		return pathName{}
	}
	defer t.ascend()
	before, name := n.Child("expression"), n.Child("name")
	if before.IsZero() {
		before = n.Child("qualifier")
	}
	if before.Type() == "generic_name" {
		t.visit(before.First("type_argument_list"), typeKind)
		before = before.First("identifier")
	}
	switch before.Type() {
	case "identifier":
		path = singleName(t.idOfNode(before))
	case "this", "this_expression":
		path = t.class
	case "qualified_name", "member_access_expression":
		path = t.csharpPath(before, mentionKind)
	default:
		t.visit(before, mentionKind)
	}
	if name.Type() == "generic_name" {
		t.visit(name.First("type_argument_list"), typeKind)
		name = name.First("identifier")
	}
	if name.IsZero() {
		return pathName{}
	}
	return t.stepNode(path, name, kind)
}

func (t *treeNames) csharpNew(n syntax.Node) {
	typ := n.Child("type")
	for _, child := range t.each(n) {
		switch {
		case child.Field() == "type":
			t.visit(child, literalKind)
		case child.Type() == "initializer_expression":
			t.csharpInitializer(child, t.csharpType(typ))
		default:
			t.visit(child, mentionKind)
		}
	}
}

// csharpInitializer walks { Name = value }. The names are members of the type.
func (t *treeNames) csharpInitializer(n syntax.Node, typ pathName) {
	children := n.Children()
	for i, child := range children {
		left := child.Child("left")
		switch {
		case child.Type() == "assignment_expression" && left.Type() == "identifier":
			t.member(typ, t.idOfNode(left), left.Start(), mentionKind)
			t.visit(child.Child("right"), mentionKind)
		case child.Type() == "identifier" && i+1 < len(children) && children[i+1].Type() == "=": // new { Name = value }
		default:
			t.visit(child, mentionKind)
		}
	}
}

// csharpClass binds the members of a class and walks them.
func (t *treeNames) csharpClass(n syntax.Node) {
	body := n.Child("body")
	if body.IsZero() {
		body = n.First("declaration_list", "enum_member_declaration_list")
	}
	t.within(false, func() {
		t.bindParams(n.First("type_parameter_list"))
		t.inClass(n.Child("name"), func() {
			for _, m := range body.Children() {
				t.csharpBindMember(m)
			}
			for _, child := range t.each(n) {
				switch {
				case child.Field() == "name":
				case child.Type() == "base_list":
					t.visit(child, typeKind)
				default:
					t.visit(child, mentionKind)
				}
			}
		})
	})
}

func (t *treeNames) csharpBindMember(m syntax.Node) {
	switch m.Type() {
	case "field_declaration", "event_field_declaration":
		list := m.First("variable_declaration")
		typ := t.csharpType(list.Child("type"))
		for _, d := range list.Children() {
			if d.Type() == "variable_declarator" {
				t.bindAll(t.idOfNode(d.Child("name")), typ)
				t.field(t.class, ".", t.bytes(d.Child("name")), typ)
			}
		}
	case "property_declaration":
		typ := t.csharpType(m.Child("type"))
		t.bindAll(t.idOfNode(m.Child("name")), typ)
		t.field(t.class, ".", t.bytes(m.Child("name")), typ)
	case "constructor_declaration":
	case "class_declaration", "struct_declaration", "record_declaration", "interface_declaration", "enum_declaration":
		name := m.Child("name")
		t.bindAll(t.idOfNode(name), t.join(t.class, ".", t.bytes(name)))
	default:
		if name := m.Child("name"); name.Type() == "identifier" {
			t.bindAll(t.idOfNode(name), pathName{})
		}
	}
}

func (t *treeNames) csharpFunction(n syntax.Node) {
	t.within(true, func() {
		t.visit(n.First("type_parameter_list"), mentionKind)
		for _, child := range t.each(n) {
			switch {
			case child.Field() == "name", child.Type() == "type_parameter_list":
			case child.Field() == "returns", child.Field() == "type":
				t.visit(child, typeKind)
			case child.Type() == "implicit_parameter":
				t.bind(t.idOfNode(child), pathName{})
			default:
				t.visit(child, mentionKind)
			}
		}
	})
}

// csharpTyped walks a node with a type. The node's own name is not a use.
func (t *treeNames) csharpTyped(n syntax.Node) {
	for _, child := range t.each(n) {
		switch {
		case child.Field() == "type":
			t.visit(child, typeKind)
		case child.Field() == "name" && child.Type() == "identifier":
		default:
			t.visit(child, mentionKind)
		}
	}
}

// csharpVariable walks a node that binds one variable: a parameter or a pattern.
func (t *treeNames) csharpVariable(n syntax.Node) {
	kind := typeKind
	switch n.Type() {
	case "catch_declaration", "declaration_pattern", "recursive_pattern":
		kind = matchKind
	}
	typ := n.Child("type")
	for _, child := range t.each(n) {
		switch {
		case child.Field() == "type":
			t.visit(child, kind)
		case child.Field() == "name" && child.Type() == "identifier":
			t.bind(t.idOfNode(child), t.csharpType(typ))
		default:
			t.visit(child, mentionKind)
		}
	}
}

// csharpVariables walks a declaration of variables. Fields are bound by their class.
func (t *treeNames) csharpVariables(n syntax.Node) {
	declared := t.csharpType(n.Child("type"))
	for _, child := range t.each(n) {
		switch {
		case child.Field() == "type":
			t.visit(child, typeKind)
		case child.Type() == "variable_declarator":
			typ := declared
			if made := child.First("object_creation_expression"); typ.path == 0 && !made.IsZero() { // var x = new T()
				typ = t.csharpType(made.Child("type"))
			}
			name := child.Child("name")
			t.except(child, "name")
			if name.Type() == "identifier" {
				t.bind(t.idOfNode(name), typ)
			}
		default:
			t.visit(child, mentionKind)
		}
	}
}

// csharpType returns the name of a type node.
func (t *treeNames) csharpType(n syntax.Node) pathName {
	for range 4 {
		switch n.Type() {
		case "identifier":
			return singleName(t.idOfNode(n))
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
			return t.join(singleName(t.idOfNode(before)), ".", t.bytes(name))
		default:
			return pathName{}
		}
	}
	return pathName{}
}
