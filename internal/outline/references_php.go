package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// php visits a node of PHP. Variables begin with $ and are never uses.
func (t *treeNames) php(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "name":
		t.mentionNode(n, kind)
	case "comment", "variable_name", "dynamic_variable_name", "string_content", "integer", "float", "primitive_type", "php_tag", "text", "text_interpolation", "relative_scope",
		"visibility_modifier", "nowdoc", "heredoc_start", "heredoc_end", "string", "goto_statement", "named_label_statement":
		// These nodes have no names.
	case "qualified_name":
		t.phpPath(n, kind)
	case "namespace_definition":
		t.visit(n.Child("body"), mentionKind)
	case "namespace_use_declaration":
		t.phpUse(n)
	case "require_expression", "require_once_expression", "include_expression", "include_once_expression":
		t.imports(t.phpIncluded(n), n.Start())
		t.children(n)
	case "function_call_expression":
		t.childAs(n, "function", callKind)
	case "member_call_expression", "nullsafe_member_call_expression":
		t.phpMember(n, callKind)
	case "member_access_expression", "nullsafe_member_access_expression":
		t.phpMember(n, mentionKind)
	case "scoped_call_expression":
		t.phpScoped(n.Child("scope"), n.Child("name"), callKind)
		t.except(n, "scope", "name")
	case "scoped_property_access_expression":
		t.phpScoped(n.Child("scope"), n.Child("name").First("name"), mentionKind)
	case "class_constant_access_expression":
		var parts []syntax.Node
		for _, child := range n.Children() {
			if child.Named() {
				parts = append(parts, child)
			}
		}
		if len(parts) == 2 {
			t.phpScoped(parts[0], parts[1], kind)
		} else {
			t.children(n)
		}
	case "object_creation_expression":
		for _, child := range t.each(n) {
			switch child.Type() {
			case "name", "qualified_name":
				t.visit(child, literalKind)
			default:
				t.visit(child, mentionKind)
			}
		}
	case "named_type", "optional_type", "union_type", "intersection_type", "type_list":
		if kind == mentionKind {
			kind = typeKind
		}
		t.childrenAs(n, kind)
	case "base_clause", "class_interface_clause", "use_declaration":
		t.childrenAs(n, typeKind)
	case "attribute":
		t.firstAs(n, callKind)
	case "class_declaration", "interface_declaration", "trait_declaration", "enum_declaration":
		name := n.Child("name")
		t.bindIn(0, t.idOfNode(name), 0, pathName{})
		t.inClass(name, func() {
			t.phpFields(n.Child("body"))
			t.except(n, "name")
		})
	case "function_definition", "method_declaration", "anonymous_function", "arrow_function":
		if n.Type() == "function_definition" {
			t.bindIn(0, t.idOfNode(n.Child("name")), 0, pathName{})
		}
		t.within(true, func() { t.except(n, "name") })
	case "simple_parameter", "property_promotion_parameter", "variadic_parameter":
		typ := n.Child("type")
		t.except(n, "name")
		name := n.Child("name")
		t.bind(t.idOfNode(name), t.phpType(typ))
		if n.Type() == "property_promotion_parameter" {
			t.assigned(name.First("name"))
			t.field(t.class, ".", t.bytes(name.First("name")), t.phpType(typ))
		}
	case "assignment_expression":
		left, right := n.Child("left"), n.Child("right")
		t.visit(right, mentionKind)
		if left.Type() != "variable_name" {
			t.visit(left, mentionKind)
			return
		}
		var typ pathName
		if right.Type() == "object_creation_expression" {
			typ = t.phpType(right.First("name", "qualified_name"))
		}
		t.bind(t.idOfNode(left), typ)
	case "const_element", "enum_case":
		named := false
		for _, child := range t.each(n) {
			if child.Type() == "name" && !named {
				named = true
				continue
			}
			t.visit(child, mentionKind)
		}
	case "argument", "property_element":
		t.except(n, "name")
	case "catch_clause":
		t.visit(n.Child("type"), matchKind)
		t.visit(n.Child("body"), mentionKind)
	case "binary_expression":
		if string(t.bytes(n.Child("operator"))) == "instanceof" {
			t.childAs(n, "right", typeKind)
		} else {
			t.children(n)
		}
	case "case_statement":
		t.childAs(n, "value", matchKind)
	case "match_condition_list":
		t.childrenAs(n, matchKind)
	default:
		t.children(n)
	}
}

