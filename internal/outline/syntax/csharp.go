package syntax

import (
	"bytes"

	ts "github.com/odvcencio/gotreesitter"
)

// csharpScanner is the library's scanner for C#, except for the text of interpolated strings. There the
// library takes a doubled brace for the start of an interpolation.
type csharpScanner struct {
	ts.ExternalScanner
	content ts.Symbol
}

// The scanner's token for string content, and flags in its serialized state. The state is two bytes, plus
// four bytes for each open string.
const (
	csharpContent  = 8
	csharpVerbatim = 1 << 1
	csharpRaw      = 1 << 2
)

func (s csharpScanner) Scan(payload any, lexer *ts.ExternalLexer, valid []bool) bool {
	if len(valid) <= csharpContent || !valid[csharpContent] || valid[0] {
		return s.ExternalScanner.Scan(payload, lexer, valid)
	}
	var saved [1024]byte
	n := s.Serialize(payload, saved[:])
	start := *lexer
	others := append([]bool(nil), valid...)
	others[csharpContent] = false
	if s.ExternalScanner.Scan(payload, lexer, others) {
		return true
	}
	s.Deserialize(payload, saved[:n])
	*lexer = start
	if n < 6 {
		return false
	}
	dollars := int(saved[n-4])
	quotes := int(saved[n-2])
	kind := saved[n-1]
	if !csharpText(lexer, dollars, quotes, kind) {
		return false
	}
	lexer.SetResultSymbol(s.content)
	return true
}

// csharpText reads string content up to the next interpolation, the closing quotes, or an escape sequence.
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
			// Fewer quotes than the closing ones are content.
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
			literal := braces - braces%2 // a pair of braces is one literal brace
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

// run counts how many times r follows.
func run(lexer *ts.ExternalLexer, r rune) (n int) {
	for ahead := *lexer; ahead.Lookahead() == r; ahead.Advance(false) {
		n++
	}
	return n
}

// emptyCollection parses [], which is newer than the grammar, as a collection with one element.
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
