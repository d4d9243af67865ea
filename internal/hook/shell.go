package hook

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// shells understand what ken puts into their scripts.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "yash"}

// isShell reports whether a hook is a shell script that lines can be put into. One
// without a first line that names an interpreter is: git has sh run it.
func isShell(script []byte) bool {
	if bytes.IndexByte(script, 0) >= 0 || startsItself(script) {
		return false
	}
	first, _, _ := bytes.Cut(script, []byte("\n"))
	rest, ok := bytes.CutPrefix(first, []byte("#!"))
	if !ok {
		return true
	}
	words := strings.Fields(string(rest))
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool {
			return strings.HasPrefix(w, "-") || strings.Contains(w, "=")
		})
	}
	return len(words) > 0 && slices.Contains(shells, path.Base(words[0]))
}

// startsItself reports whether a script hands its own file to another program, which
// would not know what to make of lines for a shell.
func startsItself(script []byte) bool {
	for line := range bytes.Lines(script) {
		if bytes.Contains(line, []byte("exec")) && bytes.Contains(line, []byte("$0")) {
			return true
		}
	}
	return false
}

// rewriter says which program wrote a hook and will write it again.
func rewriter(script []byte) string {
	if bytes.Contains(script, []byte("call_lefthook")) {
		return "lefthook writes this file anew at times; to last, ken hook must stand in lefthook.yml"
	}
	return ""
}
