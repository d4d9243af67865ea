package outline

import (
	"ken/internal/outline/syntax"
)

// ruby visits a node of Ruby. A name that is not a variable is a method call. A class binds its methods in
// its whole body.
func (t *treeNames) ruby(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "identifier":
		if kind == mentionKind {
			kind = callKind
		}
		t.mentionNode(n, kind)
	case "constant":
		t.mentionNode(n, kind)
	case "comment", "instance_variable", "class_variable", "global_variable", "simple_symbol", "hash_key_symbol", "string_content", "integer", "float",
		"self", "super", "nil", "true", "false", "heredoc_beginning", "uninterpreted", "alias", "undef", "character":
		// These nodes have no names.
	case "scope_resolution":
		t.rubyPath(n, kind)
	case "call":
		t.rubyCall(n)
	case "class", "module":
		t.within(true, func() {
			t.visit(n.Child("superclass"), typeKind)
			name := n.Child("name")
			if name.Type() == "scope_resolution" { // class A::B
				t.rubyPath(name, mentionKind)
				name = name.Child("name")
			}
			t.inClass(name, func() {
				t.bindOwn(t.idOfNode(name))
				t.except(n, "name", "superclass")
			})
		})
	case "superclass":
		t.childrenAs(n, typeKind)
	case "method", "singleton_method":
		t.within(true, func() { t.except(n, "name", "object") })
	case "block", "do_block", "lambda":
		t.scope(n)
	case "method_parameters", "block_parameters", "lambda_parameters", "destructured_parameter", "left_assignment_list", "destructured_left_assignment",
		"exception_variable", "rest_assignment":
		for _, child := range t.each(n) {
			t.rubyTarget(child)
		}
	case "assignment", "operator_assignment":
		t.visit(n.Child("right"), mentionKind)
		t.rubyTarget(n.Child("left"))
	case "for":
		t.visit(n.Child("value"), mentionKind)
		t.rubyTarget(n.Child("pattern"))
		t.visit(n.Child("body"), mentionKind)
	case "exceptions", "pattern":
		t.childrenAs(n, matchKind)
	default:
		t.children(n)
	}
}

// isRubyBuiltin reports whether Ruby predeclares a name.
func isRubyBuiltin(name string) bool {
	switch name {
	case "ArgumentError", "Array", "BasicObject", "Class", "Comparable", "Date", "Dir", "ENV", "Encoding", "Enumerable", "Errno", "Exception", "Fiber",
		"File", "FileUtils", "Float", "Hash", "IO", "IOError", "IndexError", "Integer", "Kernel", "KeyError", "LoadError", "Marshal", "Math",
		"Method", "Module", "Mutex", "NameError", "NoMethodError", "NotImplementedError", "Numeric", "Object", "ObjectSpace", "Proc",
		"Process", "Queue", "RUBY_VERSION", "Random", "Range", "Regexp", "RuntimeError", "STDERR", "STDIN", "STDOUT", "Set", "StandardError",
		"String", "StringIO", "Struct", "Symbol", "SystemExit", "Thread", "Time", "TypeError", "URI", "__FILE__", "__dir__", "__method__",
		"abort", "alias_method", "at_exit", "attr_accessor", "attr_reader", "attr_writer", "autoload", "binding", "block_given?", "caller",
		"catch", "class_eval", "const_get", "const_set", "define_method", "defined?", "exit", "extend", "fail", "format", "freeze", "gets",
		"include", "include?", "instance_eval", "instance_variable_get", "instance_variable_set", "is_a?", "lambda", "load", "loop",
		"method_missing", "module_function", "new", "p", "pp", "prepend", "print", "printf", "private", "private_class_method",
		"private_constant", "proc", "protected", "public", "public_send", "puts", "raise", "rand", "refine", "require", "require_relative",
		"respond_to?", "send", "sleep", "sprintf", "srand", "super", "system", "tap", "throw", "to_s", "using", "warn":
		return true
	}
	return false
}

