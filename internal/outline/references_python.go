package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// python visits a node of Python. An assignment binds a name in the whole function. Names bound in a class
// body are not visible in its methods.
func (c *treeNames) python(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "identifier":
		if !c.inBody || !c.inBodyNames[c.idOfNode(n)] {
			c.mentionNode(n, kind)
		}
	case "comment", "integer", "float", "string_start", "string_content", "string_end", "true", "false", "none", "escape_sequence":
		// These nodes have no names.
	case "string":
		if kind == typeKind {
			c.pythonQuoted(n)
			break
		}
		if name := pythonText(c.bytes(n)); name != "" && n.Start() != c.required {
			c.imports(TextModulePrefix+name, n.Start())
		}
		c.children(n)
	case "attribute":
		c.pythonPath(n, kind)
	case "call":
		if module := c.pythonRequired(n); module != "" {
			c.imports(module, n.Start())
		}
		c.childAs(n, "function", callKind)
	case "parenthesized_expression", "tuple", "type", "subscript", "union_type", "generic_type", "type_parameter", "binary_operator", "list",
		"constrained_type", "member_type":
		if kind != typeKind && kind != matchKind {
			kind = mentionKind
		}
		if n.Type() == "type" {
			kind = typeKind
		}
		c.childrenAs(n, kind)
	case "decorator":
		c.childrenAs(n, callKind)
	case "keyword_argument":
		c.except(n, "name")
	case "import_statement", "import_from_statement", "future_import_statement":
		c.pythonImport(n)
	case "function_definition", "lambda":
		c.pythonFunction(n)
	case "class_definition":
		c.pythonClass(n)
	case "global_statement", "nonlocal_statement":
		c.pythonGlobals(n)
	case "assignment":
		c.pythonAssignment(n)
	case "augmented_assignment":
		c.except(n, "left")
		c.pythonTarget(n.Child("left"), pathName{})
	case "named_expression":
		c.except(n, "name")
		c.pythonTarget(n.Child("name"), pathName{})
	case "for_statement":
		c.pythonTarget(n.Child("left"), pathName{})
		c.except(n, "left")
	case "for_in_clause":
		c.except(n, "left")
		c.pythonTarget(n.Child("left"), pathName{})
	case "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression":
		inBody := c.inBody
		c.inBody = false
		c.within(true, func() { c.children(n) })
		c.inBody = inBody
	case "as_pattern":
		c.pythonAs(n, kind)
	case "except_clause", "except_group_clause":
		c.pythonExcept(n)
	case "case_clause":
		for _, child := range c.each(n) {
			if child.Type() == "case_pattern" {
				c.pythonCase(child)
			} else {
				c.visit(child, mentionKind)
			}
		}
	case "type_alias_statement":
		c.pythonTarget(n.Child("left").First("identifier"), pathName{})
		c.visit(n.Child("right"), typeKind)
	default:
		c.children(n)
	}
}

// isPythonBuiltin reports whether Python predeclares a name.
func isPythonBuiltin(name string) bool {
	switch name {
	case "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BlockingIOError", "BrokenPipeError", "BufferError", "BytesWarning",
		"ChildProcessError", "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError", "DeprecationWarning", "EOFError",
		"Ellipsis", "EnvironmentError", "Exception", "FileExistsError", "FileNotFoundError", "FloatingPointError", "FutureWarning", "GeneratorExit", "IOError", "ImportError", "ImportWarning", "IndentationError",
		"IndexError", "InterruptedError", "IsADirectoryError", "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError", "ModuleNotFoundError",
		"NameError", "NotADirectoryError", "NotImplemented", "NotImplementedError", "OSError", "OverflowError", "PendingDeprecationWarning",
		"PermissionError", "ProcessLookupError", "RecursionError", "ReferenceError", "ResourceWarning", "RuntimeError",
		"RuntimeWarning", "StopAsyncIteration", "StopIteration", "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TimeoutError",
		"TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError", "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError",
		"Warning", "ZeroDivisionError", "ExceptionGroup", "BaseExceptionGroup", "__build_class__", "__builtins__", "__class__",
		"__debug__", "__doc__", "__file__", "__import__", "__loader__", "__name__", "__package__", "__path__", "__spec__", "_",
		"abs", "aiter", "all", "anext", "any", "ascii", "bin", "bool", "breakpoint", "bytearray", "bytes", "callable", "chr",
		"classmethod", "compile", "complex", "delattr", "dict", "dir", "divmod", "enumerate", "eval", "exec", "exit", "filter",
		"float", "format", "frozenset", "getattr", "globals", "hasattr", "hash", "help", "hex", "id", "input", "int", "isinstance",
		"issubclass", "iter", "len", "list", "locals", "map", "max", "memoryview", "min", "next", "object", "oct", "open", "ord",
		"pow", "print", "property", "quit", "range", "repr", "reversed", "round", "self", "cls", "set", "setattr", "slice",
		"sorted", "staticmethod", "str", "sum", "super", "tuple", "type", "vars", "zip", "None", "True", "False":
		return true
	}
	return false
}

