package syntax

import (
	"bytes"

	ts "github.com/odvcencio/gotreesitter"
)

// csharpScanner is the library's scanner for C#, but for the text of
// interpolated strings, where it takes a doubled brace for one that opens
// something.
type csharpScanner struct {
	ts.ExternalScanner
	content ts.Symbol
}

// Of the scanner's tokens, and of the bytes that it keeps: two, and four for
// each string that is open.
const (
	csharpContent  = 8
	csharpVerbatim = 1 << 1
	csharpRaw      = 1 << 2
)

func (s csharpScanner) Scan(payload any, lexer *ts.ExternalLexer, valid []bool) bool {
	if len(valid) <= csharpContent || !valid[csharpContent] || valid[0] {
		return s.ExternalScanner.Scan(payload, lexer, valid)
	}
	var kept [1024]byte
	n := s.Serialize(payload, kept[:])
	start := *lexer
	others := append([]bool(nil), valid...)
	others[csharpContent] = false
	if s.ExternalScanner.Scan(payload, lexer, others) {
		return true
	}
	s.Deserialize(payload, kept[:n])
	*lexer = start
	if n < 6 {
		return false
	}
	dollars, quotes, kind := int(kept[n-4]), int(kept[n-2]), kept[n-1]
	if !csharpText(lexer, dollars, quotes, kind) {
		return false
	}
	lexer.SetResultSymbol(s.content)
	return true
}

// csharpText takes the text up to the next brace that opens something, the
// closing quotes, or an escape.
func csharpText(lexer *ts.ExternalLexer, dollars, quotes int, kind byte) bool {
	some := false
	lexer.MarkEnd()
	take := func(n int) {
		for range n {
			lexer.Advance(false)
		}
		lexer.MarkEnd()
		some = some || n > 0
	}
	for {
		switch r := lexer.Lookahead(); {
		case r == 0:
			return some
		case r == '"' && kind&csharpRaw != 0:
			// Fewer quotes than those that close it are text.
			n := run(lexer, '"')
			if n >= quotes {
				return some
			}
			take(n)
		case r == '"' && kind&csharpVerbatim != 0:
			if run(lexer, '"') < 2 {
				return some
			}
			take(2)
		case r == '"', kind&(csharpRaw|csharpVerbatim) == 0 && (r == '\\' || r == '\n'):
			return some
		case r == '{':
			braces := run(lexer, '{')
			literal := braces - braces%2 // each pair of them stands for one
			if kind&csharpRaw != 0 {
				literal = braces
				if braces >= dollars {
					literal = braces - dollars
				}
			}
			take(literal)
			if literal < braces {
				return some
			}
		default:
			take(1)
		}
	}
}

// run counts how often a character follows.
func run(lexer *ts.ExternalLexer, r rune) (n int) {
	for ahead := *lexer; ahead.Lookahead() == r; ahead.Advance(false) {
		n++
	}
	return n
}

// emptyCollection goes on over what C# has for an empty collection since the
// grammar was written, [], as if it had an element.
func (p *parser) emptyCollection(top *entry) bool {
	if _, ok := p.g.scanner.(csharpScanner); !ok || top.node == 0 || string(p.src[p.nodes[top.node].start:p.nodes[top.node].end]) != "[" {
		return false
	}
	rest := bytes.TrimLeft(p.src[top.pos:], " \t\r\n")
	word := p.g.word
	state := p.next(top.state, word)
	if len(rest) == 0 || rest[0] != ']' || state == 0 {
		return false
	}
	n := p.add(node{sym: word, start: uint32(top.pos), end: uint32(top.pos)})
	p.versions = append(p.versions, version{top: p.push(top, n, state)})
	return true
}
