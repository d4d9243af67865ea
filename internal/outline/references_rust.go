package outline

import (
	"bytes"
	"strings"

	"ken/internal/outline/syntax"
)

// rust visits a node of Rust. A variable is visible after its declaration, an item in its whole block.
func (t *treeNames) rust(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "identifier":
		t.rustName(n, kind)
	case "type_identifier":
		if kind == mentionKind {
			kind = typeKind
		}
		t.rustName(n, kind)
	case "line_comment", "block_comment", "string_literal", "raw_string_literal", "char_literal", "integer_literal", "float_literal",
		"boolean_literal", "lifetime", "label", "visibility_modifier", "primitive_type", "field_identifier", "self", "super", "crate",
		"metavariable", "inner_attribute_item", "fragment_specifier", "token_tree_pattern", "lifetime_parameter":
		// These nodes have no names.
	case "scoped_identifier", "scoped_type_identifier":
		t.rustPath(n, kind)
	case "field_expression":
		t.rustField(n, kind)
	case "call_expression":
		t.childAs(n, "function", callKind)
	case "generic_function":
		t.childAs(n, "function", kind)
	case "generic_type":
		for _, child := range t.each(n) {
			if child.Field() == "type" && kind != mentionKind {
				t.visit(child, kind)
			} else {
				t.visit(child, typeKind)
			}
		}
	case "macro_invocation":
		t.childAs(n, "macro", callKind)
	case "token_tree":
		t.rustTokens(n)
	case "attribute":
		t.rustAttribute(n)
	case "struct_expression":
		t.rustStruct(n)
	case "use_declaration":
		public := !n.First("visibility_modifier").IsZero()
		t.rustUse("", n.Child("argument"), n.Start(), public)
	case "extern_crate_declaration":
		name := t.text(n.Child("name"))
		as := name
		if alias := n.Child("alias"); !alias.IsZero() {
			as = t.text(alias)
		}
		t.imports(name, n.Start(), Binding{As: as})
	case "mod_item":
		t.rustModule(n)
	case "function_item", "function_signature_item":
		t.rustDeclare(n)
		t.rustFunction(n)
	case "const_item", "static_item", "struct_item", "union_item", "enum_item", "type_item", "associated_type":
		t.rustDeclare(n)
		t.within(false, func() {
			t.except(n, "name")
			if n.Type() == "struct_item" {
				t.rustFieldTypes(n)
			}
		})
	case "macro_definition":
		t.bindAll(t.idOfNode(n.Child("name")), pathName{})
		t.except(n, "name")
	case "trait_item":
		t.rustDeclare(n)
		t.rustMembers(n, n.Child("name"))
	case "impl_item":
		t.rustMembers(n, n.Child("type"))
	case "type_parameter", "const_parameter":
		t.bindAll(t.idOfNode(n.Child("name")), pathName{})
		t.except(n, "name")
	case "type_binding", "field_declaration", "enum_variant":
		t.except(n, "name")
	case "let_declaration":
		t.except(n, "pattern")
		t.rustPattern(n.Child("pattern"), t.rustVariableType(n))
	case "let_condition":
		t.except(n, "pattern")
		t.rustPattern(n.Child("pattern"), pathName{})
	case "parameter":
		typ := n.Child("type")
		t.visit(typ, typeKind)
		t.rustPattern(n.Child("pattern"), t.rustType(typ))
	case "closure_expression":
		t.within(true, func() {
			for _, p := range t.each(n.Child("parameters")) {
				t.rustPattern(p, pathName{})
			}
			t.except(n, "parameters")
		})
	case "for_expression":
		t.within(false, func() {
			t.visit(n.Child("value"), mentionKind)
			t.rustPattern(n.Child("pattern"), pathName{})
			t.visit(n.Child("body"), mentionKind)
		})
	case "match_arm":
		t.within(false, func() {
			t.rustPattern(n.Child("pattern"), pathName{})
			t.except(n, "pattern")
		})
	case "block", "if_expression", "while_expression":
		t.scope(n)
	default:
		t.children(n)
	}
}