// isRubyMember reports whether objects, strings or collections have a method.
func isRubyMember(name string) bool {
	switch name {
	case "[]", "all?", "any?", "call", "class", "clear", "collect", "compact", "concat", "delete", "detect", "dup", "each", "each_pair", "each_with_index",
		"each_with_object", "empty?", "end_with?", "fetch", "find", "first", "flatten", "freeze", "frozen?", "gsub", "include?", "index",
		"inject", "inspect", "instance_of?", "is_a?", "join", "key?", "keys", "kind_of?", "last", "length", "lines", "map", "match?",
		"merge", "message", "min", "max", "new", "nil?", "none?", "pop", "push", "reduce", "reject", "respond_to?", "reverse", "round",
		"select", "send", "shift", "size", "sort", "sort_by", "split", "start_with?", "strip", "sub", "sum", "tap", "to_a", "to_h", "to_i",
		"to_proc", "to_s", "to_str", "to_sym", "uniq", "unshift", "upcase", "downcase", "values", "with_index", "zip":
		return true
	}
	return false
}

// rubyPath walks a qualified constant and returns its path.
func (t *treeNames) rubyPath(n syntax.Node, kind kindCode) (path pathName) {
	if !t.descend() {
		return pathName{}
	}
	defer t.ascend()
	scope, name := n.Child("scope"), n.Child("name")
	switch scope.Type() {
	case "constant":
		path = singleName(t.idOfNode(scope))
	case "scope_resolution":
		path = t.rubyPath(scope, mentionKind)
	case "": // ::Name
		t.mentionNode(name, kind)
		return singleName(t.idOfNode(name))
	default:
		t.visit(scope, mentionKind)
	}
	return t.stepNode(path, name, kind)
}

// rubyCall walks a call. Some calls import a file, and new creates a value.
func (t *treeNames) rubyCall(n syntax.Node) {
	receiver, method := n.Child("receiver"), n.Child("method")
	if receiver.IsZero() {
		t.rubyImport(n, string(t.bytes(method)))
	}
	made := string(t.bytes(method)) == "new"
	kind := mentionKind
	if made {
		kind = literalKind
	}
	var path pathName
	switch receiver.Type() {
	case "":
		if method.Type() == "identifier" || method.Type() == "constant" {
			t.mentionNode(method, callKind)
		}
		t.except(n, "method")
		return
	case "identifier":
		if path = singleName(t.idOfNode(receiver)); !t.isLocal(path.root) {
			t.visit(receiver, mentionKind) // it may be a method, too
			path = pathName{}
		}
	case "constant":
		path = singleName(t.idOfNode(receiver))
		if made {
			t.visit(receiver, kind)
		}
	case "scope_resolution":
		path = t.rubyPath(receiver, kind)
	case "self":
		path = t.class
	default:
		t.visit(receiver, mentionKind)
	}
	if !made && (method.Type() == "identifier" || method.Type() == "constant") {
		t.member(path, t.idOfNode(method), method.Start(), callKind)
	}
	t.except(n, "receiver", "method")
}

// rubyImport adds an import. A module of require_relative begins with a dot.
func (t *treeNames) rubyImport(n syntax.Node, method string) {
	switch method {
	case "require", "require_relative", "load", "autoload":
	default:
		return
	}
	var names []Binding
	for _, arg := range n.Child("arguments").Children() {
		switch {
		case arg.Type() == "simple_symbol" && method == "autoload":
			names = append(names, Binding{Name: t.text(arg)[1:]})
		case arg.Type() == "string" && arg.First("interpolation").IsZero():
			module := unquote(t.text(arg))
			if method == "require_relative" {
				module = "./" + module
			}
			t.imports(module, n.Start(), names...)
		}
	}
}

// rubyTarget binds the names in an assignment target.
func (t *treeNames) rubyTarget(n syntax.Node) {
	switch n.Type() {
	case "identifier":
		t.bind(t.idOfNode(n), pathName{})
	case "constant":
		t.bindIn(0, t.idOfNode(n), 0, pathName{})
	case "optional_parameter", "keyword_parameter":
		t.visit(n.Child("value"), mentionKind)
		t.bind(t.idOfNode(n.Child("name")), pathName{})
	case "splat_parameter", "hash_splat_parameter", "block_parameter":
		t.bind(t.idOfNode(n.Child("name")), pathName{})
	default:
		t.visit(n, mentionKind)
	}
}