// isPythonMember reports whether objects, strings, lists or dictionaries have a member.
func isPythonMember(name string) bool {
	switch name {
	case "append", "capitalize", "decode", "encode", "endswith", "extend", "format", "insert", "items", "join", "keys", "lower", "lstrip",
		"partition", "pop", "popitem", "removeprefix", "removesuffix", "replace", "rpartition", "rsplit", "rstrip", "setdefault",
		"sort", "split", "splitlines", "startswith", "strip", "title", "upper", "values", "zfill":
		return true
	}
	return strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__")
}

// pythonPath walks a chain of names with dots and returns it.
func (c *treeNames) pythonPath(n syntax.Node, kind kindCode) (path pathName) {
	if !c.descend() {
		return pathName{}
	}
	defer c.ascend()
	object, name := n.Child("object"), n.Child("attribute")
	switch object.Type() {
	case "identifier":
		switch string(c.bytes(object)) {
		case "self", "cls":
			path = c.class
		default:
			path = singleName(c.idOfNode(object))
		}
	case "attribute":
		path = c.pythonPath(object, mentionKind)
	default:
		c.visit(object, mentionKind)
	}
	return c.stepNode(path, name, kind)
}

// pythonImport adds the imports of a statement. Imports in a function count as those of the file.
func (c *treeNames) pythonImport(n syntax.Node) {
	module := n.Child("module_name")
	if n.Type() == "import_statement" || module.IsZero() {
		if n.Type() == "future_import_statement" {
			c.imports("__future__", n.Start())
			return
		}
		for _, child := range n.Children() {
			switch child.Type() {
			case "dotted_name":
				name := c.dottedName(child)
				c.imports(name, child.Start(), Binding{As: name})
			case "aliased_import":
				c.imports(c.dottedName(child.Child("name")), child.Start(), Binding{As: c.text(child.Child("alias"))})
			}
		}
		return
	}
	var names []Binding
	for _, child := range n.Children() {
		switch {
		case child.Type() == "wildcard_import":
			names = append(names, Binding{Name: "*"})
		case child.Field() == "module_name":
		case child.Type() == "dotted_name":
			names = append(names, Binding{Name: c.dottedName(child)})
		case child.Type() == "aliased_import":
			b := Binding{Name: c.dottedName(child.Child("name")), As: c.text(child.Child("alias"))}
			if b.As == b.Name {
				b.As = ""
			}
			names = append(names, b)
		}
	}
	c.imports(c.dottedName(module), n.Start(), names...)
}

// pythonRequired returns the module that a call of import_module imports.
func (c *treeNames) pythonRequired(call syntax.Node) string {
	function := call.Child("function")
	if function.End()-function.Start() > 40 { // longer than any of them
		return ""
	}
	switch c.text(function) {
	case "importlib.import_module", "import_module", "__import__":
	default:
		return ""
	}
	for _, arg := range call.Child("arguments").Children() {
		if arg.Type() == "string" && arg.First("interpolation").IsZero() {
			c.required = arg.Start()
			return unquote(c.text(arg))
		}
		if arg.Named() {
			return ""
		}
	}
	return ""
}

