package githook

import (
	"bytes"
	"fmt"
	"strings"
)

// ken's part of a hook is the lines from one mark to the other.
const (
	blockStart = "# >>> ken >>>\n"
	blockEnd   = "# <<< ken <<<"
	shebang    = "#!/bin/sh\n"

	ownLine   = "# The whole file is ken's, and goes with it.\n"
	chainLine = "if [ -x \"$0" + Aside + "\" ]; then exec \"$0" + Aside + "\" \"$@\"; fi\n"
)

// A block is ken's part of a hook.
type block struct {
	hook  string
	own   bool // the file was made for it
	chain bool // the hook that was there runs behind it
}

// stopStatus is what ken ends with where the gate stops a commit. It is not 1, with
// which any other program called ken may answer a command that it does not know.
const stopStatus = "3"

// text is the block without its last line end. Nothing but the gate's own status stops a
// commit: whatever else comes (1 from some other ken, 2 after a panic, 126 where it
// cannot be started, 137 when it was killed) is said, and the commit goes on.
func (b block) text() string {
	var s strings.Builder
	s.WriteString(blockStart)
	s.WriteString("# Put in by ken init --hooks; ken init --hooks --uninstall takes it out.\n")
	if b.own {
		s.WriteString(ownLine)
	}
	s.WriteString("if command -v ken >/dev/null 2>&1; then\n")
	said := fmt.Sprintf("echo \"ken: ken hook %s ended with $?, and the commit goes on\" >&2", b.hook)
	if b.hook == gateHook {
		fmt.Fprintf(&s, "\tken hook %s --exit %s \"$@\" || case $? in\n\t%[2]s) exit 1 ;;\n\t*) %[3]s ;;\n\tesac\n", b.hook, stopStatus, said)
	} else {
		fmt.Fprintf(&s, "\tken hook %s \"$@\" || %s\n", b.hook, said)
	}
	s.WriteString("fi\n")
	if b.chain {
		s.WriteString(chainLine)
	}
	s.WriteString(blockEnd)
	return s.String()
}

// file is the file that is made for a block.
func (b block) file() []byte { return []byte(shebang + b.text() + "\n") }

// insert puts the block before everything that a script does, so that neither an
// exit nor an exec of the script keeps it from running: behind the line that names
// the interpreter, or first where there is none.
func (b block) insert(script []byte) []byte {
	if !bytes.HasPrefix(script, []byte("#!")) {
		return append([]byte(b.text()+"\n"), script...)
	}
	line := bytes.IndexByte(script, '\n') + 1
	if line == 0 { // take finds by the missing end that the line before it is to lose its own
		return []byte(string(script) + "\n" + b.text())
	}
	return []byte(string(script[:line]) + b.text() + "\n" + string(script[line:]))
}

// replace puts the block in the place of the one that take found.
func (b block) replace(before, after []byte, ended bool) []byte {
	end := ""
	if ended {
		end = "\n"
	}
	return []byte(string(before) + b.text() + end + string(after))
}

// A found is a hook with ken's part in it, and what lies before and behind.
type found struct {
	before, block, after []byte
	ended                bool // the block has a line end
}

// own and chain tell of which kind the block is; lines of it that an older ken wrote
// otherwise do not matter.
func (f *found) own() bool   { return bytes.Contains(f.block, []byte(ownLine)) }
func (f *found) chain() bool { return bytes.Contains(f.block, []byte("$0"+Aside)) }

// rest is the hook without the block, as it was before.
func (f *found) rest() []byte {
	before := f.before
	if !f.ended {
		before = bytes.TrimSuffix(before, []byte("\n"))
	}
	return append(bytes.Clone(before), f.after...)
}

// find looks for ken's part in a hook; nil when there is none. Marks that are not a
// pair are an error: what lies between them is anybody's guess.
func find(script []byte) (*found, error) {
	start, starts := marks(script, strings.TrimSuffix(blockStart, "\n"))
	end, ends := marks(script, blockEnd)
	switch {
	case starts == 0 && ends == 0:
		return nil, nil
	case starts != 1 || ends != 1 || end < start:
		return nil, errMarks
	}
	f := &found{before: script[:start], block: script[start : end+len(blockEnd)], after: script[end+len(blockEnd):]}
	if bytes.HasPrefix(f.after, []byte("\n")) {
		f.after, f.ended = f.after[1:], true
	}
	return f, nil
}

// marks counts the lines that are a mark, and says where the last of them begins.
func marks(script []byte, mark string) (at, n int) {
	offset := 0
	for line := range bytes.Lines(script) {
		if string(bytes.TrimSuffix(line, []byte("\n"))) == mark {
			at, n = offset, n+1
		}
		offset += len(line)
	}
	return at, n
}
