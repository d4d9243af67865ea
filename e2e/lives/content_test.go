package lives

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/rand"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Files are made of few forms of lines, so that this file can tell by itself which changes
// are format only. A source file is a list of functions:
//
//	func F3() int {
//		// note 7        a comment that documents nothing
//		_ = "a b"        a line whose white space means something
//		return 42
//	}
//
// A comment stands inside a function and never documents anything; blank lines stand inside
// functions too. In shell the first line of a function is never a comment: scripts document
// their functions there, and ken takes it for documentation. git merges whole lines, so a
// merged file has the same form.

// newFile returns the first content of a file with this name.
func newFile(r *rand.Rand, name string) string {
	var b strings.Builder
	switch path.Ext(name) {
	case ".go":
		b.WriteString("package p\n")
	case ".js":
		b.WriteString("'use strict';\n")
	case ".py":
		b.WriteString("import os\n")
	case ".sh":
		b.WriteString("set -e\n")
	default:
		b.WriteString("$Id$\n")
		for i := range 6 {
			fmt.Fprintf(&b, "line %d has %d\n", i, r.Intn(1000))
		}
		return b.String()
	}
	for range 3 {
		b.WriteString(function(r, name))
	}
	return b.String()
}

// function returns the lines of a new function in the language of the file.
func function(r *rand.Rand, name string) string {
	n, value := r.Intn(100000), r.Intn(1000)
	switch path.Ext(name) {
	case ".go":
		return fmt.Sprintf("\nfunc F%d() int {\n\t_ = \"a b\"\n\treturn %d\n}\n", n, value)
	case ".js":
		return fmt.Sprintf("\nfunction f%d() {\n  const s = \"a b\";\n  return %d;\n}\n", n, value)
	case ".py":
		return fmt.Sprintf("\ndef f%d():\n    s = \"a b\"\n    return %d\n", n, value)
	case ".sh":
		return fmt.Sprintf("\nf%d() {\n  a=b c\n  echo %d\n}\n", n, value)
	}
	return fmt.Sprintf("line %d has %d\n", n, value)
}

func opensFunction(name, line string) bool {
	switch path.Ext(name) {
	case ".go":
		return strings.HasPrefix(line, "func ")
	case ".js":
		return strings.HasPrefix(line, "function ")
	case ".py":
		return strings.HasPrefix(line, "def ")
	case ".sh":
		return strings.HasSuffix(line, "() {")
	}
	return false
}

func isComment(name, line string) bool {
	line = strings.TrimLeft(line, " \t")
	switch path.Ext(name) {
	case ".go", ".js":
		return strings.HasPrefix(line, "// note") || strings.HasPrefix(line, "// $Id")
	case ".py", ".sh":
		return strings.HasPrefix(line, "# note")
	}
	return false
}

func comment(r *rand.Rand, name string) string {
	switch path.Ext(name) {
	case ".go":
		return fmt.Sprintf("\t// note %d", r.Intn(1000))
	case ".js":
		return fmt.Sprintf("  // note %d", r.Intn(1000))
	case ".py":
		return fmt.Sprintf("    # note %d", r.Intn(1000))
	}
	return fmt.Sprintf("  # note %d", r.Intn(1000))
}

// hasGrammar reports whether ken can tell format from other changes in such a file.
func hasGrammar(name string) bool {
	switch path.Ext(name) {
	case ".go", ".js", ".py", ".sh":
		return true
	}
	return false
}

// An edit changes the content of a file in one way.
type edit func(r *rand.Rand, name, content string) string

// eachLine applies f to the lines of a content and keeps its line endings: "\r" stays at the
// end of the lines that have it.
func eachLine(content string, f func(lines []string) []string) string {
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	return strings.Join(f(lines), "\n") + "\n"
}

// editBody changes one value.
func editBody(r *rand.Rand, _, content string) string {
	return eachLine(content, func(lines []string) []string {
		var at []int
		for i, line := range lines {
			if strings.Contains(line, "return ") || strings.Contains(line, "echo ") || strings.Contains(line, " has ") {
				at = append(at, i)
			}
		}
		if at == nil {
			return append(lines, fmt.Sprintf("line 0 has %d", r.Intn(1000)))
		}
		i := at[r.Intn(len(at))]
		lines[i] = replaceNumber(lines[i], 1000+r.Intn(8999))
		return lines
	})
}

// editSameSize changes one value and keeps the size of the file.
func editSameSize(_ *rand.Rand, _, content string) string {
	return eachLine(content, func(lines []string) []string {
		for i, line := range slices.Backward(lines) {
			digits := lastNumber(line)
			if digits == "" || !strings.Contains(line, "return ") && !strings.Contains(line, "echo ") && !strings.Contains(line, " has ") {
				continue
			}
			last := digits[len(digits)-1]
			changed := digits[:len(digits)-1] + string('0'+(last-'0'+1)%10)
			at := strings.LastIndex(line, digits)
			lines[i] = line[:at] + changed + line[at+len(digits):]
			return lines
		}
		return lines
	})
}

func lastNumber(line string) string {
	end := strings.LastIndexAny(line, "0123456789") + 1
	start := end
	for start > 0 && line[start-1] >= '0' && line[start-1] <= '9' {
		start--
	}
	return line[start:end]
}

func replaceNumber(line string, n int) string {
	digits := lastNumber(line)
	at := strings.LastIndex(line, digits)
	return line[:at] + strconv.Itoa(n) + line[at+len(digits):]
}