// pythonText returns the module that a string may name: celery.app.base of "celery.app.base:Celery" or
// "celery.app.base.Celery", and "app:create" unchanged. It returns "" for any other string.
func pythonText(quoted []byte) string {
	const longest = 100
	if len(quoted) < 5 || len(quoted) > longest || quoted[0] != '"' && quoted[0] != '\'' {
		return ""
	}
	name, attribute, hasAttribute := strings.Cut(string(quoted[1:len(quoted)-1]), ":")
	parts := strings.Split(name, ".")
	all := parts
	if hasAttribute {
		all = append(strings.Split(attribute, "."), parts...)
	}
	for _, part := range all {
		if !isIdentifier(part) {
			return ""
		}
	}
	for len(parts) > 1 && parts[len(parts)-1][0] >= 'A' && parts[len(parts)-1][0] <= 'Z' {
		parts = parts[:len(parts)-1] // a class
	}
	switch {
	case len(parts) > 1:
		return strings.Join(parts, ".")
	case hasAttribute:
		return parts[0] + ":" + attribute
	}
	return ""
}

// dottedName returns the text of a name without white space.
func (c *treeNames) dottedName(n syntax.Node) string {
	return strings.Join(strings.Fields(c.text(n)), "")
}

// pythonFunction walks a function. Its annotations and defaults are outside of its scope.
func (c *treeNames) pythonFunction(n syntax.Node) {
	if n.Type() == "function_definition" {
		c.pythonTarget(n.Child("name"), pathName{})
	}
	globals, inBody := c.globals, c.inBody
	c.within(false, func() {
		c.pythonTypeParams(n)
		params := n.Child("parameters")
		c.pythonDefaults(params)
		c.visit(n.Child("return_type"), typeKind)
		c.within(true, func() {
			c.inBody, c.globals = false, nil
			c.pythonParams(params)
			c.visit(n.Child("body"), mentionKind)
			c.inBody, c.globals = inBody, globals
		})
	})
}

// pythonTypeParams binds the type parameters of a function or class.
func (c *treeNames) pythonTypeParams(n syntax.Node) {
	params := n.Child("type_parameters")
	for _, p := range params.Children() {
		if p.Type() == "type" {
			c.bindAll(c.idOfNode(p.First("identifier")), pathName{})
		}
	}
}

// pythonDefaults walks the annotations and defaults of parameters.
func (c *treeNames) pythonDefaults(params syntax.Node) {
	for _, p := range c.each(params) {
		switch p.Type() {
		case "typed_parameter", "default_parameter", "typed_default_parameter":
			c.visit(p.Child("type"), typeKind)
			c.visit(p.Child("value"), mentionKind)
		}
	}
}

// pythonParams binds parameters.
func (c *treeNames) pythonParams(params syntax.Node) {
	for _, p := range c.each(params) {
		switch p.Type() {
		case "typed_parameter", "default_parameter", "typed_default_parameter":
			name := p.Child("name")
			if name.IsZero() {
				name = p.First("identifier", "list_splat_pattern", "dictionary_splat_pattern")
			}
			c.pythonTarget(name, c.pythonType(p.Child("type")))
		default:
			c.pythonTarget(p, pathName{})
		}
	}
}

// pythonTarget binds the names in an assignment target.
func (c *treeNames) pythonTarget(n syntax.Node, typ pathName) {
	if !n.Named() || !c.descend() {
		return
	}
	defer c.ascend()
	switch n.Type() {
	case "identifier":
		id := c.idOfNode(n)
		switch {
		case c.inBody:
			c.inBodyNames[id] = true
			c.field(c.class, ".", c.bytes(n), typ)
		case !c.globals[id]:
			c.bindFunction(id, typ)
		}
	case "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "dictionary_splat_pattern", "tuple", "list",
		"as_pattern_target", "parenthesized_expression", "list_splat":
		for _, child := range c.each(n) {
			c.pythonTarget(child, pathName{})
		}
	case "attribute":
		if object := string(c.bytes(n.Child("object"))); object == "self" || object == "cls" {
			c.assigned(n.Child("attribute"))
			c.field(c.class, ".", c.bytes(n.Child("attribute")), typ)
		}
		c.visit(n, mentionKind)
	default:
		c.visit(n, mentionKind)
	}
}

// pythonType returns the type name of an annotation, or of a call of a class.
func (c *treeNames) pythonType(n syntax.Node) pathName {
	if n.Type() == "type" {
		n = n.First("identifier", "attribute", "string")
	}
	switch n.Type() {
	case "identifier":
		id := c.idOfNode(n)
		return singleName(id)
	case "attribute":
		object := n.Child("object")
		if object.Type() != "identifier" {
			return pathName{}
		}
		root := c.idOfNode(object)
		return c.join(singleName(root), ".", c.bytes(n.Child("attribute")))
	case "string":
		if name := unquote(c.text(n)); isIdentifier(name) {
			id := c.idOf(name)
			return singleName(id)
		}
	}
	return pathName{}
}