// isRustBuiltin reports whether Rust predeclares a name.
func isRustBuiltin(name string) bool {
	switch name {
	case "AsMut", "AsRef", "Box", "Clone", "Copy", "Debug", "Default", "DoubleEndedIterator", "Drop", "Eq", "Err", "ExactSizeIterator", "Extend",
		"Fn", "FnMut", "FnOnce", "From", "FromIterator", "Hash", "Into", "IntoIterator", "Iterator", "None", "Ok", "Option", "Ord",
		"PartialEq", "PartialOrd", "Result", "Self", "Send", "Sized", "Some", "String", "Sync", "ToOwned", "ToString", "TryFrom",
		"TryInto", "Unpin", "Vec", "_", "alloc", "assert", "assert_eq", "assert_ne", "cfg", "compile_error", "concat", "core", "dbg",
		"debug_assert", "debug_assert_eq", "debug_assert_ne", "drop", "env", "eprint", "eprintln", "file", "format", "format_args",
		"include", "include_bytes", "include_str", "line", "macro_rules", "matches", "module_path", "option_env", "panic", "print",
		"println", "std", "stringify", "thread_local", "todo", "unimplemented", "unreachable", "vec", "write", "writeln", "bool",
		"char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128", "u16", "u32", "u64", "u8", "usize":
		return true
	}
	return false
}

// isRustMember reports whether options, results, strings or lists have a member.
func isRustMember(name string) bool {
	switch name {
	case "all", "and_then", "any", "as_bytes", "as_deref", "as_mut", "as_ref", "as_slice", "as_str", "await", "borrow", "borrow_mut", "bytes",
		"chain", "chars", "clear", "clone", "cloned", "cmp", "collect", "contains", "contains_key", "copied", "count", "default",
		"ends_with", "enumerate", "entry", "eq", "err", "expect", "extend", "extend_from_slice", "filter", "filter_map", "find",
		"first", "flat_map", "flatten", "fmt", "fold", "for_each", "from", "get", "get_mut", "insert", "into", "into_iter", "is_empty",
		"is_err", "is_none", "is_ok", "is_some", "is_some_and", "iter", "iter_mut", "join", "keys", "last", "len", "lines", "lock",
		"map", "map_err", "map_or", "max", "min", "next", "ok", "ok_or", "ok_or_else", "or_else", "or_insert_with", "parse", "pop",
		"position", "push", "push_str", "read", "remove", "replace", "retain", "rev", "skip", "sort", "split", "starts_with", "take",
		"to_lowercase", "to_owned", "to_string", "to_uppercase", "to_vec", "trim", "truncate", "try_into", "unwrap", "unwrap_or",
		"unwrap_or_default", "unwrap_or_else", "values", "with_capacity", "write", "zip":
		return true
	}
	return false
}

// rustName records a name. A call of a capitalized name creates a value.
func (t *treeNames) rustName(n syntax.Node, kind kindCode) {
	if kind == callKind && isCapital(t.bytes(n)) {
		kind = literalKind
	}
	if string(t.bytes(n)) != "Self" {
		t.mentionNode(n, kind)
	}
}

func isCapital(name []byte) bool { return len(name) > 0 && name[0] >= 'A' && name[0] <= 'Z' }

// rustPath walks a path and returns it.
func (t *treeNames) rustPath(n syntax.Node, kind kindCode) (path pathName) {
	if !t.descend() {
		return pathName{}
	}
	defer t.ascend()
	before, name := n.Child("path"), n.Child("name")
	switch before.Type() {
	case "generic_type": // Vec::<u8>::new
		t.visit(before.Child("type_arguments"), typeKind)
		before = before.Child("type")
	case "scoped_identifier", "scoped_type_identifier":
		path = t.rustPath(before, mentionKind)
	}
	switch before.Type() {
	case "identifier", "type_identifier", "crate", "super", "self":
		if path = singleName(t.idOfNode(before)); string(t.bytes(before)) == "Self" {
			path = t.class
		}
	case "scoped_identifier", "scoped_type_identifier":
	default:
		t.visit(before, typeKind)
	}
	switch {
	case kind == callKind && isCapital(t.bytes(name)):
		kind = literalKind
	case kind == mentionKind && n.Type() == "scoped_type_identifier":
		kind = typeKind
	}
	return t.stepNode(path, name, kind)
}

// rustFieldTypes records the field types of a struct.
func (t *treeNames) rustFieldTypes(n syntax.Node) {
	owner := singleName(t.idOfNode(n.Child("name")))
	for _, f := range n.Child("body").Children() {
		if f.Type() == "field_declaration" {
			t.field(owner, ".", t.bytes(f.Child("name")), t.rustType(f.Child("type")))
		}
	}
}

// rustField walks a field or method of a value. It returns the type of the field, if the file declares it.
func (t *treeNames) rustField(n syntax.Node, kind kindCode) (typ pathName) {
	if !t.descend() {
		return pathName{}
	}
	defer t.ascend()
	value, field := n.Child("value"), n.Child("field")
	var before pathName
	switch value.Type() {
	case "identifier":
		before = singleName(t.idOfNode(value))
	case "self":
		before = t.class
	case "field_expression":
		before = t.rustField(value, mentionKind)
	default:
		t.visit(value, mentionKind)
	}
	if field.Type() == "field_identifier" {
		typ, _ = t.fieldType(before, ".", t.bytes(field))
		t.member(before, t.idOfNode(field), field.Start(), kind)
	}
	return typ
}

