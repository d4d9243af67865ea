package install

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	shebang = "#!/bin/sh\n"

	ownLine = "# ken made this file. Uninstalling removes it.\n"

	chainLine = "if [ -x \"$0" + AsideSuffix + "\" ]; then exec \"$0" + AsideSuffix + "\" \"$@\"; fi\n"
)

// A hookBlock is the block that ken adds to a hook.
type hookBlock struct {
	hook  string
	own   bool // ken made the file
	chain bool // the block ends by running the hook that was set aside
}

// gateStatus is the exit status by which the gate stops a commit. It is not 1: another
// program named ken may exit with 1 because it does not know the command.
const gateStatus = "3"

// text returns the block without its last line end. Only the gate's own status stops a
// commit. After any other (1 from another ken, 2 after a panic, 126 if ken cannot be
// started, 137 if it was killed), the hook prints a line and the commit continues.
func (b hookBlock) text() string {
	var s strings.Builder
	s.WriteString(markStart + "\n")
	s.WriteString("# Added by ken install git --hooks. Remove it with: ken install git --hooks --uninstall\n")
	if b.own {
		s.WriteString(ownLine)
	}
	s.WriteString("if command -v ken >/dev/null 2>&1; then\n")
	failed := fmt.Sprintf("echo \"ken: ken hook %s exited with $?; the commit continues\" >&2", b.hook)
	if b.hook == gateHook {
		fmt.Fprintf(&s, "\tken hook %s --exit %s \"$@\" || case $? in\n\t%[2]s) exit 1 ;;\n\t*) %[3]s ;;\n\tesac\n", b.hook, gateStatus, failed)
	} else {
		fmt.Fprintf(&s, "\tken hook %s \"$@\" || %s\n", b.hook, failed)
	}
	s.WriteString("fi\n")
	if b.chain {
		s.WriteString(chainLine)
	}
	s.WriteString(markEnd)
	return s.String()
}

// file returns a hook that consists of the block.
func (b hookBlock) file() []byte { return []byte(shebang + b.text() + "\n") }

// insert adds the block before the first command of a script, so that it runs even if the
// script exits or execs: after the interpreter line, or at the start if there is none.
func (b hookBlock) insert(script []byte) []byte {
	if !bytes.HasPrefix(script, []byte("#!")) {
		return append([]byte(b.text()+"\n"), script...)
	}
	line := bytes.IndexByte(script, '\n') + 1
	if line == 0 { // rest sees by the missing line end that it must remove the one before the block
		return []byte(string(script) + "\n" + b.text())
	}
	return []byte(string(script[:line]) + b.text() + "\n" + string(script[line:]))
}

// replace returns the hook with the block in the place of an older one.
func (b hookBlock) replace(older *markedBlock) []byte {
	end := ""
	if older.ended {
		end = "\n"
	}
	return []byte(string(older.before) + b.text() + end + string(older.after))
}

// own reports whether ken made the file.
func (b *markedBlock) own() bool {
	return bytes.Contains(b.block, []byte(ownLine))
}

// chain reports whether the block runs the hook that was set aside.
func (b *markedBlock) chain() bool { return bytes.Contains(b.block, []byte("$0"+AsideSuffix)) }

// rest returns the hook without the block.
func (b *markedBlock) rest() []byte {
	before := b.before
	if !b.ended {
		before = bytes.TrimSuffix(before, []byte("\n"))
	}
	return append(bytes.Clone(before), b.after...)
}