// pythonAssignment walks an assignment.
func (c *treeNames) pythonAssignment(n syntax.Node) {
	left := n.Child("left")
	right := n.Child("right")
	annotation := n.Child("type")
	c.visit(annotation, typeKind)
	c.visit(right, mentionKind)
	typ := c.pythonType(annotation)
	if right.Type() == "call" && typ.path == 0 {
		class := right.Child("function")
		last := class
		if class.Type() == "attribute" {
			last = class.Child("attribute")
		}
		if text := c.bytes(last); len(text) > 0 && text[0] >= 'A' && text[0] <= 'Z' { // class names begin with a capital letter
			typ = c.pythonType(class)
		}
	}
	c.pythonTarget(left, typ)
}

// pythonClass walks a class.
func (c *treeNames) pythonClass(n syntax.Node) {
	c.pythonTarget(n.Child("name"), pathName{})
	c.within(false, func() {
		c.pythonTypeParams(n)
		for _, base := range c.each(n.Child("superclasses")) {
			if base.Type() == "keyword_argument" {
				c.visit(base, mentionKind)
			} else {
				c.visit(base, typeKind)
			}
		}
		inBody, names := c.inBody, c.inBodyNames
		c.inBody, c.inBodyNames = true, make(map[nameID]bool)
		c.inClass(n.Child("name"), func() { c.visit(n.Child("body"), mentionKind) })
		c.inBody, c.inBodyNames = inBody, names
	})
}

// pythonAs walks x as y.
func (c *treeNames) pythonAs(n syntax.Node, kind kindCode) {
	for _, child := range c.each(n) {
		if child.Field() == "alias" {
			c.pythonTarget(child, pathName{})
		} else {
			c.visit(child, kind)
		}
	}
}

func (c *treeNames) pythonExcept(n syntax.Node) {
	for _, child := range c.each(n) {
		switch {
		case child.Field() == "alias":
			c.pythonTarget(child, pathName{})
		case child.Type() == "block":
			c.visit(child, mentionKind)
		case child.Type() == "as_pattern":
			c.pythonAs(child, matchKind)
		default:
			c.visit(child, matchKind)
		}
	}
}

// pythonCase walks a pattern of a match statement. A single name is a variable.
func (c *treeNames) pythonCase(n syntax.Node) {
	if !n.Named() || !c.descend() {
		return
	}
	defer c.ascend()
	children := n.Children()
	switch n.Type() {
	case "identifier":
		c.pythonTarget(n, pathName{})
	case "dotted_name":
		if len(children) == 1 {
			c.pythonTarget(children[0], pathName{})
		} else {
			c.names(n, matchKind)
		}
	case "class_pattern":
		for i, child := range children {
			if i == 0 {
				c.names(child, matchKind)
			} else {
				c.pythonCase(child)
			}
		}
	case "keyword_pattern":
		for _, child := range children[min(1, len(children)):] {
			c.pythonCase(child)
		}
	case "string", "concatenated_string":
	default:
		for _, child := range children {
			c.pythonCase(child)
		}
	}
}

// pythonGlobals records the names of a global or nonlocal statement. The function does not bind them.
func (c *treeNames) pythonGlobals(n syntax.Node) {
	for _, child := range c.each(n) {
		if child.Type() == "identifier" {
			id := c.idOfNode(child)
			if c.globals == nil {
				c.globals = make(map[nameID]bool)
			}
			c.globals[id] = true
			if n.Type() == "global_statement" {
				c.bindIn(0, id, 0, pathName{})
			}
		}
	}
}

// pythonQuoted records the names in a quoted annotation.
func (c *treeNames) pythonQuoted(n syntax.Node) {
	text := c.bytes(n)
	for i := 0; i < len(text); {
		if !isNameByte(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && isNameByte(text[i]) {
			i++
		}
		word := text[start:i]
		if i < len(text) && (text[i] == '"' || text[i] == '\'') && start == 0 { // the prefix of the string
			continue
		}
		if word[0] >= '0' && word[0] <= '9' || start > 0 && text[start-1] == '.' {
			continue
		}
		c.mention(c.id(word), n.Start()+start, typeKind)
	}
}

func isNameByte(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= 0x80
}

func isIdentifier(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return true
}