// rustStruct walks a struct literal. Its keys are members of its type.
func (t *treeNames) rustStruct(n syntax.Node) {
	name := n.Child("name")
	t.visit(name, literalKind)
	owner := t.rustType(name)
	for _, child := range t.each(n.Child("body")) {
		if child.Type() == "field_initializer" {
			field := child.Child("field")
			t.member(owner, t.idOfNode(field), field.Start(), mentionKind)
			t.visit(child.Child("value"), mentionKind)
		} else {
			t.visit(child, mentionKind)
		}
	}
}

// rustType returns the name of a type node, without references.
func (t *treeNames) rustType(n syntax.Node) pathName {
	for range 8 {
		switch n.Type() {
		case "type_identifier", "identifier":
			if string(t.bytes(n)) == "Self" {
				return t.class
			}
			return singleName(t.idOfNode(n))
		case "scoped_type_identifier", "scoped_identifier":
			before := n.Child("path")
			if before.Type() != "identifier" && before.Type() != "crate" && before.Type() != "super" {
				return pathName{}
			}
			return t.join(singleName(t.idOfNode(before)), "::", t.bytes(n.Child("name")))
		case "reference_type", "generic_type", "pointer_type":
			n = n.Child("type")
		default:
			return pathName{}
		}
	}
	return pathName{}
}

// rustVariableType returns the type of a variable, from its annotation, a literal, or a call of Type::new or
// Type::default.
func (t *treeNames) rustVariableType(let syntax.Node) pathName {
	if typ := let.Child("type"); !typ.IsZero() {
		return t.rustType(typ)
	}
	value := let.Child("value")
	switch value.Type() {
	case "struct_expression":
		return t.rustType(value.Child("name"))
	case "call_expression":
		f := value.Child("function")
		if f.Type() != "scoped_identifier" {
			return pathName{}
		}
		if name := t.text(f.Child("name")); name == "new" || name == "default" {
			if typ := f.Child("path"); typ.Type() == "identifier" && isCapital(t.bytes(typ)) {
				return t.rustType(typ)
			}
		}
	}
	return pathName{}
}

// rustDeclare binds the name of an item, unless it is a member.
func (t *treeNames) rustDeclare(n syntax.Node) {
	if !t.inBody {
		t.bindAll(t.idOfNode(n.Child("name")), pathName{})
	}
}

func (t *treeNames) rustFunction(n syntax.Node) {
	inBody := t.inBody
	t.inBody = false
	t.within(true, func() { t.except(n, "name") })
	t.inBody = inBody
}

// rustMembers walks an implementation or a trait.
func (t *treeNames) rustMembers(n, typ syntax.Node) {
	inBody, class := t.inBody, t.class
	t.within(false, func() {
		for _, child := range t.each(n) {
			switch child.Field() {
			case "name":
			case "body":
				t.inBody, t.class = true, t.rustType(typ)
				t.visit(child, mentionKind)
				t.inBody, t.class = inBody, class
			case "trait", "type":
				t.visit(child, typeKind)
			default:
				t.visit(child, mentionKind)
			}
		}
	})
}

// rustModule walks a module. A module without a body is in its own file.
func (t *treeNames) rustModule(n syntax.Node) {
	name := n.Child("name")
	t.bindAll(t.idOfNode(name), pathName{})
	was := t.module
	t.module = was + "::" + t.text(name)
	if body := n.Child("body"); body.IsZero() {
		t.imports("self"+t.module, n.Start())
	} else {
		t.within(false, func() { t.children(body) })
	}
	t.module = was
}

