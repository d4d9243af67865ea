package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// bash visits a node of a shell script. The uses are the commands that it calls, and upper-case variables
// that it does not set.
func (t *treeNames) bash(n syntax.Node, kind kindCode) {
	switch n.Type() {
	case "comment", "word", "raw_string", "string_content", "number", "ansi_c_string", "heredoc_start", "heredoc_end", "regex":
		// These nodes have no names.
	case "command":
		t.bashCommand(n)
	case "function_definition":
		t.bindIn(0, t.idOfNode(n.Child("name")), 0, pathName{})
		t.except(n, "name")
	case "variable_assignment":
		t.bindIn(0, t.idOfNode(n.Child("name")), 0, pathName{})
		t.except(n, "name")
	case "for_statement", "c_style_for_statement":
		t.bindIn(0, t.idOfNode(n.Child("variable")), 0, pathName{})
		t.except(n, "variable")
	case "variable_name":
		if name := t.text(n); strings.ToUpper(name) == name && strings.ToLower(name) != name {
			t.mentionNode(n, kind)
		}
	default:
		t.children(n)
	}
}

// isBashBuiltin reports whether name is a builtin or common command, or a variable that the shell sets.
func isBashBuiltin(name string) bool {
	switch name {
	case "BASH", "BASH_REMATCH", "BASH_SOURCE", "BASH_VERSION", "EUID", "FUNCNAME", "HOME", "HOSTNAME", "IFS", "LANG", "LC_ALL", "LINENO", "OLDPWD",
		"OPTARG", "OPTIND", "OSTYPE", "PATH", "PIPESTATUS", "PWD", "RANDOM", "REPLY", "SECONDS", "SHELL", "TERM", "TMPDIR", "UID", "USER",
		":", "[", "[[", "alias", "awk", "basename", "bash", "break", "builtin", "case", "cat", "cd", "chmod", "chown", "command",
		"continue", "cp", "curl", "cut", "date", "declare", "diff", "dirname", "docker", "echo", "egrep", "env", "eval", "exec", "exit",
		"export", "expr", "false", "find", "getopts", "git", "go", "grep", "head", "jq", "kill", "kubectl", "let", "ln", "local", "ls",
		"make", "mapfile", "mkdir", "mktemp", "mv", "node", "npm", "popd", "printf", "pushd", "pwd", "python", "python3", "read",
		"readarray", "readlink", "readonly", "realpath", "return", "rm", "rmdir", "sed", "seq", "set", "sh", "shift", "shopt", "sleep",
		"sort", "source", "stat", "sudo", "tail", "tar", "tee", "test", "time", "touch", "tr", "trap", "true", "type", "typeset",
		"ulimit", "umask", "uname", "uniq", "unset", "wait", "wc", "wget", "which", "xargs", ".":
		return true
	}
	return false
}

func noMember(string) bool { return false }

// bashCommand walks a command. The command may be a script file, or source one.
func (t *treeNames) bashCommand(n syntax.Node) {
	name := n.Child("name").First("word")
	command := t.text(name)
	argument := t.text(n.Child("argument"))
	switch {
	case name.IsZero():
	case command == "source" || command == ".":
		t.imports(unquote(argument), n.Start())
	case strings.Contains(command, "/") || strings.HasSuffix(command, ".sh"):
		t.imports(command, n.Start())
	case isInterpreter(command):
		if file := unquote(argument); isScriptFile(file) {
			t.imports(file, n.Start())
		}
	case isCommandName(command):
		t.mentionNode(name, callKind)
	}
	if command == "trap" {
		if handler := n.Child("argument"); handler.Type() == "word" && isCommandName(t.text(handler)) {
			t.mentionNode(handler, callKind)
		}
	}
	t.children(n)
}

func isInterpreter(command string) bool {
	switch command {
	case "bash", "sh", "zsh", "exec", "python", "python3", "node", "ruby", "php", "perl":
		return true
	}
	return false
}

// isScriptFile reports whether an argument names a script file.
func isScriptFile(argument string) bool {
	if argument == "" || argument[0] == '-' || strings.ContainsAny(argument, " \n") {
		return false
	}
	for _, ext := range [...]string{".sh", ".bash", ".py", ".js", ".rb", ".php", ".pl"} {
		if strings.HasSuffix(argument, ext) {
			return true
		}
	}
	return false
}

// isCommandName reports whether a word can be the name of a function.
func isCommandName(word string) bool {
	if word == "" || word[0] == '-' || word[0] >= '0' && word[0] <= '9' {
		return false
	}
	for i := range len(word) {
		if b := word[i]; !isNameByte(b) && b != '-' && b != '.' && b != ':' && b != '+' {
			return false
		}
	}
	return true
}