// isPHPBuiltin reports whether PHP predeclares a name.
func isPHPBuiltin(name string) bool {
	switch strings.ToLower(name) {
	case "__class__", "__dir__", "__file__", "__function__", "__line__", "__method__", "__namespace__", "array", "array_combine", "array_filter",
		"array_flip", "array_key_exists", "array_keys", "array_map", "array_merge", "array_pop", "array_push", "array_reduce",
		"array_search", "array_shift", "array_slice", "array_splice", "array_unique", "array_unshift", "array_values", "array_walk",
		"arrayaccess", "arrayiterator", "arrayobject", "basename", "bool", "call_user_func", "call_user_func_array", "class_exists",
		"closure", "compact", "count", "countable", "date", "datetime", "datetimeimmutable", "datetimeinterface", "define", "defined",
		"die", "dirname", "directory_separator", "empty", "error", "exception", "exit", "explode", "extract", "false", "file_exists",
		"file_get_contents", "file_put_contents", "float", "fopen", "func_get_args", "function_exists", "generator", "get_class",
		"implode", "in_array", "ini_set", "int", "intval", "invalidargumentexception", "is_array", "is_bool", "is_callable", "is_dir",
		"is_file", "is_int", "is_null", "is_numeric", "is_object", "is_string", "isset", "iterator", "iteratoraggregate",
		"json_decode", "json_encode", "jsonserializable", "logicexception", "ltrim", "max", "mb_strlen", "mb_substr", "method_exists",
		"microtime", "min", "mixed", "null", "number_format", "object", "ord", "outofboundsexception", "parent", "php_eol",
		"preg_match", "preg_match_all", "preg_quote", "preg_replace", "preg_replace_callback", "preg_split", "print_r", "printf",
		"property_exists", "rtrim", "runtimeexception", "self", "serialize", "sort", "spl_autoload_register", "splobjectstorage",
		"sprintf", "static", "stdclass", "str_contains", "str_replace", "str_starts_with", "str_ends_with", "stringable", "string",
		"strlen", "strpos", "strtolower", "strtoupper", "substr", "throwable", "time", "trigger_error", "trim", "true",
		"typeerror", "ucfirst", "unlink", "unserialize", "unset", "usort", "var_dump", "var_export", "version_compare", "void":
		return true
	}
	return false
}

// isPHPMember reports whether exceptions or iterators have a method.
func isPHPMember(name string) bool {
	switch name {
	case "count", "format", "getCode", "getMessage", "getPrevious", "getTrace", "key", "next", "rewind", "__construct", "__toString", "class":
		return true
	}
	return false
}

// phpPath walks a name with backslashes. A name with a leading backslash does not refer to an import.
func (t *treeNames) phpPath(n syntax.Node, kind kindCode) {
	path, last := t.phpNames(n)
	if last.IsZero() {
		return
	}
	if path.path == 0 {
		t.mentionNode(last, kind)
	} else {
		t.member(path, t.idOfNode(last), last.Start(), kind)
	}
}