// rustUse adds the imports of a use tree, one for each leaf.
func (t *treeNames) rustUse(prefix string, n syntax.Node, at int, public bool) {
	if n.IsZero() || !t.descend() {
		return
	}
	defer t.ascend()
	join := func(path syntax.Node) string {
		text := strings.Join(strings.Fields(t.text(path)), "")
		if prefix == "" || text == "" {
			return prefix + text
		}
		return prefix + "::" + text
	}
	add := func(module string, names ...Binding) {
		if len(module) <= maxPath {
			t.imports(module, at, names...).Reexport = public
		}
	}
	switch n.Type() {
	case "identifier", "scoped_identifier", "crate":
		path := join(n)
		add(path, Binding{As: path[strings.LastIndexByte(path, ':')+1:]})
	case "self":
		if prefix != "" {
			add(prefix, Binding{As: prefix[strings.LastIndexByte(prefix, ':')+1:]})
		}
	case "use_as_clause":
		alias := t.text(n.Child("alias"))
		module := join(n.Child("path"))
		if n.Child("path").Type() == "self" {
			module = prefix
		}
		if alias == "_" {
			add(module)
		} else {
			add(module, Binding{As: alias})
		}
	case "use_wildcard":
		module := prefix
		for _, child := range n.Children() {
			if child.Named() {
				module = join(child)
			}
		}
		add(module, Binding{Name: "*"})
	case "scoped_use_list":
		module := prefix
		if path := n.Child("path"); !path.IsZero() {
			module = join(path)
		}
		t.rustUse(module, n.Child("list"), at, public)
	case "use_list":
		for _, child := range n.Children() {
			if child.Named() && !isComment(child.Type()) {
				t.rustUse(prefix, child, child.Start(), public)
			}
		}
	}
}

// rustPattern binds the names of a pattern. A capitalized name is a constant or a variant.
func (t *treeNames) rustPattern(n syntax.Node, typ pathName) {
	if !n.Named() || !t.descend() {
		return
	}
	defer t.ascend()
	switch n.Type() {
	case "identifier":
		if isCapital(t.bytes(n)) {
			t.mentionNode(n, matchKind)
		} else {
			t.bind(t.idOfNode(n), typ)
		}
	case "shorthand_field_identifier":
		t.bind(t.idOfNode(n), pathName{})
	case "mut_pattern", "ref_pattern", "reference_pattern":
		for _, child := range t.each(n) {
			t.rustPattern(child, typ)
		}
	case "tuple_pattern", "slice_pattern", "or_pattern", "captured_pattern", "tuple_struct_pattern", "struct_pattern", "field_pattern",
		"match_pattern", "closure_parameters", "remaining_field_pattern", "parenthesized_pattern":
		for _, child := range t.each(n) {
			switch child.Field() {
			case "type":
				t.visit(child, matchKind)
			case "condition":
				t.visit(child, mentionKind)
			default:
				t.rustPattern(child, pathName{})
			}
		}
	case "scoped_identifier", "range_pattern":
		t.visit(n, matchKind)
	default:
		t.visit(n, mentionKind)
	}
}

// rustAttribute records the names that an attribute derives, and the attribute's own name unless it belongs
// to the compiler.
func (t *treeNames) rustAttribute(n syntax.Node) {
	name := n.First("identifier", "scoped_identifier")
	switch t.text(name) {
	case "derive":
		t.rustTokens(n.Child("arguments"))
	case "allow", "automatically_derived", "cfg", "cfg_attr", "cold", "deny", "deprecated", "doc", "expect", "export_name", "feature", "forbid",
		"global_allocator", "ignore", "inline", "link", "link_name", "macro_export", "macro_use", "must_use", "no_mangle", "non_exhaustive",
		"path", "repr", "serde", "should_panic", "target_feature", "test", "track_caller", "warn":
	default:
		t.visit(name, callKind)
	}
}

// rustTokens walks the tokens of a macro, which are not parsed. A single lower-case word may be a variable
// of the macro, so it is ignored.
func (t *treeNames) rustTokens(n syntax.Node) {
	if n.IsZero() || !t.descend() {
		return
	}
	defer t.ascend()
	var path pathName
	for i, child := range t.each(n) {
		if child.Type() == "token_tree" {
			t.rustTokens(child)
			continue
		}
		if child.Type() != "identifier" && child.Type() != "self" && child.Type() != "crate" && child.Type() != "super" {
			continue
		}
		before := bytes.TrimSpace(t.src[n.Start():child.Start()])
		after := bytes.TrimSpace(t.src[child.End():n.End()])
		kind := mentionKind
		if len(after) > 0 && (after[0] == '(' || after[0] == '!' && !bytes.HasPrefix(after, []byte("!="))) {
			if kind = callKind; isCapital(t.bytes(child)) {
				kind = literalKind
			}
		}
		switch {
		case bytes.HasSuffix(before, []byte("::")) && i > 0:
			path = t.stepNode(path, child, kind)
		case bytes.HasSuffix(before, []byte(".")) && !bytes.HasSuffix(before, []byte("..")):
			t.member(pathName{}, t.idOfNode(child), child.Start(), kind)
			path = pathName{}
		case bytes.HasPrefix(after, []byte("::")):
			if path = singleName(t.idOfNode(child)); string(t.bytes(child)) == "Self" {
				path = t.class
			}
		case kind != mentionKind || isCapital(t.bytes(child)):
			if child.Type() == "identifier" {
				t.rustName(child, kind)
			}
		}
	}
}
