package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// python visits a node of Python. An assignment binds a name in the whole function. Names bound in a class
// body are not visible in its methods.
func (t *treeNames) python(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "identifier":
		if !t.inBody || !t.inBodyNames[t.idOfNode(n)] {
			t.mentionNode(n, kind)
		}
	case "comment", "integer", "float", "string_start", "string_content", "string_end", "true", "false", "none", "escape_sequence":
		// These nodes have no names.
	case "string":
		if kind == typeKind {
			t.pythonQuoted(n)
			break
		}
		if name := pythonText(t.bytes(n)); name != "" && n.Start() != t.required {
			t.imports(TextModulePrefix+name, n.Start())
		}
		t.children(n)
	case "attribute":
		t.pythonPath(n, kind)
	case "call":
		if module := t.pythonRequired(n); module != "" {
			t.imports(module, n.Start())
		}
		if function := n.Child("function"); function.Type() == "attribute" && t.isPythonAll(function.Child("object")) {
			t.pythonAll(n)
		}
		t.childAs(n, "function", callKind)
	case "parenthesized_expression", "tuple", "type", "subscript", "union_type", "generic_type", "type_parameter", "binary_operator", "list",
		"constrained_type", "member_type":
		if kind != typeKind && kind != matchKind {
			kind = mentionKind
		}
		if n.Type() == "type" {
			kind = typeKind
		}
		t.childrenAs(n, kind)
	case "decorator":
		t.childrenAs(n, callKind)
	case "keyword_argument":
		t.except(n, "name")
	case "import_statement", "import_from_statement", "future_import_statement":
		t.pythonImport(n)
	case "function_definition", "lambda":
		t.pythonFunction(n)
	case "class_definition":
		t.pythonClass(n)
	case "global_statement", "nonlocal_statement":
		t.pythonGlobals(n)
	case "assignment":
		t.pythonAssignment(n)
	case "augmented_assignment":
		if t.isPythonAll(n.Child("left")) {
			t.pythonAll(n.Child("right"))
		}
		t.except(n, "left")
		t.pythonTarget(n.Child("left"), pathName{})
	case "named_expression":
		t.except(n, "name")
		t.pythonTarget(n.Child("name"), pathName{})
	case "for_statement":
		t.pythonTarget(n.Child("left"), pathName{})
		t.except(n, "left")
	case "for_in_clause":
		t.except(n, "left")
		t.pythonTarget(n.Child("left"), pathName{})
	case "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression":
		inBody := t.inBody
		t.inBody = false
		t.within(true, func() { t.children(n) })
		t.inBody = inBody
	case "as_pattern":
		t.pythonAs(n, kind)
	case "except_clause", "except_group_clause":
		t.pythonExcept(n)
	case "case_clause":
		for _, child := range t.each(n) {
			if child.Type() == "case_pattern" {
				t.pythonCase(child)
			} else {
				t.visit(child, mentionKind)
			}
		}
	case "type_alias_statement":
		t.pythonTarget(n.Child("left").First("identifier"), pathName{})
		t.visit(n.Child("right"), typeKind)
	default:
		t.children(n)
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
func (t *treeNames) pythonPath(n syntax.Node, kind kindCode) (path pathName) {
	if !t.descend() {
		return pathName{}
	}
	defer t.ascend()
	object, name := n.Child("object"), n.Child("attribute")
	switch object.Type() {
	case "identifier":
		switch string(t.bytes(object)) {
		case "self", "cls":
			path = t.class
		default:
			path = singleName(t.idOfNode(object))
		}
	case "attribute":
		path = t.pythonPath(object, mentionKind)
	case "call":
		t.visit(object, mentionKind)
		if function := object.Child("function"); string(t.bytes(function)) == "super" {
			path = t.ofValue(t.base)
		} else {
			path = t.ofValue(t.pythonValue(object))
		}
	default:
		t.visit(object, mentionKind)
	}
	return t.stepNode(path, name, kind)
}

// pythonImport adds the imports of a statement. Imports in a function count as those of the file.
func (t *treeNames) pythonImport(n syntax.Node) {
	module := n.Child("module_name")
	if n.Type() == "import_statement" || module.IsZero() {
		if n.Type() == "future_import_statement" {
			t.imports("__future__", n.Start())
			return
		}
		for _, child := range n.Children() {
			switch child.Type() {
			case "dotted_name":
				name := t.dottedName(child)
				t.imports(name, child.Start(), Binding{As: name})
			case "aliased_import":
				t.imports(t.dottedName(child.Child("name")), child.Start(), Binding{As: t.text(child.Child("alias"))})
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
			names = append(names, Binding{Name: t.dottedName(child)})
		case child.Type() == "aliased_import":
			b := Binding{Name: t.dottedName(child.Child("name")), As: t.text(child.Child("alias"))}
			if b.As == b.Name {
				b.As = ""
			}
			names = append(names, b)
		}
	}
	t.imports(t.dottedName(module), n.Start(), names...)
}

// pythonRequired returns the module that a call of import_module imports.
func (t *treeNames) pythonRequired(call syntax.Node) string {
	function := call.Child("function")
	if function.End()-function.Start() > 40 { // longer than any of them
		return ""
	}
	switch t.text(function) {
	case "importlib.import_module", "import_module", "__import__":
	default:
		return ""
	}
	for _, arg := range call.Child("arguments").Children() {
		if arg.Type() == "string" && arg.First("interpolation").IsZero() {
			t.required = arg.Start()
			return unquote(t.text(arg))
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
func (t *treeNames) dottedName(n syntax.Node) string {
	return strings.Join(strings.Fields(t.text(n)), "")
}

// pythonFunction walks a function. Its annotations and defaults are outside of its scope.
func (t *treeNames) pythonFunction(n syntax.Node) {
	if n.Type() == "function_definition" {
		t.pythonTarget(n.Child("name"), pathName{})
	}
	globals, inBody := t.globals, t.inBody
	t.within(false, func() {
		t.pythonTypeParams(n)
		params := n.Child("parameters")
		t.pythonDefaults(params)
		t.visit(n.Child("return_type"), typeKind)
		t.within(true, func() {
			t.inBody, t.globals = false, nil
			t.pythonParams(params)
			t.visit(n.Child("body"), mentionKind)
			t.inBody, t.globals = inBody, globals
		})
	})
}

// pythonTypeParams binds the type parameters of a function or class.
func (t *treeNames) pythonTypeParams(n syntax.Node) {
	params := n.Child("type_parameters")
	for _, p := range params.Children() {
		if p.Type() == "type" {
			t.bindAll(t.idOfNode(p.First("identifier")), pathName{})
		}
	}
}

// pythonDefaults walks the annotations and defaults of parameters.
func (t *treeNames) pythonDefaults(params syntax.Node) {
	for _, p := range t.each(params) {
		switch p.Type() {
		case "typed_parameter", "default_parameter", "typed_default_parameter":
			t.visit(p.Child("type"), typeKind)
			t.visit(p.Child("value"), mentionKind)
		}
	}
}

// pythonParams binds parameters.
func (t *treeNames) pythonParams(params syntax.Node) {
	for _, p := range t.each(params) {
		switch p.Type() {
		case "typed_parameter", "default_parameter", "typed_default_parameter":
			name := p.Child("name")
			if name.IsZero() {
				name = p.First("identifier", "list_splat_pattern", "dictionary_splat_pattern")
			}
			t.pythonTarget(name, t.pythonType(p.Child("type")))
		default:
			t.pythonTarget(p, pathName{})
		}
	}
}

// pythonTarget binds the names in an assignment target.
func (t *treeNames) pythonTarget(n syntax.Node, typ pathName) {
	if !n.Named() || !t.descend() {
		return
	}
	defer t.ascend()
	switch n.Type() {
	case "identifier":
		id := t.idOfNode(n)
		switch {
		case t.inBody:
			t.inBodyNames[id] = true
			t.field(t.class, ".", t.bytes(n), typ)
		case !t.globals[id]:
			t.bindFunction(id, typ)
		}
	case "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "dictionary_splat_pattern", "tuple", "list",
		"as_pattern_target", "parenthesized_expression", "list_splat":
		for _, child := range t.each(n) {
			t.pythonTarget(child, pathName{})
		}
	case "attribute":
		if object := string(t.bytes(n.Child("object"))); object == "self" || object == "cls" {
			t.assigned(n.Child("attribute"))
			t.field(t.class, ".", t.bytes(n.Child("attribute")), typ)
		}
		t.visit(n, mentionKind)
	default:
		t.visit(n, mentionKind)
	}
}

// pythonType returns the type name of an annotation, or of a call of a class.
func (t *treeNames) pythonType(n syntax.Node) pathName {
	if n.Type() == "type" {
		n = n.First("identifier", "attribute", "string")
	}
	switch n.Type() {
	case "identifier":
		id := t.idOfNode(n)
		return singleName(id)
	case "attribute":
		object := n.Child("object")
		if object.Type() != "identifier" {
			return pathName{}
		}
		root := t.idOfNode(object)
		return t.join(singleName(root), ".", t.bytes(n.Child("attribute")))
	case "string":
		if name := unquote(t.text(n)); isIdentifier(name) {
			id := t.idOf(name)
			return singleName(id)
		}
	}
	return pathName{}
}

// isPythonAll reports whether a node is the name of the list of names that a module exports.
func (t *treeNames) isPythonAll(n syntax.Node) bool {
	return n.Type() == "identifier" && string(t.bytes(n)) == "__all__" && len(t.scopes) == 1
}

// pythonAll adds an import for a value of __all__, or for a call that changes it. The names in it are uses: they may
// come from an import of all names.
func (t *treeNames) pythonAll(n syntax.Node) {
	var names []Binding
	var read func(n syntax.Node)
	read = func(n syntax.Node) {
		switch n.Type() {
		case "list", "tuple":
			for _, child := range n.Children() {
				if child.Named() && child.Type() != "comment" {
					read(child)
				}
			}
			return
		case "binary_operator":
			read(n.Child("left"))
			read(n.Child("right"))
			return
		case "string":
			if name := unquote(t.text(n)); isIdentifier(name) {
				t.mention(t.idOf(name), n.Start(), mentionKind)
				names = append(names, Binding{Name: name})
				return
			}
		}
		names = append(names, Binding{Name: "*"})
	}
	read(n)
	if len(names) > 0 && len(t.found) < MaxSymbols {
		t.found = append(t.found, Import{Names: names, Reexport: true, Line: t.line(n.Start())})
	}
}

// pythonAssignment walks an assignment.
func (t *treeNames) pythonAssignment(n syntax.Node) {
	left := n.Child("left")
	right := n.Child("right")
	if t.isPythonAll(left) {
		t.pythonAll(right)
	}
	annotation := n.Child("type")
	t.visit(annotation, typeKind)
	t.visit(right, mentionKind)
	typ := t.pythonType(annotation)
	if right.Type() == "call" && typ.path == 0 {
		typ = t.pythonValue(right)
	}
	t.pythonTarget(left, typ)
}

// pythonValue returns the type of the value of a call: a class, whose name begins with a capital letter, or what a
// function returns.
func (t *treeNames) pythonValue(call syntax.Node) pathName {
	class := call.Child("function")
	last := class
	if class.Type() == "attribute" {
		last = class.Child("attribute")
	}
	if text := t.bytes(last); len(text) > 0 && text[0] >= 'A' && text[0] <= 'Z' {
		return t.pythonType(class)
	}
	return t.valueOf(call)
}

// pythonClass walks a class.
func (t *treeNames) pythonClass(n syntax.Node) {
	t.pythonTarget(n.Child("name"), pathName{})
	t.within(false, func() {
		t.pythonTypeParams(n)
		var base pathName
		bases := 0
		for _, child := range t.each(n.Child("superclasses")) {
			switch {
			case child.Type() == "keyword_argument":
				t.visit(child, mentionKind)
			case child.Named():
				base = t.pythonType(child)
				bases++
				t.visit(child, typeKind)
			}
		}
		if bases > 1 {
			base = pathName{}
		}
		inBody, names := t.inBody, t.inBodyNames
		t.inBody, t.inBodyNames = true, make(map[nameID]bool)
		t.inClass(n.Child("name"), func() {
			t.base = base
			t.visit(n.Child("body"), mentionKind)
		})
		t.inBody, t.inBodyNames = inBody, names
	})
}

// pythonAs walks x as y.
func (t *treeNames) pythonAs(n syntax.Node, kind kindCode) {
	for _, child := range t.each(n) {
		if child.Field() == "alias" {
			t.pythonTarget(child, pathName{})
		} else {
			t.visit(child, kind)
		}
	}
}

func (t *treeNames) pythonExcept(n syntax.Node) {
	for _, child := range t.each(n) {
		switch {
		case child.Field() == "alias":
			t.pythonTarget(child, pathName{})
		case child.Type() == "block":
			t.visit(child, mentionKind)
		case child.Type() == "as_pattern":
			t.pythonAs(child, matchKind)
		default:
			t.visit(child, matchKind)
		}
	}
}

// pythonCase walks a pattern of a match statement. A single name is a variable.
func (t *treeNames) pythonCase(n syntax.Node) {
	if !n.Named() || !t.descend() {
		return
	}
	defer t.ascend()
	children := n.Children()
	switch n.Type() {
	case "identifier":
		t.pythonTarget(n, pathName{})
	case "dotted_name":
		if len(children) == 1 {
			t.pythonTarget(children[0], pathName{})
		} else {
			t.names(n, matchKind)
		}
	case "class_pattern":
		for i, child := range children {
			if i == 0 {
				t.names(child, matchKind)
			} else {
				t.pythonCase(child)
			}
		}
	case "keyword_pattern":
		for _, child := range children[min(1, len(children)):] {
			t.pythonCase(child)
		}
	case "string", "concatenated_string":
	default:
		for _, child := range children {
			t.pythonCase(child)
		}
	}
}

// pythonGlobals records the names of a global or nonlocal statement. The function does not bind them.
func (t *treeNames) pythonGlobals(n syntax.Node) {
	for _, child := range t.each(n) {
		if child.Type() == "identifier" {
			id := t.idOfNode(child)
			if t.globals == nil {
				t.globals = make(map[nameID]bool)
			}
			t.globals[id] = true
			if n.Type() == "global_statement" {
				t.bindIn(0, id, 0, pathName{})
			}
		}
	}
}

// pythonQuoted records the names in a quoted annotation.
func (t *treeNames) pythonQuoted(n syntax.Node) {
	text := t.bytes(n)
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
		t.mention(t.id(word), n.Start()+start, typeKind)
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
