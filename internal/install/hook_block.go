package install

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	shebang = "#!/bin/sh\n"

	ownLine   = "# The whole file is ken's, and goes with it.\n"
	chainLine = "if [ -x \"$0" + AsideSuffix + "\" ]; then exec \"$0" + AsideSuffix + "\" \"$@\"; fi\n"
)

// A hookBlock is ken's part of a hook.
type hookBlock struct {
	hook  string
	own   bool // the file was made for it
	chain bool // the hook that was there runs behind it
}

// gateStatus is what ken ends with where the gate stops a commit. It is not 1, with
// which any other program called ken may answer a command that it does not know.
const gateStatus = "3"

// text is the block without its last line end. Nothing but the gate's own status stops a
// commit: whatever else comes (1 from some other ken, 2 after a panic, 126 where it
// cannot be started, 137 when it was killed) is said, and the commit goes on.
func (b hookBlock) text() string {
	var s strings.Builder
	s.WriteString(markStart + "\n")
	s.WriteString("# Put in by ken init --hooks; ken init --hooks --uninstall takes it out.\n")
	if b.own {
		s.WriteString(ownLine)
	}
	s.WriteString("if command -v ken >/dev/null 2>&1; then\n")
	said := fmt.Sprintf("echo \"ken: ken hook %s ended with $?, and the commit goes on\" >&2", b.hook)
	if b.hook == gateHook {
		fmt.Fprintf(&s, "\tken hook %s --exit %s \"$@\" || case $? in\n\t%[2]s) exit 1 ;;\n\t*) %[3]s ;;\n\tesac\n", b.hook, gateStatus, said)
	} else {
		fmt.Fprintf(&s, "\tken hook %s \"$@\" || %s\n", b.hook, said)
	}
	s.WriteString("fi\n")
	if b.chain {
		s.WriteString(chainLine)
	}
	s.WriteString(markEnd)
	return s.String()
}

// file is the file that is made for a block.
func (b hookBlock) file() []byte { return []byte(shebang + b.text() + "\n") }

// insert puts the block before everything that a script does, so that neither an
// exit nor an exec of the script keeps it from running: behind the line that names
// the interpreter, or first where there is none.
func (b hookBlock) insert(script []byte) []byte {
	if !bytes.HasPrefix(script, []byte("#!")) {
		return append([]byte(b.text()+"\n"), script...)
	}
	line := bytes.IndexByte(script, '\n') + 1
	if line == 0 { // take finds by the missing end that the line before it is to lose its own
		return []byte(string(script) + "\n" + b.text())
	}
	return []byte(string(script[:line]) + b.text() + "\n" + string(script[line:]))
}

// replace puts the block in the place of an older one.
func (b hookBlock) replace(older *markedBlock) []byte {
	end := ""
	if older.ended {
		end = "\n"
	}
	return []byte(string(older.before) + b.text() + end + string(older.after))
}

// own and chain tell of which kind the block is; lines of it that an older ken wrote
// otherwise do not matter.
func (b *markedBlock) own() bool   { return bytes.Contains(b.block, []byte(ownLine)) }
func (b *markedBlock) chain() bool { return bytes.Contains(b.block, []byte("$0"+AsideSuffix)) }

// rest is the hook without the block, as it was before.
func (b *markedBlock) rest() []byte {
	before := b.before
	if !b.ended {
		before = bytes.TrimSuffix(before, []byte("\n"))
	}
	return append(bytes.Clone(before), b.after...)
}