// phpNames splits a name with backslashes.
func (t *treeNames) phpNames(n syntax.Node) (path pathName, last syntax.Node) {
	for _, child := range n.Children() {
		if child.Type() == "name" {
			last = child
		}
	}
	if last.IsZero() {
		return pathName{}, last
	}
	before := strings.Join(strings.Fields(string(t.src[n.Start():last.Start()])), "")
	before = strings.TrimSuffix(before, `\`)
	if before == "" || len(before) > maxPath {
		return pathName{}, last
	}
	first, rest, _ := strings.Cut(before, `\`)
	if first == "" {
		first, _, _ = strings.Cut(rest, `\`)
		first = `\` + first
	}
	return pathName{t.idOf(before), t.idOf(first)}, last
}

// phpUse adds the imports of a use declaration.
func (t *treeNames) phpUse(n syntax.Node) {
	ofFunction := false
	for _, child := range n.Children() {
		ofFunction = ofFunction || child.Type() == "function" || child.Type() == "const"
	}
	add := func(prefix string, clause syntax.Node) {
		name := prefix + strings.TrimPrefix(strings.Join(strings.Fields(t.text(clause.First("qualified_name", "name"))), ""), `\`)
		alias := t.text(clause.Child("alias"))
		last := strings.LastIndexByte(name, '\\')
		short := name[last+1:]
		function := ofFunction
		for _, child := range clause.Children() {
			function = function || child.Type() == "function" || child.Type() == "const"
		}
		switch {
		case short == "":
		case function && last > 0:
			t.imports(name[:last], clause.Start(), Binding{Name: short, As: alias})
		case alias != "":
			t.imports(name, clause.Start(), Binding{As: alias})
		default:
			t.imports(name, clause.Start(), Binding{As: short})
		}
	}
	for _, child := range n.Children() {
		switch child.Type() {
		case "namespace_use_clause":
			add("", child)
		case "namespace_use_group":
			prefix := strings.TrimPrefix(t.text(n.First("namespace_name")), `\`) + `\`
			for _, clause := range child.Children() {
				if strings.HasPrefix(clause.Type(), "namespace_use") {
					add(prefix, clause)
				}
			}
		}
	}
}

// phpIncluded returns the file of an include: './x.php' for __DIR__ . '/x.php'.
func (t *treeNames) phpIncluded(n syntax.Node) string {
	var value syntax.Node
	for _, child := range n.Children() {
		if child.Named() {
			value = child
		}
	}
	if value.Type() == "parenthesized_expression" {
		for _, child := range value.Children() {
			if child.Named() {
				value = child
			}
		}
	}
	left, right := value.Child("left"), value.Child("right")
	before := strings.Join(strings.Fields(t.text(left)), "")
	if value.Type() == "binary_expression" && isPHPString(right) && (before == "__DIR__" || before == "dirname(__FILE__)") {
		return "." + unquote(t.text(right))
	}
	if isPHPString(value) {
		return unquote(t.text(value))
	}
	return clip(t.text(value), maxPath)
}

func isPHPString(n syntax.Node) bool {
	return n.Type() == "string" || n.Type() == "encapsed_string" && n.First("variable_name", "member_access_expression").IsZero()
}

// phpFields records the property types of a class.
func (t *treeNames) phpFields(body syntax.Node) {
	for _, m := range t.each(body) {
		if m.Type() != "property_declaration" {
			continue
		}
		typ := t.phpType(m.Child("type"))
		for _, p := range m.Children() {
			if p.Type() == "property_element" {
				t.field(t.class, ".", t.bytes(p.First("variable_name").First("name")), typ)
			}
		}
	}
}

// phpMember walks a member of a value. It returns the member's type, if the file declares it.
func (t *treeNames) phpMember(n syntax.Node, kind kindCode) (typ pathName) {
	if !t.descend() {
		return pathName{}
	}
	defer t.ascend()
	object, name := n.Child("object"), n.Child("name")
	var before pathName
	switch {
	case object.Type() == "member_access_expression":
		before = t.phpMember(object, mentionKind)
	case object.Type() != "variable_name":
		t.visit(object, mentionKind)
	case string(t.bytes(object)) == "$this":
		before = t.class
	default:
		if id := t.idOfNode(object); t.isLocal(id) {
			before = singleName(id)
		}
	}
	if name.Type() == "name" {
		typ, _ = t.fieldType(before, ".", t.bytes(name))
		t.member(before, t.idOfNode(name), name.Start(), kind)
	} else {
		t.visit(name, mentionKind)
	}
	t.except(n, "object", "name")
	return typ
}

// phpScoped walks Class::name.
func (t *treeNames) phpScoped(scope, name syntax.Node, kind kindCode) {
	var path pathName
	switch scope.Type() {
	case "name":
		if strings.EqualFold(t.text(name), "class") {
			t.mentionNode(scope, kind)
			return
		}
		path = singleName(t.idOfNode(scope))
	case "qualified_name":
		before, last := t.phpNames(scope)
		t.phpPath(scope, mentionKind)
		if path = t.join(before, `\`, t.bytes(last)); before.path == 0 {
			path = singleName(t.idOfNode(last))
		}
	case "relative_scope":
		if string(t.bytes(scope)) != "parent" {
			path = t.class
		}
	default:
		t.visit(scope, mentionKind)
	}
	if name.Type() == "name" {
		t.member(path, t.idOfNode(name), name.Start(), kind)
	} else {
		t.visit(name, mentionKind)
	}
}

// phpType returns the name of a type node.
func (t *treeNames) phpType(n syntax.Node) pathName {
	for range 4 {
		switch n.Type() {
		case "name":
			return singleName(t.idOfNode(n))
		case "qualified_name":
			before, last := t.phpNames(n)
			if before.path == 0 {
				return singleName(t.idOfNode(last))
			}
			return t.join(before, `\`, t.bytes(last))
		case "optional_type", "named_type":
			n = n.First("named_type", "name", "qualified_name")
		default:
			return pathName{}
		}
	}
	return pathName{}
}
