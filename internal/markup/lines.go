package markup

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A lineParser parses a document that is not Markdown, line by line. In reStructuredText, indented lines are code
// only after two colons or a directive for code.
type lineParser struct {
	src      []byte
	format   Format
	blocks   []Block
	open     bool   // the next line may belong to the last block
	fenced   bool   // inside a code block of AsciiDoc
	literal  int    // the indentation of the line that introduced a code block; -1 outside of code
	language string // of that code block
}

func parseLines(src []byte, format Format) []Block {
	p := &lineParser{src: src, format: format, literal: -1}
	for at := 0; at < len(src); {
		end, next := lineEnd(src, at)
		p.line(src[at:end], Span{at, end})
		at = next
	}
	return p.blocks
}

func (p *lineParser) line(line []byte, at Span) {
	text := bytes.TrimSpace(line)
	indent := len(line) - len(bytes.TrimLeft(line, " \t"))
	if len(text) > 0 && indent <= p.literal {
		p.literal = -1
		p.open = false
	}
	switch {
	case p.format == AsciiDoc && string(text) == "----":
		p.fenced = !p.fenced
		p.open = false
	case p.fenced:
		p.add(Code, at)
	case len(text) == 0 && p.literal >= 0 && p.open:
		p.add(Code, Span{at.End, at.End})
	case len(text) == 0:
		p.open = false
	case p.literal >= 0:
		p.add(Code, at)
	case p.format != RST && !p.inParagraph() && IsIndented(string(line)):
		p.add(Code, at)
	case p.format == AsciiDoc && asciiDocLevel(line) > 0:
		level := asciiDocLevel(line)
		p.blocks = append(p.blocks, Block{Kind: Heading, Level: level, Lines: []Span{{at.Start + level + 1, at.End}}})
		p.open = false
	case p.underlines(text):
		title := p.last()
		title.Kind = Heading
		title.Level = headingLevel(line[0])
		title.Lines = title.Lines[len(title.Lines)-1:] // without the line above the title
		p.open = false
	default:
		if p.open {
			p.last().Kind = Paragraph // its first lines are indented
		}
		p.add(Paragraph, at)
		if p.format == RST {
			p.introduce(line, indent)
		}
	}
}

func (p *lineParser) last() *Block { return &p.blocks[len(p.blocks)-1] }

func (p *lineParser) inParagraph() bool { return p.open && p.last().Kind == Paragraph }

// add adds a line to the last block, or to a new one.
func (p *lineParser) add(kind Kind, line Span) {
	if !p.open {
		p.blocks = append(p.blocks, Block{Kind: kind})
		p.open = true
		if kind == Code {
			p.last().Language = p.language
		}
	}
	p.last().Lines = append(p.last().Lines, line)
}

// IsIndented reports whether a line is indented so far that it may be code.
func IsIndented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

// introduce notes whether the indented lines after a line of reStructuredText are code.
func (p *lineParser) introduce(line []byte, indent int) {
	text := bytes.TrimSpace(line)
	language, ok := codeDirective(string(text))
	if ok || bytes.HasSuffix(text, []byte("::")) && !bytes.HasPrefix(text, []byte("..")) {
		p.literal = indent
		p.language = language
		p.open = false
	}
}

// asciiDocLevel returns the level of a heading of AsciiDoc, 0 for another line.
func asciiDocLevel(line []byte) int {
	level := len(line) - len(bytes.TrimLeft(line, "="))
	if level == len(line) || line[level] != ' ' {
		return 0
	}
	return level
}

// underlines reports whether a line makes a title of the line above. As in reStructuredText, an underline that is
// shorter than the title has at least four characters.
func (p *lineParser) underlines(line []byte) bool {
	const shortest = 4
	if !p.inParagraph() || !isRule(line) {
		return false
	}
	lines := p.last().Lines
	text := func(at Span) []byte { return bytes.TrimSpace(p.src[at.Start:at.End]) }
	title := text(lines[len(lines)-1])
	alone := len(lines) == 1 || len(lines) == 2 && isRule(text(lines[0]))
	return alone && !isRule(title) && len(line) >= min(shortest, utf8.RuneCount(title))
}

// isRule reports whether a line is drawn with one character.
func isRule(line []byte) bool {
	const shortest = 3
	return len(line) >= shortest && strings.IndexByte("=-~^\"'#*+:._", line[0]) >= 0 && len(bytes.Trim(line, string(line[:1]))) == 0
}

// headingLevel returns the usual level of a title with this underline character.
func headingLevel(mark byte) int { return strings.IndexByte("#*=-~^\"'+:._", mark) + 1 }

// VersionNote is the language of notes about versions in reStructuredText: prose about the past.
const VersionNote = "version note"

// codeDirective reports whether a line of reStructuredText introduces code, and returns the language.
func codeDirective(line string) (language string, ok bool) {
	name, rest, found := strings.Cut(line, "::")
	if !found {
		return "", false
	}
	switch strings.TrimPrefix(name, ".. ") {
	case "code-block", "code", "sourcecode":
		return strings.ToLower(strings.TrimSpace(rest)), true
	case "literal", "parsed-literal", "prompt":
		return "", true
	case "versionchanged", "versionadded", "versionremoved", "deprecated":
		return VersionNote, true
	}
	return "", false
}