// editInterface adds a function at the end, or takes the last one away.
func editInterface(r *rand.Rand, name, content string) string {
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	var opens []int
	for i, line := range lines {
		if opensFunction(name, strings.TrimRight(line, "\r \t")) {
			opens = append(opens, i)
		}
	}
	crlf := strings.Contains(content, "\r\n")
	if len(opens) > 2 && r.Intn(2) == 0 {
		return strings.Join(lines[:opens[len(opens)-1]], "\n") + "\n"
	}
	added := function(r, name)
	if crlf {
		added = strings.ReplaceAll(added, "\n", "\r\n")
	}
	return content + added
}

// editComment adds or removes a comment that documents nothing.
func editComment(r *rand.Rand, name, content string) string {
	if !hasGrammar(name) {
		return editBody(r, name, content)
	}
	return eachLine(content, func(lines []string) []string {
		var opens, notes []int
		for i, line := range lines {
			bare := strings.TrimRight(line, "\r \t")
			if opensFunction(name, bare) {
				opens = append(opens, i)
			}
			if isComment(name, bare) {
				notes = append(notes, i)
			}
		}
		if len(notes) > 0 && r.Intn(2) == 0 {
			i := notes[r.Intn(len(notes))]
			return slices.Delete(lines, i, i+1)
		}
		if len(opens) == 0 {
			return lines
		}
		i := opens[r.Intn(len(opens))]
		for path.Ext(name) == ".sh" && i+1 < len(lines) && !strings.HasPrefix(lines[i], "  a=") {
			i++
		}
		note := comment(r, name)
		if strings.HasSuffix(lines[i], "\r") {
			note += "\r"
		}
		return slices.Insert(lines, i+1, note)
	})
}

// editSpace adds or removes white space that means nothing.
func editSpace(r *rand.Rand, name, content string) string {
	if !hasGrammar(name) {
		return editBody(r, name, content)
	}
	return eachLine(content, func(lines []string) []string {
		for i, line := range lines {
			bare := strings.TrimRight(line, "\r \t")
			if !opensFunction(name, bare) || r.Intn(2) == 0 {
				continue
			}
			ending := ""
			if strings.HasSuffix(line, "\r") {
				ending = "\r"
			}
			switch {
			case i+1 < len(lines) && strings.TrimRight(lines[i+1], "\r") == "":
				return slices.Delete(lines, i+1, i+2)
			case line != bare+ending:
				lines[i] = bare + ending
				return lines
			case r.Intn(2) == 0:
				lines[i] = bare + "  " + ending
				return lines
			default:
				return slices.Insert(lines, i+1, ending)
			}
		}
		return lines
	})
}

// editMeaningfulSpace changes white space that means something.
func editMeaningfulSpace(r *rand.Rand, name, content string) string {
	if !hasGrammar(name) {
		return editBody(r, name, content)
	}
	return eachLine(content, func(lines []string) []string {
		for i, line := range lines {
			if r.Intn(2) == 0 {
				continue
			}
			for _, pair := range [][2]string{{`"a b"`, `"a  b"`}, {`"a  b"`, `"a b"`}, {"a=b c", "a= b c"}, {"a= b c", "a=b c"}} {
				if strings.Contains(line, pair[0]) {
					lines[i] = strings.Replace(line, pair[0], pair[1], 1)
					return lines
				}
			}
		}
		return lines
	})
}

// flipEndings turns LF into CRLF, or back.
func flipEndings(_ *rand.Rand, name, content string) string {
	if strings.Contains(content, "\r\n") {
		return strings.ReplaceAll(content, "\r\n", "\n")
	}
	return strings.ReplaceAll(content, "\n", "\r\n")
}

// meaning returns what is left of a content when white space and comments that mean nothing
// are gone. Two contents with the same meaning differ by format alone. The answer is "" where
// only equal bytes mean the same: files without a grammar, and files that do not parse since
// a conflict was left in them.
func meaning(name, content string) string {
	if !hasGrammar(name) || strings.Contains(content, "<<<<<<<") || strings.Contains(content, ">>>>>>>") {
		return ""
	}
	// A carriage return before a newline is white space in Go, JavaScript and Python. In
	// shell it is part of the last word of the line.
	if path.Ext(name) != ".sh" {
		content = strings.ReplaceAll(content, "\r\n", "\n")
	}
	var b strings.Builder
	b.WriteString(path.Ext(name) + "\n")
	for line := range strings.Lines(content) {
		line = strings.TrimRight(line, " \t\n")
		if line == "" || isComment(name, line) {
			continue
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// interfaceOf returns the signatures of a content.
func interfaceOf(name, content string) string {
	var list []string
	for line := range strings.Lines(content) {
		line = strings.TrimRight(line, " \t\r\n")
		if opensFunction(name, line) {
			list = append(list, line)
		}
	}
	return strings.Join(list, "\n")
}

// blobID returns the id that git gives to these very bytes.
func blobID(content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

func md5Of(content []byte) string {
	sum := md5.Sum(content)
	return hex.EncodeToString(sum[:])
}

// quote returns a printf command's argument that prints the content.
func quote(content string) string {
	var b bytes.Buffer
	b.WriteByte('\'')
	for i, c := range []byte(content) {
		if i == 0 && c == '-' {
			b.WriteString(`\055`) // printf would take it for an option
			continue
		}
		switch c {
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\\':
			b.WriteString(`\\`)
		case '%':
			b.WriteString(`%%`)
		case '\'':
			b.WriteString(`'\''`)
		default:
			if c < ' ' || c > '~' {
				fmt.Fprintf(&b, `\%03o`, c)
			} else {
				b.WriteByte(c)
			}
		}
	}
	b.WriteByte('\'')
	return b.String()
}
