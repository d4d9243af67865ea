package outline

import (
	"bytes"
	"strings"

	"ken/internal/outline/syntax"
)

// rust visits a node of Rust. A variable is visible after its declaration, an item in its whole block.
func (c *treeNames) rust(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "identifier":
		c.rustName(n, kind)
	case "type_identifier":
		if kind == mentionKind {
			kind = typeKind
		}
		c.rustName(n, kind)
	case "line_comment", "block_comment", "string_literal", "raw_string_literal", "char_literal", "integer_literal", "float_literal",
		"boolean_literal", "lifetime", "label", "visibility_modifier", "primitive_type", "field_identifier", "self", "super", "crate",
		"metavariable", "inner_attribute_item", "fragment_specifier", "token_tree_pattern", "lifetime_parameter":
		// These nodes have no names.
	case "scoped_identifier", "scoped_type_identifier":
		c.rustPath(n, kind)
	case "field_expression":
		c.rustField(n, kind)
	case "call_expression":
		c.childAs(n, "function", callKind)
	case "generic_function":
		c.childAs(n, "function", kind)
	case "generic_type":
		for _, child := range c.each(n) {
			if child.Field() == "type" && kind != mentionKind {
				c.visit(child, kind)
			} else {
				c.visit(child, typeKind)
			}
		}
	case "macro_invocation":
		c.childAs(n, "macro", callKind)
	case "token_tree":
		c.rustTokens(n)
	case "attribute":
		c.rustAttribute(n)
	case "struct_expression":
		c.rustStruct(n)
	case "use_declaration":
		public := !n.First("visibility_modifier").IsZero()
		c.rustUse("", n.Child("argument"), n.Start(), public)
	case "extern_crate_declaration":
		name := c.text(n.Child("name"))
		as := name
		if alias := n.Child("alias"); !alias.IsZero() {
			as = c.text(alias)
		}
		c.imports(name, n.Start(), Binding{As: as})
	case "mod_item":
		c.rustModule(n)
	case "function_item", "function_signature_item":
		c.rustDeclare(n)
		c.rustFunction(n)
	case "const_item", "static_item", "struct_item", "union_item", "enum_item", "type_item", "associated_type":
		c.rustDeclare(n)
		c.within(false, func() {
			c.except(n, "name")
			if n.Type() == "struct_item" {
				c.rustFieldTypes(n)
			}
		})
	case "macro_definition":
		c.bindAll(c.idOfNode(n.Child("name")), pathName{})
		c.except(n, "name")
	case "trait_item":
		c.rustDeclare(n)
		c.rustMembers(n, n.Child("name"))
	case "impl_item":
		c.rustMembers(n, n.Child("type"))
	case "type_parameter", "const_parameter":
		c.bindAll(c.idOfNode(n.Child("name")), pathName{})
		c.except(n, "name")
	case "type_binding", "field_declaration", "enum_variant":
		c.except(n, "name")
	case "let_declaration":
		c.except(n, "pattern")
		c.rustPattern(n.Child("pattern"), c.rustVariableType(n))
	case "let_condition":
		c.except(n, "pattern")
		c.rustPattern(n.Child("pattern"), pathName{})
	case "parameter":
		typ := n.Child("type")
		c.visit(typ, typeKind)
		c.rustPattern(n.Child("pattern"), c.rustType(typ))
	case "closure_expression":
		c.within(true, func() {
			for _, p := range c.each(n.Child("parameters")) {
				c.rustPattern(p, pathName{})
			}
			c.except(n, "parameters")
		})
	case "for_expression":
		c.within(false, func() {
			c.visit(n.Child("value"), mentionKind)
			c.rustPattern(n.Child("pattern"), pathName{})
			c.visit(n.Child("body"), mentionKind)
		})
	case "match_arm":
		c.within(false, func() {
			c.rustPattern(n.Child("pattern"), pathName{})
			c.except(n, "pattern")
		})
	case "block", "if_expression", "while_expression":
		c.scope(n)
	default:
		c.children(n)
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
func (c *treeNames) rustName(n syntax.Node, kind kindCode) {
	if kind == callKind && isCapital(c.bytes(n)) {
		kind = literalKind
	}
	if string(c.bytes(n)) != "Self" {
		c.mentionNode(n, kind)
	}
}

func isCapital(name []byte) bool { return len(name) > 0 && name[0] >= 'A' && name[0] <= 'Z' }

// rustPath walks a path and returns it.
func (c *treeNames) rustPath(n syntax.Node, kind kindCode) (path pathName) {
	if !c.descend() {
		return pathName{}
	}
	defer c.ascend()
	before, name := n.Child("path"), n.Child("name")
	switch before.Type() {
	case "generic_type": // Vec::<u8>::new
		c.visit(before.Child("type_arguments"), typeKind)
		before = before.Child("type")
	case "scoped_identifier", "scoped_type_identifier":
		path = c.rustPath(before, mentionKind)
	}
	switch before.Type() {
	case "identifier", "type_identifier", "crate", "super", "self":
		if path = singleName(c.idOfNode(before)); string(c.bytes(before)) == "Self" {
			path = c.class
		}
	case "scoped_identifier", "scoped_type_identifier":
	default:
		c.visit(before, typeKind)
	}
	switch {
	case kind == callKind && isCapital(c.bytes(name)):
		kind = literalKind
	case kind == mentionKind && n.Type() == "scoped_type_identifier":
		kind = typeKind
	}
	return c.stepNode(path, name, kind)
}

// rustFieldTypes records the field types of a struct.
func (c *treeNames) rustFieldTypes(n syntax.Node) {
	owner := singleName(c.idOfNode(n.Child("name")))
	for _, f := range n.Child("body").Children() {
		if f.Type() == "field_declaration" {
			c.field(owner, ".", c.bytes(f.Child("name")), c.rustType(f.Child("type")))
		}
	}
}

// rustField walks a field or method of a value. It returns the type of the field, if the file declares it.
func (c *treeNames) rustField(n syntax.Node, kind kindCode) (typ pathName) {
	if !c.descend() {
		return pathName{}
	}
	defer c.ascend()
	value, field := n.Child("value"), n.Child("field")
	var before pathName
	switch value.Type() {
	case "identifier":
		before = singleName(c.idOfNode(value))
	case "self":
		before = c.class
	case "field_expression":
		before = c.rustField(value, mentionKind)
	default:
		c.visit(value, mentionKind)
	}
	if field.Type() == "field_identifier" {
		typ, _ = c.fieldType(before, ".", c.bytes(field))
		c.member(before, c.idOfNode(field), field.Start(), kind)
	}
	return typ
}

// rustStruct walks a struct literal. Its keys are members of its type.
func (c *treeNames) rustStruct(n syntax.Node) {
	name := n.Child("name")
	c.visit(name, literalKind)
	owner := c.rustType(name)
	for _, child := range c.each(n.Child("body")) {
		if child.Type() == "field_initializer" {
			field := child.Child("field")
			c.member(owner, c.idOfNode(field), field.Start(), mentionKind)
			c.visit(child.Child("value"), mentionKind)
		} else {
			c.visit(child, mentionKind)
		}
	}
}

// rustType returns the name of a type node, without references.
func (c *treeNames) rustType(n syntax.Node) pathName {
	for range 8 {
		switch n.Type() {
		case "type_identifier", "identifier":
			if string(c.bytes(n)) == "Self" {
				return c.class
			}
			return singleName(c.idOfNode(n))
		case "scoped_type_identifier", "scoped_identifier":
			before := n.Child("path")
			if before.Type() != "identifier" && before.Type() != "crate" && before.Type() != "super" {
				return pathName{}
			}
			return c.join(singleName(c.idOfNode(before)), "::", c.bytes(n.Child("name")))
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
func (c *treeNames) rustVariableType(let syntax.Node) pathName {
	if typ := let.Child("type"); !typ.IsZero() {
		return c.rustType(typ)
	}
	value := let.Child("value")
	switch value.Type() {
	case "struct_expression":
		return c.rustType(value.Child("name"))
	case "call_expression":
		f := value.Child("function")
		if f.Type() != "scoped_identifier" {
			return pathName{}
		}
		if name := c.text(f.Child("name")); name == "new" || name == "default" {
			if typ := f.Child("path"); typ.Type() == "identifier" && isCapital(c.bytes(typ)) {
				return c.rustType(typ)
			}
		}
	}
	return pathName{}
}

// rustDeclare binds the name of an item, unless it is a member.
func (c *treeNames) rustDeclare(n syntax.Node) {
	if !c.inBody {
		c.bindAll(c.idOfNode(n.Child("name")), pathName{})
	}
}

func (c *treeNames) rustFunction(n syntax.Node) {
	inBody := c.inBody
	c.inBody = false
	c.within(true, func() { c.except(n, "name") })
	c.inBody = inBody
}

// rustMembers walks an implementation or a trait.
func (c *treeNames) rustMembers(n, typ syntax.Node) {
	inBody, class := c.inBody, c.class
	c.within(false, func() {
		for _, child := range c.each(n) {
			switch child.Field() {
			case "name":
			case "body":
				c.inBody, c.class = true, c.rustType(typ)
				c.visit(child, mentionKind)
				c.inBody, c.class = inBody, class
			case "trait", "type":
				c.visit(child, typeKind)
			default:
				c.visit(child, mentionKind)
			}
		}
	})
}

// rustModule walks a module. A module without a body is in its own file.
func (c *treeNames) rustModule(n syntax.Node) {
	name := n.Child("name")
	c.bindAll(c.idOfNode(name), pathName{})
	was := c.module
	c.module = was + "::" + c.text(name)
	if body := n.Child("body"); body.IsZero() {
		c.imports("self"+c.module, n.Start())
	} else {
		c.within(false, func() { c.children(body) })
	}
	c.module = was
}

// rustUse adds the imports of a use tree, one for each leaf.
func (c *treeNames) rustUse(prefix string, n syntax.Node, at int, public bool) {
	if n.IsZero() || !c.descend() {
		return
	}
	defer c.ascend()
	join := func(path syntax.Node) string {
		text := strings.Join(strings.Fields(c.text(path)), "")
		if prefix == "" || text == "" {
			return prefix + text
		}
		return prefix + "::" + text
	}
	add := func(module string, names ...Binding) {
		if len(module) <= maxPath {
			c.imports(module, at, names...).Reexport = public
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
		alias := c.text(n.Child("alias"))
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
		c.rustUse(module, n.Child("list"), at, public)
	case "use_list":
		for _, child := range n.Children() {
			if child.Named() && !isComment(child.Type()) {
				c.rustUse(prefix, child, child.Start(), public)
			}
		}
	}
}

// rustPattern binds the names of a pattern. A capitalized name is a constant or a variant.
func (c *treeNames) rustPattern(n syntax.Node, typ pathName) {
	if !n.Named() || !c.descend() {
		return
	}
	defer c.ascend()
	switch n.Type() {
	case "identifier":
		if isCapital(c.bytes(n)) {
			c.mentionNode(n, matchKind)
		} else {
			c.bind(c.idOfNode(n), typ)
		}
	case "shorthand_field_identifier":
		c.bind(c.idOfNode(n), pathName{})
	case "mut_pattern", "ref_pattern", "reference_pattern":
		for _, child := range c.each(n) {
			c.rustPattern(child, typ)
		}
	case "tuple_pattern", "slice_pattern", "or_pattern", "captured_pattern", "tuple_struct_pattern", "struct_pattern", "field_pattern",
		"match_pattern", "closure_parameters", "remaining_field_pattern", "parenthesized_pattern":
		for _, child := range c.each(n) {
			switch child.Field() {
			case "type":
				c.visit(child, matchKind)
			case "condition":
				c.visit(child, mentionKind)
			default:
				c.rustPattern(child, pathName{})
			}
		}
	case "scoped_identifier", "range_pattern":
		c.visit(n, matchKind)
	default:
		c.visit(n, mentionKind)
	}
}

// rustAttribute records the names that an attribute derives, and the attribute's own name unless it belongs
// to the compiler.
func (c *treeNames) rustAttribute(n syntax.Node) {
	name := n.First("identifier", "scoped_identifier")
	switch c.text(name) {
	case "derive":
		c.rustTokens(n.Child("arguments"))
	case "allow", "automatically_derived", "cfg", "cfg_attr", "cold", "deny", "deprecated", "doc", "expect", "export_name", "feature", "forbid",
		"global_allocator", "ignore", "inline", "link", "link_name", "macro_export", "macro_use", "must_use", "no_mangle", "non_exhaustive",
		"path", "repr", "serde", "should_panic", "target_feature", "test", "track_caller", "warn":
	default:
		c.visit(name, callKind)
	}
}

// rustTokens walks the tokens of a macro, which are not parsed. A single lower-case word may be a variable
// of the macro, so it is ignored.
func (c *treeNames) rustTokens(n syntax.Node) {
	if n.IsZero() || !c.descend() {
		return
	}
	defer c.ascend()
	var path pathName
	for i, child := range c.each(n) {
		if child.Type() == "token_tree" {
			c.rustTokens(child)
			continue
		}
		if child.Type() != "identifier" && child.Type() != "self" && child.Type() != "crate" && child.Type() != "super" {
			continue
		}
		before := bytes.TrimSpace(c.src[n.Start():child.Start()])
		after := bytes.TrimSpace(c.src[child.End():n.End()])
		kind := mentionKind
		if len(after) > 0 && (after[0] == '(' || after[0] == '!' && !bytes.HasPrefix(after, []byte("!="))) {
			if kind = callKind; isCapital(c.bytes(child)) {
				kind = literalKind
			}
		}
		switch {
		case bytes.HasSuffix(before, []byte("::")) && i > 0:
			path = c.stepNode(path, child, kind)
		case bytes.HasSuffix(before, []byte(".")) && !bytes.HasSuffix(before, []byte("..")):
			c.member(pathName{}, c.idOfNode(child), child.Start(), kind)
			path = pathName{}
		case bytes.HasPrefix(after, []byte("::")):
			if path = singleName(c.idOfNode(child)); string(c.bytes(child)) == "Self" {
				path = c.class
			}
		case kind != mentionKind || isCapital(c.bytes(child)):
			if child.Type() == "identifier" {
				c.rustName(child, kind)
			}
		}
	}
}
